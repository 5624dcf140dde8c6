package graph_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestInferShapes: the ops that move or combine elements, and convolutions with dilations and groups.
func TestInferShapes(t *testing.T) {
	grouped := conv(graph.Padding{Mode: graph.PadSame}, 1, nil)
	grouped.Groups, grouped.Dilations = 2, [2]int{2, 3}
	indivisible := conv(graph.Padding{Mode: graph.PadValid}, 1, nil)
	indivisible.Groups = 3
	wide := conv(graph.Padding{Mode: graph.PadValid}, 1, nil)
	wide.Dilations = [2]int{5, 1}
	spaced := conv(explicit(8, 8, 2, 0), 1, nil) // less than the kernel, with the gaps between its taps
	spaced.Dilations = [2]int{4, 1}
	ternary := &graph.BinaryAttrs{WeightScale: graph.ScaleMax, Enc: graph.TernaryWeights, Bits: 1}
	for _, c := range []struct {
		op, inputs string
		attrs      any
		w          shapes
		want       string // the tensor, or part of the error
	}{
		{"add", "x x", &graph.BinaryOpAttrs{}, nil, "f32[2, 9, 8, 4]"},
		{"add", "x s", &graph.BinaryOpAttrs{}, nil, "inputs have shapes [2 9 8 4] and [2 9 7 4], want equal ones"},
		{"add", "x v", &graph.BinaryOpAttrs{}, nil, "inputs have shapes [2 9 8 4] and [2 6], want equal ones"},
		{"div", "x one", &graph.BinaryOpAttrs{}, nil, "f32[2, 9, 8, 4]"},
		{"sub", "one x", &graph.BinaryOpAttrs{}, nil, "f32[2, 9, 8, 4]"},
		{"mul", "x", &graph.BinaryOpAttrs{}, nil, "has 1 input, want 2, or 1 and a weight"},
		{"mul", "x", &graph.BinaryOpAttrs{}, shapes{"b": {4}}, "f32[2, 9, 8, 4]"},
		{"div", "x", &graph.BinaryOpAttrs{Reverse: true}, shapes{"b": {1}}, "f32[2, 9, 8, 4]"},
		{"div", "x", &graph.BinaryOpAttrs{Reverse: true}, shapes{"b": {3}}, `weight "b" has shape [3], want [4]`},
		{"div", "x x", &graph.BinaryOpAttrs{Reverse: true}, nil, "has 2 inputs: a weight"},
		{"add", "x x", &graph.BinaryOpAttrs{}, shapes{"b": {1}}, "has 2 inputs: a weight"},
		{"sub", "x q", &graph.BinaryOpAttrs{}, nil, "put a dequantize node before it"},
		{"prelu", "v", &graph.PReluAttrs{}, shapes{"alpha": {6}}, "f32[2, 6]"},
		{"prelu", "v", &graph.PReluAttrs{}, shapes{"alpha": {1}}, `weight "alpha" has shape [1], want [6]`},
		{"pad", "x", &graph.SpatialPadAttrs{Pad: explicit(1, 2, 3, 4), Value: 7}, nil, "f32[2, 12, 15, 4]"},
		{"pad", "q", &graph.SpatialPadAttrs{Pad: explicit(1, 0, 0, 0), Value: 1}, nil, "unipolar2[2, 10, 8, 4]"},
		{"pad", "b", &graph.SpatialPadAttrs{Pad: explicit(1, 0, 0, 0)}, nil, "value 0 is none of the 2-bit bipolar levels"},
		{"pad", "v", &graph.SpatialPadAttrs{}, nil, "want NHWC"},
		{"gather", "x", &graph.GatherAttrs{Rows: []int{8, 0}}, nil, "f32[2, 2, 8, 4]"},
		{"gather", "q", &graph.GatherAttrs{Rows: []int{0, 1, 2}, Columns: []int{7}}, nil, "unipolar2[2, 3, 1, 4]"},
		{"gather", "x", &graph.GatherAttrs{Rows: []int{9}}, nil, "rows 9: want positions from 0 to 8"},
		{"gather", "x", &graph.GatherAttrs{Columns: []int{-1}}, nil, "columns -1: want positions from 0 to 7"},
		{"gather", "x", &graph.GatherAttrs{}, nil, "gives neither rows nor columns"},
		{"gather", "v", &graph.GatherAttrs{Rows: []int{0}}, nil, "want NHWC"},
		{"interpolate", "x", &graph.InterpolateAttrs{Columns: []float32{0, 6.5, 7}}, nil, "f32[2, 9, 3, 4]"},
		{"interpolate", "x", &graph.InterpolateAttrs{Rows: []float32{float32(math.NaN())}}, nil, "rows NaN: want positions from 0 to 8"},
		{"interpolate", "x", &graph.InterpolateAttrs{Rows: []float32{8.5}}, nil, "rows 8.5: want positions from 0 to 8"},
		{"interpolate", "q", &graph.InterpolateAttrs{Rows: []float32{0}}, nil, "put a dequantize node before it"},
		{"slice", "x", &graph.SliceAttrs{Begin: []int{0, 1, 0, 0}, Size: []int{1, 4, 8, 2}, Stride: []int{1, 2, 1, 3}}, nil, "f32[1, 4, 8, 2]"},
		{"slice", "x", &graph.SliceAttrs{Begin: []int{0, 1, 0, 0}, Size: []int{1, 5, 8, 2}, Stride: []int{1, 2, 1, 3}}, nil, "axis 1: 5 positions from 1 in steps of 2 do not lie in 0..8"},
		{"slice", "v", &graph.SliceAttrs{Begin: []int{0}, Size: []int{1}, Stride: []int{1}}, nil, "one for each axis"},
		{"reshape", "q", &graph.ReshapeAttrs{Shape: []int{1, 1, 144, 4}}, nil, "unipolar2[1, 1, 144, 4]"},
		{"reshape", "q", &graph.ReshapeAttrs{Shape: []int{1, 577}}, nil, "shape [1 577] has 577 elements, the input's [2 9 8 4] has 576"},
		{"reshape", "x", &graph.ReshapeAttrs{Shape: []int{576}}, nil, "f32[576]"},
		{"reshape", "x", &graph.ReshapeAttrs{Shape: []int{1, 2, 3, 4, 4, 6}}, nil, "f32[1, 2, 3, 4, 4, 6]"},
		{"reshape", "x", &graph.ReshapeAttrs{Shape: []int{1, 1, 1, 1, 1, 1, 576}}, nil, "has 7 axes"},
		{"reshape", "x", &graph.ReshapeAttrs{}, nil, "has 0 axes"},
		{"reshape", "x", &graph.ReshapeAttrs{Shape: []int{-24, -24}}, nil, "want extents from 1"},
		{"reshape", "x", &graph.ReshapeAttrs{Shape: []int{1 << 40, 1 << 40, 576}}, nil, "has more than 268435456 elements"},
		{"pad", "x", &graph.SpatialPadAttrs{Pad: explicit(1<<27, 0, 0, 0)}, nil, "has more than 268435456 elements"},
		{"pad", "x", &graph.SpatialPadAttrs{Pad: explicit(1<<62, 1<<62, 0, 0)}, nil, "at most 268435456"},
		{"transpose", "x", &graph.TransposeAttrs{Perm: []int{0, 3, 1, 2}}, nil, "f32[2, 4, 9, 8]"},
		{"transpose", "q", &graph.TransposeAttrs{Perm: []int{0, 3, 1, 2}}, nil, "unipolar2[2, 4, 9, 8]"},
		{"transpose", "six", &graph.TransposeAttrs{Perm: []int{5, 4, 3, 2, 1, 0}}, nil, "f32[6, 5, 4, 3, 2, 1]"},
		{"transpose", "x", &graph.TransposeAttrs{Perm: []int{0, 1, 1, 2}}, nil, "perm [0 1 1 2] does not order the 4 axes"},
		{"transpose", "x", &graph.TransposeAttrs{}, nil, "perm [] does not order the 4 axes"},
		{"transpose", "x", &graph.TransposeAttrs{Perm: []int{0, 1, 2, 4}}, nil, "does not order the 4 axes"},
		{"constant", "", &graph.ConstantAttrs{}, shapes{"value": {2, 3, 4}}, "f32[2, 3, 4]"},
		{"constant", "", &graph.ConstantAttrs{}, nil, `needs a weight "value"`},
		{"constant", "", &graph.ConstantAttrs{}, shapes{"value": {}}, "want 1 to 6 axes"},
		{"constant", "x", &graph.ConstantAttrs{}, shapes{"value": {1}}, "has 1 input, want none"},
		{"clip", "six", &graph.ClipAttrs{Min: math.Inf(-1), Max: 3}, nil, "f32[1, 2, 3, 4, 5, 6]"},
		{"clip", "x", &graph.ClipAttrs{Min: 4, Max: 3}, nil, "clips to 4..3"},
		{"clip", "x", &graph.ClipAttrs{Min: math.NaN(), Max: 3}, nil, "clips to NaN..3"},
		{"round", "x", &graph.RoundAttrs{Mode: scalar.Away}, nil, "f32[2, 9, 8, 4]"},
		{"round", "x", &graph.RoundAttrs{Mode: 9}, nil, "rounding 9"},
		{"round", "q", &graph.RoundAttrs{Mode: scalar.Away}, nil, "put a dequantize node before it"},
		{"sign", "v", &graph.NoAttrs{}, nil, "f32[2, 6]"},
		{"relu", "words", &graph.NoAttrs{}, nil, "holds 1-bit bipolar_inv levels"},
		{"fake_quant", "x", &graph.FakeQuantAttrs{Max: 255}, shapes{"scale": {4}, "zero_point": {1}}, `scale 0 of channel 0: want 1e-18 to 1e+18`},
		{"fake_quant", "x", &graph.FakeQuantAttrs{Max: 255}, shapes{"scale": {3}}, `weight "scale" has shape [3], want [4]`},
		{"fake_quant", "x", &graph.FakeQuantAttrs{Max: math.Inf(1)}, shapes{"scale": {4}}, "range 0 to +Inf"},
		{"threshold", "x", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.BipolarInv, Scale: 1}}, shapes{"thresholds": {3, 4}}, "bipolar_inv2[2, 9, 8, 4]"},
		{"threshold", "six", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 1, Zero: 128, Signed: true}}, shapes{"thresholds": {200, 1}}, "affine8(zero=128)[1, 2, 3, 4, 5, 6]"},
		{"threshold", "x", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Bipolar, Scale: 1}}, shapes{"thresholds": {4, 4}}, "want [1..3, 4] or [1..3, 1]"},
		{"threshold", "x", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Bipolar, Scale: 1}}, nil, "has shape (missing)"},
		{"threshold", "x", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 2, Scale: 1}}, shapes{"thresholds": {3, 1}}, "use unipolar, bipolar or bipolar_inv"},
		{"threshold", "x", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar}}, shapes{"thresholds": {3, 1}}, "scale 0: want"},
		{"quantize", "x", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 4, Enc: ir.Unipolar, Scale: 1, Zero: 9}, Range: &scalar.Range{Min: -7, Max: 7}}, nil, "affine4(zero=9)[2, 9, 8, 4]"},
		{"quantize", "x", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 3, Enc: ir.Unipolar, Scale: 1}, Range: &scalar.Range{Min: -7, Max: 7}}, nil, "range -7 to 7 with 3 bits"},
		{"quantize", "x", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 3, Enc: ir.Bipolar, Scale: 1}, Range: &scalar.Range{Min: 0, Max: 7}}, nil, "no affine levels with a scale"},
		{"quantize", "x", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 3, Enc: ir.Bipolar, Scale: 1}, Rounding: 8}, nil, "rounding 8"},
		{"quantize", "x", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 3, Enc: ir.Unipolar, Scale: 1, Signed: true}}, nil, "signed levels of 3 bits"},
		{"bitpack", "l", &graph.BitpackAttrs{Int32: true}, nil, "unipolar1[2, 6]"},
		{"bitpack", "q", &graph.BitpackAttrs{Int32: true}, nil, "int32 words of 2-bit levels"},
		{"flatten", "six", &graph.NoAttrs{}, nil, "f32[1, 720]"},
		{"flatten", "one1", &graph.NoAttrs{}, nil, "want 2 axes or more"},
		{"concat", "six six", &graph.ConcatAttrs{}, nil, "f32[1, 2, 3, 4, 5, 12]"},
		{"slice", "six", &graph.SliceAttrs{Begin: []int{0, 1, 1, 0, 0, 3}, Size: []int{1, 1, 2, 4, 3, 1}, Stride: []int{1, 1, 1, 1, 2, 1}}, nil, "f32[1, 1, 2, 4, 3, 1]"},
		{"conv2d", "x", spaced, shapes{"w": {3, 3, 4, 1}}, "f32[2, 17, 8, 1]"},
		{"conv2d", "x", grouped, shapes{"w": {3, 3, 2, 6}}, "f32[2, 9, 8, 6]"},
		{"conv2d", "x", grouped, shapes{"w": {3, 3, 2, 5}}, "2 groups do not divide the 5 output channels"},
		{"conv2d", "x", indivisible, shapes{"w": {3, 3, 1, 6}}, "3 groups do not divide the 4 input channels"},
		{"conv2d", "x", wide, shapes{"w": {3, 3, 4, 1}}, "kernel 11 is larger than the padded input 9"},
		{"bitserial_conv2d", "q", conv(graph.Padding{Mode: graph.PadValid}, 1, ternary), shapes{"w": {1, 1, 4, 1}}, "weight_scale max is for weights of several bits"},
		{"quantize", "v", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 1, Zero: 4}}, nil, "the zero point is one of the levels"},
		{"quantize", "v", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 1, Zero: 4, Signed: true}}, nil, "affine8(zero=4)[2, 6]"},
		{"quantize", "v", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Bipolar, Scale: 1, Offset: -0.3}}, nil, "bipolar2[2, 6]"},
		{"quantize", "v", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Bipolar, Scale: 1, Offset: math.NaN()}}, nil, "offset NaN"},
		{"quantize", "v", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Bipolar, Scale: 1.0 / 3, Offset: 1}, Unit: true}, nil, "levels that span the unit range have offset 1"},
	} {
		n := &graph.Node{Name: "n", Op: c.op, Inputs: strings.Fields(c.inputs), Attrs: c.attrs, Weights: weights(c.w)}
		got := ""
		v, _, err := graph.Infer(net(), n)
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

// TestInferThresholds: what thresholds must be, and that infinities may be among them.
func TestInferThresholds(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		data []float32 // [2, 6]
		want string
	}{
		{[]float32{-inf, 1, 2, 3, 4, 5, inf, 1, 2, 3, 9, inf}, "unipolar2[2, 6]"},
		{[]float32{1, 1, 2, 3, 4, 5, 1, 1, 2, 3, 3.5, 5}, "thresholds 0 and 1 of channel 4 descend: 4, 3.5"},
		{[]float32{1, 1, 2, 3, 4, 5, 1, 1, nan, 3, 4, 5}, "threshold 1 of channel 2 is NaN"},
	} {
		n := &graph.Node{Name: "n", Op: "threshold", Inputs: []string{"v"}, Attrs: &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 1}},
			Weights: map[string]*graph.Tensor{"thresholds": {Shape: []int{2, 6}, Data: graph.NumbersOf(c.data)}}}
		v, _, err := graph.Infer(net(), n)
		if got := fmt.Sprint(v, err); !strings.Contains(got, c.want) {
			t.Errorf("%v: got %s, want %s", c.data, got, c.want)
		}
	}
}

