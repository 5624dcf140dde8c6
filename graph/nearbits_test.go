package graph_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ripc/graph"
	"ripc/internal/f32"
)

// TestNearly: weights that straight-through estimators have rounded become those that they estimate.
func TestNearly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		ints []float32
		off  float32
		want string // encoding and bits; "" if they are real weights
	}{
		{"signs", []float32{-1, 1}, 0, "bipolar 1"},
		{"ternary", []float32{-1, 0, 1}, 0, "ternary 2"},
		{"four levels", []float32{-3, -1, 1, 3}, 0, "bipolar 2"},
		{"two values", []float32{-1, 1}, 0.375, "bipolar 1"},
		{"affine", []float32{-2, -1, 0, 1}, 0, "affine 2"},
		{"too many", []float32{-400, -171, -113, -67, 0, 51, 97, 133, 217, 221, 239, 241, 273, 291, 313, 355, 399}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &graph.Tensor{Shape: []int{3, 3, 8, 4}}
			var exact []float32
			for i := range 3 * 3 * 8 * 4 {
				alpha := []float32{0.0421, 0.73, 0.3, 0.0113}[i%4]
				v := f32.Add(f32.Mul(alpha, c.ints[r.IntN(len(c.ints))]), f32.Mul(alpha, c.off))
				clip := 2*r.Float32() - 1
				exact = append(exact, v)
				w.Data = graph.NumbersOf(append(w.Data.Floats(), f32.Add(f32.Sub(v, clip), clip)))
			}
			if few, _ := graph.Decompose(w); few != nil {
				t.Fatalf("they have few bits as they are")
			}
			near := graph.RoundToFewBits(w)
			if c.want == "" {
				if near != nil {
					t.Fatal("they are taken for few bits")
				}
				return
			}
			if near == nil {
				t.Fatal("nothing is found")
			}
			for i, v := range near.Data.All() {
				if d := f32.Abs(f32.Sub(v, exact[i])); d > 1e-7 {
					t.Fatalf("weight %d is %g, estimates %g", i, v, exact[i])
				}
			}
			few, _ := graph.Decompose(near)
			if bits, enc := few.Attrs.WeightType(); enc+" "+string(rune('0'+bits)) != c.want {
				t.Errorf("they are %s %d, want %s", enc, bits, c.want)
			}
			if again := graph.RoundToFewBits(near); again != nil || slices.Equal(near.Data.Floats(), w.Data.Floats()) {
				t.Error("what was found is not left as it is")
			}
		})
	}
}

// TestNearlyNot: real weights stay what they are, and so do those whose scale drowns in the roundings.
func TestNearlyNot(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, scale := range []float32{1, 0.01, 1e-3} {
		w := &graph.Tensor{Shape: []int{12, 4}}
		for range 48 {
			w.Data = graph.NumbersOf(append(w.Data.Floats(), scale*float32(r.NormFloat64())))
		}
		if graph.RoundToFewBits(w) != nil {
			t.Errorf("normal weights of deviation %g are taken for few bits", scale)
		}
	}
	w := &graph.Tensor{Shape: []int{64, 1}}
	for i := range 64 {
		w.Data = graph.NumbersOf(append(w.Data.Floats(), 1e-6*float32(1-2*(i%2))+1e-7*r.Float32()))
	}
	if graph.RoundToFewBits(w) != nil {
		t.Error("weights near the size of the roundings are taken for few bits")
	}
}
