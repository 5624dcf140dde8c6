package scalar_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
)

// TestFunctionExpr: a function's expression is its value, to the bit, for numbers of all sorts.
func TestFunctionExpr(t *testing.T) {
	for _, f := range scalar.Functions() {
		rapid.Check(t, func(t *rapid.T) {
			count, truths := f.Arguments()
			x := drawNumbers(t, 1)
			var others []float32
			for k := range count - 1 {
				others = append(others, rapid.SampledFrom(x).Draw(t, string(rune('b'+k))))
			}
			got := evaluate(t, ir.F32, x, others, func(x ir.Expr, operand func() ir.Expr) ir.Expr {
				args := []ir.Expr{x}
				for range others {
					args = append(args, operand())
				}
				for k := range truths {
					args[k] = ir.Bin(ir.Gt, args[k], ir.Float(0))
				}
				e := f.Expr(args...)
				if (e.Type() == ir.Bool) != f.Truth() {
					t.Fatalf("%s makes %s", f, e.Type())
				}
				if f.Truth() {
					e = ir.CastTo(ir.F32, ir.CastTo(ir.I32, e))
				}
				return e
			})
			for i := range x {
				args := append([]float32{x[i]}, others...)
				for k := range truths {
					args[k] = 0
					if f32.Flush(append([]float32{x[i]}, others...)[k]) > 0 {
						args[k] = 1
					}
				}
				if want := f.Eval(args...); !same(math.Float32frombits(got[i]), want) {
					t.Fatalf("%s of %v is %g, its expression %g", f, args, want, math.Float32frombits(got[i]))
				}
			}
		})
	}
}

// TestFunctions: what comparisons say of NaN, zeros and subnormal numbers, and choices of both sides.
func TestFunctions(t *testing.T) {
	nan, negz, tiny := float32(math.NaN()), float32(math.Copysign(0, -1)), float32(0x1p-140)
	for _, c := range []struct {
		f    scalar.Function
		args []float32
		want float32
	}{
		{scalar.Equal, []float32{0, negz}, 1}, {scalar.Equal, []float32{tiny, 0}, 1}, {scalar.Equal, []float32{nan, nan}, 0}, {scalar.NotEqual, []float32{nan, nan}, 1},
		{scalar.Less, []float32{1, 2}, 1}, {scalar.Less, []float32{2, 2}, 0}, {scalar.LessEqual, []float32{2, 2}, 1}, {scalar.LessEqual, []float32{nan, 2}, 0},
		{scalar.Greater, []float32{tiny, 0}, 0}, {scalar.GreaterEqual, []float32{negz, tiny}, 1}, {scalar.Minimum, []float32{nan, 2}, 2}, {scalar.Maximum, []float32{2, nan}, nan},
		{scalar.Where, []float32{1, 5, 7}, 5}, {scalar.Where, []float32{0, 5, 7}, 7}, {scalar.Not, []float32{1}, 0}, {scalar.Xor, []float32{1, 1}, 0}, {scalar.And, []float32{1, 0}, 0}, {scalar.Or, []float32{1, 0}, 1},
	} {
		if got := c.f.Eval(c.args...); !same(got, c.want) {
			t.Errorf("%s of %v is %g, want %g", c.f, c.args, got, c.want)
		}
	}
}
