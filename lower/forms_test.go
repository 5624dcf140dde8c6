package lower_test

import (
	"bytes"
	"testing"

	"ripc/fusedglue"
	"ripc/importer/ripcjson"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/lower"
	"ripc/lower/layout"
	"ripc/targets"
)

// byteNet has levels of 8 bits that the caller brings one a byte, of 8 bits by a formula, of 6 by a shift and of 5 by thresholds, which
// only layers read, with stems of 3 channels, and at the end a layer of 1 bit.
const byteNet = `{
  "format": "ripc.model/1", "name": "byte_net",
  "inputs": [{"name": "x", "dtype": "u8", "encoding": "unipolar", "bits": 8, "shape": [2, 9, 11, 3], "layout": "NHWC"},
    {"name": "z", "dtype": "u8", "encoding": "unipolar", "bits": 7, "shape": [2, 9, 11, 4], "layout": "NHWC"}],
  "weights": {"init": "random", "seed": 1, "gain": 0.25},
  "nodes": [
    {"name": "stem", "op": "bitserial_conv2d", "inputs": ["x"], "attrs": {"filters": 33, "kernel": [3, 3], "strides": [2, 2], "padding": "same", "weight_bits": 4}},
    {"name": "q1", "op": "quantize", "inputs": ["stem"], "attrs": {"bits": 8, "encoding": "unipolar"}},
    {"name": "two", "op": "bitserial_conv2d", "inputs": ["q1"], "attrs": {"filters": 20, "kernel": [1, 1], "weight_bits": 2}},
    {"name": "q2", "op": "shift_norm", "inputs": ["two"], "attrs": {"bits": 6, "encoding": "bipolar"}},
    {"name": "three", "op": "bitserial_conv2d", "inputs": ["q2"], "attrs": {"filters": 12, "kernel": [3, 3], "padding": "same", "weight_bits": 4, "pad_value": "zero"}},
    {"name": "q3", "op": "quantize", "inputs": ["three"], "attrs": {"bits": 1, "encoding": "bipolar"}},
    {"name": "four", "op": "bitserial_conv2d", "inputs": ["q3"], "attrs": {"filters": 8, "kernel": [3, 3]}},
    {"name": "y", "op": "relu", "inputs": ["four"]},
    {"name": "valid", "op": "bitserial_conv2d", "inputs": ["z"], "attrs": {"filters": 3, "kernel": [2, 2], "weight_bits": 3}},
    {"name": "y2", "op": "relu", "inputs": ["valid"]}
  ],
  "outputs": ["y", "y2"]
}`

// TestBytesStay: levels of many bits that layers multiply as bytes lie in memory as bytes, and the caller's are read where they lie; the
// result is that of planes of bits, with unsigned and with signed products.
func TestBytesStay(t *testing.T) {
	g, err := ripcjson.Parse("net.json", []byte(byteNet), nil)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = fusedglue.Fuse(g, nil, nil); err != nil {
		t.Fatal(err)
	}
	inputs := [][]byte{make([]byte, 2*9*11*3), make([]byte, 2*9*11*4)}
	for _, in := range inputs {
		for i := range in {
			in[i] = byte(i * 37)
		}
	}
	run := func(o lower.Options) (*ir.Program, [][]byte) {
		p, err := lower.Program(g, o)
		if err != nil {
			t.Fatal(err)
		}
		out, err := interp.RunProgram(t.Context(), p, inputs, interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p, out
	}
	_, want := run(lower.Options{})
	for _, arch := range []string{"", "aarch64"} {
		o := lower.Options{Target: targets.Target{Arch: arch}, Algorithms: map[string]layout.Algorithm{}}
		for _, name := range []string{"stem", "two", "three", "valid"} {
			o.Algorithms[name] = layout.Dot
		}
		p, got := run(o)
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Errorf("%q: output %d is another", arch, i)
			}
		}
		kept := 0
		for _, b := range p.Buffers {
			if b.Kind == ir.ArenaBuf && b.Type == ir.U8 {
				kept++
			}
		}
		for _, s := range p.Stages {
			if s.Op == "bitpack" {
				t.Errorf("%q: the caller's bytes become bits", arch)
			}
		}
		if kept != 2 {
			t.Errorf("%q: %d tensors lie as bytes\n%s", arch, kept, p)
		}
	}
}
