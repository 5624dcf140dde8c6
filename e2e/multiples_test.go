package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/targets"
)

// TestMultiples: floats of layers that are multiples of one number lie in memory as integers, of 8 or 16 bits, and whatever reads them
// computes what the model's reference does, and compiled code the same.
func TestMultiples(t *testing.T) {
	t.Parallel()
	found := map[ir.Type]int{}
	takes := need.Part(t, 4)
	for i := range 24 {
		r := rand.New(rand.NewPCG(uint64(i), 79))
		text := denseBlocks(r, i%3 == 0)
		path := filepath.Join(t.TempDir(), "net.json")
		need.OK(t, os.WriteFile(path, text, 0o600))
		if err := compareWithReference(path, r); err != nil {
			t.Errorf("network %d: %v\n%s", i, err, text)
		}
		target := []string{targets.HostName, "rpi3", "rpi3-armv7"}[i%3]
		c, err := ripc.Compile(t.Context(), path, ripc.Options{Target: target})
		need.OK(t, err)
		for _, b := range c.Program.Buffers {
			if b.Kind == ir.ArenaBuf && (b.Type == ir.I16 || b.Type == ir.I8) {
				found[b.Type]++
			}
		}
		if i%8 > 2 || !takes(i) && i%8 != 2 && i != 1 {
			continue
		}
		report, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: path, Options: ripc.Options{Target: target}, Threads: 1})
		need.OK(t, err)
		if !report.OK {
			t.Errorf("network %d on %s: %+v\n%s", i, target, report, text)
		}
	}
	if found[ir.I16] < 5 || found[ir.I8] < 4 {
		t.Errorf("too few tensors of integers: %v", found)
	}
}

// denseBlocks is a random network of layers whose sums are concatenated, added to others and read by quantizers, steps and, where pooled
// is set, a max_pool. Steps of levels are powers of two, and others.
func denseBlocks(r *rand.Rand, pooled bool) []byte {
	type node = map[string]any
	var nodes []any
	name := func(kind string) string { return fmt.Sprintf("%s%d", kind, len(nodes)) }
	add := func(op string, attrs node, in ...string) string {
		n := name(op)
		nodes = append(nodes, node{"name": n, "op": op, "inputs": in, "attrs": attrs})
		return n
	}
	pick := func(v ...any) any { return v[r.IntN(len(v))] }
	channels, filters := pick(32, 32, 32, 8).(int), pick(32, 32, 64, 8).(int)
	whole, last := "x", ""
	parts := []string{"x"}
	for range 2 + r.IntN(3) {
		scale := pick(1.0, 1.0, 0.5, 0.3, 3.0).(float64)
		bits, enc := r.IntN(2)+1, pick("bipolar", "unipolar")
		normed := add("batch_norm", node{}, whole)
		q := add("quantize", node{"bits": bits, "encoding": enc, "scale": scale}, normed)
		kernel := pick(1, 3)
		y := add("bitserial_conv2d", node{"filters": filters, "kernel": []any{kernel, kernel}, "padding": "same", "weight_scale": pick("none", "none", "none", "mean")}, q)
		switch {
		case last != "" && r.IntN(2) == 0:
			y = add("add", node{}, pick(last, parts[len(parts)-1]).(string), y)
			parts[len(parts)-1] = y
		default:
			parts = append(parts, y)
		}
		last = y
		whole = parts[0]
		if len(parts) > 1 {
			whole = add("concat", node{}, slices.Clone(parts)...)
		}
	}
	end := add("relu", node{}, add("batch_norm", node{}, whole))
	if pooled {
		end = add("max_pool", node{"kernel": []int{2, 2}, "strides": []int{2, 2}}, end)
	}
	out := add("dense", node{"units": 5}, add("flatten", node{}, end))
	text, err := json.Marshal(node{"format": "ripc.model/1", "name": "n", "inputs": []any{node{"name": "x", "dtype": "f32", "shape": []int{1, 4, 6, channels}}},
		"weights": node{"init": "random", "seed": r.IntN(1 << 30)}, "nodes": nodes, "outputs": []string{out}})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return text
}
