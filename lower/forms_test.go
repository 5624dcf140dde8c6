package lower_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"ripc/fusedglue"
	"ripc/graph"
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

// formNet is a network, and what lowers it and runs it with inputs of so many bytes.
func formNet(t *testing.T, text string, sizes ...int) (*graph.Graph, func(lower.Options) (*ir.Program, [][]byte)) {
	t.Helper()
	g, err := ripcjson.Parse("net.json", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = fusedglue.Fuse(t.Context(), g, nil, nil); err != nil {
		t.Fatal(err)
	}
	var inputs [][]byte
	for _, n := range sizes {
		in := make([]byte, n)
		for i := range in {
			in[i] = byte(i * 37)
		}
		inputs = append(inputs, in)
	}
	return g, func(o lower.Options) (*ir.Program, [][]byte) {
		t.Helper()
		p, err := lower.Program(t.Context(), g, o)
		if err != nil {
			t.Fatal(err)
		}
		out, err := interp.RunProgram(t.Context(), p, inputs, interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p, out
	}
}

// TestBytesStay: levels of many bits that layers multiply as bytes lie in memory as bytes, and the caller's are read where they lie; the
// result is that of planes of bits, with unsigned and with signed products.
func TestBytesStay(t *testing.T) {
	_, run := formNet(t, byteNet, 2*9*11*3, 2*9*11*4)
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
			if b.Kind == ir.ArenaBuf && (b.Type == ir.U8 || b.Type == ir.I8) {
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

// movedNet has levels of 8 bits that pools, moves, a join and sums of floats stand between, an input of 8 bits that is pooled and one of 5
// that is moved, and outputs that are levels.
const movedNet = `{
  "format": "ripc.model/1", "name": "moved_net",
  "inputs": [{"name": "x", "dtype": "u8", "encoding": "unipolar", "bits": 8, "shape": [2, 9, 11, 3], "layout": "NHWC"},
    {"name": "z", "dtype": "u8", "encoding": "unipolar", "bits": 5, "shape": [2, 4, 8, 5], "layout": "NHWC"}],
  "weights": {"init": "random", "seed": 1, "gain": 0.25},
  "nodes": [
    {"name": "small", "op": "max_pool", "inputs": ["x"], "attrs": {"kernel": 3, "strides": 2, "padding": "same"}},
    {"name": "stem", "op": "bitserial_conv2d", "inputs": ["small"], "attrs": {"filters": 33, "kernel": [2, 2], "padding": "same", "weight_bits": 4}},
    {"name": "q1", "op": "quantize", "inputs": ["stem"], "attrs": {"bits": 8, "encoding": "unipolar"}},
    {"name": "left", "op": "bitserial_conv2d", "inputs": ["q1"], "attrs": {"filters": 20, "kernel": [1, 1], "weight_bits": 2}},
    {"name": "ql", "op": "quantize", "inputs": ["left"], "attrs": {"bits": 8, "encoding": "bipolar_inv"}},
    {"name": "right", "op": "bitserial_conv2d", "inputs": ["q1"], "attrs": {"filters": 7, "kernel": [1, 1], "weight_bits": 2}},
    {"name": "qr", "op": "quantize", "inputs": ["right"], "attrs": {"bits": 8, "encoding": "bipolar_inv"}},
    {"name": "both", "op": "concat", "inputs": ["ql", "qr"]},
    {"name": "pooled", "op": "max_pool", "inputs": ["both"], "attrs": {"kernel": 2, "strides": 1, "padding": "same"}},
    {"name": "padded", "op": "pad", "inputs": ["pooled"], "attrs": {"padding": [1, 0, 2, 3], "value": -1}},
    {"name": "part", "op": "slice", "inputs": ["padded"], "attrs": {"begin": [0, 1, 0, 3], "size": [2, 4, 8, 20]}},
    {"name": "turned", "op": "transpose", "inputs": ["part"], "attrs": {"perm": [0, 2, 1, 3]}},
    {"name": "more", "op": "bitserial_conv2d", "inputs": ["turned"], "attrs": {"filters": 9, "kernel": [3, 3], "padding": "same", "weight_bits": 3}},
    {"name": "reals", "op": "dequantize", "inputs": ["turned"]},
    {"name": "half", "op": "slice", "inputs": ["reals"], "attrs": {"begin": [0, 0, 0, 0], "size": [2, 8, 4, 9]}},
    {"name": "joined", "op": "add", "inputs": ["more", "half"]},
    {"name": "y", "op": "quantize", "inputs": ["joined"], "attrs": {"bits": 8, "encoding": "unipolar"}},
    {"name": "flat", "op": "reshape", "inputs": ["z"], "attrs": {"shape": [2, 160]}},
    {"name": "y2", "op": "bitserial_dense", "inputs": ["flat"], "attrs": {"units": 5, "weight_bits": 2}}
  ],
  "outputs": ["y", "padded", "y2"]
}`

// TestMovedBytes: levels lie as bytes through all that moves or chooses them, up to outputs; the result is that of planes of bits.
func TestMovedBytes(t *testing.T) {
	g, lowered := formNet(t, movedNet, 2*9*11*3, 2*4*8*5)
	layers := []string{"stem", "left", "right", "more", "y2"}
	run := func(arch string, by layout.Algorithm) (*ir.Program, [][]byte) {
		o := lower.Options{Target: targets.Target{Arch: arch}, Algorithms: map[string]layout.Algorithm{}}
		for _, n := range g.Nodes {
			if slices.ContainsFunc(layers, func(l string) bool { return strings.HasPrefix(n.Name, l) }) && n.Op == "bconv2d" {
				o.Algorithms[n.Name] = by
			}
		}
		return lowered(o)
	}
	planes := func(p *ir.Program) (n int) {
		for _, b := range p.Buffers {
			if b.Kind == ir.ArenaBuf && b.Type == ir.U32 {
				n++
			}
		}
		return n
	}
	bits, want := run("", layout.Popcount)
	if planes(bits) == 0 {
		t.Fatalf("no planes of bits to compare with\n%s", bits)
	}
	for _, by := range []layout.Algorithm{layout.Dot, layout.Float} {
		for _, arch := range []string{"", "aarch64"} {
			p, got := run(arch, by)
			for i := range want {
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("%s on %q: output %d is another", by, arch, i)
				}
			}
			if n := planes(p); n > 0 {
				t.Errorf("%s on %q: %d tensors lie as planes of bits\n%s", by, arch, n, p)
			}
		}
	}
}