// TestInferViews: what the caller sees of levels, and the labels of layouts, after ops that move elements.
func TestInferViews(t *testing.T) {
	for _, c := range []struct {
		op, inputs string
		attrs      any
		want       string
	}{
		{"transpose", "x", &graph.TransposeAttrs{Perm: []int{0, 3, 1, 2}}, "f32 NCHW bytes"},
		{"transpose", "nchw", &graph.TransposeAttrs{Perm: []int{0, 2, 3, 1}}, "f32 NHWC bytes"},
		{"transpose", "x", &graph.TransposeAttrs{Perm: []int{2, 3, 1, 0}}, "f32  bytes"},
		{"reshape", "x", &graph.ReshapeAttrs{Shape: []int{4, 144}}, "f32 NC bytes"},
		{"reshape", "x", &graph.ReshapeAttrs{Shape: []int{4, 12, 12}}, "f32  bytes"},
		{"bitpack", "l", &graph.BitpackAttrs{Int32: true}, "i32 NC int_words"},
		{"bitpack", "l", &graph.BitpackAttrs{}, "u32 NC planes"},
		{"bitpack", "words", &graph.BitpackAttrs{}, "u32 NHWC planes"},
		{"unpack", "words", &graph.NoAttrs{}, "u8 NHWC bytes"},
		{"max_pool", "words", pool(2, 1, graph.PadValid), "i32 NHWC int_words"},
		{"reshape", "words", &graph.ReshapeAttrs{Shape: []int{9, 16}}, "u8 NC bytes"},
		{"concat", "words words", &graph.ConcatAttrs{}, "i32 NHWC int_words"},
		{"concat", "words bits", &graph.ConcatAttrs{}, "u8 NHWC bytes"},
		{"concat", "bits words", &graph.ConcatAttrs{}, "u8 NHWC bytes"},
	} {
		n := &graph.Node{Name: "n", Op: c.op, Inputs: strings.Fields(c.inputs), Attrs: c.attrs}
		v, _, err := graph.Infer(net(), n)
		if err != nil {
			t.Errorf("%s of %s: %v", c.op, c.inputs, err)
		} else if got := fmt.Sprintf("%s %s %s", v.DType(), v.Layout, v.View); got != c.want {
			t.Errorf("%s of %s: got %q, want %q", c.op, c.inputs, got, c.want)
		}
	}
}
