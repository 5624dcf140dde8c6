package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/graph"
	"ripc/internal/need"
)

// TestHardInputs has layers that compute little, or only move values, see NaN, infinities, -0, subnormal and huge numbers
// first hand, for each kind of processor: with few channels (scalars) and many (vectors), and one behind the other. make test takes one
// processor of each architecture for either number of channels.
func TestHardInputs(t *testing.T) {
	type attrs = map[string]any
	ops := []struct {
		op    string
		attrs attrs
	}{
		{"softmax", nil}, {"prelu", nil},
		{"clip", attrs{"min": -1, "max": 1}}, {"clip", attrs{"min": -1, "max": 0}}, {"clip", attrs{"min": 0, "max": 6}},
		{"round", attrs{"rounding": "half_up"}}, {"round", attrs{"rounding": "half_even"}}, {"round", attrs{"rounding": "trunc"}},
		{"max_pool", attrs{"kernel": []int{2, 2}, "strides": []int{1, 1}, "padding": "same"}},
		{"max_pool", attrs{"kernel": []int{2, 2}, "strides": []int{2, 2}}},
		{"avg_pool", attrs{"kernel": []int{2, 2}, "strides": []int{2, 2}}}, {"avg_pool", attrs{"kernel": []int{1, 1}, "strides": []int{1, 1}}},
		{"global_avg_pool", nil}, {"flatten", nil},
		{"transpose", attrs{"perm": []int{0, 2, 1, 3}}},
		{"pad", attrs{"padding": []int{1, 1, 1, 1}, "value": -1}}, {"gather", attrs{"rows": []int{5, 0, 0}, "columns": []int{1}}}, {"interpolate", attrs{"rows": []float32{0.5, 4.75}, "columns": []float32{0, 0.25}}},
		{"slice", attrs{"begin": []int{0, 1, 1, 0}, "size": []int{1, 3, 4, 2}}},
		{"fake_quant", attrs{"min": -3, "max": 8}}, {"hard_sigmoid", nil}, {"log_softmax", nil}, {"argmax", nil}, {"argmin", nil}, {"top_k", attrs{"k": 2}}, {"top_k_indices", attrs{"k": 3, "largest": false}}, {"elu", nil}, {"elu", attrs{"alpha": -2}},
		{"quantize", attrs{"bits": 1, "encoding": "bipolar"}}, {"quantize", attrs{"bits": 2, "encoding": "unipolar", "scale": 0.3}},
		{"threshold", attrs{"bits": 2, "encoding": "unipolar", "scale": 0.3}},
	}
	for _, op := range graph.PlainOps() {
		ops = append(ops, struct {
			op    string
			attrs attrs
		}{op, nil})
	}
	boards := []string{"host", "x86-64", "rpi5", "rpi3", "rpi2", "rpi3-armv7", "wasm32", "riscv64", "loongarch64"}
	takes := need.Part(t, 2)
	for k, channels := range []int{3, 32} {
		var nodes []attrs
		var outputs []string
		add := func(op string, a attrs, inputs ...string) string {
			name := fmt.Sprintf("n%d_%s", len(nodes), op)
			n := attrs{"name": name, "op": op, "inputs": inputs}
			if a != nil {
				n["attrs"] = a
			}
			nodes, outputs = append(nodes, n), append(outputs, name)
			return name
		}
		for _, o := range ops {
			add(o.op, o.attrs, "x")
		}
		add("reshape", attrs{"shape": []int{1, 36, channels}}, "x")
		for _, op := range []string{"add", "sub", "mul", "div", "minimum", "maximum", "concat"} {
			add("max_pool", attrs{"kernel": []int{2, 2}, "strides": []int{2, 2}}, add(op, nil, "x", "x2"))
		}
		var chosen []string
		for _, op := range []string{"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"} {
			chosen = append(chosen, add("where", nil, add("logical_not", nil, add(op, nil, "x", "x2")), "x", "x2"))
			outputs = outputs[:len(outputs)-3] // there may be 64
		}
		add("concat", nil, chosen...)
		add("relu", nil, add("max_pool", attrs{"kernel": []int{2, 2}, "strides": []int{2, 2}}, add("transpose", attrs{"perm": []int{0, 2, 1, 3}}, "x")))
		shape := []int{1, 6, 6, channels}
		text, err := json.Marshal(attrs{"format": "ripc.model/1", "name": "hard", "weights": attrs{"init": "random", "seed": 1},
			"inputs": []attrs{{"name": "x", "dtype": "f32", "shape": shape}, {"name": "x2", "dtype": "f32", "shape": shape}},
			"nodes":  nodes, "outputs": outputs})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "hard.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for i, board := range boards {
			if !takes(i + k) {
				continue
			}
			t.Run(fmt.Sprint(board, "/", channels), func(t *testing.T) {
				t.Parallel()
				tg, err := ripcTarget(board)
				need.OK(t, err)
				if !tg.Native() && !sandboxed(tg) {
					need.Tool(t, "qemu-"+tg.Arch)
				}
				seeds := uint64(1)
				if need.Thorough() {
					seeds = 3
				}
				for seed := range seeds {
					rep, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: path, Options: ripc.Options{Target: board}, Seed: seed, Threads: 1})
					if err != nil {
						t.Fatal(err)
					}
					if !rep.OK {
						t.Errorf("seed %d: %s", seed, faults(rep))
					}
				}
			})
		}
	}
}

// TestHardMaximaInMemory: where the largest values so far lie in memory, AVX-512 stores a larger one under a mask, which
// flushes nothing.
func TestHardMaximaInMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model, schedule := filepath.Join(dir, "pool.json"), filepath.Join(dir, "pool.schedule")
	for path, text := range map[string]string{
		model: `{"format": "ripc.model/1", "name": "pool", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 9, 6, 64]}],
			"nodes": [{"name": "p", "op": "max_pool", "inputs": ["x"], "attrs": {"kernel": [3, 3], "strides": [1, 1], "padding": "valid"}}],
			"outputs": ["p"], "weights": {"init": "random", "seed": 1}}`,
		schedule: "func max_pool_3x3s1_9x6x64:\nsplit c 8 tail=cut -> c.o c.i\nvectorize c.i\nsplit c0 8 tail=cut -> c0.o c0.i\nvectorize c0.i\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	traces, err := ripc.ReadSchedule(schedule)
	if err != nil {
		t.Fatal(err)
	}
	for _, board := range []string{"host", "x86-64-v3", "rpi3"} {
		t.Run(board, func(t *testing.T) {
			tg, err := ripcTarget(board)
			need.OK(t, err)
			if !tg.Native() {
				need.Tool(t, "qemu-"+tg.Arch)
			}
			o := ripc.Options{Target: board, Schedules: traces}
			rep, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: model, Options: o, Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			if !rep.OK {
				t.Error(faults(rep))
			}
		})
	}
}
