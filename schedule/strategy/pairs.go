package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule"
	"ripc/schedule/steps"
	"ripc/targets/isa"
)

// pairs counts two words of channels by one instruction, on words stored as pairs. One register of
// filters has its sums at a time:
//
//	rows h.o (parallel) > [pad, pair] > words of channels > rows h.i > tiles w.o >
//	  [vectors of filters > accumulate] glue, pack
func pairs() Strategy {
	return Strategy{
		Name: "pairs", Text: "count two words at once by an instruction, on words that are kept as pairs",
		Applies: func(l *Layer) (bool, string) {
			switch unpaired := l.unpaired(); {
			case !l.countsDifferences || l.scattered:
				return false, "it does not add up differences of words over windows"
			case pairInstr(l) == nil:
				return false, "the target has no instruction that counts two words at once"
			case !l.packed || l.pool.exists() || l.mean.exists() || len(l.between) > 0:
				return false, "the bits of the output are not made of the sums alone"
			case unpaired != "":
				return false, unpaired
			case l.sum.extent(ir.Reduce)%2 != 0:
				return false, "the words are no pairs"
			}
			return true, ""
		},
		Knobs: func(l *Layer) []Knob {
			return []Knob{columnsKnob(l, maxTile), rowsKnob(l)}
		},
		build: buildPairs,
	}
}

// unpaired returns why the words of l's input cannot be stored as pairs, or "".
func (l *Layer) unpaired() string {
	switch {
	case !l.pad.exists():
		return "the input has no copy to keep pairs in"
	case l.input == l.pad.buf:
		return "the words are put together one by one"
	}
	return ""
}

// pairInstr returns the instruction that counts two words for a vector of filters that divides an
// output word, or nil. It fills the target's vectors: half a vector of pairs is no better than a
// vector of words.
func pairInstr(l *Layer) *isa.Instr {
	return l.instr(isa.XorCountPair, func(i isa.Instr) bool {
		return l.out.extent(ir.Bit)%i.Lanes == 0 && i.Lanes*i.Type.Bits() == l.Target.VectorBits
	})
}

func buildPairs(b *builder, v Values) {
	instr := pairInstr(b.Layer)
	row, batch, col, words := b.out.loop(ir.Row), b.out.loop(ir.Batch), b.out.loop(ir.Col), b.out.loop(ir.Word)
	b.reorder(row, batch, words, col)
	rowTiles, rows := b.splitLonger(row, v[tileH], schedule.TailGuard)
	colTiles, position := b.splitLonger(col, v[tileW], schedule.TailShift)
	b.reorder(rowTiles, batch, words, rows, colTiles, position)
	b.must(steps.Pair(b.pad.buf, len(b.f.Buffers()[b.pad.buf].Shape)-1))
	b.must(steps.ComputeAt(b.sum.buf, colTiles))
	b.must(steps.ComputeAt(b.pad.buf, rowTiles))
	b.pairedRows()
	vectors, lane := b.divideUnnamed(b.sum.loop(ir.Channel), instr.Lanes)
	sums, carries := "s", "cc"
	b.countPairs(instr, vectors, lane, sums, carries)
	b.registers(b.sum.buf, sums, carries)
	b.may(steps.Parallel(rowTiles))
	if position != "" {
		b.unroll(b.find(position))
	}
	b.may(steps.Vectorize(b.out.loop(ir.Bit)))
}

// pairedRows schedules the padded copy: whole pixels become vectors, and those of the border are
// peeled.
func (b *builder) pairedRows() {
	if b.err != nil {
		return
	}
	b.vectorize(b.pad.loop(ir.Word), maxVector)
	width := 0
	if d := slices.Index(b.inputDims, ir.Col); d >= 0 {
		width = b.f.Buffers()[b.input].Shape[d]
	}
	border := b.extent(b.pad.loop(ir.Col)) - width
	if left := min((b.sum.extent(ir.TapCol)-1)/2, border); border > 0 && width > 0 {
		b.may(steps.Peel(b.pad.loop(ir.Col), left, border-left))
	}
}

// countPairs tensorizes the sum of pairs. Its body has the pairs that fit registers.
func (b *builder) countPairs(instr *isa.Instr, filters, lane, sums, carries string) {
	loop := func(a ir.Axis) string { return b.sum.loop(a) }
	words, group, paired := b.sum.extent(ir.Reduce), "", loop(ir.Reduce)
	if words > 2*maxPairs {
		n := 2 * maxPairs
		for words%n != 0 {
			n -= 2
		}
		words = n
		group, paired = b.divideUnnamed(paired, n)
	}
	b.reorder(loop(ir.Plane), filters, loop(ir.TapRow), loop(ir.TapCol), group, paired, loop(ir.Row), loop(ir.Col),
		lane)
	b.must(steps.CarrySave(b.sum.buf, paired, filters, sums, carries))
	dims := b.pack(b.weightDims, ir.Channel, ir.TapRow, instr.Lanes)
	b.must(steps.Pair(b.weights, slices.Index(dims, ir.Reduce)))
	b.must(steps.Tensorize(lane, instr.Func))
	for _, l := range loopsOf(b.serial(b.sum.buf, sums, carries), ir.Reduce) {
		if !hasLoop(l.Body, ir.Reduce) {
			b.unroll(l)
		}
	}
	if words == 2 { // one pair per pixel
		b.unroll(loopsOf(b.serial(b.sum.buf, sums, carries), ir.TapCol)...)
	}
}
