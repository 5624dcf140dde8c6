package arith

import "ripc/ir"

// Simplify returns an expression of the same value as e, for loop variables in r. Constants are
// folded, index sums put in the form of Affine.Expr, and divisions and comparisons decided where r
// suffices. Floats are folded, never rearranged. It may drop operands that are not needed, so an
// access that would have been an error may be gone.
func Simplify(e ir.Expr, r Ranges) ir.Expr { return simplifier{env{r: r}}.expr(e) }

type simplifier struct{ env }

func (s simplifier) expr(e ir.Expr) ir.Expr {
	switch x := e.(type) {
	case *ir.Load:
		return &ir.Load{Buf: x.Buf, T: x.T, Idx: s.exprs(x.Idx)}
	case *ir.Binary:
		if x.Type() == ir.I64 && x.Op <= ir.Mul || x.Op == ir.Shl && x.Type() == ir.I64 {
			return s.affineExpr(x)
		}
		return s.binary(x.Op, s.expr(x.A), s.expr(x.B))
	case *ir.Unary:
		if x.Op == ir.Neg && x.Type() == ir.I64 {
			return s.affineExpr(x)
		}
		return s.unary(x.Op, s.expr(x.A))
	case *ir.Select:
		return s.choose(s.expr(x.Cond), s.expr(x.A), s.expr(x.B))
	case *ir.Cast:
		a := s.expr(x.A)
		if a.Type() == x.T {
			return a
		}
		return coalesce(foldCast(x.T, a), &ir.Cast{T: x.T, A: a})
	case *ir.Bitcast:
		a := s.expr(x.A)
		if a.Type() == x.T {
			return a
		}
		return coalesce(foldBitcast(x.T, a), &ir.Bitcast{T: x.T, A: a})
	case *ir.Fma:
		a, b, c := s.expr(x.A), s.expr(x.B), s.expr(x.C)
		return coalesce(foldFma(a, b, c), &ir.Fma{A: a, B: b, C: c})
	}
	return e
}

func (s simplifier) exprs(es []ir.Expr) []ir.Expr {
	out := make([]ir.Expr, len(es))
	for i, e := range es {
		out[i] = s.expr(e)
	}
	return out
}

func coalesce(e, otherwise ir.Expr) ir.Expr {
	if e != nil {
		return e
	}
	return otherwise
}

// affineExpr simplifies the atoms of a sum, and then the sum.
func (s simplifier) affineExpr(e ir.Expr) ir.Expr {
	a := ToAffine(e)
	if len(a.Terms) == 1 && a.Const == 0 && a.Terms[0].Coef == 1 && a.Terms[0].Atom == e { // an atom itself
		x, ok := e.(*ir.Binary)
		if !ok {
			return e
		}
		p, q := s.expr(x.A), s.expr(x.B)
		if _, constP := p.(*ir.IntImm); constP || isConst(q) {
			return ToAffine(&ir.Binary{Op: x.Op, A: p, B: q}).Expr()
		}
		return &ir.Binary{Op: x.Op, A: p, B: q}
	}
	out := Affine{Const: a.Const}
	for _, t := range a.Terms {
		out = out.Plus(t.Coef, ToAffine(s.expr(t.Atom)))
	}
	return s.rejoin(out).Expr()
}

func isConst(e ir.Expr) bool {
	_, ok := e.(*ir.IntImm)
	return ok
}

// rejoin turns x/c*(c*k) + x%c*k into x*k.
func (s simplifier) rejoin(a Affine) Affine {
	for _, t := range a.Terms {
		m, ok := t.Atom.(*ir.Binary)
		if !ok || m.Op != ir.Mod || !isConst(m.B) {
			continue
		}
		c := m.B.(*ir.IntImm).V
		div := ir.ExprString(&ir.Binary{Op: ir.Div, A: m.A, B: m.B})
		for _, u := range a.Terms {
			if k, exact := mulOK(t.Coef, c); exact && u.Coef == k && ir.ExprString(u.Atom) == div {
				rest := a.Plus(-1, Affine{Terms: []Term{t}}).Plus(-1, Affine{Terms: []Term{u}})
				return s.rejoin(rest.Plus(t.Coef, ToAffine(m.A)))
			}
		}
	}
	return a
}

func (s simplifier) unary(op ir.UnOp, a ir.Expr) ir.Expr {
	if c := foldUnary(op, a); c != nil {
		return c
	}
	t := a.Type()
	if u, ok := a.(*ir.Unary); ok && u.Op == op && (op == ir.Not || op == ir.Neg && t.IsInt()) {
		return u.A
	}
	if b, ok := a.(*ir.Binary); ok && op == ir.Not {
		if neg, ok := opposite(b.Op); ok && !b.A.Type().IsFloat() {
			return &ir.Binary{Op: neg, A: b.A, B: b.B}
		}
	}
	if op == ir.Abs && t.IsInt() && s.interval(a).Lo >= 0 {
		return a
	}
	return s.decide(&ir.Unary{Op: op, A: a})
}

// opposite returns the comparison that holds where op does not. It is useless for floats, because
// of NaN.
func opposite(op ir.BinOp) (ir.BinOp, bool) {
	if !op.IsCompare() {
		return op, false
	}
	return [...]ir.BinOp{ir.Ne, ir.Eq, ir.Ge, ir.Gt, ir.Le, ir.Lt}[op-ir.Eq], true
}

func (s simplifier) choose(c, a, b ir.Expr) ir.Expr {
	if k, ok := c.(*ir.IntImm); ok {
		if k.V != 0 {
			return a
		}
		return b
	}
	if ir.Equal(a, b) {
		return a
	}
	if x, ok := a.(*ir.IntImm); ok && x.T == ir.Bool && isConst(b) { // and a is not b
		if x.V != 0 {
			return c
		}
		return s.unary(ir.Not, c)
	}
	return &ir.Select{Cond: c, A: a, B: b}
}

// decide replaces an integer expression with a single possible value by that value.
func (s simplifier) decide(e ir.Expr) ir.Expr {
	if iv, ok := s.bounds(e); ok && iv.Lo == iv.Hi {
		return ir.Const(e.Type(), iv.Lo)
	}
	return e
}
