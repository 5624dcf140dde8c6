package graph_test

import (
	"testing"

	"ripc/graph"
)

// TestOps: names are given once, and found; attributes are made anew each time.
func TestOps(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range graph.Ops() {
		if seen[o.Name] || graph.OpNamed(o.Name) != o {
			t.Errorf("%s stands twice in the table", o.Name)
		}
		seen[o.Name] = true
		n := &graph.Node{Name: "n", Op: o.Name, Attrs: o.NewAttrs()}
		if _, _, err := graph.Infer(&graph.Graph{}, n); err == nil {
			t.Errorf("%s is inferred without inputs, weights and sensible attributes", o.Name)
		}
	}
	if graph.OpNamed("cosh") != nil || len(graph.Steps(&graph.Graph{}, &graph.Node{Op: "cosh"})) > 0 {
		t.Error("there is an op cosh")
	}
}
