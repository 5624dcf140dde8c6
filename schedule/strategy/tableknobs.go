package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/targets/isa"
)

// lookUps lists the numbers of filters with an instruction for look-ups in shared tables, rising.
// They divide n.
func (l *Layer) lookUps(n int) []int {
	var out []int
	for _, i := range isa.Query(isa.LookUp, l.Target) {
		if l.looksUp(i) && n%i.Lanes == 0 && !slices.Contains(out, i.Lanes) && l.sameTables(i.Lanes) {
			out = append(out, i.Lanes)
		}
	}
	slices.Sort(out)
	return out
}

// sameTables reports whether the filters of each block of n use the same tables, as those of a
// group do.
func (l *Layer) sameTables(n int) bool {
	f, channel := l.inBlocks(n), l.sum.loop(ir.Channel)
	if f == nil {
		return false
	}
	for _, st := range storesTo(f.Body, l.sum.buf) {
		for _, ld := range loads(st.Val) {
			table := len(ld.Idx) - 1 // the index after it is the entry
			if ld.Buf == l.table.buf && slices.ContainsFunc(ld.Idx[:table], func(e ir.Expr) bool {
				return arith.Mentions(e, channel)
			}) {
				return false
			}
		}
	}
	return true
}

// looksUp reports whether instruction i has the tables of the layer, and its check for indices
// outside.
func (l *Layer) looksUp(i isa.Instr) bool {
	bounded := false
	ir.WalkExpr(l.term(), func(e ir.Expr) bool {
		_, chosen := e.(*ir.Select)
		bounded = bounded || chosen
		return true
	})
	return i.Words == l.table.extent(ir.Entry) && i.Bounded == bounded && i.Halves == l.halves()
}

// runs returns the number of look-ups that a byte can sum.
func (l *Layer) runs() int { return max(1, int(maxSum/l.maxEntry())) }

// maxEntry returns the largest entry of a table, at least 1.
func (l *Layer) maxEntry() int64 {
	most := int64(maxSum)
	if iv, ok := arith.Bounds(l.term(), arith.Ranges{}); ok {
		most = min(most, iv.Hi)
	}
	r := arith.Ranges{}
	for _, loop := range l.table.loops {
		r = r.With(loop.Var, loop.Extent)
	}
	for _, st := range storesTo(l.Func.Body, l.table.buf) {
		if iv, ok := arith.Bounds(st.Val, r); ok {
			most = max(1, min(most, iv.Hi))
		}
	}
	return most
}

func tableKnobs(l *Layer) []Knob {
	domain := l.lookUps(l.sum.extent(ir.Channel))
	if domain == nil {
		domain = []int{1}
	}
	ks := []Knob{
		{filters, "filters that are looked up at once", domain},
		tileKnob(l, maxTile),
		{tileH, "rows of the output that share tables", upTo(l.rows())},
		{run, "groups that are summed in bytes, or by an instruction", l.runsOf(l.runs())},
		{at, "groups that are summed in bytes: a run of them in 1 a row of taps, 2 one",
			[]int{int(overRow), int(overTap)}},
		{kept, "keep all sums of a block of filters in registers, not only those of bytes", l.keeps()},
	}
	if l.mean.exists() {
		ks = append(ks, Knob{share, "words of channels that a thread looks up one after the other in the same tables",
			divisors(l.final.extent(ir.Word))})
	}
	if widths := l.widths(domain); len(widths) > 0 {
		ks = append(ks, Knob{ordered, "look a run of groups up by one instruction, in ripc's own order", []int{0, 1}},
			Knob{width, "positions that it takes", widths})
	}
	return ks
}

// runsOf lists the numbers of groups in a run: up to `most` for byte sums, and those of
// instructions that add to wider sums.
func (l *Layer) runsOf(most int) []int {
	out := upTo(min(most, l.sum.extent(ir.Reduce)))
	if l.widensTables() {
		for _, i := range l.lookUpRows() {
			if !slices.Contains(out, i.Groups) {
				out = append(out, i.Groups)
			}
		}
		slices.Sort(out)
	}
	return out
}

// widensTables reports whether instructions for several positions add to sums of 16 bits. They set
// the layout of the tables.
func (l *Layer) widensTables() bool {
	return l.Target.ShortLookups && !l.halves() && l.table.extent(ir.Entry) == 16 // the bytes of a register
}

// rowsWiden reports whether the instructions of lookUpRows add to sums of 16 bits directly.
func (l *Layer) rowsWiden() bool { return l.halves() || l.widensTables() }

