package scalar_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph/scalar"
	"ripc/ir"
)

func levelType(t *rapid.T, name string) scalar.LevelType {
	v := scalar.LevelType{
		Enc:   rapid.SampledFrom([]ir.EncodingKind{ir.Unipolar, ir.Bipolar, ir.BipolarInv}).Draw(t, name),
		Bits:  rapid.IntRange(1, 5).Draw(t, name+" bits"),
		Scale: math.Ldexp(rapid.SampledFrom([]float64{1, 0.3, 1.0 / 3}).Draw(t, name+" scale"), rapid.IntRange(-2, 2).Draw(t, name+" exponent")),
	}
	if rapid.Bool().Draw(t, name+" shifted") {
		v.Offset = rapid.SampledFrom([]float64{-0.7, 0.125}).Draw(t, name+" offset")
	}
	if v.Enc == ir.Unipolar {
		v.Zero = rapid.IntRange(0, v.Top()).Draw(t, name+" zero")
	}
	return v
}

// TestSumOf: levels add up to the level of the real sum, and no type of fewer bits holds all sums, but for those that have 0
// between two values.
func TestSumOf(t *testing.T) {
	exact := 0
	rapid.Check(t, func(t *rapid.T) {
		x, y, minus := levelType(t, "x"), levelType(t, "y"), rapid.Bool().Draw(t, "minus")
		s, fault := scalar.SumOf(x, y, minus)
		ratio := math.Log2(x.Scale / y.Scale)
		if (fault == scalar.SumScales) != (math.Abs(ratio-math.Round(ratio)) > 1e-9) {
			t.Fatalf("fault %d, scales %g and %g", fault, x.Scale, y.Scale)
		}
		if fault != scalar.SumExact {
			if fault == scalar.SumTooWide && s.Type.Bits <= scalar.MaxLevelBits {
				t.Fatalf("%d bits are too wide", s.Type.Bits)
			}
			return
		}
		exact++
		var all []float64
		for lx := range x.Top() + 1 {
			for ly := range y.Top() + 1 {
				want := x.Real(lx) + y.Real(ly)
				if minus {
					want = x.Real(lx) - y.Real(ly)
				}
				l := addend(s.X, x, lx) + addend(s.Y, y, ly)
				if got := s.Type.Real(l); l > s.Type.Top() || math.Abs(got-want) > 1e-9 {
					t.Fatalf("%v %g + %v %g (minus %v): level %d of %+v is %g, want %g", x, x.Real(lx), y, y.Real(ly), minus, l, s.Type, got, want)
				}
				all = append(all, want)
			}
		}
		if s.Type.Zero < 0 || s.Type.Zero > s.Type.Top() {
			t.Fatalf("%+v", s.Type)
		}
		// The values are multiples of the smallest distance between two of them.
		slices.Sort(all)
		least := math.Inf(1)
		for i := range all[1:] {
			if d := all[i+1] - all[i]; d > 1e-9 {
				least = min(least, d)
			}
		}
		fewest := math.Ceil(math.Log2((all[len(all)-1]-all[0])/least + 1 - 1e-9))
		if s.Type.Bits > int(fewest)+1 || s.Type.Bits > int(fewest) && math.Abs(math.Remainder(all[0]-s.Type.Offset, least)) < 1e-9 {
			t.Fatalf("%+v has %d bits, %v are enough", s.Type, s.Type.Bits, fewest)
		}
	})
	if exact == 0 {
		t.Error("no sum was exact")
	}
}

func TestSumOfTypes(t *testing.T) {
	u := func(bits int, scale float64, zero int) scalar.LevelType {
		return scalar.LevelType{Enc: ir.Unipolar, Bits: bits, Scale: scale, Zero: zero}
	}
	b := func(bits int, scale float64) scalar.LevelType {
		return scalar.LevelType{Enc: ir.Bipolar, Bits: bits, Scale: scale}
	}
	for _, c := range []struct {
		x, y  scalar.LevelType
		minus bool
		want  scalar.LevelType
		fault scalar.SumFault
	}{
		{u(2, 0.25, 0), u(2, 0.25, 0), false, u(3, 0.25, 0), scalar.SumExact},
		{u(2, 0.25, 0), u(2, 0.25, 0), true, u(3, 0.25, 3), scalar.SumExact},
		{b(1, 0.5), b(1, 0.5), false, u(2, 1, 1), scalar.SumExact}, // -1, 0, 1
		{b(1, 1), b(1, 0.5), false, b(2, 0.5), scalar.SumExact},    // -3, -1, 1, 3 halves
		{b(1, 0.5), b(2, 1), false, b(3, 0.5), scalar.SumExact},    // -7..7 halves
		{b(1, 2), b(1, 0.5), false, u(4, 0.5, 5), scalar.SumExact}, // -5, -3, 3, 5 halves: 10 half steps
		{b(1, 0.5), u(2, 0.5, 1), false, u(3, 0.5, 2), scalar.SumExact},
		{b(1, 1), u(1, 1, 0), true, u(2, 1, 2), scalar.SumExact}, // -2..1
		{u(8, 1, 0), u(8, 1, 0), false, u(9, 1, 0), scalar.SumTooWide},
		{u(1, 1024, 0), u(1, 1, 0), false, scalar.LevelType{Bits: 11}, scalar.SumTooWide},
		{u(1, 1, 0), u(1, 0.3, 0), false, scalar.LevelType{}, scalar.SumScales},
		{u(1, 1, 0), scalar.LevelType{}, false, scalar.LevelType{}, scalar.SumNotEncoded},
	} {
		if got, fault := scalar.SumOf(c.x, c.y, c.minus); got.Type != c.want || fault != c.fault {
			t.Errorf("%v(%g), %v(%g), minus %v: %+v (%d), want %+v (%d)", c.x, c.x.Scale, c.y, c.y.Scale, c.minus, got.Type, fault, c.want, c.fault)
		}
	}
}

// addend is the part of level l, of type t, in the level of a sum.
func addend(s scalar.Term, t scalar.LevelType, l int) int {
	if s.Flipped {
		l = t.Top() - l
	}
	return l << s.Shift
}
