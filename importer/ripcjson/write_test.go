package ripcjson

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/importer"
	"ripc/internal/files"
	"ripc/internal/golden"
	"ripc/internal/safetensors"
	"ripc/ir"
)

// others has the ops, types and attributes that everything lacks.
const others = `{"format": "ripc.model/1", "name": "others", "weights": {"init": "random", "seed": 7, "file": "f"},
 "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 3, 6, 6], "layout": "NCHW"},
            {"name": "words", "dtype": "i32", "shape": [1, 4, 4, 33], "encoding": "bipolar_inv", "scale": 1, "packed": true},
            {"name": "bytes", "dtype": "i8", "shape": [2, 3, 4], "encoding": "affine", "bits": 8, "zero_point": -3, "scale": 0.1, "offset": -0.5},
            {"name": "deep", "dtype": "f32", "shape": [1, 2, 1, 2, 3, 4]},
            {"name": "image", "dtype": "f32", "shape": [1, 2, 2, 2], "layout": ""}],
 "nodes": [
  {"name": "t", "op": "transpose", "inputs": ["x"], "attrs": {"perm": [0, 2, 3, 1]}, "note": "from <Transpose_1> & \"so on\""},
  {"name": "th", "op": "threshold", "inputs": ["t"], "attrs": {"bits": 2, "encoding": "bipolar", "offset": 0.25, "not_less": true}},
  {"name": "deq", "op": "dequantize", "inputs": ["th"]},
  {"name": "c", "op": "conv2d", "inputs": ["deq"], "attrs": {"filters": 4, "kernel": 3, "padding": [4, 4, 3, 2], "dilations": [2, 2]},
   "reason": {"code": "not_finite", "where": "deq", "args": {"op": "dequantize", "bits": 2, "levels": "bipolar", "weight_bits": 3, "weights": "affine", "count": 12345678901, "most": 4, "channel": 1, "value": "-Inf"}}},
  {"name": "b1", "op": "add", "inputs": ["c"]},
  {"name": "b2", "op": "div", "inputs": ["b1"], "attrs": {"reverse": true}, "weights": {"b": "one"}},
  {"name": "cl", "op": "clip", "inputs": ["b2"], "attrs": {"min": -0.5}},
  {"name": "cl2", "op": "clip", "inputs": ["cl"], "attrs": {"max": 1.25}},
  {"name": "fq", "op": "fake_quant", "inputs": ["cl2"], "attrs": {"min": -7, "max": 7, "rounding": "half_away"}},
  {"name": "fq2", "op": "fake_quant", "inputs": ["fq"], "attrs": {"min": 0, "max": 255}, "weights": {"scale": "one", "zero_point": "one"}},
  {"name": "q", "op": "quantize", "inputs": ["fq2"], "attrs": {"bits": 4, "encoding": "affine", "zero_point": 9, "scale": 0.25, "range": [-7, 7], "rounding": "trunc", "offset": 1.5}},
  {"name": "q8", "op": "quantize", "inputs": ["fq2"], "attrs": {"bits": 8, "encoding": "affine", "zero_point": -128, "scale": 0.25, "dtype": "i8", "rounding": "away"}},
  {"name": "tb", "op": "threshold", "inputs": ["fq2"], "attrs": {"bits": 8, "encoding": "affine", "zero_point": 5, "scale": 0.5, "dtype": "i8"}, "weights": {"thresholds": "rows"}},
  {"name": "m", "op": "max_pool", "inputs": ["words"], "attrs": {"kernel": 2, "strides": 2}},
  {"name": "mw", "op": "bitpack", "inputs": ["m"], "attrs": {"dtype": "i32"}},
  {"name": "mb", "op": "bitpack", "inputs": ["m"]},
  {"name": "bc", "op": "bitserial_conv2d", "inputs": ["m"], "attrs": {"filters": 4, "kernel": 3, "padding": "same", "pad_value": "one", "weight_encoding": "ternary"}},
  {"name": "ba", "op": "bitserial_conv2d", "inputs": ["m"], "attrs": {"filters": 6, "kernel": 1, "groups": 3, "weight_encoding": "affine", "weight_bits": 2, "weight_zero_point": 1, "weight_scale": "tensor", "weight_offset": true}},
  {"name": "rs", "op": "reshape", "inputs": ["bytes"], "attrs": {"shape": [24]}},
  {"name": "rd", "op": "dequantize", "inputs": ["rs"]},
  {"name": "ro", "op": "round", "inputs": ["rd"], "attrs": {"rounding": "floor"}},
  {"name": "si", "op": "sign", "inputs": ["ro"]},
  {"name": "k", "op": "constant", "inputs": [], "attrs": {"shape": [1, 2, 2, 1, 3, 1]}, "outputs": ["k_out"]},
  {"name": "k2", "op": "constant", "inputs": [], "weights": {"value": "infinite"}},
  {"name": "su", "op": "sub", "inputs": ["deep", "k_out"]},
  {"name": "mu", "op": "mul", "inputs": ["su", "k2"]},
  {"name": "sl", "op": "slice", "inputs": ["mu"], "attrs": {"begin": [0, 1, 0, 0, 1, 0], "size": [1, 1, 2, 2, 1, 2], "strides": [1, 1, 1, 1, 1, 2]}},
  {"name": "ga", "op": "gather", "inputs": ["image"], "attrs": {"rows": [1, 0, 0]}},
  {"name": "it", "op": "interpolate", "inputs": ["ga"], "attrs": {"rows": [0, 0.1, 2], "columns": [0.5]}},
  {"name": "pa", "op": "pad", "inputs": ["image"], "attrs": {"padding": [1, 0, 2, 3], "value": -1.5}},
  {"name": "bn", "op": "batch_norm", "inputs": ["pa"], "attrs": {"epsilon": 0}},
  {"name": "re", "op": "prelu", "inputs": ["bn"], "weights": {"alpha": "two"}}
 ],
 "outputs": ["q", "q8", "tb", "mw", "mb", "bc", "ba", "si", "sl", "it", "re"]}`

