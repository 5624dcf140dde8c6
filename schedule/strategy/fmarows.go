package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
	"ripc/targets/isa"
)

// fmaRows adds up rows of taps of float sums, each row by one instruction. Its code has a fixed
// order, for in-order cores and for those with few registers.
func fmaRows() Strategy {
	return Strategy{
		Name: "fma_rows", Text: "fused multiply-adds of rows of taps, in ripc's own order",
		Applies: func(l *Layer) (bool, string) {
			if !l.sum.exists() || !l.float() {
				return false, "it does not add up floats over windows"
			}
			if row, _ := l.fmaRow(); row == nil || len(fmaLanes(l, row)) == 0 {
				return false, "no instruction of the target adds up its rows of taps in order"
			}
			return true, ""
		},
		Knobs: func(l *Layer) []Knob {
			row, _ := l.fmaRow()
			positions := Knob{tileW, "positions of the output with sums that are kept", []int{row.Positions}}
			if w := l.out.extent(ir.Col); w%row.Positions > 0 && w <= maxRow { // else the last tile overlaps
				positions.Domain = append(positions.Domain, w)
			}
			return append(append(fmaLanes(l, row), rowsKnob(l), positions), orderKnobs(l)[1:]...)
		},
		build: func(b *builder, v Values) {
			t := b.tiles(v)
			b.placeStages(t)
			b.copyRows(b.read())
			b.fmaRows(b.reduction())
			b.stagesBetween()
			b.packCompare(t)
			b.finish(t)
		},
	}
}

// fmaLanes returns the knob of channels that are computed together. They are blocks of an
// instruction's channels. Channels of a packed output need a knob only if there are several words.
func fmaLanes(l *Layer, row *isa.Instr) []Knob {
	ks := lanesKnobs(l)
	if l.packed {
		if l.out.extent(ir.Bit)%row.Lanes != 0 {
			return nil
		}
		return append(ks, Knob{part, "channels of a word with sums in registers together", []int{row.Lanes}})
	}
	ks[0].Domain = slices.DeleteFunc(slices.Clone(ks[0].Domain), func(n int) bool {
		return n%row.Lanes != 0 || l.out.extent(ir.Channel)%n != 0
	})
	if len(ks[0].Domain) == 0 {
		return nil
	}
	return ks
}

// fewRegisters are vector registers in which LLVM spills tiles of float sums on any core.
const fewRegisters = 16

// fmaRow returns the instruction that adds up rows of taps of float sums, or nil. A row is all taps
// of a window's row, or some channels of a tap.
func (l *Layer) fmaRow() (row *isa.Instr, whole bool) {
	x, w := l.read(), l.filters()
	ordersItself := !l.Target.InOrder && l.Target.Registers > fewRegisters
	if ordersItself || x == nil || w == "" || len(x.Idx) < 3 || l.scattered || l.runLength > 0 || l.window() > 0 {
		return nil, false
	}
	last := len(x.Idx) - 1
	col, channel := coefficients(x.Idx[last-1]), coefficients(x.Idx[last])
	channels, read := l.buffers[x.Buf].Shape[last], l.sum.extent(ir.Reduce)
	if channel[l.sum.loop(ir.Reduce)] != 1 {
		return nil, false
	}
	stride, window := int(col[l.sum.loop(ir.Col)])*channels, max(1, l.sum.extent(ir.TapCol))
	member := func(taps int) *isa.Instr {
		return l.instr(isa.FmaRow, func(i isa.Instr) bool {
			return i.Taps == taps && i.Stride == stride && i.Positions > 1 && i.Positions <= l.out.extent(ir.Col)
		})
	}
	if read == channels && (window == 1 || col[l.sum.loop(ir.TapCol)] == 1) {
		if row = member(window * channels); row != nil {
			return row, true
		}
	}
	for taps := 2 * isa.FmaTaps; taps >= isa.FmaTaps; taps /= 2 {
		if read%taps == 0 {
			return member(taps), false
		}
	}
	return nil, false
}

