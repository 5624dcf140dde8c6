package codegen_test

import (
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/codegen/llvm"
	"ripc/ir"
	"ripc/runtime/describe"
	"ripc/targets"
)

// masks copies levels, one a byte and packed.
func masks() *ir.Program {
	bytes := ir.Buffer{Name: "x", Type: ir.U8, Shape: []int{1, 5}}
	planes := ir.Buffer{Name: "x", Type: ir.U32, Shape: []int{2, 1, 1}, Enc: ir.Encoding{Kind: ir.Unipolar, Channels: 5}}
	named := func(b ir.Buffer, name string) ir.Buffer { b.Name = name; return b }
	copies := func(name string, b ir.Buffer) *ir.Func {
		var idx []ir.Expr
		for range b.Shape {
			idx = append(idx, ir.Int(0))
		}
		return &ir.Func{Name: name, Params: []ir.Param{{Buffer: b}, {Buffer: named(b, "y"), Out: true}},
			Body: &ir.Store{Buf: "y", Idx: idx, Val: ir.At(b, idx...)}}
	}
	l := ir.Levels{Kind: ir.Bipolar, Bits: 3, Scale: 0.1, Offset: -0.25}
	m := ir.Levels{Kind: ir.Unipolar, Bits: 2, Scale: 1.0 / 3}
	words := ir.Buffer{Name: "x", Type: ir.I32, Shape: []int{1, 2}}
	w := ir.Levels{Kind: ir.BipolarInv, Bits: 1, Scale: 1, Channels: 40}
	return &ir.Program{
		Name: "masks", Funcs: []*ir.Func{copies("f", bytes), copies("g", planes), copies("h", words)},
		Buffers: []ir.ProgBuf{
			{Buffer: named(bytes, "a"), Kind: ir.InputBuf, Levels: l}, {Buffer: named(planes, "b"), Kind: ir.InputBuf, Levels: m},
			{Buffer: named(bytes, "c"), Kind: ir.OutputBuf, Levels: l}, {Buffer: named(planes, "d"), Kind: ir.OutputBuf, Levels: m},
			{Buffer: named(words, "e"), Kind: ir.InputBuf, Levels: w}, {Buffer: named(words, "k"), Kind: ir.OutputBuf, Levels: w},
		},
		Stages: []ir.Stage{{Name: "one", Op: "copy", Func: "f", Args: []string{"a", "c"}}, {Name: "two", Op: "copy", Func: "g", Args: []string{"b", "d"}}, {Name: "three", Op: "copy", Func: "h", Args: []string{"e", "k"}}},
	}
}

// The description and the header say what levels mean, for inputs and outputs, packed or not.
func TestLevels(t *testing.T) {
	tg, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	in := codegen.Input{Program: masks(), Target: tg, Version: "1", Emit: []codegen.Kind{codegen.Header, codegen.Ripir, codegen.LL}}
	d := codegen.Describe(in)
	for _, x := range []describe.Tensor{d.Inputs[0], d.Outputs[0]} {
		if x.Encoding != "bipolar" || x.Bits != 3 || x.Scale != 0.1 || x.RealOffset != -0.25 || x.Channels != 5 || x.Packed {
			t.Errorf("%+v", x)
		}
	}
	for _, x := range []describe.Tensor{d.Inputs[1], d.Outputs[1], d.Stages[1].Reads[0]} {
		if x.Encoding != "unipolar" || x.Bits != 2 || x.Scale != 1.0/3 || x.Channels != 5 || !x.Packed {
			t.Errorf("%+v", x)
		}
	}
	for _, x := range []describe.Tensor{d.Inputs[2], d.Outputs[2]} {
		if x.Encoding != "bipolar_inv" || x.Bits != 1 || x.Channels != 40 || !x.Packed || x.Planes() || x.DType != "i32" {
			t.Errorf("%+v", x)
		}
	}
	files, err := codegen.Build(t.Context(), in, llvm.Backend{}) // needs no tools
	if err != nil {
		t.Fatal(err)
	}
	h := strings.Join(strings.Fields(string(files[codegen.Header])), " ")
	for what, want := range map[string]string{
		"scale of bytes":  "_0_BITS 3 #define MASKS_INPUT_0_SCALE 0.2 /* of level l the value is SCALE * (l - ZERO_POINT) + REAL_OFFSET */ #define MASKS_INPUT_0_ZERO_POINT 0 #define MASKS_INPUT_0_REAL_OFFSET (-0.9500000000000001) ",
		"scale of planes": "_1_SCALE 0.3333333333333333 /* of level l the value is SCALE * (l - ZERO_POINT) + REAL_OFFSET */ #define MASKS_INPUT_1_ZERO_POINT 0 #define MASKS_INPUT_1_REAL_OFFSET 0.0f ",
		"scale of words":  "_2_SCALE (-2.0f) /* of level l the value is SCALE * (l - ZERO_POINT) + REAL_OFFSET */ #define MASKS_INPUT_2_ZERO_POINT 0 #define MASKS_INPUT_2_REAL_OFFSET 1.0f ",
	} {
		if !strings.Contains(h, want) {
			t.Errorf("%s: %q is not in\n%s", what, want, files[codegen.Header])
		}
	}
	for what, want := range map[string]string{
		"bytes":  "Levels of 3 bits, 0 to 7, one a byte (bipolar). Level l is the value 0.1 * (2*l - 7) - 0.25 */",
		"planes": "least significant bit first. Level l is the value 0.3333333333333333 * l */",
		"words":  "40 channels (bipolar_inv), a bit each, in the words of the last dimension, * least significant bit first. Level l is the value 1 * (1 - 2*l) */",
	} {
		if n := strings.Count(h, want); n != 2 {
			t.Errorf("%s: %q is there %d times in\n%s", what, want, n, files[codegen.Header])
		}
	}
}
