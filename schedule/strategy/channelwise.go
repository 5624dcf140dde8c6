package strategy

import (
	"slices"

	"ripc/ir"
)

// channelwise reports whether each sum of floats reads one channel, as that of a blur or of a depthwise layer, and the input is read where it is, without a copy that has a border.
// Cores that work in order wait for places that may be border, so that they read a copy where windows overlap much and a row has several tiles.
func (l *Layer) channelwise() bool {
	if !l.readsOwn() || !l.pad.exists() || len(l.before) > 0 {
		return false
	}
	copies := storesTo(l.Func.Body, l.pad.buf)
	if len(copies) != 1 || slices.ContainsFunc(loads(copies[0].Val), func(ld *ir.Load) bool { return !ld.T.IsFloat() }) {
		return false
	}
	area := func(n nest) int { return max(1, n.extent(ir.Row)) * max(1, n.extent(ir.Col)) }
	const overlap = 3 // windows that read the same place
	return !l.Target.InOrder || sumOf(l).terms()*area(l.out) < overlap*area(l.pad) || l.out.extent(ir.Col) <= maxTile
}

// readsOwn reports whether a sum of floats reads of the input's copy the channel of its own number.
func (l *Layer) readsOwn() bool {
	if !l.sum.exists() || !l.float() || l.sum.extent(ir.Reduce) != 1 {
		return false
	}
	return slices.ContainsFunc(loads(l.term()), func(ld *ir.Load) bool {
		return ld.Buf == l.pad.buf && coefficients(ld.Idx[len(ld.Idx)-1])[l.sum.loop(ir.Channel)] == 1
	})
}
