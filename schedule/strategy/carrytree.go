package strategy

import (
	"maps"
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
	"ripc/targets/isa"
)

// carryTree counts the words of whole windows by an instruction, on words stored as pairs. The
// instruction reads adjacent words, so a tile copies its windows once for all filters:
//
//	rows h.o (parallel) > [pad, pair] > words of channels > rows h.i > tiles w.o > [windows] >
//	  [vectors of filters > accumulate] glue, pack
func carryTree() Strategy {
	return Strategy{
		Name: "carry_tree", Text: "count the words of whole windows by an instruction, through a tree of carry-save " +
			"adders",
		Applies: func(l *Layer) (bool, string) {
			switch unpaired := l.unpaired(); {
			case !l.countsDifferences || l.scattered:
				return false, "it does not add up differences of words over windows"
			case windowInstr(l, isa.LeastWindowPositions) == nil || len(windowLanes(l)) == 0 && !l.packed:
				return false, "the target has no instruction that counts such windows at once"
			case l.sum.loops[ir.Plane] != nil || l.sum.loops[ir.WeightPlane] != nil:
				return false, "levels or weights have several planes"
			case l.pool.exists() || l.mean.exists():
				return false, "positions are pooled, or their mean is made"
			case unpaired != "":
				return false, unpaired
			case l.dense() || l.out.extent(ir.Col) < isa.LeastWindowPositions:
				return false, "rows or columns are too few"
			case l.pad.extent(ir.Col) != l.out.extent(ir.Col)+l.sum.extent(ir.TapCol)-1:
				return false, "neighbouring positions read pixels that are no neighbours"
			}
			return true, ""
		},
		Knobs: func(l *Layer) []Knob {
			w := l.out.extent(ir.Col)
			positions := slices.DeleteFunc(upTo(w), func(n int) bool { return windowInstr(l, n) == nil })
			ks := []Knob{{tileW, "positions that an instruction counts", positions}, rowsKnob(l)}
			if !l.packed {
				ks = append(ks, Knob{lanes, "channels that are computed together", windowLanes(l)})
			}
			return ks
		},
		build: buildCarryTree,
	}
}

// windowInstr returns the instruction that counts l's windows at the given number of positions, or
// nil.
func windowInstr(l *Layer, positions int) *isa.Instr {
	rows, cols, words := l.sum.extent(ir.TapRow), l.sum.extent(ir.TapCol), l.sum.extent(ir.Reduce)
	return l.instr(isa.XorCountWindow, func(i isa.Instr) bool {
		return i.Positions == positions && i.Rows == rows && i.Taps == cols && i.Words == words &&
			(!l.packed || l.out.extent(ir.Bit)%i.Lanes == 0)
	})
}

// windowLanes lists the numbers of channels that are whole vectors and divide all channels, for an
// unpacked output.
func windowLanes(l *Layer) []int {
	return slices.DeleteFunc([]int{isa.WindowFilters, 2 * isa.WindowFilters, 4 * isa.WindowFilters}, func(n int) bool {
		return l.out.extent(ir.Channel)%n != 0
	})
}

func buildCarryTree(b *builder, v Values) {
	instr := windowInstr(b.Layer, v[tileW])
	if instr == nil {
		b.errorf("there is no instruction for %d positions", v[tileW])
		return
	}
	const windows, sums = "xw", "s"
	b.must(steps.Pair(b.pad.buf, len(b.f.Buffers()[b.pad.buf].Shape)-1))
	v = maps.Clone(v)
	v[outer] = 1 // the weights of a block of filters stay in the first cache
	t := b.tiles(v)
	b.placeStages(t)
	b.pairedRows()
	b.must(steps.CacheRead(b.pad.buf, t.home, windows))
	filters, taps, blocks := b.sum.loop(ir.Channel), b.sum.loop(ir.TapRow), ""
	if b.extent(filters) > instr.Lanes {
		blocks, filters = b.divide(filters, instr.Lanes)
	}
	b.reorder(blocks, taps, b.sum.loop(ir.TapCol), b.sum.loop(ir.Reduce), b.sum.loop(ir.Col), filters)
	if blocks != "" { // the sums of an instruction are contiguous
		b.must(steps.CacheWrite(b.sum.buf, blocks, sums))
	}
	dims := b.pack(b.weightDims, ir.Channel, ir.TapRow, instr.Lanes)
	b.must(steps.Pair(b.weights, slices.Index(dims, ir.Reduce)))
	b.must(steps.Tensorize(taps, instr.Func))
	b.registers(b.sum.buf, sums)
	for _, l := range loopsOf(b.serial(windows), ir.Reduce) {
		b.may(steps.Vectorize(l.Var))
	}
	b.unroll(loopsOf(b.serial(windows), ir.TapCol)...)
	b.stagesBetween()
	b.finish(t)
}
