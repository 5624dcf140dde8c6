package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
)

// packBlocks packs the weights w of each block of n filters contiguously, in the order of their
// use. Otherwise each step of channels is in another page of memory where filters are many. A
// block's steps would also share few sets of each cache, which would keep a small part of the
// block.
func (b *builder) packBlocks(w string, n int) {
	filters := slices.Index(weightAxes(), ir.Channel)
	shape := b.buffers[w].Shape
	if n == 0 || shape[filters] <= n || shape[filters]%n != 0 {
		return
	}
	order := append([]steps.Dim{steps.Outer(3)}, append(steps.First(3), steps.Inner(3))...)
	if len(shape) > len(weightAxes()) {
		order = append(order, steps.WholeDim(4)) // the parts of a step
	}
	b.must(steps.Pack(w, n, order...))
}

// weightAxes lists the axes of the dimensions of float weights.
func weightAxes() []ir.Axis { return []ir.Axis{ir.TapRow, ir.TapCol, ir.Reduce, ir.Channel} }

// packFilters is packBlocks of floats; n filters have their sums in registers. Weights stay as they
// are if the first cache keeps them and the core runs out of order.
func (b *builder) packFilters(n int) {
	w := b.filters()
	if w == "" || !b.float() {
		return
	}
	if buf := b.buffers[w]; b.Target.InOrder || buf.Elems()*buf.Type.Bits()/8 > b.Target.L1 {
		b.packBlocks(w, n)
	}
}

// filters returns the weights of float products, indexed by tap, channel and filter, or "". A
// product of matrices has no such weights: another layer may make its operand.
func (l *Layer) filters() string {
	for _, ld := range loads(l.term()) {
		if ld.T.IsFloat() && slices.Equal(l.sum.axesOf(ld.Idx), weightAxes()) {
			return ld.Buf
		}
	}
	return ""
}
