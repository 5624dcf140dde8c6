package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/targets"
)

// TestBytesMove compiles layers that move levels of 8 bits between words. Each plane moves by itself: putting levels
// together to take them apart again once made kernels too large for code generation.
func TestBytesMove(t *testing.T) {
	t.Parallel()
	for op, attrs := range map[string]string{
		"flatten": "{}",
		"reshape": `{"shape": [1, 2, 9, 35]}`,
		"slice":   `{"begin": [0, 0, 1, 1], "size": [1, 2, 2, 33], "strides": [1, 1, 1, 2]}`,
	} {
		path := filepath.Join(t.TempDir(), "net.json")
		text := fmt.Sprintf(`{"format": "ripc.model/1", "name": "moves", "weights": {"init": "random", "seed": 1}, "outputs": ["y"],
			"inputs": [{"name": "x", "dtype": "u8", "shape": [1, 3, 3, 70], "encoding": "affine", "bits": 8, "zero_point": 128}],
			"nodes": [{"name": "y", "op": %q, "inputs": ["x"], "attrs": %s}]}`, op, attrs)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, tg := range targets.All() {
			if tg.Bare || tg.IsDevice() {
				continue
			}
			if _, err := ripc.Compile(context.Background(), path, ripc.Options{Target: tg.Name, Emit: []codegen.Kind{codegen.LL}}); err != nil {
				t.Errorf("%s: %v", op, err)
			}
		}
	}
}
