package ir_test

import (
	"math"
	"testing"

	"ripc/ir"
)

// nodes counts the nodes of e, and the different ones.
func nodes(e ir.Expr) (all, different int) {
	seen := map[ir.Expr]bool{}
	ir.WalkExpr(e, func(e ir.Expr) bool {
		all++
		seen[e] = true
		return true
	})
	return all, len(seen)
}

func TestShare(t *testing.T) {
	x := func(c int) ir.Expr {
		return ir.At(ir.Buffer{Name: "x", Type: ir.F32, Shape: []int{1, 1, 1, 1, 1, 1, 1, 9}}, ir.V("a"), ir.V("b"), ir.V("c"), ir.V("d"), ir.V("e"), ir.V("f"), ir.V("g"), ir.Int(c))
	}
	add := func(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Add, a, b) }
	for _, c := range []struct {
		name      string
		e         ir.Expr
		different int
	}{
		{"equal loads", add(x(1), x(1)), 10},
		{"loads that differ in their last index", add(x(1), x(2)), 12},
		{"zeros of both signs", add(ir.Float(0), ir.Float(float32(math.Copysign(0, -1)))), 3},
		{"constants of two types", add(ir.CastTo(ir.I32, ir.Const(ir.U8, 1)), ir.Const(ir.I32, 1)), 4},
		{"operators", add(ir.Bin(ir.Sub, ir.V("a"), ir.V("b")), ir.Bin(ir.Sub, ir.V("b"), ir.V("a"))), 5},
	} {
		s := ir.Share(c.e)
		if got, want := ir.ExprString(s), ir.ExprString(c.e); got != want {
			t.Errorf("%s: %s became %s", c.name, want, got)
		}
		if b, ok := c.e.(*ir.Binary); !ok || ir.Equal(b.A, b.B) != (s.(*ir.Binary).A == s.(*ir.Binary).B) || !ir.Equal(s, c.e) {
			t.Errorf("%s: Share and Equal disagree on %s", c.name, ir.ExprString(c.e))
		}
		if _, n := nodes(s); n != c.different {
			t.Errorf("%s: %d different parts, want %d", c.name, n, c.different)
		}
	}
	e := x(0)
	for range 12 { // each is twice the one before
		e = add(e, ir.Un(ir.Abs, e))
	}
	if all, n := nodes(ir.Share(e)); n > 9+2*12 || all < 1<<12 {
		t.Errorf("%d parts, %d of them different", all, n)
	}
}
