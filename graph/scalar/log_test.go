package scalar_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
)

// logOf is the logarithm as a step.
func logOf(x float32) float32 { return scalar.Step{Kind: scalar.Log}.Eval(0, x) }

// TestLog: the logarithm is near the true one, over all exponents and densely above 1, and its expression is its value.
func TestLog(t *testing.T) {
	worst, at := 0.0, float32(0)
	for o := f32.Order(1); o < f32.Order(math.MaxFloat32); o += 1009 {
		x := f32.FromOrder(o)
		if e := ulps(logOf(x), math.Log(float64(x))); e > worst {
			worst, at = e, x
		}
	}
	if t.Logf("%.2f ulp at %g", worst, at); worst > 1 || logOf(1) != 0 {
		t.Errorf("the logarithm of %g is %g, %.2f ulp from the true one; that of 1 is %g", at, logOf(at), worst, logOf(1))
	}
	for o := f32.Order(0x1p-126); o < f32.Order(1); o += 1009 {
		if x := f32.FromOrder(o); math.Abs(float64(logOf(x))-math.Log(float64(x))) > 1e-7*max(1, -math.Log(float64(x))) {
			t.Fatalf("the logarithm of %g is %g", x, logOf(x))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float32Range(0x1p-126, math.MaxFloat32), 50, 50).Draw(t, "x")
		for i, got := range evaluate(t, ir.F32, x, nil, func(x ir.Expr, _ func() ir.Expr) ir.Expr { return scalar.LogExpr(x) }) {
			if want := logOf(x[i]); !same(math.Float32frombits(got), want) {
				t.Fatalf("the logarithm of %g is %g, its expression %g", x[i], want, math.Float32frombits(got))
			}
		}
	})
}
