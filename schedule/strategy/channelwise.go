package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule/cost"
)

// channelwise says that each sum of floats reads one channel, as that of a blur or of a depthwise layer, and that the input is best read where it is (cost.InPlace): its elements
// are read no more often than a window has places, and nearly all places of a tile are known to be no border. A copy with a border would be a store and a load more for each element,
// and blocks of rows would copy rows that others copy as well.
func (l *Layer) channelwise() bool {
	if !l.sum.exists() || !l.float() || !l.pad.exists() || len(l.before) > 0 || l.sum.extent(ir.Reduce) != 1 {
		return false
	}
	own := slices.ContainsFunc(loads(l.term()), func(ld *ir.Load) bool {
		return ld.Buf == l.pad.buf && coefficients(ld.Idx[len(ld.Idx)-1])[l.sum.loop(ir.Channel)] == 1
	})
	copies := storesTo(l.Func.Body, l.pad.buf)
	if !own || len(copies) != 1 || slices.ContainsFunc(loads(copies[0].Val), func(ld *ir.Load) bool { return !ld.T.IsFloat() }) {
		return false
	}
	w, area := l.out.extent(ir.Col), func(n nest) float64 { return float64(max(1, n.extent(ir.Row)) * max(1, n.extent(ir.Col))) }
	return cost.InPlace(l.Target, float64(sumOf(l).Terms())*area(l.out)/area(l.pad), w)
}
