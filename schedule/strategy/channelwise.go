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
	if _, own := l.ownRead(); !own || !l.pad.exists() || len(l.before) > 0 {
		return false
	}
	copies := storesTo(l.Func.Body, l.pad.buf)
	if len(copies) != 1 || slices.ContainsFunc(loads(copies[0].Val), func(ld *ir.Load) bool { return !ld.T.IsFloat() }) {
		return false
	}
	w, area := l.out.extent(ir.Col), func(n nest) float64 { return float64(max(1, n.extent(ir.Row)) * max(1, n.extent(ir.Col))) }
	return cost.InPlace(l.Target, float64(sumOf(l).Terms())*area(l.out)/area(l.pad), w)
}

// ownRead is what a sum of floats reads of the input's copy if that is the channel of its own number; ok is false if it is not.
func (l *Layer) ownRead() (ld *ir.Load, ok bool) {
	if !l.sum.exists() || !l.float() || l.sum.extent(ir.Reduce) != 1 {
		return nil, false
	}
	for _, ld := range loads(l.term()) {
		if ld.Buf == l.pad.buf && coefficients(ld.Idx[len(ld.Idx)-1])[l.sum.loop(ir.Channel)] == 1 {
			return ld, true
		}
	}
	return nil, false
}

// ownTile is the tile of a layer of such sums, no larger than the usual one, where so many channels are computed together; the usual one where it is another layer.
func (l *Layer) ownTile(channels, usual int) int {
	ld, ok := l.ownRead()
	if !ok {
		return usual
	}
	strided := slices.ContainsFunc(ld.Idx, func(e ir.Expr) bool { return coefficients(e)[l.sum.loop(ir.Col)] > 1 })
	return cost.OwnTile(l.Target, strided, l.out.extent(ir.Col), cost.Vectors(l.Target, channels, l.sumBits()), usual)
}