// copyRows flattens the rows of input x. If the input is copied, and its channels fill no vectors,
// vectors of the copy go over several pixels.
func (b *builder) copyRows(x *ir.Load) {
	isRun := x.Buf == b.pad.buf && len(b.before) == 0 && b.pad.extent(ir.Channel)%b.lanesOfFloats() > 0
	if !isRun {
		b.pads()
	}
	if b.must(steps.Flatten(x.Buf, len(x.Idx)-2)); !isRun || b.err != nil {
		return
	}
	for _, from := range loads(storesTo(b.f.Body, x.Buf)[0].Val) {
		b.may(steps.Flatten(from.Buf, len(from.Idx)-2))
	}
	for _, l := range loopsOf(b.serial(x.Buf), ir.Col) {
		if !b.peelBorder(l) {
			continue
		}
		if c, ok := b.find(l.Var).Body.(*ir.For); ok {
			b.vectorize(b.fuse(l.Var, c.Var, l.Var+".r"), maxVector)
		}
	}
}

// fmaRows adds up the sums of a tile by rows of taps.
func (b *builder) fmaRows(loops []string) {
	row, whole := b.fmaRow()
	positions, filters := b.sum.loop(ir.Col), loops[len(loops)-1]
	w := b.filters()
	channels := len(weightAxes()) - 1
	nests := []rowNest{{positions: positions, instr: row}}
	parts := ""
	if b.extent(filters) > row.Lanes { // the sums of an instruction are contiguous
		parts, filters = b.divide(filters, row.Lanes)
		nests[0].home = parts
	}
	around := loops[:len(loops)-2]
	if n := b.extent(positions); n > row.Positions {
		b.reorder(slices.Concat([]string{parts, positions}, around, []string{filters})...)
		nests = b.cutRow(nests[0], b.instr(isa.FmaRow, func(i isa.Instr) bool {
			return i.Taps == row.Taps && i.Stride == row.Stride && i.Positions == n%row.Positions
		}))
	} else {
		b.reorder(slices.Concat([]string{parts}, around, []string{positions, filters})...)
	}
	sums := []string{b.sum.buf}
	for _, n := range nests {
		if n.home != "" {
			sums = append(sums, b.sum.buf+".v"+n.suffix)
			b.must(steps.CacheWrite(b.sum.buf, n.home, sums[len(sums)-1]))
		}
	}
	type registers struct{ vectors, lane string }
	var split []registers
	for _, n := range nests {
		vectors, lane := b.divide(filters+n.suffix, b.lanesOfFloats())
		split = append(split, registers{vectors, lane})
	}
	if b.buffers[w].Shape[channels] > row.Lanes {
		b.packBlocks(w, row.Lanes)
		channels++
	}
	order := append(steps.First(channels), steps.Outer(channels), steps.Inner(channels))
	if row.Alternate {
		slices.Reverse(order[channels:])
	}
	b.must(steps.Pack(w, b.lanesOfFloats(), order...))
	isRun := whole && b.extent(b.sum.loop(ir.TapCol)) > 1
	if isRun {
		b.must(steps.Flatten(w, channels-2))
	}
	for k, n := range nests {
		tap, reduce, groups := b.sum.loop(ir.TapCol)+n.suffix, b.sum.loop(ir.Reduce)+n.suffix, ""
		switch {
		case isRun:
			tap, reduce = "", b.fuse(tap, reduce, tap+".r")
		case !whole && b.extent(reduce) > row.Taps:
			groups, reduce = b.divide(reduce, row.Taps)
		}
		b.reorder(b.sum.loop(ir.TapRow)+n.suffix, tap, groups, reduce, n.positions, split[k].vectors, split[k].lane)
		b.must(steps.Tensorize(reduce, n.instr.Func))
		if isRun { // the end of a loop waits for all results of an in-order core
			b.unroll(b.find(b.sum.loop(ir.TapRow) + n.suffix))
		}
	}
	for _, s := range sums { // apart, since a loop over tiles of a row writes several
		b.registers(s)
	}
}
