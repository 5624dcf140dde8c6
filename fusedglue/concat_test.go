package fusedglue

import (
	"testing"

	"ripc/graph"
	"ripc/graph/explain"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestFire: the glue behind a concatenation folds into the convolutions before it, each taking its own channels' part, with
// pools on either side of the concat.
func TestFire(t *testing.T) {
	for _, pools := range []string{"", "before", "behind"} {
		n, x := chain(t, ir.Unipolar, 2)
		a := n.bconv(x, 1, 3, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean})
		b := n.bconv(x, 3, 5, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean})
		if pools == "before" {
			a, b = n.pool(a, 2, 2, graph.PadValid), n.pool(b, 2, 2, graph.PadValid)
		}
		y := n.add("concat", &graph.ConcatAttrs{}, nil, a, b)
		if y = n.plain("relu", n.bn(y, 1)); pools == "behind" {
			y = n.pool(y, 2, 2, graph.PadValid)
		}
		w := &graph.Tensor{Shape: []int{3, 8}}
		for i := range 24 {
			w.Data = graph.NumbersOf(append(w.Data.Floats(), float32(i/8)+float32(i%8)/10))
		}
		n.Outputs = []string{n.add("threshold", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 1}}, map[string]*graph.Tensor{"thresholds": w}, y)}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := 3
		if pools == "behind" {
			want = 4 // one pool of levels behind the concat
		}
		for _, n := range g.Nodes[:2] {
			if f := n.Attrs.(*graph.FusedConv); len(g.Nodes) != want || len(f.Epilogue.Thresholds) != 3 || (f.Pool != nil) != (pools == "before") {
				t.Errorf("pools %q: %s", pools, g)
			}
		}
		if err := explain.Strict(g, Strict(g)); err != nil {
			t.Error(err)
		}
	}
}