// lookUpRows lists the instructions that look a run of groups up for several positions. They serve
// in-order cores, positions in both halves of a row, and sums of 16 bits. A single position, or
// half of one, has no loop for an instruction.
func (l *Layer) lookUpRows() []isa.Instr {
	if !l.Target.InOrder && !l.rowsWiden() || l.sum.extent(ir.Col) < 2 || l.window() > 0 || l.mean.exists() {
		return nil
	}
	step, taps, most := l.stepOf(ir.Col), 0, l.maxEntry()
	if l.widensTables() {
		taps = l.tapsTogether()
	}
	return slices.DeleteFunc(isa.Query(isa.LookUpRow, l.Target), func(i isa.Instr) bool {
		// the sums of a block are parts of wider ones, position by position
		apart := l.sumBits() <= ir.U8.Bits() && i.Lanes < l.sum.extent(ir.Channel)
		// the tables of a word are made together
		together := i.Groups == l.tablesOf() || i.Groups%l.table.extent(ir.Part) == 0
		if l.rowsWiden() {
			apart = l.sumBits() < i.Type.Bits() // wider sums get those of an instruction
		}
		reads := step == max(1, i.Stride) || l.widensTables() && i.Positions == 1 // a single position has no step
		holds := i.Func.Params[1].Range
		less := !holds.Any() && holds.To < most
		return !l.looksUp(i) || less || i.Taps != taps || !reads || apart || !together ||
			l.sum.extent(ir.Reduce)%i.Groups != 0
	})
}

// tapsTogether returns the number of taps of a row in an instruction: all if they read neighbouring
// pixels and there is an instruction for them, else 1.
func (l *Layer) tapsTogether() int {
	taps := l.sum.extent(ir.TapCol)
	if l.stepOf(ir.TapCol) == 1 && slices.ContainsFunc(isa.Query(isa.LookUpRow, l.Target), func(i isa.Instr) bool {
		return i.Taps == taps
	}) {
		return taps
	}
	return 1
}

// widths lists the numbers of positions, or of positions in a half, of the look-up instructions,
// rising.
func (l *Layer) widths(filters []int) []int {
	var out []int
	for _, i := range l.lookUpRows() {
		if slices.Contains(filters, i.Lanes) && (i.Positions > 1 || i.Halves) && !slices.Contains(out, i.Positions) {
			out = append(out, i.Positions)
		}
	}
	slices.Sort(out)
	return out
}

// stepOf returns the distance in pixels between the tables that neighbours along an axis read, or 0
// if the axis has no loop. It is not 1 for strided or dilated windows.
func (l *Layer) stepOf(axis ir.Axis) int {
	for _, ld := range loads(l.term()) {
		if ld.Buf != l.table.buf {
			continue
		}
		for _, e := range ld.Idx {
			if n := coefficients(e)[l.sum.loop(axis)]; n != 0 {
				return int(n)
			}
		}
	}
	return 0
}

// tablesRead returns the bytes of tables that a tile of neighbouring positions reads.
func (l *Layer) tablesRead(positions int) int {
	return l.sum.extent(ir.Reduce) * max(1, l.sum.extent(ir.TapRow)) * (positions +
		max(1, l.sum.extent(ir.TapCol)) - 1) * l.table.extent(ir.Entry)
}

// tablesOf returns the number of tables of a pixel.
func (l *Layer) tablesOf() int {
	shape := l.buffers[l.table.buf].Shape
	return shape[len(shape)-2]
}

// inlinesTaps reports whether the taps of a row are unrolled where registers keep the sums of a
// block of filters. In-order cores wait at the end of a loop; others gain if registers hold several
// vectors of filters.
func (l *Layer) inlinesTaps(filters, run int) bool {
	if l.Target.InOrder {
		return sumOf(l).unrollsTaps(run)
	}
	return filters*8 > l.Target.VectorBits
}

// runOfWords returns the number of groups, at most `most`, in the runs of a mean that makes its
// tables run by run. Runs are whole words, since the tables of a word are made together. It is 0
// where no number fits, the tables of a row stay in the first cache, or windows of several rows
// share them.
func (l *Layer) runOfWords(most int) int {
	if !l.mean.exists() || l.sum.extent(ir.TapRow) > 1 || l.tablesRead(l.out.extent(ir.Col)) <= l.Target.L1 ||
		len(l.lookUps(l.sum.extent(ir.Channel))) == 0 {
		return 0
	}
	part := max(1, l.table.extent(ir.Part))
	for n := most / part * part; n > 0; n -= part {
		if l.sum.extent(ir.Reduce)%n == 0 {
			return n
		}
	}
	return 0
}

// byRuns reports whether the tables of a run are made just before their use, by blocks of filters
// that threads share.
func (l *Layer) byRuns(v Values) bool {
	n := l.runOfWords(v[run])
	return n > 0 && n == v[run] && v[tileW] == l.out.extent(ir.Col) && v[filters] > 1 &&
		v[filters] < l.sum.extent(ir.Channel)
}

// wordsOf returns the number of words of channels with sums in registers.
func (l *Layer) wordsOf(v Values) int { return max(1, v[filters]/l.out.extent(ir.Bit)) }

// keeps is the domain of knob kept: whether registers can keep the sums of a block of filters.
func (l *Layer) keeps() []int {
	if !l.packed || l.dense() {
		return []int{0}
	}
	return []int{0, 1}
}
