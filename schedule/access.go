package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/arith"
)

// access is one place that touches a buffer.
type access struct {
	idx   []ir.Expr
	size  []int // of the window from idx, in the trailing dimensions; nil for one element
	write bool
	store *ir.Store // the store itself, if this is one
}

// commutes reports whether the access is a reduction whose order does not matter.
func (a access) commutes() bool {
	return a.store != nil && a.store.Op != ir.Assign && !a.store.Val.Type().IsFloat()
}

// accesses collects what s touches outside of itself, by buffer; buffers that s allocates are private and left out.
func accesses(ss ...ir.Stmt) map[string][]access {
	out := map[string][]access{}
	private := map[string]bool{}
	loads := func(e ir.Expr) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			if l, ok := e.(*ir.Load); ok {
				out[l.Buf] = append(out[l.Buf], access{idx: l.Idx})
			}
			return true
		})
	}
	for _, s := range ss {
		ir.Walk(s, func(s ir.Stmt) bool {
			for _, e := range ir.Exprs(s) {
				loads(e)
			}
			switch s := s.(type) {
			case *ir.Alloc:
				private[s.Buf.Name] = true
			case *ir.Store:
				out[s.Buf] = append(out[s.Buf], access{idx: s.Idx, write: true, store: s})
			case *ir.Call:
				for i, w := range s.Args {
					if i < len(s.Fn.Params) {
						p := s.Fn.Params[i]
						out[w.Buf] = append(out[w.Buf], access{idx: w.Idx, size: p.Shape, write: p.Out})
					}
				}
			}
			return true
		})
	}
	for b := range private {
		delete(out, b)
	}
	return out
}

func written(as []access) bool {
	for _, a := range as {
		if a.write {
			return true
		}
	}
	return false
}

// commute reports whether all accesses are one and the same integer reduction, with no other read.
func commute(as []access) bool {
	for _, a := range as {
		if !a.commutes() || a.store.Op != as[0].store.Op {
			return false
		}
	}
	return true
}

// scope knows the extents of a func's loops; names are unique, so one map serves the whole func.
type scope struct {
	ranges arith.Ranges
	// outer maps a loop to those around it: they hold still while the loop runs.
	outer map[string]map[string]bool
}

func scopeOf(body ir.Stmt) scope {
	sc := scope{arith.Ranges{}, map[string]map[string]bool{}}
	var walk func(s ir.Stmt, outer map[string]bool)
	walk = func(s ir.Stmt, outer map[string]bool) {
		ir.Walk(s, func(t ir.Stmt) bool {
			l, ok := t.(*ir.For)
			if !ok {
				return true
			}
			sc.ranges[l.Var] = arith.Interval{Lo: 0, Hi: int64(l.Extent) - 1}
			sc.outer[l.Var] = outer
			in := map[string]bool{l.Var: true}
			for k := range outer {
				in[k] = true
			}
			walk(l.Body, in)
			return false
		})
	}
	walk(body, map[string]bool{})
	return sc
}

// span is an index expression as fixed + c*v + [lo, hi], where fixed is made of loops that hold still.
type span struct {
	fixed  arith.Affine
	coef   int64
	lo, hi int64
}

// spanOf takes e apart with respect to loop v; loops in still hold their value, all others run over their range.
func (sc scope) spanOf(e ir.Expr, v string, still map[string]bool) (span, bool) {
	a := arith.ToAffine(e)
	sp := span{fixed: arith.Affine{}, lo: a.Const, hi: a.Const}
	if tooLarge(a.Const) {
		return span{}, false
	}
	for _, t := range a.Terms {
		if tooLarge(t.Coef) {
			return span{}, false
		}
		if x, ok := t.Atom.(*ir.Var); ok && x.Name == v {
			sp.coef += t.Coef
			continue
		}
		if uses(t.Atom, func(n string) bool { return n == v }) {
			return span{}, false
		}
		if !hasLoad(t.Atom) && !uses(t.Atom, func(n string) bool { return !still[n] }) {
			sp.fixed.Terms = append(sp.fixed.Terms, t)
			continue
		}
		b, ok := arith.Bounds(t.Atom, sc.ranges)
		if !ok || tooLarge(b.Lo) || tooLarge(b.Hi) {
			return span{}, false
		}
		x, y := t.Coef*b.Lo, t.Coef*b.Hi
		sp.lo += min(x, y)
		sp.hi += max(x, y)
	}
	return sp, true
}

