package onnx

import (
	"strings"
	"testing"

	"ripc/importer"
)

// An output that the file declares as integers, but whose nodes make floats, says so.
func TestOutputType(t *testing.T) {
	for _, c := range []struct {
		declared dtype
		node     string
		noted    bool
	}{
		{dtInt32, "Relu x -> y", true}, {dtBool, "Relu x -> y", true}, {dtFloat, "Relu x -> y", false}, {dtDouble, "Relu x -> y", false}, {dtFloat16, "Relu x -> y", false},
		{dtInt64, "ArgMax x -> y", false}, {dtBool, "Equal x x -> y", false},
	} {
		f := newFile(13).node(c.node)
		f.Graph.Output[0] = value("y", c.declared, 1, 3, 8, 8)
		g, err := parse(t.Context(), "m.onnx", f.bytes(t), nil, importer.Options{}, nil, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(g.String(), `declares output \"y\" as `+c.declared.String()); got != c.noted {
			t.Errorf("%s as %s:\n%s", c.node, c.declared, g)
		}
	}
}
