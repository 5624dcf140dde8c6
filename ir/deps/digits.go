package deps

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
)

// Rules for loops of devices. Their variables are parts of numbers that fuse and split have taken
// apart: a thread's number is divided into row and column, and is itself made of block and thread.

// composedApart is apart by the number u that an index is made of, as io*128 + ii is in
// (io*128 + ii) / 56. If all variables of u occur in u alone, then iterations that differ in one of
// them differ in u.
func (m *meeting) composedApart(a, b Access, v string) bool {
	for _, u := range composedOf(slices.Concat(a.Idx, b.Idx), v, m.sc.Ranges) {
		in := meeting{sc: Scope{m.sc.Ranges.With(u.name, u.extent), m.sc.Outer}, heldLoops: m.heldLoops,
			forms: map[formKey]form{}, device: true}
		x, okX := u.rewriteAll(a, in.sc.Ranges)
		y, okY := u.rewriteAll(b, in.sc.Ranges)
		if okX && okY && in.apart(x, y, u.name) {
			return true
		}
	}
	return false
}

// composed is a number made of several variables, another one for each of their values.
type composed struct {
	name   string
	terms  map[string]int64 // factors by variable
	offset int64            // constant term
	extent int
}

// composedOf lists the numbers made of v and other variables that are divided in an index.
func composedOf(idx []ir.Expr, v string, r arith.Ranges) []composed {
	var all []composed
	for _, e := range idx {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			if x, ok := e.(*ir.Binary); ok && (x.Op == ir.Div || x.Op == ir.Mod) {
				if u, ok := asComposed(arith.ToAffine(x.A), r); ok && u.terms[v] != 0 &&
					!slices.ContainsFunc(all, func(o composed) bool { return o.name == u.name }) {
					all = append(all, u)
				}
			}
			return true
		})
	}
	return all
}

// asComposed returns a as a number of variables. ok is false unless each factor exceeds the sum of
// all smaller terms, so that different variables give different numbers.
func asComposed(a arith.Affine, r arith.Ranges) (u composed, ok bool) {
	terms := slices.Clone(a.Terms)
	slices.SortFunc(terms, func(s, t arith.Term) int { return cmp.Compare(s.Coef, t.Coef) })
	u.terms, u.offset = map[string]int64{}, a.Const
	last := int64(0)
	for _, t := range terms {
		v, isVar := t.Atom.(*ir.Var)
		if !isVar || t.Coef <= last || Large(t.Coef) || Large(r[v.Name].Hi) || r[v.Name].Lo != 0 {
			return u, false
		}
		u.terms[v.Name] = t.Coef
		last += t.Coef * r[v.Name].Hi
		if Large(last) {
			return u, false
		}
	}
	u.name, u.extent = "number "+ir.ExprString(arith.Affine{Terms: a.Terms}.Expr()), int(last)+1
	return u, len(terms) > 1
}

// rewriteAll returns x with u in the place of its variables. ok is false if one of them occurs
// outside of u.
func (u composed) rewriteAll(x Access, r arith.Ranges) (y Access, ok bool) {
	y = x
	y.Idx = make([]ir.Expr, len(x.Idx))
	for d, e := range x.Idx {
		if y.Idx[d], ok = u.rewrite(e); !ok {
			return y, false
		}
		y.Idx[d] = arith.Simplify(y.Idx[d], r)
	}
	return y, true
}

func (u composed) rewrite(e ir.Expr) (ir.Expr, bool) {
	a := arith.ToAffine(e)
	out := arith.Affine{Const: a.Const}
	found := map[string]int64{}
	for _, t := range a.Terms {
		switch x := t.Atom.(type) {
		case *ir.Var:
			if u.terms[x.Name] != 0 {
				found[x.Name] = t.Coef
				continue
			}
			out.Terms = append(out.Terms, t)
		case *ir.Binary:
			inner, ok := u.rewrite(x.A)
			if !ok || u.contains(x.B) {
				return nil, false
			}
			out = out.Plus(t.Coef, arith.ToAffine(ir.Bin(x.Op, inner, x.B)))
		default:
			if u.contains(t.Atom) {
				return nil, false
			}
			out.Terms = append(out.Terms, t)
		}
	}
	if len(found) == 0 {
		return out.Expr(), true
	}
	factor := int64(0)
	for n, c := range u.terms {
		if found[n]%c != 0 || factor != 0 && found[n]/c != factor || found[n] == 0 {
			return nil, false
		}
		factor = found[n] / c
	}
	return out.Plus(factor, arith.ToAffine(ir.V(u.name))).Expr(), true
}

// contains reports whether a variable of u occurs in e.
func (u composed) contains(e ir.Expr) bool {
	return ir.Contains(e, func(e ir.Expr) bool {
		x, ok := e.(*ir.Var)
		return ok && u.terms[x.Name] != 0
	})
}

