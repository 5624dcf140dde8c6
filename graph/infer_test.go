package graph_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// net is a graph with a float picture x, levels q, a float vector v and a vector of levels l.
func net() *graph.Graph {
	g := &graph.Graph{Name: "t", File: "t.json", Values: map[string]*graph.Value{}}
	for _, v := range []*graph.Value{
		{Name: "x", Shape: []int{2, 9, 8, 4}, Layout: "NHWC"},
		{Name: "q", Shape: []int{2, 9, 8, 4}, Layout: "NHWC", LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 2, Scale: 1.0 / 3}, View: graph.Planes},
		{Name: "b", Shape: []int{2, 9, 8, 4}, Layout: "NHWC", LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 2, Scale: 1.0 / 3}},
		{Name: "s", Shape: []int{2, 9, 7, 4}, Layout: "NHWC"},
		{Name: "v", Shape: []int{2, 6}, Layout: "NC"},
		{Name: "one", Shape: []int{2, 1, 8, 1}, Layout: "NHWC"},
		{Name: "one1", Shape: []int{3}},
		{Name: "six", Shape: []int{1, 2, 3, 4, 5, 6}},
		{Name: "nchw", Shape: []int{1, 3, 8, 9}, Layout: "NCHW"},
		{Name: "words", Shape: []int{1, 4, 4, 9}, Layout: "NHWC", LevelType: scalar.LevelType{Enc: ir.BipolarInv, Bits: 1, Scale: 1}, View: graph.IntWords},
		{Name: "bits", Shape: []int{1, 4, 4, 9}, Layout: "NHWC", LevelType: scalar.LevelType{Enc: ir.BipolarInv, Bits: 1, Scale: 1}},
		{Name: "third", Shape: []int{1, 4, 4, 9}, Layout: "NHWC", LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 2, Scale: 1.0 / 3}},
		{Name: "l", Shape: []int{2, 6}, Layout: "NC", LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 1, Scale: 1}},
	} {
		g.Values[v.Name] = v
	}
	return g
}

func weights(shapes map[string][]int) map[string]*graph.Tensor {
	out := map[string]*graph.Tensor{}
	for k, s := range shapes {
		out[k] = &graph.Tensor{Shape: s}
		out[k].Data = graph.NumbersOf(make([]float32, out[k].Elems()))
	}
	return out
}

type shapes = map[string][]int

func conv(pad graph.Padding, stride int, b *graph.BinaryAttrs) *graph.Conv2DAttrs {
	return &graph.Conv2DAttrs{Strides: [2]int{stride, stride}, Pad: pad, Binary: b}
}

func pool(kernel, stride int, mode graph.PaddingMode) *graph.PoolAttrs {
	return &graph.PoolAttrs{Kernel: [2]int{kernel, kernel}, Strides: [2]int{stride, stride}, Pad: graph.Padding{Mode: mode}}
}

func explicit(t, b, l, r int) graph.Padding {
	return graph.Padding{Mode: graph.PadExplicit, Top: t, Bottom: b, Left: l, Right: r}
}

