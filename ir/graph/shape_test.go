package graph_test

import (
	"strings"
	"testing"

	"ripc/ir"
	"ripc/ir/graph"
)

// TestInferShapes: the ops that move or combine elements, and convolutions with dilations and groups.
func TestInferShapes(t *testing.T) {
	grouped := conv(graph.Padding{Mode: "same"}, 1, nil)
	grouped.Groups, grouped.Dilations = 2, [2]int{2, 3}
	indivisible := conv(graph.Padding{Mode: "valid"}, 1, nil)
	indivisible.Groups = 3
	wide := conv(graph.Padding{Mode: "valid"}, 1, nil)
	wide.Dilations = [2]int{5, 1}
	ternary := &graph.BinaryAttrs{WeightScale: "max", Enc: "ternary", Bits: 1}
	for _, c := range []struct {
		op, inputs string
		attrs      any
		w          shapes
		want       string // the tensor, or part of the error
	}{
		{"add", "x x", &graph.BinaryOpAttrs{}, nil, "f32[2, 9, 8, 4]"},
		{"add", "x s", &graph.BinaryOpAttrs{}, nil, "inputs have shapes [2 9 8 4] and [2 9 7 4], want equal ones"},
		{"mul", "x", &graph.BinaryOpAttrs{}, nil, "has 1 inputs, want 2"},
		{"sub", "x q", &graph.BinaryOpAttrs{}, nil, "put a dequantize node before it"},
		{"prelu", "v", &graph.PReluAttrs{}, shapes{"alpha": {6}}, "f32[2, 6]"},
		{"prelu", "v", &graph.PReluAttrs{}, shapes{"alpha": {1}}, `weight "alpha" has shape [1], want [6]`},
		{"pad", "x", &graph.SpatialPadAttrs{Pad: explicit(1, 2, 3, 4), Value: 7}, nil, "f32[2, 12, 15, 4]"},
		{"pad", "q", &graph.SpatialPadAttrs{Pad: explicit(1, 0, 0, 0), Value: 1}, nil, "unipolar2[2, 10, 8, 4]"},
		{"pad", "b", &graph.SpatialPadAttrs{Pad: explicit(1, 0, 0, 0)}, nil, "value 0 is none of the 2-bit bipolar levels"},
		{"pad", "v", &graph.SpatialPadAttrs{}, nil, "want NHWC"},
		{"slice", "x", &graph.SliceAttrs{Begin: []int{0, 1, 0, 0}, Size: []int{1, 4, 8, 2}, Stride: []int{1, 2, 1, 3}}, nil, "f32[1, 4, 8, 2]"},
		{"slice", "x", &graph.SliceAttrs{Begin: []int{0, 1, 0, 0}, Size: []int{1, 5, 8, 2}, Stride: []int{1, 2, 1, 3}}, nil, "axis 1: 5 positions from 1 in steps of 2 do not lie in 0..8"},
		{"slice", "v", &graph.SliceAttrs{Begin: []int{0}, Size: []int{1}, Stride: []int{1}}, nil, "one for each axis"},
		{"reshape", "q", &graph.ReshapeAttrs{Shape: []int{1, 1, 144, 4}}, nil, "unipolar2[1, 1, 144, 4]"},
		{"reshape", "q", &graph.ReshapeAttrs{Shape: []int{1, 577}}, nil, "shape [1 577] has 577 elements, the input's [2 9 8 4] has 576"},
		{"conv2d", "x", grouped, shapes{"w": {3, 3, 2, 6}}, "f32[2, 9, 8, 6]"},
		{"conv2d", "x", grouped, shapes{"w": {3, 3, 2, 5}}, "2 groups do not divide the 5 output channels"},
		{"conv2d", "x", indivisible, shapes{"w": {3, 3, 1, 6}}, "3 groups do not divide the 4 input channels"},
		{"conv2d", "x", wide, shapes{"w": {3, 3, 4, 1}}, "kernel 11 is larger than the padded input 9"},
		{"bitserial_conv2d", "q", conv(graph.Padding{Mode: "valid"}, 1, ternary), shapes{"w": {1, 1, 4, 1}}, "weight_scale max is for weights of several bits"},
		{"quantize", "v", &graph.QuantizeAttrs{Bits: 2, Enc: ir.Unipolar, Scale: 1, Zero: 4}, nil, "the zero point is one of the levels"},
		{"quantize", "v", &graph.QuantizeAttrs{Bits: 8, Enc: ir.Unipolar, Scale: 1, Zero: 4, Signed: true}, nil, "affine8(zero=4)[2, 6]"},
	} {
		n := &graph.Node{Name: "n", Op: c.op, Inputs: strings.Fields(c.inputs), Attrs: c.attrs, Weights: weights(c.w)}
		got := ""
		v, err := graph.Infer(net(), n)
		if err != nil {
			got = err.Error()
		} else {
			got = v.String()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s of %s: got %s, want %s", c.op, c.inputs, got, c.want)
		}
	}
}

// TestPaddingClasses: positions of one class have windows that padding cuts alike, and At gives one of each class.
func TestPaddingClasses(t *testing.T) {
	for size := 1; size <= 9; size++ {
		for n := range 3 * 3 * 3 * 4 * 4 {
			k, d, s, before, after := 1+n%3, 1+n/3%3, 1+n/9%3, n/27%4, n/108
			span := (k-1)*d + 1
			if size+before+after < span {
				continue
			}
			cut := func(i int) string {
				taps := ""
				for j := range k {
					if at := i*s + j*d; at < before || at >= before+size {
						taps += "x"
					} else {
						taps += "."
					}
				}
				return taps
			}
			c := graph.PaddingClasses((size+before+after-span)/s+1, k, d, s, before, size)
			for i := range c.Size {
				if j := c.At(c.Of(i)); c.Of(i) >= c.Count() || c.Of(j) != c.Of(i) || cut(j) != cut(i) {
					t.Fatalf("size %d, kernel %d, dilation %d, stride %d, padding %d and %d: position %d is in class %d of %+v, whose window differs", size, k, d, s, before, after, i, c.Of(i), c)
				}
			}
		}
	}
}
