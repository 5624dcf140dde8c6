package fusedglue

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestQuantizersAlone: quantizers of the caller's own numbers become thresholds with the increasing steps before them, and are
// the same function of any number.
func TestQuantizersAlone(t *testing.T) {
	whole := 0
	rapid.Check(t, func(t *rapid.T) {
		const c = 3
		r := random(t, "numbers")
		n := newNet(func(args ...any) { t.Fatal(args...) }, r.NormFloat64)
		x := n.input(1, 2, 2, c)
		for range between(t, 0, 2, "steps") {
			switch between(t, 0, 3, "step") {
			case 0:
				x = n.bn(x, pick(t, "gamma", 0.0, 1.0))
			case 1:
				x = n.plain("relu", x)
			case 2:
				x = n.add("clip", &graph.ClipAttrs{Min: -0.7, Max: math.Inf(1)}, nil, x)
			case 3:
				x = n.add("sub", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": n.tensor(0, 1, c)}, x)
			}
		}
		node, _ := drawQuantizer(t, r, c)
		op := "quantize"
		if _, ok := node.Attrs.(*graph.ThresholdAttrs); ok {
			op = "threshold"
		}
		n.Outputs = []string{n.add(op, node.Attrs, node.Weights, x)}
		level := func(nodes []*graph.Node, o int, x float32) int {
			for _, m := range nodes {
				if q, ok := quantizerOf(m); ok {
					return q.level(o, x)
				}
				s, ok := m.Attrs.(*graph.Elementwise)
				if !ok {
					s = &graph.Elementwise{Steps: graph.Steps(n.Graph, m)}
				}
				x = scalar.EvalSteps(s.Steps, o, x)
			}
			return 0
		}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Nodes) == 1 && len(n.Nodes) > 1 {
			whole++
		}
		for range 200 {
			x, o := hard(t, r), between(t, 0, c-1, "channel")
			if got, want := level(g.Nodes, o, x), level(n.Nodes, o, x); got != want {
				t.Fatalf("channel %d: %g has level %d, want %d\n%s%s", o, x, got, want, n, g)
			}
		}
	})
	if whole == 0 {
		t.Error("no steps went into a quantizer")
	}
}

// TestSignAlone: batch_norm and sign, as in XNOR-Net.
func TestSignAlone(t *testing.T) {
	n, _ := chain(t, ir.Unipolar, 1)
	x := n.bn(n.input(1, 2, 2, 3), 1)
	n.Outputs = []string{n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: 1}, Rounding: scalar.HalfUp})}
	g, err := Fuse(t.Context(), n.Graph, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Nodes) != 1 || g.Nodes[0].Op != "threshold" || g.Nodes[0].Weights["thresholds"].Data.Len() != 3 {
		t.Errorf("%s", g)
	}
}
