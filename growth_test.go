package ripc_test

import (
	"context"
	"errors"
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
		{"transposes in a row", `{"name": "n%[1]d", "op": "transpose", "inputs": ["n%[2]d"], "attrs": {"perm": [1, 0]}}`},
		{"read by all", `{"name": "n%[1]d", "op": "add", "inputs": ["n%[2]d", "n0"]}`},
		{"sum of the pieces of a split", `{"name": "p%[1]d", "op": "slice", "inputs": ["x"], "attrs": {"begin": [0, %[1]d], "size": [1, 1]}},
 {"name": "n%[1]d", "op": "add", "inputs": ["n%[2]d", "p%[1]d"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bytes := func(nodes int) uint64 {
				lines := []string{`{"name": "n0", "op": "relu", "inputs": ["x"]}`}
				for i := 1; i < nodes; i++ {
					lines = append(lines, fmt.Sprintf(c.node, i, i-1))
				}
				path := filepath.Join(t.TempDir(), "m.json")
				text := fmt.Sprintf(`{"format": "ripc.model/1", "name": "m", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 4096]}],
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

// countdown is a context that is done when it has been asked so often whether it is.
type countdown struct {
	context.Context
	asked, most int
}

func (c *countdown) Err() error {
	if c.asked++; c.asked > c.most {
		return context.Canceled
	}
	return nil
}

// TestInspectStops: who inspects a network asks at each node, whatever the file's format, whether anybody still waits, and goes on
// no longer than that.
func TestInspectStops(t *testing.T) {
	const nodes = 300
	lines := []string{`{"name": "n0", "op": "softmax", "inputs": ["x"]}`}
	for i := 1; i < nodes; i++ {
		lines = append(lines, fmt.Sprintf(`{"name": "n%d", "op": "softmax", "inputs": ["n%d"]}`, i, i-1))
	}
	chain := filepath.Join(t.TempDir(), "chain.json")
	text := fmt.Sprintf(`{"format": "ripc.model/1", "name": "m", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 8]}],
 "weights": {"init": "random", "seed": 1}, "nodes": [%s], "outputs": ["n%d"]}`, strings.Join(lines, ",\n"), nodes-1)
	if err := os.WriteFile(chain, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file  string
		least int // questions
	}{{chain, 10 * nodes}, {"testdata/qonnx/digits_w1a2.onnx", 300}, {"testdata/integers/tfl_full_u8.tflite", 50}} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			inspect := func(ctx context.Context) error {
				_, err := ripc.Inspect(ctx, c.file, ripc.Options{Target: "rpi3"}, "", false)
				return err
			}
			whole := &countdown{t.Context(), 0, 1 << 30}
			if err := inspect(whole); err != nil {
				t.Fatal(err)
			}
			if whole.asked < c.least {
				t.Errorf("asked %d times, want at least %d", whole.asked, c.least)
			}
			for k := range 20 {
				ctx := &countdown{t.Context(), 0, k * whole.asked / 20}
				if err := inspect(ctx); !errors.Is(err, context.Canceled) || ctx.asked > ctx.most+10 {
					t.Errorf("done after %d of %d questions: %v, after %d more", ctx.most, whole.asked, err, ctx.asked-ctx.most)
				}
			}
		})
	}
}
