package lower

import (
	"maps"
	"slices"
	"testing"

	"ripc/graph"
)

// TestRules: every op has a rule, but for those that fusedglue always makes others of; and no other name has one.
func TestRules(t *testing.T) {
	gone := []string{"conv2d", "bitserial_conv2d", "dense", "bitserial_dense", "batch_norm", "shift_norm", "relu", "relu6", "hard_tanh", "sign", "clip", "round", "prelu", "fake_quant"}
	left := maps.Clone(rules())
	for _, o := range graph.Ops() {
		if _, ok := left[o.Name]; ok == slices.Contains(gone, o.Name) {
			t.Errorf("%s: has a rule %v", o.Name, ok)
		}
		delete(left, o.Name)
	}
	if len(left) > 0 {
		t.Errorf("rules for what is no op: %v", slices.Sorted(maps.Keys(left)))
	}
}
