package lower_test

import (
	"testing"

	"ripc/graph"
	"ripc/lower"
)

// TestNames: models call things what they like; the IR gets names of its own, and the interface keeps the model's.
func TestNames(t *testing.T) {
	v := func(name string) *graph.Value {
		return &graph.Value{Name: name, Shape: []int{1, 4}, Layout: "NC"}
	}
	g := &graph.Graph{Name: "resnet-18", Inputs: []string{"in:0"}, Outputs: []string{"a/b", "a_b"},
		Values: map[string]*graph.Value{"in:0": v("in:0"), "a/b": v("a/b"), "a_b": v("a_b")},
		Nodes: []*graph.Node{
			{Name: "a/b", Op: "softmax", Inputs: []string{"in:0"}, Output: "a/b", Attrs: &graph.NoAttrs{}},
			{Name: "9", Op: "softmax", Inputs: []string{"a/b"}, Output: "a_b", Attrs: &graph.NoAttrs{}},
		}}
	p, err := lower.Program(t.Context(), g, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, b := range p.Buffers {
		got[b.Name] = b.Label
	}
	want := map[string]string{"in_0": "in:0", "a_b_2": "a/b", "a_b": ""}
	for name, label := range want {
		if l, ok := got[name]; !ok || l != label {
			t.Errorf("buffer %s has label %q (there: %v), want %q", name, l, ok, label)
		}
	}
	if p.Name != "resnet_18" {
		t.Errorf("the program is called %s", p.Name)
	}
}
