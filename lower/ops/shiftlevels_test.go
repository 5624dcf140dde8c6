package ops_test

import (
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// TestShiftLevels: levels and sums in f32 are shifted as the integers that they stand for.
func TestShiftLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := drawRank(t, "shape")
		channels, r := shape[len(shape)-1], random(t, "numbers")
		enc := rapid.SampledFrom([]ir.EncodingKind{ir.NoEncoding, ir.Unipolar, ir.Bipolar, ir.BipolarInv}).Draw(t, "encoding of x")
		x := &graph.Value{Shape: shape}
		y := scalar.LevelType{Enc: rapid.SampledFrom(encodings).Draw(t, "encoding"), Bits: between(t, 1, 8, "bits")}
		s := &graph.ShiftAdd{}
		left, low := rapid.Bool().Draw(t, "left"), rapid.Bool().Draw(t, "low")
		for range channels {
			s.Add, s.Right = append(s.Add, int32(r.IntN(200)-100)), append(s.Right, int32(r.IntN(7)))
			if left {
				s.Left = append(s.Left, int32(r.IntN(4)))
			}
			if low {
				s.Low = append(s.Low, int32(r.IntN(1<<y.Bits)))
			}
		}
		integers := make([]int, elems(shape))
		var in any
		if enc == ir.NoEncoding {
			sums := make([]float32, len(integers))
			for i := range sums {
				integers[i] = r.IntN(2001) - 1000
				sums[i] = float32(integers[i])
			}
			in = sums
		} else {
			x.LevelType = scalar.LevelType{Enc: enc, Bits: between(t, 1, 8, "bits of x"), Scale: 1}
			if enc == ir.Unipolar {
				x.Zero = between(t, 0, x.Top(), "zero")
			}
			levels := drawLevels(t, len(integers), x.Bits, "x")
			for i, l := range levels {
				integers[i] = x.Integer(l)
			}
			in = pack(levels, x.Bits, channels)
		}
		want := make([]int, len(integers))
		for i, v := range integers {
			o, least := i%channels, 0
			if left {
				v *= 1 << s.Left[o]
			}
			if low {
				least = int(s.Low[o])
			}
			v += int(s.Add[o])
			for range s.Right[o] { // halves, rounded down
				if v%2 != 0 {
					v--
				}
				v /= 2
			}
			if want[i] = max(least, min(v, y.Top())); y.Enc == ir.BipolarInv {
				want[i] = y.Top() - want[i]
			}
		}
		f, consts := ops.ShiftLevels(s, x, y, layout.Planes)
		args := []any{in}
		for _, c := range consts {
			args = append(args, c.Data())
		}
		wantWords(t, f, words(run(t, f, args...)), pack(want, y.Bits, channels))
	})
}
