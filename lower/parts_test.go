package lower_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/codegen"
	"ripc/fusedglue"
	"ripc/importer/ripcjson"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/lower"
	"ripc/runtime"
)

// denseBlocks is a network whose blocks add features to those that they read: 32*parts[0] channels at the beginning, 32*parts[i] of block i,
// which improves them where that is asked for, by reading slices.
func denseBlocks(t *rapid.T, parts []int, improve, norm bool, last string) []byte {
	type m = map[string]any
	nodes := []m{{"name": "first", "op": "conv2d", "inputs": []string{"x"}, "attrs": m{"filters": 32 * parts[0], "kernel": []int{1, 1}}}}
	add := func(name, op string, attrs m, inputs ...string) string {
		nodes = append(nodes, m{"name": name, "op": op, "inputs": inputs, "attrs": attrs})
		return name
	}
	sums := func(name, in string, filters int) string {
		if norm {
			in = add(name+"_bn", "batch_norm", m{}, in)
		}
		in = add(name+"_sign", "quantize", m{"bits": 1, "encoding": "bipolar"}, in)
		return add(name, "bitserial_conv2d", m{"filters": filters, "kernel": []int{3, 3}, "padding": "same"}, in)
	}
	y, channels := "first", 32*parts[0]
	for i, p := range parts[1:] {
		name, grown := fmt.Sprintf("b%d", i), 32*p
		y = add(name, "concat", m{}, y, sums(name+"_dense", y, grown))
		if improve {
			better := sums(name+"_improve", y, grown)
			old := add(name+"_old", "slice", m{"begin": []int{0, 0, 0, 0}, "size": []int{1, 5, 6, channels}}, y)
			some := add(name+"_new", "slice", m{"begin": []int{0, 0, 0, channels}, "size": []int{1, 5, 6, grown}}, y)
			y = add(name+"_all", "concat", m{}, old, add(name+"_sum", "add", m{}, some, better))
		}
		channels += grown
	}
	outputs := []string{add("y", last, m{}, y)}
	if rapid.Bool().Draw(t, "seen") {
		outputs = append(outputs, "b0")
	}
	data, err := json.Marshal(m{"format": "ripc.model/1", "name": "blocks", "weights": m{"init": "random", "seed": 1}, "nodes": nodes, "outputs": outputs,
		"inputs": []m{{"name": "x", "dtype": "f32", "shape": []int{1, 5, 6, 3}, "layout": "NHWC"}}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestParts: layers that read features of several blocks read what each block has added, and the result is the same.
func TestParts(t *testing.T) {
	split := 0
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.IntRange(1, 3), 2, 4).Draw(t, "parts")
		improve, norm := rapid.Bool().Draw(t, "improve"), rapid.Bool().Draw(t, "norm")
		text := denseBlocks(t, parts, improve, norm, rapid.SampledFrom([]string{"relu", "global_avg_pool"}).Draw(t, "last"))
		run := func(disabled ...string) (*ir.Program, [][]byte) {
			g, err := ripcjson.Parse("net.json", text, nil)
			if err == nil {
				g, err = fusedglue.Fuse(g, disabled, nil)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			p, err := lower.Program(g, lower.Options{PackApart: rapid.Bool().Draw(t, "packed apart")})
			if err != nil {
				t.Fatalf("%v\n%s", err, g)
			}
			in, err := runtime.FillRandom(codegen.Describe(codegen.Input{Program: p}).Inputs[0], 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			out, err := interp.RunProgram(t.Context(), p, [][]byte{in}, interp.Options{})
			if err != nil {
				t.Fatalf("%v\n%s", err, p)
			}
			return p, out
		}
		whole, want := run("parts")
		p, got := run()
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("output %d differs\n%s", i, p)
			}
		}
		if slices.ContainsFunc(p.Stages, func(s ir.Stage) bool { return s.Op == "slice" }) {
			t.Fatalf("a slice is left\n%s", p)
		}
		if len(p.Stages) < len(whole.Stages) {
			split++
		}
	})
	if split == 0 {
		t.Error("nothing was split")
	}
}
