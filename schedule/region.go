package schedule

import (
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// extent is the part of a dimension that one iteration of a loop needs: size elements from base, or
// all of it.
type extent struct {
	whole bool
	base  arith.Affine
	size  int
}

// regionOf returns the part of buffer b that one iteration of loop l touches by the accesses as:
// the smallest index and a constant extent in each dimension, or the whole dimension where they are
// not known.
func regionOf(sc deps.Scope, l *ir.For, b ir.Buffer, as []deps.Access, op string) []extent {
	still := sc.Outer[l.Var].With(l.Var)
	if hasCall(as) {
		refuse(op+" before tensorize", "%%%s is an operand of a call", b.Name)
	}
	var region []extent
	for d, size := range b.Shape {
		e := extent{whole: true, size: size}
		for i, a := range as {
			fixed, moving := deps.Split(a.Idx[d], still)
			span, ok := moving.Bounds(sc.Ranges)
			if !ok || deps.Large(span.Lo) || deps.Large(span.Hi) {
				e = extent{whole: true, size: size}
				break
			}
			lo, n := span.Lo, span.Hi-span.Lo+1
			if i > 0 {
				if e.whole || affineKey(arith.Affine{Terms: e.base.Terms}) != affineKey(fixed) {
					e = extent{whole: true, size: size}
					break
				}
				lo = min(span.Lo, e.base.Const)
				n = max(span.Hi, e.base.Const+int64(e.size)-1) - lo + 1
			}
			e = extent{base: arith.Affine{Const: lo, Terms: fixed.Terms}, size: int(n), whole: n >= int64(size)}
			if e.whole {
				e.size = size
				break
			}
		}
		region = append(region, e)
	}
	return region
}

// relocate turns the accesses of buffer from below s into accesses of buffer to, which holds a
// region of it.
func relocate(s ir.Stmt, from, to string, region []extent) ir.Stmt {
	return ir.Reindex(s, from, to, func(old []ir.Expr) []ir.Expr {
		out := make([]ir.Expr, len(old))
		for d, e := range old {
			out[d] = e
			if r := region[d]; !r.whole {
				out[d] = arith.ToAffine(e).Plus(-1, r.base).Expr()
			}
		}
		return out
	})
}
