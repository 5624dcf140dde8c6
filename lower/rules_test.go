package lower

import (
	"maps"
	"slices"
	"testing"

	"ripc/graph"
)

// TestRules: every op has a rule, but for those that fusedglue always makes others of: float steps, unless they may join two
// tensors, and layers. And no other name has one.
func TestRules(t *testing.T) {
	layers := []string{"conv2d", "bitserial_conv2d", "dense", "bitserial_dense", "int_conv2d", "int_dense", "conv_transpose2d", "bitserial_conv_transpose2d", "shift_norm"}
	left := maps.Clone(rules())
	for _, o := range graph.Ops() {
		_, joins := o.Function()
		want := !slices.Contains(layers, o.Name) && (!o.Stepped() || joins)
		if _, ok := left[o.Name]; ok != want {
			t.Errorf("%s: has a rule (rules in nodes.go) %v, want %v", o.Name, ok, want)
		}
		delete(left, o.Name)
	}
	if len(left) > 0 {
		t.Errorf("rules for what is no op: %v", slices.Sorted(maps.Keys(left)))
	}
}