// tooLarge keeps sums of products of such numbers inside int64.
func tooLarge(v int64) bool { return v > 1<<28 || v < -1<<28 }

// separates reports whether some dimension's index tells iterations of v apart, whatever the loops not in still do: no
// element is touched by two iterations.
func (sc scope) separates(as []access, v string, still map[string]bool) bool {
	for d := range as[0].idx {
		if sc.separatesDim(as, d, v, still) {
			return true
		}
	}
	return sc.separatesParts(as, v, still)
}

// separatesParts handles a loop that Fuse made: v = n*q + r, used as v / n and v % n, separates if q does, and r does
// where q holds still.
func (sc scope) separatesParts(as []access, v string, still map[string]bool) bool {
	n := int64(0)
	for _, a := range as {
		for _, e := range a.idx {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if b, ok := e.(*ir.Binary); ok && (b.Op == ir.Div || b.Op == ir.Mod) {
					x, isVar := b.A.(*ir.Var)
					if k, isImm := b.B.(*ir.IntImm); isVar && isImm && x.Name == v && k.V > n {
						n = k.V
					}
				}
				return true
			})
		}
	}
	extent := sc.ranges[v].Hi + 1
	if n < 2 || n >= extent {
		return false
	}
	q, r := v+" / "+fmt.Sprint(n), v+" % "+fmt.Sprint(n)
	in := scope{sc.ranges.With(q, int((extent+n-1)/n)).With(r, int(n)), sc.outer}
	parts := map[string]ir.Expr{v: ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V(q), ir.Int(int(n))), ir.V(r))}
	split := make([]access, len(as))
	for i, a := range as {
		split[i] = a
		split[i].idx = make([]ir.Expr, len(a.idx))
		for d, e := range a.idx {
			split[i].idx[d] = arith.Simplify(ir.Subst(e, parts), in.ranges)
		}
	}
	fixed := map[string]bool{q: true}
	for k := range still {
		fixed[k] = true
	}
	return in.separates(split, q, still) && in.separates(split, r, fixed)
}

func (sc scope) separatesDim(as []access, d int, v string, still map[string]bool) bool {
	var first span
	var key string
	for i, a := range as {
		if d >= len(a.idx) {
			return false
		}
		sp, ok := sc.spanOf(a.idx[d], v, still)
		if !ok || sp.coef == 0 {
			return false
		}
		if k := d - (len(a.idx) - len(a.size)); k >= 0 && k < len(a.size) {
			sp.hi += int64(a.size[k]) - 1
		}
		if i == 0 {
			first, key = sp, affineKey(sp.fixed)
			continue
		}
		if sp.coef != first.coef || affineKey(sp.fixed) != key {
			return false
		}
		first.lo, first.hi = min(first.lo, sp.lo), max(first.hi, sp.hi)
	}
	return first.hi-first.lo < max(first.coef, -first.coef)
}

// affineKey compares affine forms: equal keys, equal values.
func affineKey(a arith.Affine) string { return ir.ExprString(a.Expr()) }

func uses(e ir.Expr, is func(string) bool) bool {
	found := false
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if v, ok := e.(*ir.Var); ok && is(v.Name) {
			found = true
		}
		return !found
	})
	return found
}

func hasLoad(e ir.Expr) bool {
	found := false
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if _, ok := e.(*ir.Load); ok {
			found = true
		}
		return !found
	})
	return found
}