func TestInfer(t *testing.T) {
	same, valid, mean := graph.Padding{Mode: graph.PadSame}, graph.Padding{Mode: graph.PadValid}, &graph.BinaryAttrs{WeightScale: graph.ScaleMean}
	for _, c := range []struct {
		op     string
		inputs string
		attrs  any
		w      shapes
		want   graph.Value
	}{
		{"conv2d", "x", conv(valid, 2, nil), shapes{"w": {3, 3, 4, 5}, "b": {5}}, graph.Value{Shape: []int{2, 4, 3, 5}, Layout: "NHWC"}},
		{"conv2d", "x", conv(same, 2, nil), shapes{"w": {3, 3, 4, 5}}, graph.Value{Shape: []int{2, 5, 4, 5}, Layout: "NHWC"}},
		{"conv2d", "x", conv(explicit(2, 0, 1, 0), 1, nil), shapes{"w": {3, 3, 4, 5}}, graph.Value{Shape: []int{2, 9, 7, 5}, Layout: "NHWC"}},
		{"bitserial_conv2d", "q", conv(same, 1, mean), shapes{"w": {1, 1, 4, 5}}, graph.Value{Shape: []int{2, 9, 8, 5}, Layout: "NHWC"}},
		{"dense", "v", &graph.DenseAttrs{}, shapes{"w": {6, 3}, "b": {3}}, graph.Value{Shape: []int{2, 3}, Layout: "NC"}},
		{"bitserial_dense", "l", &graph.DenseAttrs{Binary: &graph.BinaryAttrs{WeightScale: graph.ScaleTensor}}, shapes{"w": {6, 3}, "scale": {3}}, graph.Value{Shape: []int{2, 3}, Layout: "NC"}},
		{"max_pool", "b", pool(2, 2, graph.PadSame), nil, graph.Value{Shape: []int{2, 5, 4, 4}, Layout: "NHWC", LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 2, Scale: 1.0 / 3}}},
		{"avg_pool", "x", pool(3, 2, graph.PadValid), nil, graph.Value{Shape: []int{2, 4, 3, 4}, Layout: "NHWC"}},
		{"global_avg_pool", "x", &graph.NoAttrs{}, nil, graph.Value{Shape: []int{2, 4}, Layout: "NC"}},
		{"flatten", "q", &graph.NoAttrs{}, nil, graph.Value{Shape: []int{2, 288}, Layout: "NC", LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 2, Scale: 1.0 / 3}}},
		{"concat", "x x", &graph.ConcatAttrs{}, nil, graph.Value{Shape: []int{2, 9, 8, 8}, Layout: "NHWC"}},
		{"batch_norm", "v", &graph.BatchNormAttrs{Epsilon: 1}, shapes{"gamma": {6}, "beta": {6}, "mean": {6}, "var": {6}}, graph.Value{Shape: []int{2, 6}, Layout: "NC"}},
		{"quantize", "v", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 3, Enc: ir.Bipolar, Scale: 2}}, nil, graph.Value{Shape: []int{2, 6}, Layout: "NC", LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 3, Scale: 2}}},
		{"shift_norm", "v", &graph.ShiftNormAttrs{Mode: graph.ShiftRiptide, Epsilon: 1, Bits: 2, Enc: ir.Unipolar}, shapes{"mean": {6}, "var": {6}}, graph.Value{Shape: []int{2, 6}, Layout: "NC", LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 2, Scale: 1.0 / 3}}},
		{"bitpack", "l", &graph.BitpackAttrs{}, nil, graph.Value{Shape: []int{2, 6}, Layout: "NC", LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 1, Scale: 1}, View: graph.Planes}},
		{"dequantize", "l", &graph.NoAttrs{}, nil, graph.Value{Shape: []int{2, 6}, Layout: "NC"}},
		{"add", "q q", &graph.BinaryOpAttrs{}, nil, graph.Value{Shape: []int{2, 9, 8, 4}, Layout: "NHWC", LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 3, Scale: 1.0 / 3}}},
		{"sub", "q b", &graph.BinaryOpAttrs{}, nil, graph.Value{Shape: []int{2, 9, 8, 4}, Layout: "NHWC", LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 4, Scale: 1.0 / 3, Zero: 3}}},
	} {
		n := &graph.Node{Name: "n", Op: c.op, Inputs: strings.Fields(c.inputs), Output: "n", Attrs: c.attrs, Weights: weights(c.w)}
		got, _, err := graph.Infer(net(), n)
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		got.Name = ""
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s of %s: got %+v, want %+v", c.op, c.inputs, *got, c.want)
		}
	}
}

// TestInferPadding: TensorFlow's same padding puts the odd row at the end, and the node stays what it is.
func TestInferPadding(t *testing.T) {
	a := conv(graph.Padding{Mode: graph.PadSame}, 2, nil)
	n := &graph.Node{Name: "n", Op: "conv2d", Inputs: []string{"x"}, Attrs: a, Weights: weights(shapes{"w": {3, 3, 4, 1}})}
	_, attrs, err := graph.Infer(net(), n)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := attrs.(*graph.Conv2DAttrs).Pad, (graph.Padding{Mode: graph.PadSame, Top: 1, Bottom: 1, Left: 0, Right: 1}); got != want {
		t.Errorf("padding of 9x8, kernel 3, stride 2: %+v, want %+v", got, want)
	}
	if n.Attrs != a || a.Pad != (graph.Padding{Mode: graph.PadSame}) {
		t.Errorf("inference has written to the node: %+v", a)
	}
}

// TestInferWritesNothing: inference of padding leaves the attributes of a node alone, for each op that has padding.
func TestInferWritesNothing(t *testing.T) {
	level := scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: 0.5}
	for op, c := range map[string]struct {
		input string
		attrs any
	}{
		"max_pool":     {"x", pool(3, 2, graph.PadSame)},
		"avg_pool":     {"x", pool(3, 2, graph.PadSame)},
		"int_avg_pool": {"q8", &graph.IntPoolAttrs{PoolAttrs: *pool(3, 2, graph.PadSame), LevelType: level}},
	} {
		g := net()
		g.Values["q8"] = &graph.Value{Name: "q8", Shape: []int{2, 9, 8, 4}, Layout: "NHWC", LevelType: level}
		before := fmt.Sprintf("%#v", c.attrs)
		_, attrs, err := graph.Infer(g, &graph.Node{Name: "n", Op: op, Inputs: []string{c.input}, Attrs: c.attrs})
		if err != nil {
			t.Fatalf("%s: %v", op, err)
		}
		if after := fmt.Sprintf("%#v", c.attrs); after != before || fmt.Sprintf("%#v", attrs) == before {
			t.Errorf("%s: attributes %s became %s, and the result is %#v", op, before, after, attrs)
		}
	}
}

