package ops_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// TestIntSoftmax: rows of bytes become what f32 makes of the exponentials of their distances, in each form, and whatever the zero points are.
func TestIntSoftmax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]int{1, 3, 32, 65}).Draw(t, "channels")
		x := layout.Tensor{Value: graph.Value{Shape: []int{1, 2, 3, c}, LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 8,
			Scale: rapid.SampledFrom([]float64{0.004, 0.1, 1}).Draw(t, "scale of x"), Zero: rapid.IntRange(0, 255).Draw(t, "zero of x")}}, Form: layout.Bytes}
		a := &graph.IntSoftmaxAttrs{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: rapid.SampledFrom([]float64{1.0 / 256, 0.05}).Draw(t, "scale of y"),
			Zero: rapid.IntRange(0, 255).Draw(t, "zero of y")}}
		if !a.Finite(x.LevelType, c) {
			a.Scale = 0.05
		}
		levels := rapid.SliceOfN(rapid.Byte(), 6*c, 6*c).Draw(t, "levels")
		f, consts := ops.IntSoftmax(a, x, layout.Bytes)
		exps := consts[0].Data().([]float32)
		got := run(t, f, levels, exps)
		for i := 0; i < 6*c; i += c {
			row, sum := levels[i:i+c], float32(0)
			top := slices.Max(row)
			for _, l := range row {
				sum = f32.Add(sum, exps[top-l])
			}
			for o, l := range row {
				want := min(int(f32.RoundEven(f32.Div(f32.Mul(exps[top-l], a.Steps()), sum)))+a.Zero, 255)
				if g := got[i+o]; int(g) != want {
					t.Fatalf("channel %d of row %d is %d, want %d", o, i/c, g, want)
				}
			}
		}
	})
}

// TestIntSoftmaxSteps: f32 rounds 1/255 up, so that 254 of its levels make 1, as onnxruntime has it; and rows of one level of a small scale exceed f32.
func TestIntSoftmaxSteps(t *testing.T) {
	x := scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: 0.1}
	for scale, want := range map[float64]float32{1.0 / 256: 256, 1.0 / 255: 254, 0.3: 3, 2: 0} {
		if a := (&graph.IntSoftmaxAttrs{LevelType: scalar.LevelType{Scale: scale}}); a.Steps() != want {
			t.Errorf("%g levels of %g make 1, want %g", a.Steps(), scale, want)
		}
	}
	a := &graph.IntSoftmaxAttrs{LevelType: scalar.LevelType{Scale: 1.0 / 256}}
	if a.Finite(x, 1) || !a.Finite(x, 2) || !a.Finite(x, 1000) {
		t.Error("of rows of 1, 2 and 1000 levels only those of 1 are too many")
	}
}
