package features

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/ir"
)

// TestShares: the body of a condition counts as often as the condition holds, its other side as often as not, as brute force finds.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outer, inner := rapid.IntRange(1, 9).Draw(t, "outer"), rapid.IntRange(1, 9).Draw(t, "inner")
		step, limit := rapid.IntRange(1, 9).Draw(t, "step"), rapid.IntRange(-3, 90).Draw(t, "limit")
		op := rapid.SampledFrom([]ir.BinOp{ir.Lt, ir.Le, ir.Gt, ir.Ge, ir.Eq, ir.Ne}).Draw(t, "op")
		at, modulus := ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V("i"), ir.Int(step)), ir.V("j")), math.MaxInt
		if rapid.Bool().Draw(t, "remainder") {
			modulus = 1 + rapid.IntRange(0, 6).Draw(t, "modulus")
			at = ir.Bin(ir.Mod, at, ir.Int(modulus))
		}
		cond := ir.Bin(op, at, ir.Int(limit))
		holds := 0
		for i := range outer {
			for j := range inner {
				v := (i*step + j) % modulus
				if map[ir.BinOp]bool{ir.Lt: v < limit, ir.Le: v <= limit, ir.Gt: v > limit, ir.Ge: v >= limit, ir.Eq: v == limit, ir.Ne: v != limit}[op] {
					holds++
				}
			}
		}
		store := func(buf string) ir.Stmt { return &ir.Store{Buf: buf, Idx: []ir.Expr{ir.Int(0)}, Val: ir.Float(1)} }
		b := ir.Buffer{Name: "y", Type: ir.F32, Shape: []int{1}}
		f := &ir.Func{Name: "f", Params: []ir.Param{{Buffer: b, Out: true}}, Body: &ir.For{Var: "i", Extent: outer,
			Body: &ir.For{Var: "j", Extent: inner, Body: &ir.If{Cond: cond, Then: store("y"), Else: nil}}}}
		k := newKernel(f, &Describer{}, true)
		if got := k.moves().stores; math.Abs(got-float64(holds)) > 1e-3 {
			t.Errorf("%v stores, %d were expected", got, holds)
		}
		f.Body.(*ir.For).Body.(*ir.For).Body.(*ir.If).Else = store("y")
		if got := newKernel(f, &Describer{}, true).moves().stores; math.Abs(got-float64(outer*inner)) > 1e-3 {
			t.Errorf("%v stores on both sides, %d were expected", got, outer*inner)
		}
	})
}

// TestUnknownShares: a condition on what memory holds may always hold.
func TestUnknownShares(t *testing.T) {
	load := &ir.Load{Buf: "x", T: ir.I32, Idx: []ir.Expr{ir.Int(0)}}
	if _, known := shareOf(ir.Bin(ir.Lt, load, ir.Const(ir.I32, 3)), nil); known {
		t.Error("the share of a condition that reads memory is known")
	}
}