func othersFile(string) (map[string]safetensors.Tensor, error) {
	inf := float32(math.Inf(1))
	rows := make([]float32, 255)
	for i := range rows {
		rows[i] = float32(i - 100) // small integers, so that i8 is enough
	}
	rows[254] = 127
	return map[string]safetensors.Tensor{"one": f32s([]int{1}, 0.5), "rows": f32s([]int{100, 1}, rows[:100]...), "infinite": f32s([]int{1, 1, 1, 1, 1, 1}, -inf), "two": f32s([]int{2}, float32(math.Copysign(0, -1)), 1)}, nil
}

// same compares graphs but for the places that they were read from.
func same(g, h *graph.Graph) error {
	strip := func(g *graph.Graph) *graph.Graph {
		c := *g
		c.File, c.Nodes = "", nil
		for _, n := range g.Nodes {
			m := *n
			m.Pos = ir.Pos{}
			m.Weights = map[string]*graph.Tensor{}
			for key, w := range n.Weights { // which may be held otherwise
				m.Weights[key] = &graph.Tensor{Shape: w.Shape, Data: graph.NumbersOf(w.Data.Floats())}
			}
			c.Nodes = append(c.Nodes, &m)
		}
		return &c
	}
	if g, h := strip(g), strip(h); !reflect.DeepEqual(g, h) {
		return fmt.Errorf("the graphs differ:\n%s\n%s", g, h)
	}
	return nil
}

