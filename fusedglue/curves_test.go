package fusedglue

import (
	"math/rand/v2"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestCurves: of a sigmoid and what else rises between a convolution and a quantizer of few bits nothing is left but the
// convolution's thresholds; without a quantizer a curve is a layer of its own.
func TestCurves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		bits   int
		binary bool
		want   string
	}{{2, true, "bconv2d"}, {2, false, "fconv2d"}, {8, true, "bconv2d eltwise eltwise quantize"}, {8, false, "fconv2d eltwise eltwise quantize"}} {
		n := newNet(t.Fatal, r.Float64)
		x := ""
		if c.binary {
			x = n.bconv(n.levels(1, ir.Bipolar, 1, 5, 5, 8), 3, 4, graph.PadValid, graph.BinaryAttrs{})
		} else {
			x = n.conv(n.input(1, 5, 5, 8), 3, 4, graph.PadValid)
		}
		q := &graph.QuantizeAttrs{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: c.bits, Scale: 0.1}}
		n.Outputs = []string{n.quantize(n.plain("relu6", n.plain("sigmoid", n.plain("tanh", n.plain("relu", x)))), q)}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var ops []string
		for _, n := range g.Nodes {
			ops = append(ops, n.Op)
		}
		if got := strings.Join(ops, " "); got != c.want {
			t.Errorf("%d bits behind a convolution become %s, want %s", c.bits, got, c.want)
		}
	}
}