func TestInferErrors(t *testing.T) {
	valid, mean := graph.Padding{Mode: graph.PadValid}, &graph.BinaryAttrs{WeightScale: graph.ScaleMean}
	for _, c := range []struct {
		op, inputs string
		attrs      any
		w          shapes
		want       string
	}{
		{"relu", "nobody", &graph.NoAttrs{}, nil, `input "nobody" is made by no earlier node`},
		{"relu", "x v", &graph.NoAttrs{}, nil, "has 2 inputs, want 1"},
		{"relu", "q", &graph.NoAttrs{}, nil, "put a dequantize node before it"},
		{"conv2d", "v", conv(valid, 1, nil), shapes{"w": {1, 1, 6, 1}}, "want NHWC"},
		{"conv2d", "x", conv(valid, 1, nil), nil, "(missing), want [kh, kw, 4, out]"},
		{"conv2d", "x", conv(valid, 1, nil), shapes{"w": {3, 3, 4, 5}, "b": {4}}, `weight "b" has shape [4], want [5]`},
		{"conv2d", "x", conv(valid, 0, nil), shapes{"w": {3, 3, 4, 5}}, "want positive numbers"},
		{"conv2d", "x", conv(explicit(3, 0, 0, 0), 1, nil), shapes{"w": {3, 3, 4, 5}}, "want 0 to 2"},
		{"conv2d", "x", conv(graph.Padding{Mode: graph.PaddingMode(9)}, 1, nil), shapes{"w": {3, 3, 4, 5}}, "use valid, same or explicit"},
		{"bitserial_conv2d", "x", conv(valid, 1, mean), shapes{"w": {3, 3, 4, 5}}, "put a quantize node before it"},
		{"bitserial_dense", "l", &graph.DenseAttrs{Binary: &graph.BinaryAttrs{WeightScale: graph.ScaleTensor}}, shapes{"w": {6, 3}}, `needs a weight "scale" of shape [3]`},
		{"dense", "x", &graph.DenseAttrs{}, shapes{"w": {4, 3}}, "put a flatten node before it"},
		{"max_pool", "x", pool(10, 1, graph.PadValid), nil, "kernel 10 is larger than the padded input 9"},
		{"avg_pool", "q", pool(2, 2, graph.PadValid), nil, "put a dequantize node before it"},
		{"concat", "x q", &graph.ConcatAttrs{}, nil, "quantize the inputs alike"},
		{"concat", "x s", &graph.ConcatAttrs{}, nil, "differ before the last axis"},
		{"quantize", "v", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 9}}, nil, "use 1 to 8 bits"},
		{"shift_norm", "v", &graph.ShiftNormAttrs{Bits: 1, Enc: ir.Unipolar}, shapes{"mean": {6}}, `needs a weight "var"`},
		{"dequantize", "x", &graph.NoAttrs{}, nil, "want levels"},
		{"cosh", "x", &graph.NoAttrs{}, nil, "unknown op"},
		{"add", "q x", &graph.BinaryOpAttrs{}, nil, "put a dequantize node before it"},
		{"add", "bits third", &graph.BinaryOpAttrs{}, nil, "of scales 1 and 0.3333333333333333, which add up to no levels"},
		{"mul", "q q", &graph.BinaryOpAttrs{}, nil, "put a dequantize node before it"},
		{"mul", "q", &graph.BinaryOpAttrs{}, shapes{"b": {1}}, "levels may be multiplied by one number above 0"}, // b is 0
		{"div", "q", &graph.BinaryOpAttrs{Reverse: true}, shapes{"b": {1}}, "put a dequantize node before it"},
		{"sub", "q", &graph.BinaryOpAttrs{Reverse: true}, shapes{"b": {1}}, "put a dequantize node before it"},
		{"add", "q", &graph.BinaryOpAttrs{}, shapes{"b": {2}}, `weight "b" has shape [2]`},
	} {
		n := &graph.Node{Name: "n", Op: c.op, Inputs: strings.Fields(c.inputs), Attrs: c.attrs, Weights: weights(c.w), Pos: ir.Pos{Line: 3}}
		_, _, err := graph.Infer(net(), n)
		if e := (*ir.Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), `t.json:3: node "n" (`+c.op+")") {
			t.Errorf("%s of %s: got %v, want t.json:3 and %q", c.op, c.inputs, err, c.want)
		}
	}
}

// TestCheckPadding: a graph whose padding nobody has resolved is refused, for the passes read the numbers.
func TestCheckPadding(t *testing.T) {
	b := graph.NewBuilder(&graph.Graph{Name: "t", File: "t.json", Outputs: []string{"y"}})
	b.Input(&graph.Value{Name: "x", Shape: []int{2, 9, 8, 4}, Layout: "NHWC"})
	n := &graph.Node{Name: "y", Op: "max_pool", Inputs: []string{"x"}, Output: "y", Attrs: pool(2, 2, graph.PadSame)}
	if _, err := b.Append(n); err != nil {
		t.Fatal(err)
	}
	if err := graph.Check(b.Graph()); err != nil {
		t.Error(err)
	}
	n.Attrs = pool(2, 2, graph.PadSame)
	if err := graph.Check(b.Graph()); err == nil || !strings.Contains(err.Error(), "pad=0,1,0,0, but the graph says kernel=[2 2] strides=[2 2] pad=0,0,0,0") {
		t.Errorf("unresolved padding: %v", err)
	}
}
