package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
)

// packBlocks lays weights w of each block of n filters one behind the other, as they are read: else each step of channels is in another page of memory where
// filters are many, and all steps of a block are in few sets of each cache, which keeps a small part of the block then.
func (b *builder) packBlocks(w string, n int) {
	filters := slices.Index(weightAxes(), ir.Channel)
	shape := b.buffers[w].Shape
	if n == 0 || shape[filters] <= n || shape[filters]%n != 0 {
		return
	}
	order := append([]steps.Dim{steps.Outer(3)}, append(steps.First(3), steps.Inner(3))...)
	if len(shape) > len(weightAxes()) {
		order = append(order, steps.Whole(4)) // the parts of a step
	}
	b.must(steps.Pack(w, n, order...))
}

// weightAxes are what the dimensions of weights go along.
func weightAxes() []ir.Axis { return []ir.Axis{ir.TapRow, ir.TapCol, ir.Reduce, ir.Channel} }

// packFilters is packBlocks of floats, where blocks of n filters have their sums in registers together. Weights stay where they are if the first cache keeps
// them and the core does not wait for their addresses.
func (b *builder) packFilters(n int) {
	w := b.filters()
	if w == "" || !b.float() {
		return
	}
	if buf := b.buffers[w]; b.Target.InOrder || buf.Elems()*buf.Type.Bits()/8 > b.Target.L1 {
		b.packBlocks(w, n)
	}
}

// filters are the weights of products of floats, a number for each place in a window, channel and filter, "" if there are none: what a product of matrices reads in
// their place has no window, and another layer may make it.
func (l *Layer) filters() string {
	for _, ld := range loads(l.term()) {
		if ld.T.IsFloat() && slices.Equal(l.sum.along(ld.Idx), weightAxes()) {
			return ld.Buf
		}
	}
	return ""
}
