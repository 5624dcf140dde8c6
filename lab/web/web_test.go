package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/internal/need"
	"ripc/internal/tools"
	"ripc/lab/figures"
	"ripc/targets"
)

// TestScript: Node measures the module with relaxed SIMD, whatever its version, and no other one is taken for it.
func TestScript(t *testing.T) {
	node, err := tools.FindNode("for packages")
	need.OK(t, err)
	if _, err := readTimes(`{"target": "wasm32"}`); err == nil {
		t.Error("times of wasm32 are taken for those of " + module)
	}
	c, err := ripc.Compile(t.Context(), "../../examples/digits/digits.json",
		ripc.Options{Target: "wasm32", Emit: []codegen.Kind{codegen.NPM}})
	need.OK(t, err)
	dir := t.TempDir()
	run := filepath.Join(dir, "run.mjs")
	if err := os.WriteFile(run, script(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unpack(c.Files[codegen.NPM], dir); err != nil {
		t.Fatal(err)
	}
	line, err := output(t.Context(), node, run, "1", filepath.Join(dir, "package"))
	if err != nil {
		t.Fatal(err)
	}
	times, err := readTimes(line)
	if h, _ := targets.Host(); !h.Has("fma") && err != nil {
		t.Skip("relaxed multiply-adds round twice on this machine")
	}
	if err != nil || times.Network <= 0 {
		t.Errorf("%+v, %v", times, err)
	}
}

// TestTable: figures that were not taken are dashes, and ratios are those of the same quantity.
func TestTable(t *testing.T) {
	f := figures.Figure{Key: figures.Key{Subject: "squeezenet, 1 bit", Target: module}, Values: map[string]float64{
		"min_node_ms": 4, "min_native_ms": 8, "min_node_binary_ms": 2.2, "min_native_binary_ms": 2, "min_node_float_ms": 1,
		"module_bytes": 2048}}
	const want = "| squeezenet, 1 bit | 4.00 | 8.00 | 1.10 | 0.25 | - | - | 2 KiB |\n"
	if got := table(figures.New(f)); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nends otherwise than\n%s", got, want)
	}
}
