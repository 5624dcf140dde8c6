package arith

import (
	"maps"
	"math"
	"slices"

	"ripc/ir"
)

// Assume narrows the ranges of variables that comparisons in cond bound, given that cond holds. r
// itself is not changed; it is returned if cond cannot hold.
func (r Ranges) Assume(cond ir.Expr) Ranges {
	if q, possible := r.assume(cond); possible {
		return q
	}
	return r
}

// assume also reports whether cond may hold at all (true if unknown).
func (r Ranges) assume(cond ir.Expr) (q Ranges, possible bool) {
	q = r
	for _, f := range facts(cond, r) {
		for i, t := range f.Terms {
			v, ok := t.Atom.(*ir.Var)
			if !ok {
				continue
			}
			old, known := q[v.Name]
			// Coef*v >= -rest, and rest is at most its upper end.
			rest := Affine{f.Const, slices.Delete(slices.Clone(f.Terms), i, i+1)}
			b, fits := rest.Bounds(q)
			if !known || !fits || b.Hi == math.MinInt64 || t.Coef == math.MinInt64 {
				continue
			}
			narrow := old
			if t.Coef > 0 {
				narrow.Lo = max(old.Lo, -FloorDiv(b.Hi, t.Coef))
			} else {
				narrow.Hi = min(old.Hi, FloorDiv(b.Hi, -t.Coef))
			}
			if narrow.Lo > narrow.Hi {
				return r, false
			}
			if narrow != old {
				q = maps.Clone(q)
				q[v.Name] = narrow
			}
		}
		if iv, ok := f.Bounds(q); ok && iv.Hi < 0 {
			return r, false
		}
	}
	return q, true
}
