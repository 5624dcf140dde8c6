package ripcjson

import (
	"bytes"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer"
	"ripc/internal/safetensors"
	"ripc/ir"
)

const minimal = `{"format": "ripc.model/1", "name": "t",
 "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 8, 8, 4]}],

 "weights": "w.safetensors",
 "nodes": [
  {"name": "y", "op": "relu", "inputs": ["x"]}],
 "outputs": ["y"]}`

// TestNoWeights: a model without weights needs no entry for them.
func TestNoWeights(t *testing.T) {
	if _, err := Parse("m.json", []byte(strings.Replace(minimal, `"weights": "w.safetensors",`, "", 1)), nil); err != nil {
		t.Error(err)
	}
}

// everything has one node of most ops, in an order that needs sorting, and leaves every default to the reader.
const everything = `{"format": "ripc.model/1", "name": "every", "weights": {"init": "random", "seed": 7, "file": "f"},
 "inputs": [{"name": "x", "dtype": "f32", "shape": [2, 9, 9, 3], "layout": "NHWC"},
            {"name": "p", "dtype": "u32", "shape": [2, 4, 4, 33], "encoding": "bipolar", "bits": 2, "packed": true},
            {"name": "l", "dtype": "u8", "shape": [2, 10], "encoding": "bipolar", "scale": 0.5}],
 "nodes": [
  {"name": "out", "op": "softmax", "inputs": ["fc"]},
  {"name": "fc", "op": "dense", "inputs": ["flat"], "attrs": {"units": 10}, "weights": {"b": "shared"}},
  {"name": "flat", "op": "flatten", "inputs": ["deq"]},
  {"name": "deq", "op": "dequantize", "inputs": ["cat"]},
  {"name": "cat", "op": "concat", "inputs": ["s", "q2"]},
  {"name": "c1", "op": "conv2d", "inputs": ["x"], "outputs": ["c1_out"], "attrs": {"strides": 2, "padding": [1, 0, 1, 1], "filters": 5, "kernel": [3, 3]}},
  {"name": "bn", "op": "batch_norm", "inputs": ["c1_out"]},
  {"name": "q", "op": "quantize", "inputs": ["bn"], "attrs": {"bits": 2}},
  {"name": "bc", "op": "bitserial_conv2d", "inputs": ["q"], "attrs": {"padding": "same", "filters": 6, "kernel": 3}},
  {"name": "s", "op": "shift_norm", "inputs": ["bc"], "attrs": {"bits": 2}},
  {"name": "q2", "op": "max_pool", "inputs": ["q"], "attrs": {"kernel": 3, "strides": 1, "padding": "same"}},
  {"name": "bd", "op": "bitserial_dense", "inputs": ["l"], "attrs": {"weight_scale": "tensor"}},
  {"name": "pc", "op": "bitserial_conv2d", "inputs": ["p"], "attrs": {"filters": 1, "kernel": 1, "pad_value": "one", "weight_scale": "none"}},
  {"name": "ap", "op": "avg_pool", "inputs": ["pc"], "attrs": {"kernel": 2}},
  {"name": "gp", "op": "global_avg_pool", "inputs": ["ap"]}
 ],
 "outputs": ["out", "bd", "gp"]}`

func everythingFile(string) (map[string]safetensors.Tensor, error) {
	return map[string]safetensors.Tensor{
		"bd.w":     {DType: "i8", Shape: []int{10, 2}, Data: append(make([]byte, 18), 0xff, 3)},
		"bd.scale": {DType: "u8", Shape: []int{2}, Data: []byte{255, 1}},
	}, nil
}

func TestParse(t *testing.T) {
	g, err := Parse("every.json", []byte(everything), everythingFile)
	if err != nil {
		t.Fatal(err)
	}
	at, index := map[string]int{}, graph.NewIndex(g)
	for i, n := range g.Nodes {
		at[n.Output] = i
		for _, in := range n.Inputs {
			if j, made := at[in]; !made && index.Producer(in) != nil || j > i {
				t.Errorf("node %s comes before its input %s", n.Name, in)
			}
		}
	}
	if len(g.Nodes) != 15 || g.Nodes[at["bn"]].Pos != (ir.Pos{File: "every.json", Line: 12}) {
		t.Errorf("%d nodes, bn at %v", len(g.Nodes), g.Nodes[at["bn"]].Pos)
	}
	wantAttrs := map[string]any{
		"c1_out": &graph.Conv2DAttrs{Strides: [2]int{2, 2}, Pad: graph.Padding{Mode: graph.PadExplicit, Top: 1, Bottom: 0, Left: 1, Right: 1}},
		"bc": &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: graph.PadSame, Top: 1, Bottom: 1, Left: 1, Right: 1},
			Binary: &graph.BinaryAttrs{WeightScale: graph.ScaleMean}},
		"pc": &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: graph.PadValid}, Binary: &graph.BinaryAttrs{WeightScale: graph.ScaleNone, PadValue: graph.PadOnes}},
		"bd": &graph.DenseAttrs{Binary: &graph.BinaryAttrs{WeightScale: graph.ScaleTensor}},
		"fc": &graph.DenseAttrs{},
		"bn": &graph.BatchNormAttrs{Epsilon: 1e-5},
		"s":  &graph.ShiftNormAttrs{Mode: graph.ShiftRiptide, Bits: 2, Enc: ir.Unipolar, Epsilon: 1e-5},
		"q":  &graph.QuantizeAttrs{Unit: true, LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 1.0 / 3}, Rounding: scalar.HalfEven},
		"ap": &graph.PoolAttrs{Kernel: [2]int{2, 2}, Strides: [2]int{2, 2}, Pad: graph.Padding{Mode: graph.PadValid}},
	}
	for name, want := range wantAttrs {
		if got := index.Producer(name).Attrs; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: attributes %+v, want %+v", name, got, want)
		}
	}
	wantValues := map[string]graph.Value{
		"x":      {Name: "x", Shape: []int{2, 9, 9, 3}, Layout: "NHWC"},
		"p":      {Name: "p", Shape: []int{2, 4, 4, 33}, Layout: "NHWC", LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 2, Scale: 1.0 / 3}, View: graph.Planes},
		"l":      {Name: "l", Shape: []int{2, 10}, Layout: "NC", LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 1, Scale: 0.5}},
		"c1_out": {Name: "c1_out", Shape: []int{2, 4, 5, 5}, Layout: "NHWC"},
		"cat":    {Name: "cat", Shape: []int{2, 4, 5, 11}, Layout: "NHWC", LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 2, Scale: 1.0 / 3}},
		"out":    {Name: "out", Shape: []int{2, 10}, Layout: "NC"},
	}
	for name, want := range wantValues {
		if got := *g.Value(name); !reflect.DeepEqual(got, want) {
			t.Errorf("tensor %+v, want %+v", got, want)
		}
	}
	if w := index.Producer("bd").Weights; w["w"].Data.At(18) != -1 || w["w"].Data.At(19) != 3 || w["scale"].Data.At(0) != 255 {
		t.Errorf("integers read as %v and %v", w["w"].Data.Floats(), w["scale"].Data.Floats())
	}
	if w := index.Producer("fc").Weights; w["b"] == nil || w["b"].Data.At(3) != 0 || index.Producer("c1_out").Weights["b"] != nil {
		t.Errorf("want a bias of zeros where one is named, and none elsewhere")
	}
}

