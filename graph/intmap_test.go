package graph

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph/scalar"
	"ripc/ir"
)

// TestIntMapFormula: what only changes the scale, or is a ReLU that leaks, has a formula, unless levels are halves of others; what turns has none.
func TestIntMapFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.Float64Range(0.001, 1)
		zero := rapid.IntRange(0, 255)
		x := scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: scale.Draw(t, "x"), Zero: zero.Draw(t, "zero of x")}
		y := &scalar.Quantizer{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: scale.Draw(t, "y"), Zero: zero.Draw(t, "zero of y")}, Rounding: scalar.HalfEven}
		slope := float32(rapid.SampledFrom([]float64{1, 0.01, 0.2, 0.7}).Draw(t, "slope"))
		a := IntMapOf(x, y, func(v float32) float32 {
			if v < 0 {
				return slope * v
			}
			return v
		})
		halves := false
		for l := range a.Table {
			v := x.Real(l) / y.Scale
			if v < 0 {
				v *= float64(slope)
			}
			_, rest := math.Modf(math.Abs(v))
			halves = halves || math.Abs(rest-0.5) < 1e-4
		}
		if _, _, ok := a.Formula(x, 3); !ok && !halves {
			t.Fatalf("no formula for %v", a.Table)
		}
		for l := range a.Table {
			a.Table[l] = max(y.Zero-3, 0, a.Table[255-l])
		}
		if _, _, ok := a.Formula(x, 3); ok && a.Table[0] > a.Table[255] {
			t.Fatalf("a formula for %v", a.Table)
		}
	})
}

// TestIntMapFormulaTouching: factors of both signs that have one number in common, at which 0.5 is rounded, are two.
func TestIntMapFormulaTouching(t *testing.T) {
	x := scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: 0.050048828125, Zero: 10}
	y := &scalar.Quantizer{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: 1, Zero: 1}, Rounding: scalar.HalfEven}
	a := IntMapOf(x, y, func(v float32) float32 {
		if v < 0 {
			return 0.01 * v
		}
		return v
	})
	if _, _, ok := a.Formula(x, 3); !ok {
		t.Errorf("no formula for %v", a.Table)
	}
}
