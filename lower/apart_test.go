package lower_test

import (
	"bytes"
	"testing"

	"ripc/ir"
	"ripc/lower"
)

// packedNet has levels by thresholds, by a shift, of floats by a quantizer and by thresholds, beside a shortcut and as a part of a
// concatenation.
const packedNet = `{
  "format": "ripc.model/1", "name": "packed_net",
  "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 9, 11, 5], "layout": "NHWC"}],
  "weights": {"init": "random", "seed": 1, "gain": 0.25},
  "nodes": [
    {"name": "in", "op": "quantize", "inputs": ["x"], "attrs": {"bits": 2, "encoding": "unipolar"}},
    {"name": "one", "op": "bitserial_conv2d", "inputs": ["in"], "attrs": {"filters": 32, "kernel": [3, 3], "padding": "same"}},
    {"name": "q1", "op": "quantize", "inputs": ["one"], "attrs": {"bits": 1, "encoding": "bipolar"}},
    {"name": "other", "op": "bitserial_conv2d", "inputs": ["in"], "attrs": {"filters": 64, "kernel": [1, 1]}},
    {"name": "q2", "op": "quantize", "inputs": ["other"], "attrs": {"bits": 1, "encoding": "bipolar"}},
    {"name": "both", "op": "concat", "inputs": ["q1", "q2"]},
    {"name": "two", "op": "bitserial_conv2d", "inputs": ["both"], "attrs": {"filters": 33, "kernel": [3, 3], "padding": "same"}},
    {"name": "q3", "op": "shift_norm", "inputs": ["two"], "attrs": {"bits": 3, "encoding": "unipolar"}},
    {"name": "three", "op": "bitserial_conv2d", "inputs": ["q3"], "attrs": {"filters": 33, "kernel": [1, 1]}},
    {"name": "q4", "op": "quantize", "inputs": ["three"], "attrs": {"bits": 1, "encoding": "bipolar"}},
    {"name": "four", "op": "bitserial_conv2d", "inputs": ["q4"], "attrs": {"filters": 33, "kernel": [3, 3], "padding": "same"}},
    {"name": "sum", "op": "add", "inputs": ["four", "three"]},
    {"name": "q5", "op": "quantize", "inputs": ["sum"], "attrs": {"bits": 1, "encoding": "bipolar"}},
    {"name": "five", "op": "bitserial_dense", "inputs": ["flat"], "attrs": {"units": 10}},
    {"name": "flat", "op": "flatten", "inputs": ["q5"]},
    {"name": "y", "op": "relu", "inputs": ["five"]}
  ],
  "outputs": ["y"]
}`

// TestPackApart: with packing apart, no stage but those that pack and those that only move or choose levels writes planes of bits, and
// the result is the same.
func TestPackApart(t *testing.T) {
	g, run := formNet(t, packedNet, 4*9*11*5)
	_, want := run(lower.Options{})
	p, got := run(lower.Options{PackApart: true})
	if !bytes.Equal(got[0], want[0]) {
		t.Errorf("the result is another\n%s", p)
	}
	packs := 0
	for _, s := range p.Stages {
		for i, q := range p.FuncByName(s.Func).Params {
			switch {
			case !q.Out || q.Enc.Kind == ir.NoEncoding:
			case s.Op == "bitpack":
				packs++
			case s.Op != "flatten":
				t.Errorf("stage %s (%s) packs %s", s.Name, s.Op, s.Args[i])
			}
		}
	}
	quantizers := 0
	for _, n := range g.Nodes {
		if n.Op != "concat" && n.Op != "flatten" && g.Value(n.Output).Encoded() {
			quantizers++
		}
	}
	if packs != quantizers || packs < 6 {
		t.Errorf("%d stages pack, %d nodes make levels\n%s", packs, quantizers, p)
	}
}
