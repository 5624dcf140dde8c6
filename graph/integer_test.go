package graph

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// gemmlowp multiplies as gemmlowp's fixedpoint.h does, on which TFLite's definition rests: SaturatingRoundingDoublingHighMul, then
// RoundingDivideByPOT.
func gemmlowp(v, multiplier int32, shift int) int32 {
	product := int64(v) * (1 << max(0, shift)) * int64(multiplier)
	nudge := int64(1) << 30
	if product < 0 {
		nudge = 1 - nudge
	}
	high := int32((product + nudge) / (1 << 31))
	right := max(0, -shift)
	mask := int32(int64(1)<<right - 1)
	threshold := mask >> 1
	if high < 0 {
		threshold++
	}
	if high&mask > threshold {
		return high>>right + 1
	}
	return high >> right
}

// TestFixedPoint: products are those of gemmlowp, halves of both signs among them, and numbers are rounded to 31 bits.
func TestFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := FixedPoint{Multiplier: rapid.Int32Range(1<<30, math.MaxInt32).Draw(t, "multiplier"), Shift: rapid.IntRange(-31, 4).Draw(t, "shift")}
		if rapid.IntRange(0, 3).Draw(t, "half") == 0 {
			f.Multiplier = 1 << 30
		}
		v := rapid.Int32Range(-math.MaxInt32>>max(1, f.Shift), math.MaxInt32>>max(1, f.Shift)).Draw(t, "v")
		if got, want := f.Times(int64(v)), gemmlowp(v, f.Multiplier, f.Shift); got != int64(want) {
			t.Fatalf("%d * %v is %d, want %d", v, f, got, want)
		}
		if back := FixedPointOf(f.Real()); back != f {
			t.Fatalf("%v is %v, which is %v", f, f.Real(), back)
		}
	})
	for v, want := range map[float64]FixedPoint{0: {}, 1: {1 << 30, 1}, 0x1p-40: {}, 1 - 0x1p-40: {1 << 30, 1}, 0.75: {3 << 29, 0}, 0x1p-32: {1 << 30, -31}} {
		if got := FixedPointOf(v); got != want {
			t.Errorf("%v is %v, want %v", v, got, want)
		}
	}
}

// TestMean: halves go away from zero.
func TestMean(t *testing.T) {
	s := &ScaleSums{Count: 4, Zero: 100, High: 255}
	for sum, want := range map[int64]int{0: 100, 1: 100, 2: 101, 6: 102, -1: 100, -2: 99, -6: 98, 5000: 255, -5000: 0} {
		if got := s.Level(0, sum); got != want {
			t.Errorf("the mean of %d is the level %d, want %d", sum, got, want)
		}
	}
}
