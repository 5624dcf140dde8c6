package strategy

import (
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/size"
	"ripc/schedule"
	"ripc/schedule/steps"
)

// pads makes vectors of the padded input's words or channels, those of a word where it is unpacked, or of the positions of a row where each
// has one word.
func (b *builder) pads() {
	if !b.pad.exists() {
		return
	}
	for _, n := range append([]nest{b.pad}, b.before...) {
		for _, l := range on(b.serial(n.buf), ir.Word, ir.Bit, ir.Channel) {
			switch {
			case over(l.Body, ir.Bit) || !innermost(l):
			case l.Axis == ir.Channel && b.own: // a part of the channels of an output word, which read the same words
				b.vectors(l.Var, ir.U32.Bits())
			case !arith.Scattered(l):
				b.vectorize(l.Var, maxVector)
			}
		}
		for _, l := range on(b.serial(n.buf), ir.Col) {
			switch n := copiedFloats(b.Target, vectorsFor(b.Target, n.extent(ir.Channel), ir.F32.Bits())); {
			case innermost(l) && arith.Neighbours(l, b.f.Buffers()):
				b.row(l)
			case b.float() && !innermost(l) && n > 1 && b.mayUnrollTiles(l.Var, n, schedule.TailCut):
			case !b.float() && !innermost(l):
				b.pixels(l)
			}
		}
	}
}

// pixels takes the border off a row of the padded input whose pixels have several words, and writes the others out if they are few. What has no border stays a loop: words that are put together for a tile
// would take the code that its sums need.
func (b *builder) pixels(l *ir.For) {
	if left, right := border(l); left+right == 0 || !b.peelBorder(l) {
		return
	}
	if row := b.find(l.Var); row != nil && row.Extent*size.Of(row.Body) <= copiedSize {
		b.unroll(row)
	}
}

// copiedSize is how much code a row of a copy may be that is written out. The rest is for the sums, which are scheduled later.
const copiedSize = size.Preferred / 3

// row makes vectors of a row of the padded input without its border, and writes them out if they are few. The last one overlaps the one before.
func (b *builder) row(l *ir.For) {
	if !b.peelBorder(l) {
		return
	}
	lanes := min(powerOfTwo(b.extent(l.Var)), b.Target.VectorBits/ir.U32.Bits())
	if lanes <= 1 {
		return
	}
	if vectors, lane, ok := b.maySplit(l.Var, lanes, schedule.TailShift); ok {
		b.may(steps.Vectorize(lane))
		if outer := b.find(vectors); outer != nil && outer.Extent <= copiedVectors(b.Target) && outer.Extent*size.Of(outer.Body) <= copiedSize {
			b.unroll(outer)
		}
	}
}

// peelBorder takes the iterations of l's border off it; false where nothing but a border is left, or they stay.
func (b *builder) peelBorder(l *ir.For) bool {
	left, right := border(l)
	return left+right < l.Extent && (left+right == 0 || b.may(steps.Peel(l.Var, left, right)))
}

// border is how many of the first and of the last iterations of l its body compares l's variable with, to do something else there.
func border(l *ir.For) (left, right int) {
	ir.Walk(l.Body, func(s ir.Stmt) bool {
		for e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				c, ok := e.(*ir.Binary)
				if !ok {
					return true
				}
				v, isVar := c.A.(*ir.Var)
				k, isConst := c.B.(*ir.IntImm)
				switch {
				case !isVar || !isConst || v.Name != l.Var:
				case c.Op == ir.Ge:
					left = max(left, int(k.V))
				case c.Op == ir.Lt:
					right = max(right, l.Extent-int(k.V))
				}
				return true
			})
		}
		return true
	})
	return left, right
}
