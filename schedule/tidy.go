package schedule

import (
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// tidy simplifies all expressions below s and drops conditions that are decided. known are
// conditions that hold where s stands.
func tidy(s ir.Stmt, r arith.Ranges, known []ir.Expr) ir.Stmt {
	simple := func(e ir.Expr) ir.Expr { return arith.Simplify(e, r) }
	switch x := s.(type) {
	case *ir.If:
		return tidyIf(x, simple(x.Cond), r, known)
	case *ir.Store, *ir.Call:
		return ir.MapStmt(s, nil, simple)
	}
	return mapChildren(s, func(t ir.Stmt) ir.Stmt { return tidy(t, r, known) })
}

func tidyIf(x *ir.If, cond ir.Expr, r arith.Ranges, known []ir.Expr) ir.Stmt {
	cond = dropKnown(cond, r, known)
	if c, ok := cond.(*ir.IntImm); ok {
		switch {
		case c.V != 0:
			return tidy(x.Then, r, known)
		case x.Else != nil:
			return tidy(x.Else, r, known)
		}
		return &ir.Block{}
	}
	in := append(known[:len(known):len(known)], facts(cond)...)
	out := &ir.If{Cond: cond, Then: tidy(x.Then, r, in)}
	if x.Else != nil {
		out.Else = tidy(x.Else, r, known)
	}
	return out
}

// facts are the conjuncts of a condition that go on to hold whatever is written.
func facts(cond ir.Expr) []ir.Expr {
	return slices.DeleteFunc(ir.Conjuncts(cond), ir.ReadsMemory)
}

// dropKnown leaves out the conjuncts that hold anyway.
func dropKnown(cond ir.Expr, r arith.Ranges, known []ir.Expr) ir.Expr {
	var out ir.Expr
	for _, c := range ir.Conjuncts(cond) {
		switch {
		case implied(c, r, known):
		case out == nil:
			out = c
		default:
			out = &ir.Binary{Op: ir.And, A: out, B: c}
		}
	}
	if out == nil {
		return ir.Const(ir.Bool, 1)
	}
	return out
}

// implied reports whether c is one of the known conditions, or follows from one: a <= k gives m*a +
// b <= n if m*k + b never exceeds n.
func implied(c ir.Expr, r arith.Ranges, known []ir.Expr) bool {
	a, n, ok := upper(c, r)
	for _, f := range known {
		if ir.Equal(f, c) {
			return true
		}
		b, k, ok2 := upper(f, r)
		if !ok || !ok2 || len(b.Terms) == 0 || deps.Large(k) {
			continue
		}
		m := int64(0)
		for _, t := range a.Terms {
			if q := b.Terms[0]; ir.Equal(t.Atom, q.Atom) && t.Coef%q.Coef == 0 {
				m = t.Coef / q.Coef
			}
		}
		if m <= 0 || deps.Large(m) {
			continue
		}
		if rest, ok := a.Plus(-m, b).Bounds(r); ok && !deps.Large(rest.Hi) && m*k+rest.Hi <= n {
			return true
		}
	}
	return false
}

// upper writes a comparison with a constant as affine <= bound, if nothing of it can wrap.
func upper(c ir.Expr, r arith.Ranges) (a arith.Affine, bound int64, ok bool) {
	b, ok := c.(*ir.Binary)
	if !ok || b.A.Type() != ir.I64 || ir.ReadsMemory(b) {
		return a, 0, false
	}
	if a, ok = arith.Difference(b.A, b.B, r); !ok {
		return a, 0, false
	}
	switch b.Op {
	case ir.Lt:
		a.Const++
	case ir.Le:
	case ir.Ge, ir.Gt:
		a = arith.Affine{}.Plus(-1, a)
		if b.Op == ir.Gt {
			a.Const++
		}
	default:
		return a, 0, false
	}
	bound, a.Const = -a.Const, 0
	return a, bound, !deps.Large(bound)
}
