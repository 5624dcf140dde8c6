package onnx

import (
	"os"
	"strings"
	"testing"

	"ripc/internal/golden"
)

// TestDocs keeps the table of docs/import-onnx.md as the code has it; -update writes it.
func TestDocs(t *testing.T) {
	const path, begin, end = "../../../docs/import-onnx.md", "<!-- supported ops: begin -->\n", "<!-- supported ops: end -->\n"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", path)
	}
	golden.Check(t, path, []byte(before+begin+Supported()+end+after))
}
