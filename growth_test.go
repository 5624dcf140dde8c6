package ripc_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ripc"
)

// TestGrowth: what it takes to inspect a network, from its file to what is printed, grows with its nodes and not with their square.
// The bytes that are allocated say so, which a busy machine does not change: four times the nodes, sixteen times the bytes would be
// a square.
func TestGrowth(t *testing.T) {
	for _, c := range []struct{ name, node string }{
		{"chain", `{"name": "n%[1]d", "op": "relu", "inputs": ["n%[2]d"]}`},
		{"read by all", `{"name": "n%[1]d", "op": "add", "inputs": ["n%[2]d", "n0"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bytes := func(nodes int) uint64 {
				lines := []string{`{"name": "n0", "op": "relu", "inputs": ["x"]}`}
				for i := 1; i < nodes; i++ {
					lines = append(lines, fmt.Sprintf(c.node, i, i-1))
				}
				path := filepath.Join(t.TempDir(), "m.json")
				text := fmt.Sprintf(`{"format": "ripc.model/1", "name": "m", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 8]}],
 "weights": {"init": "random", "seed": 1}, "nodes": [%s], "outputs": ["n%d"]}`, strings.Join(lines, ",\n"), nodes-1)
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				in, err := ripc.Inspect(context.Background(), path, ripc.Options{Target: "rpi3"}, "", false)
				runtime.ReadMemStats(&after)
				if err != nil {
					t.Fatal(err)
				}
				if len(in.Layers) == 0 || len(in.Memory.Stages) != len(in.Layers) {
					t.Errorf("%d layers, memory of %d stages", len(in.Layers), len(in.Memory.Stages))
				}
				return after.TotalAlloc - before.TotalAlloc
			}
			bytes(10) // what is made once
			if few, many := bytes(1000), bytes(4000); many > 6*few {
				t.Errorf("1000 nodes take %d bytes, 4000 take %d", few, many)
			} else {
				t.Logf("1000 nodes take %d bytes, 4000 take %d", few, many)
			}
		})
	}
}
