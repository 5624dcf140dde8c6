package strategy

import (
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/size"
	"ripc/schedule"
	"ripc/schedule/steps"
)

// pads vectorizes the copy of the padded input: the words or channels of a pixel, the bits of an
// unpacked word, or the positions of a row with one word each.
func (b *builder) pads() {
	if !b.pad.exists() {
		return
	}
	for _, n := range append([]nest{b.pad}, b.before...) {
		for _, l := range loopsOf(b.serial(n.buf), ir.Word, ir.Bit, ir.Channel) {
			switch {
			case hasLoop(l.Body, ir.Bit) || !innermost(l):
			case !arith.Scattered(l):
				b.vectorize(l.Var, maxVector)
			}
		}
		for _, l := range loopsOf(b.serial(n.buf), ir.Col) {
			switch n := copiedFloats(b.Target, vectorsFor(b.Target, n.extent(ir.Channel), ir.F32.Bits())); {
			case innermost(l) && arith.Neighbours(l, b.f.Buffers()):
				b.vectorizeRow(l)
			case b.float() && !innermost(l) && n > 1 && b.mayUnrollTiles(l.Var, n, schedule.TailCut):
			case !b.float() && !innermost(l):
				b.pixels(l)
			}
		}
	}
}

// pixels peels the border off a row of the padded input with several words in a pixel, and unrolls
// the rest if it is short. A copy without a border stays a loop: unrolled, its gathered words would
// take the code size that the sums need.
func (b *builder) pixels(l *ir.For) {
	if left, right := border(l); left+right == 0 || !b.peelBorder(l) {
		return
	}
	if row := b.find(l.Var); row != nil && row.Extent*size.Of(row.Body) <= copiedSize {
		b.unroll(row)
	}
}

// copiedSize is the largest size of a copied row that is unrolled. The rest of the budget is for
// the sums, which are scheduled later.
const copiedSize = size.Preferred / 3

// vectorizeRow vectorizes a row of the padded input without its border, and unrolls the vectors if
// they are few. The last vector overlaps the one before.
func (b *builder) vectorizeRow(l *ir.For) {
	if !b.peelBorder(l) {
		return
	}
	lanes := min(powerOfTwo(b.extent(l.Var)), b.Target.VectorBits/ir.U32.Bits())
	if lanes <= 1 {
		return
	}
	if vectors, lane, ok := b.maySplit(l.Var, lanes, schedule.TailShift); ok {
		b.may(steps.Vectorize(lane))
		if outer := b.find(vectors); outer != nil && outer.Extent <= copiedVectors(b.Target) &&
			outer.Extent*size.Of(outer.Body) <= copiedSize {
			b.unroll(outer)
		}
	}
}

// peelBorder peels the iterations of l's border, and reports whether l is free of them. It returns
// false if l is nothing but border.
func (b *builder) peelBorder(l *ir.For) bool {
	left, right := border(l)
	return left+right < l.Extent && (left+right == 0 || b.may(steps.Peel(l.Var, left, right)))
}

// border returns the numbers of first and of last iterations of l that its body tells apart by
// comparing l's variable.
func border(l *ir.For) (left, right int) {
	for c := range ir.NodesOf[*ir.Binary](l.Body) {
		v, isVar := c.A.(*ir.Var)
		k, isConst := c.B.(*ir.IntImm)
		switch {
		case !isVar || !isConst || v.Name != l.Var:
		case c.Op == ir.Ge:
			left = max(left, int(k.V))
		case c.Op == ir.Lt:
			right = max(right, l.Extent-int(k.V))
		}
	}
	return left, right
}
