package lce

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/importer"
	"ripc/importer/internal/source"
	"ripc/internal/golden"
	tt "ripc/internal/tflitetest"
	"ripc/ir"
)

// f32s, i32s are constants; x and y have no data.
func f32s(name string, shape []int32, v ...float32) tt.Tensor {
	return tt.Tensor{Name: name, Type: tt.F32, Shape: shape, Data: tt.Data(v)}
}

func i32s(name string, shape []int32, v ...int32) tt.Tensor {
	return tt.Tensor{Name: name, Type: tt.I32, Shape: shape, Data: tt.Data(v)}
}

func value(name string, typ int8, shape ...int32) tt.Tensor {
	return tt.Tensor{Name: name, Type: typ, Shape: shape}
}

// one is a model of one operator: x, y, and what else it reads.
func one(op tt.Op, x, y tt.Tensor, more ...tt.Tensor) tt.Model {
	op.Inputs, op.Outputs = []int32{0}, []int32{1}
	for i := range more {
		op.Inputs = append(op.Inputs, int32(2+i))
	}
	return tt.Model{Tensors: append([]tt.Tensor{x, y}, more...), Ops: []tt.Op{op}, Inputs: []int32{0}, Outputs: []int32{1}}
}

// without is m, whose operator has its input k left out.
func without(k int, m tt.Model) tt.Model {
	m.Ops[0].Inputs[k] = -1
	return m
}

// integerConv has one convolution of int8, whose weights have a scale and a zero point.
func integerConv(scale float32, zero int64) tt.Model {
	of := func(name string, scale float32, zero int64, data []byte, shape ...int32) tt.Tensor {
		return tt.Tensor{Name: name, Type: tt.I8, Shape: shape, Scales: []float32{scale}, Zeros: []int64{zero}, Data: data}
	}
	return one(tt.Op{Code: 3, OptionType: 1, Options: tt.Table{0: int8(1), 1: int32(1), 2: int32(1)}}, of("x", 1, 0, nil, 1, 3, 3, 2), of("y", 1, 0, nil, 1, 3, 3, 2), of("w", scale, zero, []byte{1, 2, 3, 4}, 2, 1, 1, 2))
}

// bconvModel has one binary convolution, 1x1, of 40 channels to 2.
func bconvModel(options map[string]int, y tt.Tensor, more ...tt.Tensor) tt.Model {
	all := map[string]int{"channels_in": 40, "padding": 1, "stride_height": 1, "stride_width": 1, "pad_values": 0}
	for k, v := range options {
		if all[k] = v; v == -100 {
			delete(all, k)
		}
	}
	more = append([]tt.Tensor{i32s("w", []int32{2, 1, 1, 2}, 1, 2, 3, 4)}, more...)
	return one(tt.Op{Custom: "LceBconv2d", Flex: tt.Flex(all, 1)}, value("x", tt.I32, 1, 3, 3, 2), y, more...)
}

