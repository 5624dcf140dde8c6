package graph_test

import (
	"math/rand/v2"
	"testing"

	"ripc/graph"
	"ripc/internal/f32"
)

// TestSplitWeights: weights that are sums of weights of 1 bit are found, with an estimator's roundings too; others are not.
func TestSplitWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		name   string
		values func(o int) []float32 // of a filter
		ste    float32               // the largest number that was added and subtracted
		plus   int
		minus  int
	}{
		{"two scales", func(o int) []float32 { return []float32{-0.31, 0, 0.17 + 0.01*float32(o)} }, 0, 1, 1},
		{"two scales of a layer", func(int) []float32 { return []float32{-0.31, 0, 0.17} }, 0, 1, 1},
		{"two scales, estimated", func(o int) []float32 { return []float32{-0.31, 0, 0.17 + 0.01*float32(o)} }, 1, 1, 1},
		{"two scales, estimated by large numbers", func(o int) []float32 { return []float32{-0.31, 0, 0.17 + 0.01*float32(o)} }, 20, 1, 1},
		{"two positive scales", func(int) []float32 { return []float32{0, 0.17, 0.4} }, 0, 2, 0},
		{"sums of two positive scales", func(int) []float32 { return []float32{0, 0.25, 0.375, 0.625} }, 0, 2, 0},
		{"two bases", func(o int) []float32 {
			a, b := 0.4+0.01*float32(o), float32(0.13)
			return []float32{-a - b, -a + b, a - b, a + b}
		}, 0, 2, 0},
		{"two bases, estimated", func(int) []float32 { return []float32{-0.53, -0.27, 0.27, 0.53} }, 1, 2, 0},
		{"a filter without negative ones", func(o int) []float32 {
			if o == 2 {
				return []float32{0, 0.2}
			}
			return []float32{-0.31, 0, 0.17}
		}, 0, 1, 1},
		{"three real values", func(int) []float32 { return []float32{-0.31, 0.05, 0.17} }, 0, 0, 0},
		{"four scales", func(int) []float32 { return []float32{-0.31, -0.1, 0, 0.17, 0.4} }, 0, 0, 0},
		{"real weights", func(int) []float32 {
			v := make([]float32, 400)
			for i := range v {
				v[i] = float32(r.NormFloat64())
			}
			return v
		}, 0, 0, 0},
	} {
		w := &graph.Tensor{Shape: []int{3, 3, 8, 4}}
		var want []float32
		for i := range w.Elems() {
			v := c.values(i % 4)
			q, y := v[r.IntN(len(v))], c.ste*(2*r.Float32()-1)
			want = append(want, q)
			w.Data = graph.NumbersOf(append(w.Data.Floats(), f32.Add(f32.Sub(q, y), y)))
		}
		parts, exact := graph.SplitWeights(w)
		plus, minus := 0, 0
		sum := make([]float32, w.Data.Len())
		for _, p := range parts {
			sign := float32(1)
			if plus++; p.Minus {
				plus, minus, sign = plus-1, minus+1, -1
			}
			if few, _ := graph.Decompose(p.W); few == nil || !few.Attrs.OneBit() && few.Attrs.Bits != 1 {
				t.Errorf("%s: a part has %+v", c.name, few)
			}
			for i, v := range p.W.Data.All() {
				sum[i] += sign * v
			}
		}
		if plus != c.plus || minus != c.minus {
			t.Errorf("%s: %d parts added and %d subtracted, want %d and %d", c.name, plus, minus, c.plus, c.minus)
		}
		if len(parts) == 0 {
			continue
		}
		if exact != (c.ste == 0 && c.name != "two bases") {
			t.Errorf("%s: exact %v", c.name, exact)
		}
		for i, v := range sum {
			if f32.Abs(f32.Sub(v, want[i])) > 2e-6 {
				t.Fatalf("%s: the parts of weight %d add up to %g, want %g", c.name, i, v, want[i])
			}
		}
	}
}
