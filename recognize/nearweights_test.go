package recognize

import (
	"testing"

	"ripc/graph"
	"ripc/internal/f32"
)

// TestFoldWeights: weights behind a straight-through estimator, scale * sign(w) - clip(w) + clip(w), are signs but for roundings.
func TestFoldWeights(t *testing.T) {
	for _, fold := range []bool{false, true} {
		n := newNet(t.Fatal, 5)
		x := n.quant(b1(), n.input(1, 4, 4, 8))
		w := n.few([]int{-1, 1}, 3, 3, 8, 4)
		exact := *w
		w.Data = nil
		for _, v := range exact.Data {
			c := float32(2*n.r.Float64() - 1)
			w.Data = append(w.Data, f32.Add(f32.Sub(v, c), c))
		}
		n.Outputs = []string{n.conv(x, w, same, true)}
		g, err := Run(t.Context(), n.Graph, Options{FoldSTE: fold})
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
			if b == nil || layer.Verdict.Reason != graph.WhyFewFolded || layer.Verdict.Args.Weights != "bipolar" {
				t.Fatalf("asked to fold: %+v %+v", b, layer.Verdict)
			}
			for i, v := range layer.Weights["w"].Data {
				if f32.Abs(f32.Sub(v, exact.Data[i])) > 1e-7 {
					t.Fatalf("weight %d became %g, estimates %g", i, v, exact.Data[i])
				}
			}
		case b != nil || layer.Verdict.Reason != graph.WhyNearlyFew || layer.Verdict.Args.WeightBits != 1 || layer.Verdict.Args.Bits != 1:
			t.Errorf("not asked to fold: %+v %+v", b, layer.Verdict)
		}
	}
}
