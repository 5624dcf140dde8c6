package onnx

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"ripc/graph"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
)

// TestUnsorted: the order of the file's nodes makes no difference.
func TestUnsorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFile(13).node("Relu x -> a").node("Neg x -> b").node("Add a b -> c").node("Relu c -> d").node("Mul d a -> y")
		want := parsed(t, f)
		f.Graph.Node = rapid.Permutation(f.Graph.Node).Draw(t, "order")
		g := parsed(t, f)
		for _, n := range want.Nodes {
			if !slices.ContainsFunc(g.Nodes, func(m *graph.Node) bool { return m.Name == n.Name && slices.Equal(m.Inputs, n.Inputs) }) {
				t.Fatalf("got %s\nwant %s", g, want)
			}
		}
	})
}

// TestImports: of several imports of one domain the last one counts.
func TestImports(t *testing.T) {
	softmax := func(versions ...int64) string {
		f := newFile(13, 1, 2, 3).node("Softmax x -> y")
		f.OpsetImport = nil
		for _, v := range versions {
			f.OpsetImport = append(f.OpsetImport, &pb.OperatorSetIdProto{Domain: proto.String([]string{"", "ai.onnx"}[v&1]), Version: proto.Int64(v)})
		}
		return parsed(t, f).String()
	}
	if old, last := softmax(11), softmax(13); old == last || softmax(13, 11) != old || softmax(11, 12, 13) != last || softmax(13, 13) != last {
		t.Error("the last import does not count")
	}
}

// TestNoDomain: QONNX's operators are found without a domain, too.
func TestNoDomain(t *testing.T) {
	quant := func(domain string) string {
		f := newFile(13).floats("s").node(domain + "BipolarQuant x s -> y")
		return parsed(t, f).String()
	}
	want := quant("qonnx.custom_op.general:")
	for _, d := range []string{"", "ai.onnx:", "onnx.brevitas:", "finn.custom_op.general:", "qonnx:"} {
		if got := quant(d); got != want {
			t.Errorf("domain %q: %s\nwant %s", d, got, want)
		}
	}
}

// parsed is the graph of a model that must be readable.
func parsed(t interface{ Fatal(...any) }, f file) *graph.Graph {
	data, err := proto.Marshal(f.ModelProto)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Parse("m.onnx", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
