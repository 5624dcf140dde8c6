package explain

import (
	"testing"

	"ripc/graph"
	"ripc/ir"
)

// TestStrict: a line for each node, with what it costs and what keeps it float; none where there is nothing.
func TestStrict(t *testing.T) {
	g := &graph.Graph{File: "m.json"}
	if err := Strict(g, nil); err != nil {
		t.Errorf("nothing: %v", err)
	}
	n := &graph.Node{Name: "n", Op: "fconv2d"}
	err := Strict(g, []graph.Stay{
		{Node: n, Lacks: graph.LackFolding, UpTo: "q", Values: 6, AllMACs: 80, Verdict: graph.Verdict{Reason: graph.WhyManyRead, Where: "s", Args: ir.Args{Op: "add", Count: 2}}},
		{Node: n, Lacks: graph.LackWeights, Values: 6, MACs: 20, AllMACs: 80, Verdict: graph.Verdict{Reason: graph.WhyRealWeights, Args: ir.Args{Bits: 2}}},
	})
	want := `m.json: node "n" (fconv2d): stays float: the glue up to "q" does not fold to integers: 2 layers read the tensor between, add "s" among them (6 values)
    help: see the nodes between the two; batch_norm, relu and clip fold, and nothing else may read these tensors
m.json: node "n" (fconv2d): stays float: its input has 2 bits, but it has real weights (20 MACs, 25.0 % of all)
    help: quantize its weights to at most 8 bits, with a scale for each output channel`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
