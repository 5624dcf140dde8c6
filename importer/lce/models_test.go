package lce

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ripc/internal/golden"
	tt "ripc/internal/tflitetest"
)

// goodModels use operators and forms that testdata's real files do not have.
func goodModels() []struct {
	name  string
	model tt.Model
} {
	x := value("x", tt.F32, 1, 4, 4, 2)
	y := func(shape ...int32) tt.Tensor { return value("y", tt.F32, shape...) }
	q := func(name string, scale float32, zero int64, shape ...int32) tt.Tensor {
		return tt.Tensor{Name: name, Type: tt.I8, Shape: shape, Scales: []float32{scale}, Zeros: []int64{zero}}
	}
	conv := tt.Table{0: int8(1), 1: int32(1), 2: int32(2), 3: int8(3), 4: int32(2), 5: int32(1)}
	half := tt.Tensor{Name: "half", Type: tt.F16, Shape: []int32{2, 1, 1, 2}, Data: tt.Data([]uint16{0x3c00, 0xc000, 0x3800, 0x0001})}
	byChannel := tt.Tensor{Name: "w", Type: tt.I8, Shape: []int32{2, 1, 1, 2}, Data: []byte{1, 255, 127, 129}, Scales: []float32{0.5, 2}, Zeros: []int64{0, 0}}
	bias := tt.Tensor{Name: "b", Type: tt.I32, Shape: []int32{2}, Data: tt.Data([]int32{100, -100}), Scales: []float32{0.25, 1}, Zeros: []int64{0, 0}}
	open := value("x", tt.F32, 1, 4)
	open.Signature = []int32{-1, 4}
	bits := func(name string, shape ...int32) tt.Tensor { return value(name, tt.I32, shape...) }
	chain := func(tensors []tt.Tensor, ops ...tt.Op) tt.Model {
		return tt.Model{Tensors: tensors, Ops: ops, Inputs: []int32{0}, Outputs: []int32{int32(len(tensors) - 1)}}
	}
	return []struct {
		name  string
		model tt.Model
	}{
		{"conv", one(tt.Op{Code: 3, OptionType: 1, Options: conv}, x, y(1, 2, 2, 2), f32s("w", []int32{2, 2, 2, 2}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16), f32s("b", []int32{2}, -30, 0.5))},
		{"conv of groups", one(tt.Op{Code: 3, OptionType: 1, Options: conv}, x, y(1, 2, 4, 4), f32s("w", []int32{4, 1, 1, 1}, 1, 2, 3, 4), f32s("b", []int32{4}, 1, 2, 3, 4))},
		{"depthwise, two outputs a channel", one(tt.Op{Code: 4, OptionType: 2, Options: tt.Table{0: int8(0), 1: int32(1), 2: int32(1), 3: int32(2), 4: int8(1)}}, x, y(1, 4, 4, 4),
			f32s("w", []int32{1, 2, 1, 4}, 1, 2, 3, 4, 5, 6, 7, 8), f32s("b", []int32{4}, 0, 1, 2, 3))},
		{"weights as half floats", chain([]tt.Tensor{x, half, value("w", tt.F32, 2, 1, 1, 2), f32s("b", []int32{2}, 1, 2), y(1, 4, 4, 2)},
			tt.Op{Code: 6, Inputs: []int32{1}, Outputs: []int32{2}},
			tt.Op{Code: 3, OptionType: 1, Options: tt.Table{1: int32(1), 2: int32(1)}, Inputs: []int32{0, 2, 3}, Outputs: []int32{4}})},
		{"int8 conv", one(tt.Op{Code: 3, OptionType: 1, Options: tt.Table{1: int32(1), 2: int32(1)}}, q("x", 0.5, -3, 1, 4, 4, 2), q("y", 2, 5, 1, 4, 4, 2), byChannel, bias)},
		{"fully connected, dimensions kept", one(tt.Op{Code: 9, OptionType: 8, Options: tt.Table{0: int8(2), 2: true}}, x, y(1, 4, 4, 3), f32s("w", []int32{3, 2}, 1, 2, 3, 4, 5, 6), f32s("b", []int32{3}, 1, 2, 3))},
		{"constant minus tensor", chain([]tt.Tensor{x, f32s("c", []int32{1, 1, 1, 2}, 5, 6), y(1, 4, 4, 2)}, tt.Op{Code: 41, Inputs: []int32{1, 0}, Outputs: []int32{2}})},
		{"divided by a scalar", one(tt.Op{Code: 42, OptionType: 29, Options: tt.Table{0: int8(1)}}, x, y(1, 4, 4, 2), f32s("c", nil, 3))},
		{"plus a row of constants", one(tt.Op{}, x, y(1, 4, 4, 2), f32s("c", []int32{4, 1}, 1, 2, 3, 4))},
		{"uint8 sum", one(tt.Op{OptionType: 11, Options: tt.Table{0: int8(1)}}, tt.Tensor{Name: "x", Type: tt.U8, Shape: []int32{1, 4}, Scales: []float32{0.5}, Zeros: []int64{7}},
			tt.Tensor{Name: "y", Type: tt.U8, Shape: []int32{1, 4}, Scales: []float32{1}, Zeros: []int64{0}},
			tt.Tensor{Name: "c", Type: tt.U8, Shape: []int32{4}, Scales: []float32{1}, Zeros: []int64{3}, Data: []byte{4, 5, 6, 7}})},
		{"prelu", one(tt.Op{Code: 54}, x, y(1, 4, 4, 2), f32s("a", []int32{1, 1, 2}, 0.5, 2))},
		{"leaky relu", one(tt.Op{Code: 98, OptionType: 75, Options: tt.Table{0: float32(0.1)}}, x, y(1, 4, 4, 2))},
		{"relu 0 to 1", one(tt.Op{Code: 152}, x, y(1, 4, 4, 2))},
		{"softmax of four axes", one(tt.Op{Code: 25, OptionType: 9, Options: tt.Table{0: float32(0.5)}}, x, y(1, 4, 4, 2))},
		{"mean, dimensions kept", one(tt.Op{Code: 40, OptionType: 27, Options: tt.Table{0: true}}, x, y(1, 1, 1, 2), i32s("axes", []int32{2}, -2, 1))},
		{"concat of rows", chain([]tt.Tensor{x, f32s("c", []int32{1, 1, 4, 2}, 1, 2, 3, 4, 5, 6, 7, 8), y(1, 5, 4, 2)}, tt.Op{Code: 2, OptionType: 10, Options: tt.Table{0: int32(-3)}, Inputs: []int32{0, 1}, Outputs: []int32{2}})},
		{"pad", one(tt.Op{Code: 34}, x, y(1, 5, 7, 2), i32s("p", []int32{4, 2}, 0, 0, 1, 0, 1, 2, 0, 0))},
		{"pad of channels", one(tt.Op{Code: 60}, x, y(1, 5, 4, 5), i32s("p", []int32{4, 2}, 0, 0, 1, 0, 0, 0, 1, 2), f32s("v", nil, 3))},
		{"pad of nothing", one(tt.Op{Code: 34}, x, y(1, 4, 4, 2), i32s("p", []int32{4, 2}, 0, 0, 0, 0, 0, 0, 0, 0))},
		{"squeeze", one(tt.Op{Code: 43}, x, y(4, 4, 2))},
		{"expand", one(tt.Op{Code: 70}, x, y(1, 4, 1, 4, 2), i32s("axis", nil, 2))},
		{"transpose", one(tt.Op{Code: 39}, x, y(1, 2, 4, 4), i32s("p", []int32{4}, 0, 3, 1, 2))},
		{"slice", one(tt.Op{Code: 65}, x, y(1, 2, 3, 1), i32s("b", []int32{4}, 0, 2, 1, 1), i32s("s", []int32{4}, 1, 2, -1, 1))},
		{"strided slice", one(tt.Op{Code: 45, OptionType: 32, Options: tt.Table{0: int32(1), 1: int32(1), 4: int32(8)}}, x, y(1, 2, 1),
			i32s("b", []int32{4}, 9, 0, -1, 1), i32s("e", []int32{4}, -9, 4, 4, 0), i32s("s", []int32{4}, 1, 2, 1, 1))},
		{"mean of a sequence", one(tt.Op{Code: 40, OptionType: 27}, value("x", tt.F32, 2, 6, 3), y(2, 3), i32s("axes", nil, 1))},
		{"maximum of a sequence, dimensions kept", one(tt.Op{Code: 82, OptionType: 27, Options: tt.Table{0: true}}, value("x", tt.F32, 2, 6, 3), y(2, 1, 3), i32s("axes", []int32{1}, -2))},
		{"maximum of channels", one(tt.Op{Code: 82, OptionType: 27}, x, y(1, 4, 4), i32s("axes", []int32{1}, 3))},
		{"product", tt.Model{Tensors: []tt.Tensor{value("x", tt.F32, 2, 4, 5), value("z", tt.F32, 3, 5), value("y", tt.F32, 2, 4, 3)}, Inputs: []int32{0, 1}, Outputs: []int32{2},
			Ops: []tt.Op{{Code: 126, OptionType: 101, Options: tt.Table{1: true}, Inputs: []int32{0, 1}, Outputs: []int32{2}}}}},
		{"product with a constant", one(tt.Op{Code: 126, OptionType: 101, Options: tt.Table{0: true, 1: true}}, value("x", tt.F32, 1, 2, 3), y(1, 3, 1), f32s("w", []int32{1, 1, 2}, 1, 2))},
		{"depth to space", one(tt.Op{Code: 5, OptionType: 94, Options: tt.Table{0: int32(2)}}, value("x", tt.F32, 1, 2, 2, 8), y(1, 4, 4, 2))},
		{"space to depth", one(tt.Op{Code: 26, OptionType: 19, Options: tt.Table{0: int32(2)}}, x, y(1, 2, 2, 8))},
		{"resize", one(tt.Op{Code: 97, OptionType: 74, Options: tt.Table{1: true}}, x, y(1, 8, 4, 2), i32s("s", []int32{2}, 8, 4))},
		{"resize down and up", one(tt.Op{Code: 97}, x, y(1, 2, 12, 2), i32s("s", []int32{2}, 2, 12))},
		{"pad of a sequence", one(tt.Op{Code: 34}, value("x", tt.F32, 1, 6, 2), y(1, 8, 2), i32s("p", []int32{3, 2}, 0, 0, 2, 0, 0, 0))},
		{"int8 pad of a sequence", one(tt.Op{Code: 34}, q("x", 0.5, -3, 1, 6, 2), q("y", 0.5, -3, 1, 8, 2), i32s("p", []int32{3, 2}, 0, 0, 2, 0, 0, 0))},
		{"pad of all axes", one(tt.Op{Code: 60}, value("x", tt.F32, 2, 3, 4), y(4, 4, 7), i32s("p", []int32{3, 2}, 1, 1, 0, 1, 2, 1), f32s("v", nil, 3))},
		{"pad of a vector", one(tt.Op{Code: 34}, value("x", tt.F32, 5), y(8), i32s("p", []int32{1, 2}, 1, 2))},
		{"mirror pad", one(tt.Op{Code: 100, OptionType: 77, Options: tt.Table{}}, x, y(1, 7, 5, 2), i32s("p", []int32{4, 2}, 0, 0, 2, 1, 1, 0, 0, 0))},
		{"symmetric pad", one(tt.Op{Code: 100, OptionType: 77, Options: tt.Table{0: int8(1)}}, x, y(1, 7, 5, 5), i32s("p", []int32{4, 2}, 0, 0, 2, 1, 1, 0, 1, 2))},
		{"int8 mirror pad of a sequence", one(tt.Op{Code: 100, OptionType: 77, Options: tt.Table{}}, q("x", 0.5, -3, 1, 6, 2), q("y", 0.5, -3, 1, 10, 2), i32s("p", []int32{3, 2}, 0, 0, 3, 1, 0, 0))},
		{"resize bilinear", one(tt.Op{Code: 23, OptionType: 15, Options: tt.Table{}}, x, y(1, 6, 7, 2), i32s("s", []int32{2}, 6, 7))},
		{"resize bilinear, half pixels", one(tt.Op{Code: 23, OptionType: 15, Options: tt.Table{3: true}}, x, y(1, 8, 3, 2), i32s("s", []int32{2}, 8, 3))},
		{"resize bilinear, corners", one(tt.Op{Code: 23, OptionType: 15, Options: tt.Table{2: true}}, x, y(1, 7, 1, 2), i32s("s", []int32{2}, 7, 1))},
		{"int8 resize bilinear", one(tt.Op{Code: 23, OptionType: 15, Options: tt.Table{}}, q("x", 0.1, -3, 1, 4, 4, 2), q("y", 0.1, -3, 1, 6, 7, 2), i32s("s", []int32{2}, 6, 7))},
		{"int8 resize bilinear, half pixels", one(tt.Op{Code: 23, OptionType: 15, Options: tt.Table{3: true}}, q("x", 0.1, -3, 1, 4, 4, 2), q("y", 0.1, -3, 1, 8, 8, 2), i32s("s", []int32{2}, 8, 8))},
		{"int8 resize bilinear, corners", one(tt.Op{Code: 23, OptionType: 15, Options: tt.Table{2: true}}, q("x", 0.1, -3, 1, 4, 4, 2), q("y", 0.1, -3, 1, 7, 9, 2), i32s("s", []int32{2}, 7, 9))},
		{"resize unevenly", one(tt.Op{Code: 97}, x, y(1, 6, 3, 2), i32s("s", []int32{2}, 6, 3))},
		{"space to batch", one(tt.Op{Code: 38}, x, y(4, 3, 2, 2), i32s("b", []int32{2}, 2, 2), i32s("p", []int32{2, 2}, 1, 1, 0, 0))},
		{"batch to space", one(tt.Op{Code: 37}, value("x", tt.F32, 4, 3, 2, 2), y(1, 4, 3, 2), i32s("b", []int32{2}, 2, 2), i32s("p", []int32{2, 2}, 1, 1, 0, 1))},
		{"space to batch of a sequence", one(tt.Op{Code: 38}, value("x", tt.F32, 1, 5, 2), y(3, 2, 2), i32s("b", []int32{1}, 3), i32s("p", []int32{1, 2}, 0, 1))},
		{"tile", one(tt.Op{Code: 69}, x, y(1, 8, 4, 6), i32s("m", []int32{4}, 1, 2, 1, 3))},
		{"broadcast to", one(tt.Op{Code: 130}, value("x", tt.F32, 1, 2), y(3, 4, 2), i32s("s", []int32{3}, 3, 4, 2))},
		{"gather", one(tt.Op{Code: 36, OptionType: 23, Options: tt.Table{0: int32(-1)}}, x, y(1, 4, 4, 3), i32s("i", []int32{3}, 1, 0, 0))},
		{"gather one", one(tt.Op{Code: 36, OptionType: 23, Options: tt.Table{0: int32(1)}}, x, y(1, 4, 2), i32s("i", nil, 3))},
		{"pack", chain([]tt.Tensor{x, f32s("c", []int32{1, 4, 4, 2}, make([]float32, 32)...), y(1, 4, 4, 2, 2)}, tt.Op{Code: 83, OptionType: 59, Options: tt.Table{0: int32(2), 1: int32(-1)}, Inputs: []int32{0, 1}, Outputs: []int32{2}})},
		{"unpack", tt.Model{Tensors: []tt.Tensor{value("x", tt.F32, 1, 2, 3), value("a", tt.F32, 1, 3), value("b", tt.F32, 1, 3)}, Inputs: []int32{0}, Outputs: []int32{1, 2},
			Ops: []tt.Op{{Code: 88, OptionType: 64, Options: tt.Table{0: int32(2), 1: int32(1)}, Inputs: []int32{0}, Outputs: []int32{1, 2}}}}},
		{"split", tt.Model{Tensors: []tt.Tensor{x, i32s("axis", nil, 3), value("a", tt.F32, 1, 4, 4, 1), value("b", tt.F32, 1, 4, 4, 1)}, Inputs: []int32{0}, Outputs: []int32{2, 3},
			Ops: []tt.Op{{Code: 49, OptionType: 35, Options: tt.Table{0: int32(2)}, Inputs: []int32{1, 0}, Outputs: []int32{2, 3}}}}},
		{"split, one part unread", tt.Model{Tensors: []tt.Tensor{x, i32s("sizes", []int32{2}, 1, -1), i32s("axis", nil, 1), value("a", tt.F32, 1, 1, 4, 2), value("b", tt.F32, 1, 3, 4, 2)}, Inputs: []int32{0}, Outputs: []int32{4},
			Ops: []tt.Op{{Code: 102, OptionType: 79, Options: tt.Table{0: int32(2)}, Inputs: []int32{0, 1, 2}, Outputs: []int32{3, 4}}}}},
		{"strided slice backwards, with a new axis and an ellipsis", one(tt.Op{Code: 45, OptionType: 32, Options: tt.Table{0: int32(8), 1: int32(8), 2: int32(2), 3: int32(1)}}, x, y(1, 1, 4, 2, 2),
			i32s("b", []int32{4}, 0, 0, 1, 0), i32s("e", []int32{4}, 0, 0, 3, 0), i32s("s", []int32{4}, 1, 1, 1, -1))},
		{"transposed convolution", chain([]tt.Tensor{x, i32s("s", []int32{4}, 1, 8, 8, 1), f32s("w", []int32{1, 2, 1, 2}, 1, 2, 3, 4), f32s("b", []int32{1}, 5), y(1, 8, 8, 1)},
			tt.Op{Code: 67, OptionType: 49, Options: tt.Table{0: int8(0), 1: int32(2), 2: int32(2), 3: int8(1)}, Inputs: []int32{1, 2, 0, 3}, Outputs: []int32{4}})},
		{"transposed convolution, valid", chain([]tt.Tensor{x, i32s("s", []int32{4}, 1, 9, 10, 1), f32s("w", []int32{1, 3, 3, 2}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18), y(1, 9, 10, 1)},
			tt.Op{Code: 67, OptionType: 49, Options: tt.Table{0: int8(1), 1: int32(2), 2: int32(2)}, Inputs: []int32{1, 2, 0}, Outputs: []int32{3}})},
		{"shape of an open batch", chain([]tt.Tensor{open, i32s("0", []int32{1}, 0), i32s("1", []int32{1}, 1), i32s("2", nil, 2), value("s", tt.I32, 2), value("n", tt.I32), value("p", tt.I32, 3), value("y", tt.F32, 1, 2, 2)},
			tt.Op{Code: 77, OptionType: 55, Options: tt.Table{0: int8(2)}, Inputs: []int32{0}, Outputs: []int32{4}},
			tt.Op{Code: 45, OptionType: 32, Options: tt.Table{4: int32(1)}, Inputs: []int32{4, 1, 2, 2}, Outputs: []int32{5}},
			tt.Op{Code: 83, OptionType: 59, Options: tt.Table{0: int32(3)}, Inputs: []int32{5, 3, 3}, Outputs: []int32{6}},
			tt.Op{Code: 22, Inputs: []int32{0, 6}, Outputs: []int32{7}})},
		{"size computed of a shape", chain([]tt.Tensor{x, i32s("1", []int32{1}, 1), i32s("3", []int32{1}, 3), i32s("2", []int32{1}, 2), value("s", tt.I32, 4), value("hw", tt.I32, 2), value("p", tt.I32, 2), value("y", tt.F32, 1, 8, 8, 2)},
			tt.Op{Code: 77, Inputs: []int32{0}, Outputs: []int32{4}},
			tt.Op{Code: 45, OptionType: 32, Options: tt.Table{}, Inputs: []int32{4, 1, 2, 1}, Outputs: []int32{5}},
			tt.Op{Code: 18, Inputs: []int32{5, 3}, Outputs: []int32{6}},
			tt.Op{Code: 97, Inputs: []int32{0, 6}, Outputs: []int32{7}})},
		{"convolution of one axis", chain([]tt.Tensor{value("x", tt.F32, 1, 6, 2), i32s("axis", nil, -3), value("e", tt.F32, 1, 1, 6, 2), f32s("w", []int32{3, 1, 2, 2}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), f32s("b", []int32{3}, 1, 2, 3), value("c", tt.F32, 1, 1, 5, 3), value("y", tt.F32, 1, 5, 3)},
			tt.Op{Code: 70, Inputs: []int32{0, 1}, Outputs: []int32{2}},
			tt.Op{Code: 3, OptionType: 1, Options: tt.Table{0: int8(1), 1: int32(1), 2: int32(1), 3: int8(1)}, Inputs: []int32{2, 3, 4}, Outputs: []int32{5}},
			tt.Op{Code: 43, OptionType: 30, Options: tt.Table{0: []int32{1}}, Inputs: []int32{5}, Outputs: []int32{6}})},
		{"requantize", one(tt.Op{Code: 114}, q("x", 0.5, -3, 1, 4), q("y", 0.25, 10, 1, 4))},
		{"open batch", one(tt.Op{Code: 19}, open, y(1, 4))},
		{"bits reshaped", chain([]tt.Tensor{bits("x", 1, 2, 2, 2), bits("r", 4, 2), value("y", tt.F32, 4, 40)},
			tt.Op{Code: 22, OptionType: 17, Options: tt.Table{0: []int32{4, 2}}, Inputs: []int32{0}, Outputs: []int32{1}}, tt.Op{Custom: "LceDequantize", Inputs: []int32{1}, Outputs: []int32{2}})},
		{"bconv with groups", one(tt.Op{Custom: "LceBconv2d", Flex: tt.Flex(map[string]int{"channels_in": 64, "padding": 0, "pad_values": 0, "stride_height": 1, "stride_width": 1,
			"dilation_height_factor": 1, "dilation_width_factor": 1, "fused_activation_function": 1}, 4)}, bits("x", 1, 2, 2, 2), y(1, 2, 2, 2), i32s("w", []int32{2, 1, 3, 1}, 1, 2, 3, 4, 5, -1),
			f32s("m", []int32{2}, 0.5, -2), f32s("b", []int32{2}, 1, 2))},
		{"bits through a pool", chain([]tt.Tensor{bits("x", 1, 4, 4, 2), bits("p", 1, 2, 2, 2), value("y", tt.F32, 1, 2, 2, 40)},
			tt.Op{Custom: "LceBMaxPool2d", Flex: tt.Flex(map[string]int{"filter_height": 2, "filter_width": 2, "stride_height": 2, "stride_width": 2, "padding": 1}, 2), Inputs: []int32{0}, Outputs: []int32{1}},
			tt.Op{Custom: "LceDequantize", Inputs: []int32{1}, Outputs: []int32{2}})},
		{"thresholds at both ends", bconvModel(map[string]int{"dilation_height_factor": 1, "dilation_width_factor": 1, "fused_activation_function": 0}, bits("y", 1, 3, 3, 1), f32s("m", []int32{1}, 1), f32s("b", []int32{1}, 1), i32s("t", []int32{2}, -1<<31, 40))},
		{"output read and unread results", tt.Model{Tensors: []tt.Tensor{x, value("a", tt.F32, 1, 4, 4, 2), value("unread", tt.F32, 1, 4, 4, 2), value("a", tt.F32, 1, 4, 4, 2)},
			Ops:    []tt.Op{{Code: 19, Inputs: []int32{0}, Outputs: []int32{1}}, {Code: 21, Inputs: []int32{0}, Outputs: []int32{2}}, {Inputs: []int32{1, 0}, Outputs: []int32{3}}},
			Inputs: []int32{0}, Outputs: []int32{1, 3}}},
	}
}

