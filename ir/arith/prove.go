package arith

import "ripc/ir"

// CanProve reports whether cond holds for all values of the loop variables in r. A false answer
// proves nothing.
func CanProve(cond ir.Expr, r Ranges) bool { return proves(cond, r, nil) }

// Follows is CanProve under the conditions given, which hold at the same moment: no buffer that
// they and cond read is written in between (ir.Func.Lasting).
func Follows(cond ir.Expr, r Ranges, given ...ir.Expr) bool {
	p := place{r: r}
	for _, g := range given {
		var possible bool
		if p, possible = p.assuming(g, g); !possible {
			return true
		}
	}
	return proves(cond, p.r, p.facts)
}

// proves reports whether cond follows from the ranges and from facts, sums known to be at least 0.
func proves(cond ir.Expr, r Ranges, known []Affine) bool {
	cond = Simplify(cond, r)
	switch c := cond.(type) {
	case *ir.IntImm:
		return c.V != 0
	case *ir.Binary:
		switch {
		case c.Op == ir.And:
			return proves(c.A, r, known) && proves(c.B, r, known)
		case c.Op == ir.Or:
			return proves(c.A, r, known) || proves(c.B, r, known)
		case c.Op == ir.Ne:
			lt, gt := &ir.Binary{Op: ir.Lt, A: c.A, B: c.B}, &ir.Binary{Op: ir.Gt, A: c.A, B: c.B}
			return c.A.Type() == ir.I64 && (proves(lt, r, known) || proves(gt, r, known))
		case c.Op.IsCompare():
			goals := facts(c, r) // facts that would follow from cond are the goals
			for _, g := range goals {
				if !nonNegative(g, r, known, 3) {
					return false
				}
			}
			return len(goals) > 0
		}
	}
	return false
}

// facts lists sums that are at least 0 when cond holds, as integers. A sum that might wrap is no
// fact. A single comparison of i64 holds exactly if all its facts do.
func facts(cond ir.Expr, r Ranges) []Affine {
	switch c := cond.(type) {
	case *ir.Unary:
		if b, ok := c.A.(*ir.Binary); ok && c.Op == ir.Not {
			if op, ok := opposite(b.Op); ok {
				return facts(&ir.Binary{Op: op, A: b.A, B: b.B}, r)
			}
			if b.Op == ir.Or && b.Type() == ir.Bool {
				return append(facts(ir.Un(ir.Not, b.A), r), facts(ir.Un(ir.Not, b.B), r)...)
			}
		}
	case *ir.Binary:
		if c.Op == ir.And && c.Type() == ir.Bool {
			return append(facts(c.A, r), facts(c.B, r)...)
		}
		if !c.Op.IsCompare() || c.A.Type() != ir.I64 {
			return nil
		}
		up, _, ok := simplifier{env{r: r}}.difference(c.A, c.B)
		down, ok2 := Affine{}.plusExact(-1, up)
		if !ok || !ok2 {
			return nil
		}
		switch c.Op {
		case ir.Ge:
			return []Affine{up}
		case ir.Gt:
			return above(up)
		case ir.Le:
			return []Affine{down}
		case ir.Lt:
			return above(down)
		case ir.Eq:
			return []Affine{up, down}
		}
	}
	return nil
}

// above lists a - 1, which is at least 0 where a is above 0.
func above(a Affine) []Affine {
	if less, ok := a.plusExact(-1, Affine{Const: 1}); ok {
		return []Affine{less}
	}
	return nil
}

// nonNegative proves a >= 0: by its interval, or after subtracting a multiple of a fact that shares
// a term with it.
func nonNegative(a Affine, r Ranges, known []Affine, depth int) bool {
	iv, ok := a.Bounds(r)
	if ok && iv.Lo >= 0 {
		return true
	}
	if !ok || iv.Hi < 0 || depth == 0 || !small(a) {
		return false
	}
	for _, f := range append(implied(a, r), known...) {
		for _, t := range a.Terms {
			c := coefOf(f, t.Atom)
			if c == 0 || (c > 0) != (t.Coef > 0) {
				continue
			}
			// n*a - m*f lacks the shared term; if it is at least 0, so is a, since m*f is.
			g := GCD(t.Coef, c)
			n, m := c/g, t.Coef/g
			if n < 0 {
				n, m = -n, -m
			}
			if n > 1<<20 || m > 1<<20 || !small(f) {
				continue
			}
			if nonNegative(Affine{}.Plus(n, a).Plus(-m, f), r, known, depth-1) {
				return true
			}
		}
	}
	return false
}

// small reports whether the factors of a can be multiplied by 1<<20, and two such sums added,
// without wrapping.
func small(a Affine) bool {
	ok := abs(a.Const) < 1<<40
	for _, t := range a.Terms {
		ok = ok && abs(t.Coef) < 1<<40
	}
	return ok
}

func coefOf(a Affine, atom ir.Expr) int64 {
	for _, t := range a.Terms {
		if ir.Equal(t.Atom, atom) {
			return t.Coef
		}
	}
	return 0
}

// remainders lists facts about the remainders among the atoms of a: x % c is at most x, where x is
// not negative.
func remainders(a Affine, r Ranges) []Affine {
	var out []Affine
	for _, t := range a.Terms {
		x, _, ok := byConst(t.Atom, ir.Mod)
		if !ok || t.Atom.Type() != ir.I64 {
			continue
		}
		of := ToAffine(x)
		if iv, fits := of.Bounds(r); !fits || iv.Lo < 0 {
			continue
		}
		if f, exact := of.plusExact(-1, Affine{Terms: []Term{{1, t.Atom}}}); exact {
			out = append(out, f)
		}
	}
	return out
}

// implied lists facts about the divisions, min and max among the atoms of a.
func implied(a Affine, r Ranges) []Affine {
	var out []Affine
	for _, t := range a.Terms {
		b, ok := t.Atom.(*ir.Binary)
		if !ok || b.Type() != ir.I64 {
			continue
		}
		self := Affine{Terms: []Term{{1, b}}}
		x, y := ToAffine(b.A), ToAffine(b.B)
		_, ok1 := x.Bounds(r)
		_, ok2 := y.Bounds(r)
		if !ok1 || !ok2 {
			continue
		}
		note := func(a Affine, k int64, b Affine) { // a + k*b is a fact
			if f, exact := a.plusExact(k, b); exact {
				if _, fits := f.Bounds(r); fits {
					out = append(out, f)
				}
			}
		}
		switch b.Op {
		case ir.Div: // 0 <= x - c*(x/c) <= c-1
			c := y.Const
			if len(y.Terms) > 0 || c <= 0 || c > 1<<31 {
				continue
			}
			if rest, exact := x.plusExact(-c, self); exact {
				note(rest, 1, Affine{})
				note(Affine{Const: c - 1}, -1, rest)
			}
		case ir.Min:
			note(x, -1, self)
			note(y, -1, self)
		case ir.Max:
			note(self, -1, x)
			note(self, -1, y)
		}
	}
	return out
}