// badModels are files that cannot be imported, by what is wrong with them.
func badModels() []struct {
	name  string
	model tt.Model
} {
	x, y := value("x", tt.F32, 1, 4, 4, 2), value("y", tt.F32, 1, 4, 4, 2)
	relu := one(tt.Op{Code: 19}, x, y)
	add := func(f func(*tt.Model)) tt.Model {
		m := one(tt.Op{Code: 19}, x, y)
		f(&m)
		return m
	}
	y2 := value("y", tt.F32, 1, 3, 3, 2)
	conv := tt.Table{0: int8(1), 1: int32(1), 2: int32(1)}
	return []struct {
		name  string
		model tt.Model
	}{
		{"several unsupported operators", tt.Model{
			Tensors: []tt.Tensor{x, value("sine", tt.F32, 1, 4, 4, 2), value("cosine", tt.F32, 1, 4, 4, 2), value("sum", tt.F32, 1, 4, 4, 2), y},
			Ops: []tt.Op{{Code: 66, Inputs: []int32{0}, Outputs: []int32{1}}, {Code: 108, Inputs: []int32{0}, Outputs: []int32{2}},
				{Inputs: []int32{1, 2}, Outputs: []int32{3}}, {Custom: "MyOp", Inputs: []int32{0}, Outputs: []int32{4}}},
			Inputs: []int32{0}, Outputs: []int32{3, 4}}},
		{"custom operator called like a builtin one", one(tt.Op{Custom: "RELU"}, x, y)},
		{"shape of the file differs", one(tt.Op{Code: 19}, x, value("y", tt.F32, 1, 4, 4, 3))},
		{"result of another type", one(tt.Op{Code: 19}, x, value("y", tt.I64, 1, 4, 4, 2))},
		{"no output", add(func(m *tt.Model) { m.Outputs = nil })},
		{"output twice", add(func(m *tt.Model) { m.Outputs = []int32{1, 1} })},
		{"output that is an input", add(func(m *tt.Model) { m.Outputs = []int32{0} })},
		{"tensor that is not there", add(func(m *tt.Model) { m.Ops[0].Inputs[0] = 7 })},
		{"reads its own result", add(func(m *tt.Model) { m.Ops[0].Inputs[0] = 1 })},
		{"made twice", add(func(m *tt.Model) { m.Ops = append(m.Ops, m.Ops[0]) })},
		{"input without rank", add(func(m *tt.Model) { m.Tensors[0].Shape = nil })},
		{"input of extent 0", add(func(m *tt.Model) { m.Tensors[0].Shape = []int32{1, 0, 4, 2} })},
		{"huge input", add(func(m *tt.Model) { m.Tensors[0].Shape = []int32{1 << 20, 1 << 20, 1 << 20, 1 << 20} })},
		{"open width", add(func(m *tt.Model) { m.Tensors[0].Signature = []int32{-1, 4, -1, 2} })},
		{"variable", add(func(m *tt.Model) { m.Tensors[0].Variable = true })},
		{"input of text", add(func(m *tt.Model) { m.Tensors[0].Type = 5 })},
		{"integers as input", add(func(m *tt.Model) { m.Tensors[0].Type = tt.I32 })},
		{"int8 without scale", add(func(m *tt.Model) { m.Tensors[0].Type = tt.I8 })},
		{"int8 with scales by channel", add(func(m *tt.Model) { m.Tensors[0].Type, m.Tensors[0].Scales = tt.I8, []float32{1, 2} })},
		{"int8 with a zero point of uint8", add(func(m *tt.Model) {
			m.Tensors[0].Type, m.Tensors[0].Scales, m.Tensors[0].Zeros = tt.I8, []float32{1}, []int64{200}
		})},
		{"int8 with scale 0", add(func(m *tt.Model) { m.Tensors[0].Type, m.Tensors[0].Scales = tt.I8, []float32{0} })},
		{"too few inputs", add(func(m *tt.Model) { m.Ops[0].Code = 0 })},
		{"missing input", add(func(m *tt.Model) { m.Ops[0].Inputs[0] = -1 })},
		{"two outputs", add(func(m *tt.Model) {
			m.Tensors = append(m.Tensors, value("z", tt.F32, 1))
			m.Ops[0].Outputs = []int32{1, 2}
		})},
		{"filters that are no constant", tt.Model{Tensors: []tt.Tensor{x, x, y}, Inputs: []int32{0, 1}, Outputs: []int32{2},
			Ops: []tt.Op{{Code: 3, Inputs: []int32{0, 1}, Outputs: []int32{2}, OptionType: 1, Options: conv}}}},
		{"filters for other channels", one(tt.Op{Code: 3, OptionType: 1, Options: conv}, x, y2, f32s("w", []int32{1, 1, 1, 3}, 1, 2, 3))},
		{"filters cut short", one(tt.Op{Code: 3, OptionType: 1, Options: conv}, x, y2, f32s("w", []int32{2, 2, 2, 2}, 1, 2, 3))},
		{"bias of another length", one(tt.Op{Code: 3, OptionType: 1, Options: conv}, x, y2, f32s("w", []int32{1, 1, 1, 2}, 1, 2), f32s("b", []int32{3}, 1, 2, 3))},
		{"filter of another rank", one(tt.Op{Code: 3, OptionType: 1, Options: conv}, x, y2, f32s("w", []int32{2}, 1, 2))},
		{"stride 0", one(tt.Op{Code: 3, OptionType: 1, Options: tt.Table{}}, x, y2, f32s("w", []int32{2, 1, 1, 2}, 1, 2, 3, 4))},
		{"stride 0 of a pool of integers", one(tt.Op{Code: 1, OptionType: 5, Options: tt.Table{3: int32(2), 4: int32(2)}},
			tt.Tensor{Name: "x", Type: tt.I8, Shape: []int32{1, 4, 4, 2}, Scales: []float32{1}, Zeros: []int64{0}}, tt.Tensor{Name: "y", Type: tt.I8, Shape: []int32{1, 2, 2, 2}, Scales: []float32{1}, Zeros: []int64{0}})},
		{"padding 7", one(tt.Op{Code: 3, OptionType: 1, Options: tt.Table{0: int8(7)}}, x, y2, f32s("w", []int32{2, 1, 1, 2}, 1, 2, 3, 4))},
		{"options of another operator", one(tt.Op{Code: 3, OptionType: 5, Options: tt.Table{}}, x, y2, f32s("w", []int32{2, 1, 1, 2}, 1, 2, 3, 4))},
		{"a convolution without an input", without(0, one(tt.Op{Code: 3, OptionType: 1, Options: conv}, x, y2, f32s("w", []int32{2, 1, 1, 2}, 1, 2, 3, 4)))},
		{"a convolution without a filter", without(1, one(tt.Op{Code: 3, OptionType: 1, Options: conv}, x, y2, f32s("w", []int32{2, 1, 1, 2}, 1, 2, 3, 4)))},
		{"a depthwise convolution without a filter", without(1, one(tt.Op{Code: 4, OptionType: 2, Options: conv}, x, y2, f32s("w", []int32{1, 1, 1, 2}, 1, 2)))},
		{"a product without weights", without(1, one(tt.Op{Code: 9}, x, y, f32s("w", []int32{2, 2}, 1, 2, 3, 4)))},
		{"weights of no scale", integerConv(float32(math.NaN()), 0)},
		{"weights of a negative scale", integerConv(-1, 0)},
		{"weights of a zero point that is no int8", integerConv(1, 200)},
		{"fused tanh", one(tt.Op{Code: 3, OptionType: 1, Options: tt.Table{1: int32(1), 2: int32(1), 3: int8(4)}}, x, y, f32s("w", []int32{2, 1, 1, 2}, 1, 2, 3, 4))},
		{"weights for other rows", one(tt.Op{Code: 9}, x, y, f32s("w", []int32{2, 3}, 1, 2, 3, 4, 5, 6))},
		{"shuffled weights", one(tt.Op{Code: 9, OptionType: 8, Options: tt.Table{1: int8(1)}}, x, y, f32s("w", []int32{2, 2}, 1, 2, 3, 4))},
		{"slopes for each pixel", one(tt.Op{Code: 54}, x, y, f32s("a", []int32{2, 2, 1}, 1, 2, 3, 4))},
		{"mean over channels", one(tt.Op{Code: 40}, x, y, i32s("axes", []int32{1}, 3))},
		{"axes that are no constant", tt.Model{Tensors: []tt.Tensor{x, x, y}, Inputs: []int32{0, 1}, Outputs: []int32{2},
			Ops: []tt.Op{{Code: 40, Inputs: []int32{0, 1}, Outputs: []int32{2}}}}},
		{"axis 9", one(tt.Op{Code: 2, OptionType: 10, Options: tt.Table{0: int32(9)}}, x, y)},
		{"pack of two ranks", tt.Model{Tensors: []tt.Tensor{x, value("z", tt.F32, 1, 4, 4), y}, Ops: []tt.Op{{Code: 83, OptionType: 59, Options: tt.Table{1: int32(-1)}, Inputs: []int32{1, 0}, Outputs: []int32{2}}}, Inputs: []int32{0, 1}, Outputs: []int32{2}}},
		{"mirror pad of too much", one(tt.Op{Code: 100, OptionType: 77, Options: tt.Table{}}, x, y, i32s("p", []int32{4, 2}, 0, 0, 4, 0, 0, 0, 0, 0))},
		{"blocks that do not divide", one(tt.Op{Code: 38}, x, y, i32s("b", []int32{2}, 3, 3), i32s("p", []int32{2, 2}, 0, 0, 0, 0))},
		{"padded batch", one(tt.Op{Code: 34}, x, y, i32s("p", []int32{4, 2}, 1, 0, 0, 0, 0, 0, 0, 0))},
		{"negative padding", one(tt.Op{Code: 34}, x, y, i32s("p", []int32{4, 2}, 0, 0, -1, 0, 0, 0, 0, 0))},
		{"padding of three axes", one(tt.Op{Code: 34}, x, y, i32s("p", []int32{3, 2}, 0, 0, 1, 0, 0, 0))},
		{"endless padding", one(tt.Op{Code: 34}, x, y, i32s("p", []int32{4, 2}, 0, 0, 0, 0, 0, 0, 0, 1<<28))},
		{"reshape to other elements", one(tt.Op{Code: 22}, x, value("y", tt.F32, 5, 5))},
		{"permutation of three axes", one(tt.Op{Code: 39}, x, y, i32s("p", []int32{3}, 0, 1, 2))},
		{"slice outside", one(tt.Op{Code: 65}, x, y, i32s("b", []int32{4}, 0, 4, 0, 0), i32s("s", []int32{4}, 1, 1, 1, 1))},
		{"slice backwards", one(tt.Op{Code: 45}, x, y, i32s("b", []int32{1}, 3), i32s("e", []int32{1}, 0), i32s("s", []int32{1}, -1))},
		{"slice of nothing", one(tt.Op{Code: 45}, x, y, i32s("b", []int32{1}, 1), i32s("e", []int32{1}, 1), i32s("s", []int32{1}, 1))},
		{"new axis", one(tt.Op{Code: 45, OptionType: 32, Options: tt.Table{3: int32(1)}}, x, y, i32s("b", []int32{1}, 0), i32s("e", []int32{1}, 1), i32s("s", []int32{1}, 1))},
		{"operands that do not fit", one(tt.Op{}, x, y, f32s("c", []int32{3}, 1, 2, 3))},
		{"relu of bits", tt.Model{Tensors: []tt.Tensor{x, value("bits", tt.I32, 1, 4, 4, 1), y}, Inputs: []int32{0}, Outputs: []int32{2},
			Ops: []tt.Op{{Custom: "LceQuantize", Inputs: []int32{0}, Outputs: []int32{1}}, {Code: 19, Inputs: []int32{1}, Outputs: []int32{2}}}}},
		{"binary convolution of floats", one(tt.Op{Custom: "LceBconv2d", Flex: tt.Flex(map[string]int{"channels_in": 2}, 1)}, x, y, i32s("w", []int32{2, 1, 1, 1}, 1, 2))},
		{"bits as floats", one(tt.Op{Custom: "LceQuantize"}, x, y)},
		{"wrong number of words", one(tt.Op{Custom: "LceQuantize"}, x, value("y", tt.I32, 1, 4, 4, 2))},
		{"no options", one(tt.Op{Custom: "LceBconv2d"}, value("x", tt.I32, 1, 3, 3, 2), value("y", tt.F32, 1, 3, 3, 2), i32s("w", []int32{2, 1, 1, 2}, 1, 2, 3, 4))},
		{"no channels_in", bconvModel(map[string]int{"channels_in": -100}, value("y", tt.F32, 1, 3, 3, 2))},
		{"channels_in 0", bconvModel(map[string]int{"channels_in": 0}, value("y", tt.F32, 1, 3, 3, 2))},
		{"channels_in for other words", bconvModel(map[string]int{"channels_in": 100}, value("y", tt.F32, 1, 3, 3, 2))},
		{"filters of another word count", one(tt.Op{Custom: "LceBconv2d", Flex: tt.Flex(map[string]int{"channels_in": 40, "padding": 1}, 1)},
			value("x", tt.I32, 1, 3, 3, 2), value("y", tt.F32, 1, 3, 3, 2), i32s("w", []int32{2, 1, 1, 1}, 1, 2))},
		{"stride -1", bconvModel(map[string]int{"stride_width": -1}, value("y", tt.F32, 1, 3, 3, 2))},
		{"padding missing", bconvModel(map[string]int{"padding": -100}, value("y", tt.F32, 1, 3, 3, 2))},
		{"pad_values 2", bconvModel(map[string]int{"pad_values": 2}, value("y", tt.F32, 1, 3, 3, 2))},
		{"thresholds missing", bconvModel(nil, value("y", tt.I32, 1, 3, 3, 1))},
		{"thresholds of another length", bconvModel(nil, value("y", tt.I32, 1, 3, 3, 1), f32s("m", []int32{1}, 1), f32s("b", []int32{1}, 1), i32s("t", []int32{3}, 1, 2, 3))},
		{"thresholds with floats", bconvModel(nil, value("y", tt.F32, 1, 3, 3, 2), f32s("m", []int32{1}, 1), f32s("b", []int32{1}, 1), i32s("t", []int32{2}, 1, 2))},
		{"huge input of bits", one(tt.Op{Custom: "LceDequantize"}, value("x", tt.I32, 1<<20, 1<<8), value("y", tt.F32, 1<<20, 1<<8))},
		{"huge words of bits", func() tt.Model {
			m := bconvModel(nil, value("y", tt.F32, 1, 3, 3, 2))
			m.Tensors[0].Shape = []int32{1 << 20, 1 << 5, 3, 2}
			return m
		}()},
		{"words taken apart", tt.Model{Tensors: []tt.Tensor{x, value("bits", tt.I32, 1, 4, 4, 1), value("y", tt.I32, 1, 4, 1, 4)}, Inputs: []int32{0}, Outputs: []int32{2},
			Ops: []tt.Op{{Custom: "LceQuantize", Inputs: []int32{0}, Outputs: []int32{1}}, {Code: 22, Inputs: []int32{1}, Outputs: []int32{2}}}}},
		{"no subgraph's tensors", func() tt.Model { m := relu; m.Tensors = nil; return m }()},
	}
}

