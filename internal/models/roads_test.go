package models

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/compile"
	"ripc/ir/interp"
)

// TestRoads: networks that PyTorch exported to .onnx and to .pt2 have as many nodes of the same
// ops, and give the same bits.
func TestRoads(t *testing.T) {
	dir := "../../importer/pt2/testdata/"
	for _, name := range []string{"digits", "quant", "ops"} {
		input, err := os.ReadFile(filepath.Join(dir, name+"_x.npy"))
		if err != nil {
			t.Fatal(err)
		}
		header := 10 + int(binary.LittleEndian.Uint16(input[8:]))
		var ops [2]string
		var results [2][][]byte
		for i, ext := range []string{".onnx", ".pt2"} {
			g, err := Load(t.Context(), dir+name+ext, compile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range g.Nodes {
				ops[i] += n.Op + " "
			}
			p, err := compile.Definition(t.Context(), g, compile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if results[i], err = interp.RunProgram(t.Context(), p, [][]byte{input[header:]}, interp.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		if ops[0] = strings.Replace(ops[0], "sigmoid mul", "silu", 1); ops[0] != ops[1] { // that exporter has no silu
			t.Errorf("%s: .onnx gives\n%s\n.pt2\n%s", name, ops[0], ops[1])
		}
		for i := range results[0] {
			if !bytes.Equal(results[0][i], results[1][i]) {
				t.Errorf("%s: output %d differs", name, i)
			}
		}
	}
}
