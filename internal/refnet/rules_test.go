package refnet

import (
	"maps"
	"slices"
	"testing"

	"ripc/graph"
)

// TestRules: every op that importers make has a reference, and no other name.
func TestRules(t *testing.T) {
	left := maps.Clone(rules())
	for _, o := range graph.Ops() {
		if _, ok := left[o.Name]; ok == o.Fused {
			t.Errorf("%s: made by fusedglue %v, has a reference (rules in nodes.go) %v", o.Name, o.Fused, ok)
		}
		delete(left, o.Name)
	}
	if len(left) > 0 {
		t.Errorf("references for what is no op: %v", slices.Sorted(maps.Keys(left)))
	}
}
