package verify_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"ripc/codegen"
	"ripc/ir"
	"ripc/runtime/describe"
	"ripc/targets"
	"ripc/verify"
)

// steps is a network of one stage that applies op to each of n floats.
func steps(op func(x ir.Expr) ir.Expr) *ir.Program {
	const n = 64
	x, y := buffer("x", ir.F32, n), buffer("y", ir.F32, n)
	return &ir.Program{Name: "steps", Buffers: []ir.ProgBuf{{Buffer: x, Kind: ir.InputBuf}, {Buffer: y, Kind: ir.OutputBuf}},
		Funcs: []*ir.Func{{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}},
			Body: loop("i", n, ir.Serial, store("y", ir.Assign, op(ir.At(x, ir.V("i"))), ir.V("i")))}},
		Stages: []ir.Stage{{Name: "s", Op: "steps", Func: "f", Args: []string{"x", "y"}}}}
}

// TestHard has code that does not flush, or loses the sign of 0, found on hard inputs alone.
func TestHard(t *testing.T) {
	tensors := []describe.Tensor{{Name: "x", DType: "f32", Shape: []int{64}}}
	plain := bytes.Repeat([]byte{0, 0, 0x40, 0x3F}, 64) // 0.75
	hard, ok := verify.Hard(tensors, [][]byte{plain}, 1)
	again, _ := verify.Hard(tensors, [][]byte{plain}, 1)
	if !ok || bytes.Equal(hard.Inputs[0], plain) || !bytes.Equal(hard.Inputs[0], again.Inputs[0]) {
		t.Fatal("hard inputs are those given, or differ from call to call")
	}
	if _, ok := verify.Hard([]describe.Tensor{{DType: "i8", Shape: []int{256}}}, [][]byte{plain}, 1); ok {
		t.Error("integers have no hard values")
	}
	same := func(x ir.Expr) ir.Expr { return x }
	cases := map[string]struct {
		definition, code func(x ir.Expr) ir.Expr
		ok               bool
	}{
		"right":    {same, same, true},
		"no flush": {func(x ir.Expr) ir.Expr { return ir.Bin(ir.Mul, x, ir.Float(1)) }, same, false},
		"zero":     {same, func(x ir.Expr) ir.Expr { return ir.Bin(ir.Add, x, ir.Float(0)) }, false},
		"nan": {func(x ir.Expr) ir.Expr { return ir.Bin(ir.Min, x, ir.Float(7)) },
			func(x ir.Expr) ir.Expr { return ir.Bin(ir.Min, ir.Float(7), x) }, false},
	}
	for name, c := range cases {
		for _, board := range []string{targets.HostName, "rpi3"} {
			t.Run(name+"/"+board, func(t *testing.T) {
				code := steps(c.code)
				file := filepath.Join(t.TempDir(), "steps.so")
				if err := os.WriteFile(file, build(t, machine(t, board), code)[codegen.SO], 0o666); err != nil {
					t.Fatal(err)
				}
				in := verify.Input{Program: steps(c.definition), SO: file, Inputs: [][]byte{plain}}
				if r, err := verify.Verify(context.Background(), in); err != nil || !r.OK {
					t.Fatalf("differs without hard inputs, too: %v %+v", err, r)
				}
				in.More = []verify.Set{hard}
				r, err := verify.Verify(context.Background(), in)
				if err != nil || r.OK != c.ok {
					t.Fatalf("%v %+v", err, r)
				}
				if !c.ok && (r.Network[0].Inputs != verify.HardInputs || r.Stages[0].Differences[0].Inputs != verify.HardInputs) {
					t.Errorf("the inputs are not named: %+v", r)
				}
			})
		}
	}
}
