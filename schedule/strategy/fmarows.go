package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
	"ripc/targets/isa"
)

// fmaRow returns the instruction that adds up rows of taps of float sums, or nil. It fixes the
// order of its code, for in-order cores. A row is all taps of a window's row, or some channels of a
// tap.
func (l *Layer) fmaRow() (row *isa.Instr, whole bool) {
	x, w := l.read(), l.filters()
	if !l.Target.InOrder || x == nil || w == "" || len(x.Idx) < 3 || l.scattered || l.runLength > 0 || l.window() > 0 {
		return nil, false
	}
	last := len(x.Idx) - 1
	col, channel := coefficients(x.Idx[last-1]), coefficients(x.Idx[last])
	channels, read := l.buffers[x.Buf].Shape[last], l.sum.extent(ir.Reduce)
	if channel[l.sum.loop(ir.Reduce)] != 1 {
		return nil, false
	}
	stride, window := int(col[l.sum.loop(ir.Col)])*channels, max(1, l.sum.extent(ir.TapCol))
	filters := max(l.out.extent(ir.Bit), l.out.extent(ir.Channel))
	member := func(taps int) *isa.Instr {
		return l.instr(isa.FmaRow, func(i isa.Instr) bool {
			return i.Taps == taps && i.Stride == stride && i.Positions <= l.out.extent(ir.Col) && filters%i.Lanes == 0
		})
	}
	if read == channels && (window == 1 || col[l.sum.loop(ir.TapCol)] == 1) {
		if row = member(window * channels); row != nil {
			return row, true
		}
	}
	if read%isa.FmaTaps != 0 {
		return nil, false
	}
	return member(isa.FmaTaps), false
}

// fmaRows adds up the sums of a tile by rows of taps.
func (b *builder) fmaRows(loops []string, v Values) {
	row, whole := b.fmaRow()
	positions, filters := b.sum.loop(ir.Col), loops[len(loops)-1]
	if row == nil || b.extent(positions) != row.Positions || b.extent(filters)%row.Lanes != 0 {
		b.errorf("there is no instruction for a row of taps at %d positions", v[tileW])
		return
	}
	x, w, last := b.read(), b.filters(), len(b.read().Idx)-1
	channels, vector := len(weightAxes())-1, row.Lanes/b.lanesOfFloats()
	sums := []string{b.sum.buf}
	if b.extent(filters) > row.Lanes { // the sums of an instruction are contiguous
		parts, part := b.divide(filters, row.Lanes)
		b.reorder(slices.Concat([]string{parts}, loops[:len(loops)-1], []string{part})...)
		sums, filters = append(sums, b.sum.buf+".v"), part
		b.must(steps.CacheWrite(b.sum.buf, parts, sums[1]))
	} else {
		b.reorder(loops...)
	}
	registers, lane := b.divide(filters, b.lanesOfFloats())
	if b.buffers[w].Shape[channels] > row.Lanes {
		b.packBlocks(w, row.Lanes)
		channels++
	}
	b.must(steps.Pack(w, row.Lanes/vector, append(steps.First(channels), steps.Inner(channels), steps.Outer(channels))...))
	b.must(steps.Flatten(x.Buf, last-1))
	tap, reduce := b.sum.loop(ir.TapCol), b.sum.loop(ir.Reduce)
	groups := ""
	switch {
	case whole && b.extent(tap) > 1:
		b.must(steps.Flatten(w, channels-2))
		tap, reduce = "", b.fuse(tap, reduce, tap+".r")
	case !whole && b.extent(reduce) > row.Taps:
		groups, reduce = b.divide(reduce, row.Taps)
	}
	b.reorder(b.sum.loop(ir.TapRow), tap, groups, reduce, positions, registers, lane)
	b.must(steps.Tensorize(reduce, row.Func))
	b.registers(sums...)
}