// TestGenerator pins the generator: the numbers come from an independent program (Python, arbitrary precision).
func TestGenerator(t *testing.T) {
	g := &generator{seed: 1, gain: 0.25}
	for _, c := range []struct {
		key, name string
		fanIn     int
		want      []uint32
	}{
		{"w", "conv1.w", 27, []uint32{0xbdb6a68a, 0xbc16111d, 0x3dad3466, 0x3cb21f85}},
		{"gamma", "bn1.gamma", 0, []uint32{0x3f6f5830, 0x3f830516, 0x3f6cbe72, 0x3f7b05a4}},
		{"beta", "bn1.beta", 0, []uint32{0xbd9aff5e, 0x3db42371, 0xbd4e744a, 0x3d67fafe}},
		{"scale", "fc.scale", 64, []uint32{0x3d255297, 0x3d1c17b9, 0x3d220b82, 0x3d12c8fa}},
	} {
		for i, x := range g.numbers(c.key, c.name, []int{4}, c.fanIn).All() {
			if math.Float32bits(x) != c.want[i] {
				t.Errorf("%s[%d] = %#08x (%v), want %#08x", c.name, i, math.Float32bits(x), x, c.want[i])
			}
		}
	}
	sum, n := 0.0, 100_000
	for _, x := range (&generator{seed: 2, gain: 1}).numbers("w", "a", []int{n}, 6).All() {
		if x < -1 || x >= 1 {
			t.Fatalf("weight %v outside +-1", x)
		}
		sum += math.Abs(float64(x))
	}
	if mean := sum / float64(n); math.Abs(mean-0.5) > 0.01 {
		t.Errorf("mean|w| = %v, want 0.5", mean)
	}
}

// TestGeneratedMagnitudes: weights of bitserial layers that are generated keep their magnitudes, of which scales are the mean and ternary weights the zeros.
func TestGeneratedMagnitudes(t *testing.T) {
	for _, attrs := range []string{``, `, "weight_encoding": "ternary"`, `, "weight_bits": 3`, `, "weight_scale": "none"`} {
		g, err := Parse("m.json", []byte(`{"format": "ripc.model/1", "name": "m", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 40]}], "weights": {"init": "random", "seed": 3}, "nodes": [
 {"name": "q", "op": "quantize", "inputs": ["x"], "attrs": {"bits": 1, "encoding": "bipolar"}},
 {"name": "y", "op": "bitserial_dense", "inputs": ["q"], "attrs": {"units": 30`+attrs+`}}], "outputs": ["y"]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		w := g.Nodes[1].Weights["w"].Data
		stored := (&generator{seed: 3, gain: 1}).numbers("w", "y.w", []int{40, 30}, 40)
		if !slices.Equal(w.Floats(), stored.Floats()) {
			t.Errorf("%q: generated weights %v, want %v", attrs, w.Floats()[:4], stored.Floats()[:4])
		}
	}
}

// TestExamples reads every model of the examples.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/*.json")
	if err != nil || len(files) < 17 {
		t.Fatalf("%d models, want at least 17 (error %v)", len(files), err)
	}
	for _, file := range files {
		if _, err := Read(t.Context(), file, importer.Options{}); err != nil {
			t.Error(err)
		}
	}
}

// TestManyNodes: more nodes than a network may have are refused while they are read.
func TestManyNodes(t *testing.T) {
	lim := defaultLimits()
	lim.nodes = 1000
	node := []byte(`{"name": "n", "op": "relu", "inputs": ["x"]},` + "\n")
	for _, n := range []int{lim.nodes - 1, lim.nodes} {
		_, err := locate(t.Context(), "m.json", slices.Concat([]byte(`{"nodes": [`), bytes.Repeat(node, n), []byte(`{}]}`)), lim)
		if want := "m.json:1000: the network has more than 1000 nodes"; (n < lim.nodes) != (err == nil) || err != nil && err.Error() != want {
			t.Errorf("%d nodes: %v", n+1, err)
		}
	}
}
