package onnx

import (
	"slices"
	"testing"

	"ripc/importer"
)

// Layers are called as the file calls its nodes, tensors as it calls these; what a node is made of besides is called after it.
func TestLayerNames(t *testing.T) {
	f := newFile(13).node("Relu x -> a").node("Abs a -> b").node("Sigmoid b -> c").node("Tanh c -> y")
	for i, name := range []string{"/act/Relu", "", "/act/Relu", "/tanh"} {
		f.Graph.Node[i].Name = new(name)
	}
	g, err := parse(t.Context(), "m.onnx", f.bytes(t), nil, importer.Options{}, nil, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var names, outputs []string
	for _, n := range g.Nodes {
		names, outputs = append(names, n.Name), append(outputs, n.Output)
	}
	if want := []string{"x.transpose", "/act/Relu", "b", "/act/Relu_2", "/tanh", "y.transpose"}; !slices.Equal(names, want) {
		t.Errorf("layers are called %q, want %q", names, want)
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(outputs[1:4], want) || !slices.Equal(g.Outputs, []string{"y"}) {
		t.Errorf("tensors are called %q, outputs %q", outputs, g.Outputs)
	}
}
