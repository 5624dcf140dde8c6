package fusedglue

import (
	"math/rand/v2"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestAlike: what all channels have alike is kept once, whether the model says it once or for each channel.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		scale    []float32
		operands int
	}{
		{[]float32{0.5}, 1},
		{[]float32{0.5, 0.5, 0.5}, 1},
		{[]float32{0.5, 0.5, 0.25}, 3},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		n := newNet(t.Fatal, r.NormFloat64)
		scale := &graph.Tensor{Shape: []int{len(c.scale)}, Data: graph.NumbersOf(c.scale)}
		x := n.add("mul", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": scale}, n.input(1, 2, 2, 3))
		y := n.add("mul", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": scale}, n.conv(x, 1, 3, graph.PadSame))
		q := n.quantize(n.plain("relu", x), &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 1}})
		n.Outputs = []string{x, y, q}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, n := range g.Nodes {
			var steps []scalar.Step
			switch a := n.Attrs.(type) {
			case *graph.Elementwise:
				steps = a.Steps
			case *graph.FusedConv:
				steps = a.Epilogue.Steps
			case *graph.ThresholdAttrs:
				if got := n.Weights["thresholds"].Shape[1]; got != 1 { // behind the tensor that the caller reads
					t.Errorf("%v: %d columns of thresholds", c.scale, got)
				}
			}
			for _, s := range steps {
				if seen++; s.Kind == scalar.Mul && len(s.A) != c.operands {
					t.Errorf("%v: %d operands", c.scale, len(s.A))
				}
			}
		}
		if seen < 2 {
			t.Errorf("no steps:\n%s", g)
		}
	}
}