// digitsApart is apart by the digits of v, by which the indices are quotients and remainders of v.
// Numbers differ in some digit: the first that differs is compared while those before it hold
// still.
func (m *meeting) digitsApart(a, b Access, v string) bool {
	extent := m.sc.Ranges[v].Hi + 1
	var places []int64 // values of a one in a digit
	for _, e := range slices.Concat(a.Idx, b.Idx) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			if x, ok := e.(*ir.Binary); ok && (x.Op == ir.Div || x.Op == ir.Mod) {
				if k, ok := x.B.(*ir.IntImm); ok && divisor(x.A, v) > 0 {
					places = append(places, divisor(x.A, v), divisor(x.A, v)*k.V)
				}
			}
			return true
		})
	}
	places = slices.DeleteFunc(places, func(p int64) bool { return p <= 1 || p >= extent })
	slices.Sort(places)
	places = slices.Compact(places)
	if len(places) == 0 {
		return false
	}
	in := Scope{maps.Clone(m.sc.Ranges), m.sc.Outer}
	number, low := ir.Expr(ir.Int(0)), int64(1)
	var digits []string
	for _, p := range append(places, extent) {
		if p != extent && p%low != 0 {
			return false
		}
		name := fmt.Sprintf("%s digit %d", v, low)
		digits = append(digits, name)
		in.Ranges = in.Ranges.With(name, int((p+low-1)/low))
		number = ir.Bin(ir.Add, number, ir.Bin(ir.Mul, ir.V(name), ir.Int(int(low))))
		low = p
	}
	divided := func(x Access) Access {
		idx := make([]ir.Expr, len(x.Idx))
		for d, e := range x.Idx {
			idx[d] = arith.Simplify(ir.Subst(e, map[string]ir.Expr{v: number}), in.Ranges)
		}
		x.Idx = idx
		return x
	}
	a, b = divided(a), divided(b)
	held := m.heldLoops
	for _, n := range digits {
		one := meeting{sc: in, heldLoops: held, forms: map[formKey]form{}}
		if !one.apart(a, b, n) && !one.scalesApart(a, b, n) {
			return false
		}
		held = held.With(n)
	}
	return true
}

// divisor returns the divisor in e: 1 if e is v itself, n*m for v / n / m, 0 for other expressions.
func divisor(e ir.Expr, v string) int64 {
	switch x := e.(type) {
	case *ir.Var:
		if x.Name == v {
			return 1
		}
	case *ir.Binary:
		if k, ok := x.B.(*ir.IntImm); ok && x.Op == ir.Div && k.V > 0 {
			return divisor(x.A, v) * k.V
		}
	}
	return 0
}

// scalesApart is apart by the scales of a difference: if 8a + 2b + c = 0, and |2b + c| < 8, then a
// is 0, and so is 2b + c. So loop v differs only if the scale that it is in can be 0.
func (m *meeting) scalesApart(a, b Access, v string) bool {
	for d := range min(len(a.Idx), len(b.Idx)) {
		if a.width(d) == 1 && b.width(d) == 1 && m.scales(a.Idx[d], b.Idx[d], v) {
			return true
		}
	}
	return false
}

// scaled is a term of a difference: coef times a number in lo..hi.
type scaled struct {
	coef, lo, hi int64
	isLoop       bool // the number is the distance of two iterations, which is not 0
}

// scales reports that x in one iteration of v never equals y in another.
func (m *meeting) scales(x, y ir.Expr, v string) bool {
	diff := []scaled{}
	c, other := arith.ToAffine(x), arith.ToAffine(y)
	add := func(coef int64, e ir.Expr, pair bool) bool {
		iv, ok := arith.Bounds(e, m.sc.Ranges)
		if !ok || Large(coef) || Large(iv.Lo) || Large(iv.Hi) {
			return false
		}
		w, isVar := e.(*ir.Var)
		s := scaled{coef, iv.Lo, iv.Hi, false}
		if pair {
			s = scaled{coef, iv.Lo - iv.Hi, iv.Hi - iv.Lo, isVar && w.Name == v}
		}
		if !s.isLoop && ir.Mentions(e, v) {
			return false
		}
		if s.coef < 0 {
			s = scaled{-s.coef, -s.hi, -s.lo, s.isLoop}
		}
		diff = append(diff, s)
		return true
	}
	rest := slices.Clone(other.Terms)
	for _, t := range c.Terms {
		text := ir.ExprString(t.Atom)
		i := slices.IndexFunc(rest, func(u arith.Term) bool {
			return u.Coef == t.Coef && ir.ExprString(u.Atom) == text
		})
		if i >= 0 {
			rest = slices.Delete(rest, i, i+1)
			if holds(t.Atom, m.heldLoops) {
				continue
			}
		}
		if !add(t.Coef, t.Atom, i >= 0) {
			return false
		}
	}
	for _, t := range rest {
		if !add(-t.Coef, t.Atom, false) {
			return false
		}
	}
	slices.SortFunc(diff, func(s, t scaled) int { return cmp.Compare(s.coef, t.coef) })
	return !Large(c.Const-other.Const) && !mayVanish(diff, c.Const-other.Const)
}

// mayVanish reports whether the terms, sorted by factor, and c may have the sum 0 while a loop's
// distance is not 0.
func mayVanish(terms []scaled, c int64) bool {
	for k := 1; k < len(terms); k++ {
		g := int64(0)
		for _, t := range terms[k:] {
			g = arith.GCD(g, t.coef)
		}
		lo, hi := sumBounds(terms[:k])
		if lo+c <= -g || hi+c >= g {
			continue
		}
		// Both scales are 0 by themselves. One of them has the loop.
		if slices.ContainsFunc(terms[:k], func(t scaled) bool { return t.isLoop }) {
			return mayVanish(terms[:k], c)
		}
		return lo+c <= 0 && 0 <= hi+c && mayVanish(terms[k:], 0)
	}
	lo, hi := sumBounds(terms)
	if len(terms) == 1 && terms[0].isLoop {
		return c%terms[0].coef == 0 && c != 0 && lo+c <= 0 && 0 <= hi+c
	}
	return lo+c <= 0 && 0 <= hi+c
}

func sumBounds(terms []scaled) (lo, hi int64) {
	for _, t := range terms {
		lo, hi = lo+t.coef*t.lo, hi+t.coef*t.hi
	}
	return lo, hi
}
