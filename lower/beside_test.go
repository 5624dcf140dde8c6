package lower_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestBeside: the levels of sums that a shortcut reads too are written by the layer that makes the sums, where its channels fill words
// or are a vector, and so are those of several quantizers, those that the caller sees, and those of what steps make of the sums.
func TestBeside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		filters := rapid.SampledFrom([]int{1, 16, 20, 32, 33, 64}).Draw(t, "filters")
		n := newNet(t, levels(true, 1, ir.Bipolar, 1, 4, 4, filters))
		n.binary("first", "x", filters)
		n.binary("second", "first", filters)
		n.plain("sum", "add", "first.sum", "second.sum")
		outputs := []string{"sum"}
		if rapid.Bool().Draw(t, "seen") {
			outputs = append(outputs, "first")
		}
		if rapid.Bool().Draw(t, "again") {
			again := &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: rapid.SampledFrom([]int{2, 8}).Draw(t, "bits"), Enc: ir.Unipolar, Scale: 0.5}}
			outputs = append(outputs, n.add("again", "quantize", again, nil, "first.sum"))
		}
		if rapid.Bool().Draw(t, "norm") { // of both signs, so that no thresholds take it in
			w := map[string]*graph.Tensor{}
			for _, key := range []string{"gamma", "beta", "mean", "var"} {
				w[key] = n.tensor(filters)
			}
			w["gamma"].Data.Floats()[0], w["var"].Data = -1, graph.NumbersOf(slices.Repeat([]float32{1}, filters))
			n.add("norm", "batch_norm", &graph.BatchNormAttrs{Epsilon: 1}, w, "first.sum")
			sign := &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: 1}}
			outputs = append(outputs, n.add("normed", "quantize", sign, nil, "norm"))
		}
		p := n.program(outputs...)
		separate := func(s ir.Stage) bool { return s.Op == "threshold" || s.Op == "eltwise" }
		first := p.Stages[slices.IndexFunc(p.Stages, func(s ir.Stage) bool { return s.Name == "first.sum" })]
		if want := filters == 20 || filters == 33; slices.ContainsFunc(p.Stages, separate) != want || first.Layer.Glue.Beside > 0 == want {
			t.Fatalf("%d filters, %d bits beside the floats:\n%s", filters, first.Layer.Glue.Beside, p)
		}
	})
}