// TestErrors compares the messages with a text; each is an *ir.Error with the file.
func TestErrors(t *testing.T) {
	var b strings.Builder
	show := func(name string, data []byte) {
		_, err := Parse("m.tflite", data)
		if err == nil {
			t.Errorf("%s: no error", name)
			return
		}
		var e *ir.Error
		if !errors.As(err, &e) || e.Pos.File != "m.tflite" {
			t.Errorf("%s: %v does not name the file", name, err)
		}
		fmt.Fprintf(&b, "## %s\n%v\n\n", name, err)
	}
	for _, c := range badModels() {
		show(c.name, c.model.Bytes())
	}
	show("empty file", nil)
	show("no model", []byte("something else"))
	show("version 4", tt.File(tt.Table{0: uint32(4)}))
	show("no subgraph", tt.File(tt.Table{0: uint32(3)}))
	data, err := os.ReadFile(filepath.Join(models, "bconv_same1_c32.tflite"))
	if err != nil {
		t.Fatal(err)
	}
	show("cut off", data[:len(data)/2])
	golden.Check(t, filepath.Join("testdata", "errors.txt"), []byte(b.String()))
}

// TestManyErrors: the list of faults is bounded.
func TestManyErrors(t *testing.T) {
	m := one(tt.Op{Code: 66}, value("x", tt.F32, 1, 1), value("y", tt.F32, 1, 1))
	for i := range 150 {
		m.Tensors = append(m.Tensors, value("", tt.F32, 1, 1))
		m.Ops = append(m.Ops, tt.Op{Code: 66, Inputs: []int32{0}, Outputs: []int32{int32(2 + i)}})
	}
	_, err := Parse("m.tflite", m.Bytes())
	if n := strings.Count(fmt.Sprint(err), "SIN"); n != source.MaxFaults || !strings.Contains(err.Error(), "and 51 more faults") {
		t.Errorf("%d faults in\n%v", n, err)
	}
}

// TestOpen: a file that is not there.
func TestOpen(t *testing.T) {
	_, err := Read(t.Context(), filepath.Join(t.TempDir(), "none.tflite"), importer.Options{})
	var e *ir.Error
	if !errors.As(err, &e) || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
