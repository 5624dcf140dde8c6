package fusedglue

import (
	"strings"
	"testing"

	"ripc/graph"
	"ripc/graph/explain"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestPRelu: slopes from 0 up fold into thresholds; a negative one turns the sums around, and Strict says so.
func TestPRelu(t *testing.T) {
	for _, slope := range []float32{0, 0.25, -0.25} {
		n, x := chain(t, ir.Bipolar, 2)
		x = n.bconv(x, 3, 2, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean})
		alpha := &graph.Tensor{Shape: []int{2}, Data: graph.NumbersOf([]float32{0.5, slope})}
		x = n.add("prelu", &graph.PReluAttrs{}, map[string]*graph.Tensor{"alpha": alpha}, x)
		x = n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.BipolarInv, Scale: 0.1}})
		n.Outputs = []string{x}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := g.Nodes[0].Attrs.(*graph.FusedConv)
		folded := f.Epilogue.Thresholds != nil
		if len(g.Nodes) != 1 || folded != (slope >= 0) || folded == (f.Epilogue.Levels != nil) {
			t.Errorf("slope %g gives %s", slope, g)
		}
		if err := explain.Strict(g, Strict(g)); (err == nil) != folded || err != nil && !strings.Contains(err.Error(), "rises and falls where the sums rise") {
			t.Errorf("slope %g, strict: %v", slope, err)
		}
	}
}
