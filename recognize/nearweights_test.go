package recognize

import (
	"math"
	"testing"

	"ripc/graph"
	"ripc/graph/explain"
	"ripc/internal/f32"
)

// TestFoldWeights: weights behind a straight-through estimator, scale * sign(w) - clip(w) + clip(w), are signs but for roundings.
func TestFoldWeights(t *testing.T) {
	for _, fold := range []bool{false, true} {
		n := newNet(t.Fatal, 5)
		x := n.quant(b1(), n.input(1, 4, 4, 8))
		w := n.few([]int{-1, 1}, 3, 3, 8, 4)
		exact := *w
		w.Data = graph.Numbers{}
		for _, v := range exact.Data.All() {
			c := float32(2*n.r.Float64() - 1)
			w.Data = graph.NumbersOf(append(w.Data.Floats(), f32.Add(f32.Sub(v, c), c)))
		}
		n.Outputs = []string{n.conv(x, w, same, true)}
		g, err := Run(t.Context(), n.Graph, Options{ExactFloats: !fold})
		if err != nil {
			t.Fatal(err)
		}
		var layer *graph.Node
		for _, l := range g.Nodes {
			if _, ok := binaryAttrs(l); ok {
				layer = l
			}
		}
		b, _ := binaryAttrs(layer)
		switch {
		case fold:
			if len(g.Roundings) != 1 || g.Roundings[0].Reason != graph.WhyFewFolded || g.Roundings[0].Where != layer.Name || g.Roundings[0].Args.Weights != "bipolar" {
				t.Fatalf("folded: %+v", g.Roundings)
			}
			if b == nil || layer.Verdict.Reason != graph.NoReason {
				t.Fatalf("folded: %+v %+v", b, layer.Verdict)
			}
			for i, v := range layer.Weights["w"].Data.All() {
				if f32.Abs(f32.Sub(v, exact.Data.At(i))) > 1e-7 {
					t.Fatalf("weight %d became %g, estimates %g", i, v, exact.Data.At(i))
				}
			}
		case len(g.Roundings) > 0 || b != nil || layer.Verdict.Reason != graph.WhyNearlyFew || layer.Verdict.Args.WeightBits != 1 || layer.Verdict.Args.Bits != 1:
			t.Errorf("refused: %+v %+v", b, layer.Verdict)
		}
	}
}

// TestEstimators: weights behind a straight-through estimator become what they estimate, whichever way the sum is written, whatever
// is added and subtracted, and however large that is.
func TestEstimators(t *testing.T) {
	type estimator struct {
		name string
		sum  func(q, y float32) float32
	}
	estimators := []estimator{
		{"(q - y) + y", func(q, y float32) float32 { return f32.Add(f32.Sub(q, y), y) }},
		{"y + (q - y)", func(q, y float32) float32 { return f32.Add(y, f32.Sub(q, y)) }},
		{"(q + y) - y", func(q, y float32) float32 { return f32.Sub(f32.Add(q, y), y) }},
		{"y - (y - q)", func(q, y float32) float32 { return f32.Sub(y, f32.Sub(y, q)) }},
	}
	quantizers := map[string]func(w, scale float32) float32{
		"bipolar": func(w, scale float32) float32 {
			if w < 0 {
				return -scale
			}
			return scale
		},
		"ternary": func(w, scale float32) float32 {
			switch {
			case w < -scale/2:
				return -scale
			case w > scale/2:
				return scale
			}
			return 0
		},
		"affine": func(w, scale float32) float32 { // 2 bits: -2, -1, 0, 1
			return scale * float32(max(-2, min(1, math.RoundToEven(float64(w/scale)))))
		},
	}
	for name, quantize := range quantizers {
		for _, e := range estimators {
			for _, c := range []struct {
				what                string
				spread              float64 // of the weights before they are quantized
				clip, shrink, scale float32
			}{{"small weights", 0.05, 8, 1, 0.05}, {"clipped to 1", 1, 1, 1, 1}, {"weights", 1, 8, 1, 1}, {"wide weights", 8, 100, 1, 8}, {"tanh", 1, 0.9, 0.5, 1},
				{"wide weights, small scale", 16, 100, 1, 0.1}, {"weights, small scale", 1, 8, 1, 0.01}} {
				n := newNet(t.Fatal, 7)
				x := n.quant(b1(), n.input(1, 4, 4, 16))
				w := &graph.Tensor{Shape: []int{3, 3, 16, 8}}
				var want []float32
				for i := range w.Elems() {
					v := float32(n.r.NormFloat64() * c.spread)
					q := quantize(v, c.scale*(0.4+0.1*float32(i%8)))
					want = append(want, q)
					w.Data = graph.NumbersOf(append(w.Data.Floats(), e.sum(q, c.shrink*max(-c.clip, min(c.clip, v)))))
				}
				n.Outputs = []string{n.conv(x, w, same, true)}
				g, err := Run(t.Context(), n.Graph, Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range g.Nodes {
					b, ok := binaryAttrs(l)
					if !ok {
						continue
					}
					if b == nil {
						t.Errorf("%s of %s, %s: %s", e.name, name, c.what, explain.Verdict(l.Verdict))
						continue
					}
					if _, enc := b.WeightType(); enc != name {
						t.Errorf("%s of %s, %s: became %s", e.name, name, c.what, enc)
					}
					for i, v := range l.Weights["w"].Data.All() {
						if f32.Abs(f32.Sub(v, want[i])) > 2e-5*max(1, float32(c.spread)) {
							t.Fatalf("%s of %s, %s: weight %d became %g, estimates %g", e.name, name, c.what, i, v, want[i])
						}
					}
				}
			}
		}
	}
}