// elementModels are of operators on single elements and of ends of networks.
func elementModels() []struct {
	name  string
	model tt.Model
} {
	type named = struct {
		name  string
		model tt.Model
	}
	x := value("x", tt.F32, 1, 4, 4, 2)
	y := func(shape ...int32) tt.Tensor { return value("y", tt.F32, shape...) }
	typed := func(typ int8, shape ...int32) tt.Tensor { return value("y", typ, shape...) }
	q := func(name string, scale float32, zero int64) tt.Tensor {
		return tt.Tensor{Name: name, Type: tt.I8, Shape: []int32{1, 4, 4, 2}, Scales: []float32{scale}, Zeros: []int64{zero}}
	}
	chain := func(tensors []tt.Tensor, ops ...tt.Op) tt.Model {
		return tt.Model{Tensors: tensors, Ops: ops, Inputs: []int32{0}, Outputs: []int32{int32(len(tensors) - 1)}}
	}
	var all []named
	for _, c := range []struct {
		name string
		code int32
	}{{"logistic", 14}, {"tanh", 28}, {"hard swish", 117}, {"elu", 111}, {"abs", 101}, {"sign", 158}, {"round", 116}, {"floor", 8}, {"ceil", 104}, {"neg", 59}, {"square", 92}, {"exp", 47}, {"log", 73}, {"sqrt", 75}, {"rsqrt", 76}, {"log softmax", 50}} {
		all = append(all, named{c.name, one(tt.Op{Code: c.code}, x, y(1, 4, 4, 2))})
	}
	for _, c := range []struct {
		name string
		code int32
	}{{"less", 58}, {"greater", 61}, {"greater equal", 62}, {"less equal", 63}, {"equal", 71}, {"not equal", 72}} {
		all = append(all, named{c.name, chain([]tt.Tensor{x, f32s("c", []int32{2}, 1, 2), value("t", tt.Bool, 1, 4, 4, 2), y(1, 4, 4, 2)},
			tt.Op{Code: c.code, Inputs: []int32{1, 0}, Outputs: []int32{2}}, tt.Op{Code: 53, Inputs: []int32{2}, Outputs: []int32{3}})})
	}
	masks := []tt.Tensor{x, f32s("c", nil, 0.5), value("a", tt.Bool, 1, 4, 4, 2), value("b", tt.Bool, 1, 4, 4, 2), value("l", tt.Bool, 1, 4, 4, 2), f32s("w", []int32{1, 1, 1, 2}, 1, 2), y(1, 4, 4, 2)}
	return append(all,
		named{"int8 logistic", one(tt.Op{Code: 14}, q("x", 0.5, -3), q("y", 1.0/256, -128))},
		named{"int8 maximum", one(tt.Op{Code: 55}, q("x", 0.5, -3), q("y", 0.5, -3), f32s("c", nil, 1))},
		named{"minimum of two", one(tt.Op{Code: 57}, x, y(1, 4, 4, 2), f32s("c", []int32{4, 1}, 1, 2, 3, 4))},
		named{"squared difference", one(tt.Op{Code: 99}, x, y(1, 4, 4, 2), f32s("c", nil, 1))},
		named{"logic and select", chain(masks, tt.Op{Code: 61, Inputs: []int32{0, 1}, Outputs: []int32{2}}, tt.Op{Code: 87, Inputs: []int32{2}, Outputs: []int32{3}},
			tt.Op{Code: 84, Inputs: []int32{2, 3}, Outputs: []int32{4}}, tt.Op{Code: 123, Inputs: []int32{4, 1, 5}, Outputs: []int32{6}})},
		named{"logic and select of rows", chain([]tt.Tensor{value("x", tt.F32, 3, 2), f32s("c", nil, 0.5), {Name: "rows", Type: tt.Bool, Shape: []int32{3}, Data: []byte{1, 0, 1}}, y(3, 2)},
			tt.Op{Code: 64, Inputs: []int32{2, 0, 1}, Outputs: []int32{3}})},
		named{"cast to bool", chain([]tt.Tensor{x, value("t", tt.Bool, 1, 4, 4, 2), typed(tt.Bool, 1, 4, 4, 2)}, tt.Op{Code: 53, Inputs: []int32{0}, Outputs: []int32{1}}, tt.Op{Code: 87, Inputs: []int32{1}, Outputs: []int32{2}})},
		named{"arg max", one(tt.Op{Code: 56}, value("x", tt.F32, 3, 5), typed(tt.I64, 3), i32s("axis", nil, -1))},
		named{"arg min of rows", one(tt.Op{Code: 79}, x, typed(tt.I32, 1, 4, 2), i32s("axis", nil, 1))},
		named{"arg max as floats", chain([]tt.Tensor{value("x", tt.F32, 3, 5), i32s("axis", []int32{1}, 1), value("a", tt.I32, 3), value("l", tt.I64, 3), y(3)},
			tt.Op{Code: 56, Inputs: []int32{0, 1}, Outputs: []int32{2}}, tt.Op{Code: 53, Inputs: []int32{2}, Outputs: []int32{3}}, tt.Op{Code: 53, Inputs: []int32{3}, Outputs: []int32{4}})},
		named{"top k", tt.Model{Tensors: []tt.Tensor{value("x", tt.F32, 3, 5), i32s("k", nil, 2), value("v", tt.F32, 3, 2), value("i", tt.I32, 3, 2)}, Inputs: []int32{0}, Outputs: []int32{2, 3},
			Ops: []tt.Op{{Code: 48, Inputs: []int32{0, 1}, Outputs: []int32{2, 3}}}}},
		named{"sum", one(tt.Op{Code: 74, OptionType: 27}, x, y(1, 2), i32s("axes", []int32{2}, 1, 2))},
		named{"reduce min", one(tt.Op{Code: 89, OptionType: 27, Options: tt.Table{0: true}}, x, y(1, 1, 1, 2), i32s("axes", []int32{2}, 1, 2))},
		named{"gelu", one(tt.Op{Code: 150, OptionType: 116, Options: tt.Table{}}, x, y(1, 4, 4, 2))},
		named{"gelu by tanh", one(tt.Op{Code: 150, OptionType: 116, Options: tt.Table{0: true}}, x, y(1, 4, 4, 2))},
		named{"int8 gelu", one(tt.Op{Code: 150, OptionType: 116, Options: tt.Table{}}, q("x", 0.03, 10), q("y", 0.03, -100))},
		named{"int8 gelu by tanh", one(tt.Op{Code: 150, OptionType: 116, Options: tt.Table{0: true}}, q("x", 0.03, 10), q("y", 0.03, -100))},
		named{"int8 exp", one(tt.Op{Code: 47}, q("x", 0.03, 100), q("y", 0.008, -128))},
		named{"int8 log", one(tt.Op{Code: 73}, q("x", 0.05, -129+1), q("y", 0.03, 0))},
		named{"int8 rsqrt", one(tt.Op{Code: 76}, q("x", 0.05, -128), q("y", 0.02, -128))},
		named{"int8 sum", one(tt.Op{Code: 74, OptionType: 27}, q("x", 0.07, -128), tt.Tensor{Name: "y", Type: tt.I8, Shape: []int32{1, 2}, Scales: []float32{1.2}, Zeros: []int64{-100}}, i32s("axes", []int32{2}, 1, 2))},
		named{"int8 mean of rows and channels", one(tt.Op{Code: 40, OptionType: 27}, q("x", 0.07, -20), tt.Tensor{Name: "y", Type: tt.I8, Shape: []int32{1, 4}, Scales: []float32{0.06}, Zeros: []int64{5}}, i32s("axes", []int32{2}, 1, 3))},
		named{"maximum of rows and channels", one(tt.Op{Code: 82, OptionType: 27, Options: tt.Table{0: true}}, x, y(1, 1, 4, 1), i32s("axes", []int32{2}, 3, 1))},
		named{"sum of rows and channels", one(tt.Op{Code: 74, OptionType: 27}, x, y(1, 4), i32s("axes", []int32{2}, 3, 1))},
	)
}

// TestModels compares what becomes of made files with a text, notes, attributes and weights included.
func TestModels(t *testing.T) {
	var b strings.Builder
	for _, c := range append(goodModels(), elementModels()...) {
		g, err := Parse("m.tflite", c.model.Bytes())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		checkGraph(t, g)
		fmt.Fprintf(&b, "## %s\n%v", c.name, g)
		for _, n := range g.Nodes {
			for _, k := range []string{"w", "b", "alpha", "value", "thresholds"} {
				if w := n.Weights[k]; w != nil {
					fmt.Fprintf(&b, "  %s.%s = %v%v\n", n.Name, k, w.Shape, w.Data.Floats())
				}
			}
			if n.Note != "" {
				fmt.Fprintf(&b, "  %s: %s\n", n.Name, n.Note)
			}
		}
		b.WriteString("\n")
	}
	golden.Check(t, filepath.Join("testdata", "models.txt"), []byte(b.String()))
}
