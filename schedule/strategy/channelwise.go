package strategy

import (
	"slices"

	"ripc/ir"
)

// channelwise reports whether each float sum reads one channel (a blur, a depthwise layer) directly
// from the input, without a padded copy. In-order cores wait for the border's conditions. They read
// a copy where windows overlap much and a row has several tiles.
func (l *Layer) channelwise() bool {
	if !l.readsOwnChannel() || !l.pad.exists() || len(l.before) > 0 {
		return false
	}
	copies := storesTo(l.Func.Body, l.pad.buf)
	if len(copies) != 1 || slices.ContainsFunc(loads(copies[0].Val), func(ld *ir.Load) bool {
		return !ld.T.IsFloat()
	}) {
		return false
	}
	area := func(n nest) int { return max(1, n.extent(ir.Row)) * max(1, n.extent(ir.Col)) }
	const overlap = 3 // windows that share a position
	return !l.Target.InOrder || sumOf(l).terms()*area(l.out) < overlap*area(l.pad) || l.out.extent(ir.Col) <= maxTile
}

// readsOwnChannel reports whether a float sum reads the input channel of its own number.
func (l *Layer) readsOwnChannel() bool {
	if !l.sum.exists() || !l.float() || l.sum.extent(ir.Reduce) != 1 {
		return false
	}
	return slices.ContainsFunc(loads(l.term()), func(ld *ir.Load) bool {
		return ld.Buf == l.pad.buf && coefficients(ld.Idx[len(ld.Idx)-1])[l.sum.loop(ir.Channel)] == 1
	})
}
