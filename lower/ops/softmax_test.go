package ops_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/lower/ops"
)

func TestSoftmax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, c := between(t, 1, 2, "batch"), rapid.SampledFrom([]int{1, 2, 10, 33, 100}).Draw(t, "c")
		x := drawFloats(t, b*c, "x")
		scale := rapid.SampledFrom([]float32{0, 0.01, 1, 10, 50}).Draw(t, "scale")
		for i := range x {
			x[i] *= scale
		}
		f := ops.Softmax([]int{b, c})
		got := floats(run(t, f, x))
		for row := range b {
			xs, sum := x[row*c:(row+1)*c], 0.0
			top := float64(slices.Max(xs))
			for _, v := range xs {
				sum += math.Exp(float64(v) - top)
			}
			for i, v := range xs {
				// Below e^-87 the kernel gives e^-87; rounding of x - max counts relatively in exp.
				want := math.Exp(max(float64(v)-top, -87)) / sum
				if want < 0x1p-125 && got[row*c+i] == 0 {
					continue // flushed to zero
				}
				if g := float64(got[row*c+i]); math.Abs(g-want) > want*(1e-6+math.Abs(float64(v)-top)*0x1p-24) {
					t.Fatalf("softmax(%v)[%d] = %g, want %g", xs, i, g, want)
				}
			}
		}
	})
}
