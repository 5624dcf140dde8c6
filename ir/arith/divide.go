package arith

import (
	"slices"

	"ripc/ir"
)

// divide simplifies a/b and a%b of i64, where b should be a positive constant.
func (s simplifier) divide(op ir.BinOp, a, b ir.Expr) ir.Expr {
	e := &ir.Binary{Op: op, A: a, B: b}
	k, ok := b.(*ir.IntImm)
	if !ok || k.V <= 0 {
		return e
	}
	sum := ToAffine(a)
	if _, ok := s.affine(sum); !ok { // it might wrap, and then multiples of b do not stay multiples
		return s.decide(e)
	}
	if op == ir.Div {
		return s.rejoin(s.quotient(sum, k.V)).Expr()
	}
	return s.rejoin(s.remainder(sum, k.V)).Expr()
}

// parts splits a = c*q + r: q takes the terms that c divides, and the constant's share that leaves
// 0 <= r.Const < c. It returns false if a part could leave int64.
func (s simplifier) parts(a Affine, c int64) (q, r Affine, ok bool) {
	q.Const = FloorDiv(a.Const, c)
	r.Const = a.Const - q.Const*c
	for _, t := range a.Terms {
		if t.Coef%c == 0 {
			q.Terms = append(q.Terms, Term{t.Coef / c, t.Atom})
		} else {
			r.Terms = append(r.Terms, t)
		}
	}
	_, ok1 := s.affine(q)
	_, ok2 := s.affine(r)
	return q, r, ok1 && ok2
}

// quotient is floor(a/c); a does not leave int64.
func (s simplifier) quotient(a Affine, c int64) Affine {
	q, r, ok := s.parts(a, c)
	if !ok {
		return node(ir.Div, a, c)
	}
	rest, _ := s.affine(r)
	if lo := FloorDiv(rest.Lo, c); lo == FloorDiv(rest.Hi, c) {
		q.Const += lo
		return q
	}
	// (g*x + y)/(g*d) is x/d if 0 <= y < g.
	for _, g := range divisors(r, c) {
		x, y, ok := s.parts(r, g)
		if iv, _ := s.affine(y); ok && iv.Lo >= 0 && iv.Hi < g {
			return q.Plus(1, s.quotient(x, c/g))
		}
	}
	if t, ok := single(r); ok { // (x/m)/c is x/(m*c)
		if x, m, ok := byConst(t, ir.Div); ok {
			if d, ok := mulOK(m, c); ok {
				return q.Plus(1, node(ir.Div, ToAffine(x), d))
			}
		}
	}
	return q.Plus(1, node(ir.Div, r, c))
}

// remainder is a - c*floor(a/c); a does not leave int64.
func (s simplifier) remainder(a Affine, c int64) Affine {
	_, r, ok := s.parts(a, c) // the other part is a multiple of c
	if !ok {
		return node(ir.Mod, a, c)
	}
	rest, _ := s.affine(r)
	if lo := FloorDiv(rest.Lo, c); lo == FloorDiv(rest.Hi, c) {
		if k, ok := mulOK(lo, c); ok {
			r.Const -= k
			return r
		}
	}
	// (g*x + y)%(g*d) is g*(x%d) + y if 0 <= y < g.
	for _, g := range divisors(r, c) {
		x, y, ok := s.parts(r, g)
		if iv, _ := s.affine(y); ok && iv.Lo >= 0 && iv.Hi < g {
			return y.Plus(g, s.remainder(x, c/g))
		}
	}
	if t, ok := single(r); ok { // (x%m)%c is x%c if c divides m
		if x, m, ok := byConst(t, ir.Mod); ok && m%c == 0 {
			return node(ir.Mod, ToAffine(x), c)
		}
	}
	return node(ir.Mod, r, c)
}

// divisors lists the common divisors of c and each coefficient of a, largest first, without 1.
func divisors(a Affine, c int64) []int64 {
	var out []int64
	for _, t := range a.Terms {
		if g := GCD(c, t.Coef); g > 1 && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

func single(a Affine) (ir.Expr, bool) {
	if len(a.Terms) == 1 && a.Terms[0].Coef == 1 && a.Const == 0 {
		return a.Terms[0].Atom, true
	}
	return nil, false
}

// byConst splits x op m with a positive constant m.
func byConst(e ir.Expr, op ir.BinOp) (ir.Expr, int64, bool) {
	if b, ok := e.(*ir.Binary); ok && b.Op == op {
		if k, ok := b.B.(*ir.IntImm); ok && k.V > 0 {
			return b.A, k.V, true
		}
	}
	return nil, 0, false
}

// node is the affine form of the division itself.
func node(op ir.BinOp, a Affine, c int64) Affine {
	if c == 1 {
		if op == ir.Div {
			return a
		}
		return Affine{}
	}
	if len(a.Terms) == 0 {
		q := FloorDiv(a.Const, c)
		if op == ir.Div {
			return Affine{Const: q}
		}
		return Affine{Const: a.Const - q*c}
	}
	return Affine{Terms: []Term{{1, &ir.Binary{Op: op, A: a.Expr(), B: ir.Const(ir.I64, c)}}}}
}
