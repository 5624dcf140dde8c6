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

// denseBlock is a model of n layers that each read what all earlier ones made, c channels each. layer makes the convolution named c<i> of
// tensor x.
func denseBlock(n, c int, layer func(i int, x string) string) string {
	nodes, parts, whole := []string{}, []string{`"x"`}, "x"
	for i := range n {
		nodes = append(nodes, layer(i, whole))
		parts = append(parts, fmt.Sprintf(`"c%d"`, i))
		whole = fmt.Sprintf("all%d", i)
		nodes = append(nodes, fmt.Sprintf(`{"name": %q, "op": "concat", "inputs": [%s]}`, whole, strings.Join(parts, ", ")))
	}
	return fmt.Sprintf(`{"format": "ripc.model/1", "name": "m", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 4, 4, %d]}],
 "weights": {"init": "random", "seed": 1}, "nodes": [%s], "outputs": [%q]}`, c, strings.Join(nodes, ",\n"), whole)
}

// TestDenseBlocks: stages and kernels of a block whose layers read all earlier ones grow with its layers, and two copies of all that they
// make fit into its memory.
func TestDenseBlocks(t *testing.T) {
	for _, c := range []struct {
		name     string
		channels int
		layer    string
	}{
		{"convolutions", 4, `{"name": "f%[1]d", "op": "conv2d", "inputs": [%[2]q], "attrs": {"kernel": [3, 3], "padding": "same", "filters": %[3]d}},
 {"name": "c%[1]d", "op": "relu", "inputs": ["f%[1]d"]}`},
		{"normalized before", 4, `{"name": "b%[1]d", "op": "batch_norm", "inputs": [%[2]q]}, {"name": "r%[1]d", "op": "relu", "inputs": ["b%[1]d"]},
 {"name": "c%[1]d", "op": "conv2d", "inputs": ["r%[1]d"], "attrs": {"kernel": [3, 3], "padding": "same", "filters": %[3]d}}`},
		{"pooled", 4, `{"name": "p%[1]d", "op": "max_pool", "inputs": [%[2]q], "attrs": {"kernel": [3, 3], "strides": [1, 1], "padding": "same"}},
 {"name": "c%[1]d", "op": "conv2d", "inputs": ["p%[1]d"], "attrs": {"kernel": [1, 1], "padding": "same", "filters": %[3]d}}`},
		{"binary, parts of words", 4, binaryLayer},
		{"binary, whole words", 32, binaryLayer},
	} {
		t.Run(c.name, func(t *testing.T) {
			count := func(layers int) (stages, kernels int, arena float64) {
				path := filepath.Join(t.TempDir(), "m.json")
				if err := os.WriteFile(path, []byte(denseBlock(layers, c.channels, func(i int, x string) string { return fmt.Sprintf(c.layer, i, x, c.channels) })), 0o600); err != nil {
					t.Fatal(err)
				}
				in, err := ripc.Inspect(t.Context(), path, ripc.Options{Target: "rpi3"}, "", false)
				if err != nil {
					t.Fatal(err)
				}
				names := map[string]bool{}
				for _, l := range in.Layers {
					names[l.Kernel] = true
				}
				return len(in.Layers), len(names), float64(in.ArenaBytes) / float64(4*4*4*c.channels*(layers+1))
			}
			const layers = 4
			stages, kernels, _ := count(layers)
			moreStages, moreKernels, arena := count(4 * layers)
			if moreStages > 5*stages || moreKernels > 5*kernels || stages > 5*layers {
				t.Errorf("%d layers: %d stages, %d kernels; %d layers: %d stages, %d kernels", layers, stages, kernels, 4*layers, moreStages, moreKernels)
			}
			if arena > 2.2 {
				t.Errorf("activations take %.2f times what the block makes", arena)
			}
		})
	}
}

const binaryLayer = `{"name": "b%[1]d", "op": "batch_norm", "inputs": [%[2]q]}, {"name": "q%[1]d", "op": "quantize", "inputs": ["b%[1]d"], "attrs": {"bits": 1, "encoding": "bipolar"}},
 {"name": "c%[1]d", "op": "bitserial_conv2d", "inputs": ["q%[1]d"], "attrs": {"kernel": [3, 3], "padding": "same", "filters": %[3]d}}`