// TestWrite: what is written is read again, to the bit, and twice the same.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		open Opener
	}{"everything": {everything, everythingFile}, "others": {others, othersFile}} {
		g, err := Parse(name+".json", []byte(c.text), c.open)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name+".json")
		if err := Write(t.Context(), path, g); err != nil {
			t.Fatal(err)
		}
		h, err := Read(t.Context(), path, importer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := same(g, h); err != nil {
			t.Error(err)
		}
		first := written(t, dir, name)
		if err := Write(t.Context(), path, h); err != nil {
			t.Fatal(err)
		}
		if second := written(t, dir, name); !slices.EqualFunc(first, second, bytes.Equal) {
			t.Errorf("%s: written again it differs:\n%s\n%s", name, first[0], second[0])
		}
		golden.Check(t, "testdata/written_"+name+".txt", first[0])
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) != 4 || len(hidden) > 0 {
		t.Errorf("files %v %v, want two models and their weights", left, hidden)
	}
}

func written(t *testing.T, dir, name string) [][]byte {
	t.Helper()
	var all [][]byte
	for _, ext := range []string{".json", ".safetensors"} {
		data, err := os.ReadFile(filepath.Join(dir, name+ext))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

// TestWriteWeights: integers are bytes, other values keep their bits, and a tensor of several nodes is stored once.
func TestWriteWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		kinds := []*rapid.Generator[float32]{
			rapid.Map(rapid.IntRange(-128, 127), func(i int) float32 { return float32(i) }),
			rapid.Map(rapid.IntRange(-129, 128), func(i int) float32 { return float32(i) }),
			rapid.SampledFrom([]float32{0, float32(math.Copysign(0, -1)), 1, 1e-40, math.MaxFloat32}),
			rapid.Float32Range(-2, 2),
		}
		data := rapid.SliceOfN(kinds[rapid.IntRange(0, 3).Draw(t, "kind")], n, n).Draw(t, "data")
		w := &graph.Tensor{Shape: []int{n}, Data: graph.NumbersOf(data)}
		g := &graph.Graph{Name: "g", File: "g.tflite", Outputs: []string{"b"}}
		b := graph.NewBuilder(g)
		b.Input(&graph.Value{Name: "x", Shape: []int{n}})
		for i, name := range []string{"a", "b"} {
			node := &graph.Node{Name: name, Op: "add", Inputs: []string{[]string{"x", "a"}[i]}, Output: name, Attrs: &graph.BinaryOpAttrs{}, Weights: map[string]*graph.Tensor{"b": w}}
			if _, err := b.Append(node); err != nil {
				t.Fatal(err)
			}
		}
		text, bin, err := encode(t.Context(), g, "g.safetensors")
		if err != nil {
			t.Fatal(err)
		}
		file, err := safetensors.Read(bytes.NewReader(bin))
		if err != nil || len(file) != 1 {
			t.Fatalf("%d tensors, %v", len(file), err)
		}
		h, err := Parse("g.json", text, func(string) (map[string]safetensors.Tensor, error) { return file, nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, node := range h.Nodes {
			for i, v := range node.Weights["b"].Data.All() {
				if math.Float32bits(v) != math.Float32bits(data[i]) {
					t.Fatalf("element %d is %v, want %v", i, v, data[i])
				}
			}
		}
		whole := !slices.ContainsFunc(data, func(v float32) bool { return v != float32(int8(v)) || v == 0 && math.Signbit(float64(v)) })
		if got := file["a.b"].DType == "i8"; got != (whole && n > 64) {
			t.Fatalf("%d values stored as %s: %v", n, file["a.b"].DType, data)
		}
	})
}

// TestWriteErrors: what no file can say is refused before anything is written.
func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	for want, change := range map[string]func(g *graph.Graph){
		`the node is called "a\nb"`:             func(g *graph.Graph) { g.Nodes[0].Name = "a\nb" },
		`an input is called "x\xff"`:            func(g *graph.Graph) { g.Inputs[0] = "x\xff" },
		`output "x": no node makes this tensor`: func(g *graph.Graph) { g.Outputs = []string{"y", "x"} },
		`output "y": listed twice`:              func(g *graph.Graph) { g.Outputs = []string{"y", "y"} },
		`has a weight "w"; the op has []`: func(g *graph.Graph) {
			g.Nodes[0].Weights = map[string]*graph.Tensor{"w": {Shape: []int{1}, Data: graph.NumbersOf([]float32{1})}}
		},
		`no layer of a model has this op`:              func(g *graph.Graph) { g.Nodes[0].Op = "eltwise" },
		`layout "N HW" for shape [1 8 8 4]`:            func(g *graph.Graph) { g.Values["x"].Layout = "N HW" },
		`but the graph says {Name:y Shape:[1] `:        func(g *graph.Graph) { g.Values["y"].Shape = []int{1} },
		`node "y" (relu): the note "\xff" is no UTF-8`: func(g *graph.Graph) { g.Nodes[0].Note = "\xff" },
		`no node reads the result "y"`: func(g *graph.Graph) {
			z := *g.Nodes[0]
			z.Name, z.Output = "z", "z"
			g.Nodes, g.Outputs, g.Values["z"] = append(g.Nodes, &z), []string{"z"}, &graph.Value{Name: "z", Shape: []int{1, 8, 8, 4}, Layout: "NHWC"}
		},
	} {
		g, err := Parse("m.json", []byte(minimal), testFile)
		if err != nil {
			t.Fatal(err)
		}
		change(g)
		err = Write(t.Context(), filepath.Join(dir, "m.json"), g)
		if e := (*ir.Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	g, err := Parse("m.json", []byte(minimal), testFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"m.txt", ".json"} {
		if err := Write(t.Context(), filepath.Join(dir, path), g); !errors.As(err, new(*ir.Error)) {
			t.Errorf("%s: got %v, want an *ir.Error", path, err)
		}
	}
	if err := Write(t.Context(), filepath.Join(dir, "none", "m.json"), g); !errors.As(err, new(*files.WriteError)) || errors.As(err, new(*ir.Error)) {
		t.Errorf("no folder: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v was written", left)
	}
}

// TestWideWeights: biases of i32 and multipliers of f64, which f32 does not have, are written and read as they are. Other weights and
// arithmetic of f32 refuse them.
func TestWideWeights(t *testing.T) {
	layer := func(form string) string {
		return `{"format": "ripc.model/1", "name": "wide", "weights": "w",
 "inputs": [{"name": "x", "dtype": "u8", "encoding": "affine", "bits": 8, "shape": [1, 2]}],
 "nodes": [{"name": "y", "op": "int_dense", "inputs": ["x"], "attrs": {"requantize": "` + form + `"}}],
 "outputs": ["y"]}`
	}
	bias, by := int32(1<<24+1), 0.1
	tensors := map[string]safetensors.Tensor{
		"y.w":          {DType: "i8", Shape: []int{2, 1}, Data: []byte{3, 250}},
		"y.bias":       {DType: "i32", Shape: []int{1}, Data: encoded([]int32{bias})},
		"y.multiplier": {DType: "f64", Shape: []int{1}, Data: encoded([]float64{by})},
	}
	open := func(string) (map[string]safetensors.Tensor, error) { return tensors, nil }
	g, err := Parse("wide.json", []byte(layer("fixed_point")), open)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "again.json")
	if err := Write(t.Context(), path, g); err != nil {
		t.Fatal(err)
	}
	h, err := Read(t.Context(), path, importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*graph.Graph{g, h} {
		n := g.Nodes[0]
		if a := graph.IntegerOf(n); a.Bias(n)[0] != int64(bias) || a.Multiplier(n, 0) != by {
			t.Errorf("bias %v and multiplier %v, want %v and %v", a.Bias(n), a.Multiplier(n, 0), bias, by)
		}
	}
	if _, err := Parse("wide.json", []byte(layer("float")), open); err == nil || !strings.Contains(err.Error(), "want a number of f32") {
		t.Errorf("a multiplier of f64 with requantize float: %v", err)
	}
	tensors["y.w"] = safetensors.Tensor{DType: "i32", Shape: []int{2, 1}, Data: encoded([]int32{3, -6})}
	if _, err := Parse("wide.json", []byte(layer("fixed_point")), open); err == nil || !strings.Contains(err.Error(), "has element type i32") {
		t.Errorf("weights of i32: %v", err)
	}
}
