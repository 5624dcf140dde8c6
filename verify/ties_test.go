package verify_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"ripc/codegen"
	"ripc/ir"
	"ripc/runtime"
	"ripc/targets"
	"ripc/verify"
)

// inputsOf are random contents of p's inputs.
func inputsOf(t *testing.T, p *ir.Program) [][]byte {
	t.Helper()
	var all [][]byte
	for i, q := range codegen.Describe(codegen.Input{Program: p}).Inputs {
		data, err := runtime.FillRandom(q, 1, i)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

func floatsOf(data []byte) []float32 {
	var out []float32
	for b := range slices.Chunk(data, 4) {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return out
}

// TestTies counts how many numbers make a sum cancel, a rounding meet a half, and a comparison meet its threshold.
func TestTies(t *testing.T) {
	affine := func(x ir.Expr) ir.Expr { return &ir.Fma{A: x, B: ir.Float(2), C: ir.Float(-1)} }
	cases := map[string]struct {
		op  func(x ir.Expr) ir.Expr
		hit func(x float32) bool
	}{
		"cancels": {affine, func(x float32) bool { return 2*x-1 == 0 }},
		"half": {func(x ir.Expr) ir.Expr { return ir.Un(ir.RoundEven, ir.Bin(ir.Mul, x, ir.Float(0.25))) },
			func(x float32) bool { v := math.Abs(float64(x / 4)); return v-math.Floor(v) == 0.5 }},
		"half step": {func(x ir.Expr) ir.Expr { return ir.Un(ir.RoundEven, ir.Bin(ir.Div, x, ir.Float(0.3))) },
			func(x float32) bool { v := math.Abs(float64(x / 0.3)); return v-math.Floor(v) == 0.5 }},
		"threshold": {func(x ir.Expr) ir.Expr {
			return &ir.Select{Cond: ir.Bin(ir.Ge, x, ir.Float(0.7)), A: ir.Float(1), B: ir.Float(0)}
		},
			func(x float32) bool { return x == 0.7 }},
		"zero":  {func(x ir.Expr) ir.Expr { return x }, func(x float32) bool { return x == 0 }},
		"equal": {func(x ir.Expr) ir.Expr { return x }, func(x float32) bool { return x == 1 || x == -1 }},
	}
	for name, c := range cases {
		p := steps(c.op)
		inputs, hits, all := inputsOf(t, p), 0, 0
		for seed := range uint64(20) {
			sets := verify.Ties(p, inputs, seed)
			if again := verify.Ties(p, inputs, seed); len(sets) != 1 || !reflect.DeepEqual(sets, again) {
				t.Fatalf("%s: %d Sets, or others from call to call", name, len(sets))
			}
			for _, x := range floatsOf(sets[0].Inputs[0]) {
				all++
				if c.hit(x) {
					hits++
				}
			}
		}
		if 50*hits < all || 2*hits > all {
			t.Errorf("%s: %d of %d numbers", name, hits, all)
		}
	}
}

// TestTiesOfChannels: where constants are tables, each channel has its own ties. Inputs of few numbers get several Sets.
func TestTiesOfChannels(t *testing.T) {
	const channels = 4
	x, y := buffer("x", ir.F32, 1, channels), buffer("y", ir.F32, 1, channels)
	scale, bias := buffer("scale", ir.F32, channels), buffer("bias", ir.F32, channels)
	table := func(vs ...float32) (data []byte) {
		for _, v := range vs {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		return data
	}
	i := ir.V("i")
	p := &ir.Program{Name: "affine", Buffers: []ir.ProgBuf{{Buffer: x, Kind: ir.InputBuf}, {Buffer: y, Kind: ir.OutputBuf},
		{Buffer: scale, Kind: ir.ConstBuf, Data: table(2, 4, 8, 16)}, {Buffer: bias, Kind: ir.ConstBuf, Data: table(3, 5, 7, -9)}},
		Funcs: []*ir.Func{{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: scale}, {Buffer: bias}, {Buffer: y, Out: true}},
			Body: loop("i", channels, ir.Serial, store("y", ir.Assign,
				&ir.Fma{A: ir.At(x, ir.Int(0), i), B: ir.At(scale, i), C: ir.At(bias, i)}, ir.Int(0), i))}},
		Stages: []ir.Stage{{Name: "s", Op: "batch_norm", Func: "f", Args: []string{"x", "scale", "bias", "y"}}}}
	want, found := []float32{-1.5, -1.25, -0.875, 0.5625}, make([]int, channels)
	for seed := range uint64(20) {
		sets := verify.Ties(p, inputsOf(t, p), seed)
		if len(sets) != 16 {
			t.Fatalf("%d Sets", len(sets))
		}
		for _, s := range sets {
			for c, x := range floatsOf(s.Inputs[0]) {
				if x == want[c] {
					found[c]++
				}
			}
		}
	}
	if slices.Min(found) < 8 {
		t.Errorf("of 320 numbers of each channel, %v make the sum cancel", found)
	}
}

// TestTiesOfIntegers: few of the given integers, and packed words that may be 0.
func TestTiesOfIntegers(t *testing.T) {
	x, y := buffer("x", ir.I8, 256), buffer("y", ir.I8, 256)
	bits := bipolar("bits", 8, 2)
	p := &ir.Program{Name: "integers", Buffers: []ir.ProgBuf{{Buffer: x, Kind: ir.InputBuf}, {Buffer: bits, Kind: ir.InputBuf}, {Buffer: y, Kind: ir.OutputBuf}},
		Funcs: []*ir.Func{{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: bits}, {Buffer: y, Out: true}},
			Body: loop("i", 256, ir.Serial, store("y", ir.Assign, ir.At(x, ir.V("i")), ir.V("i")))}},
		Stages: []ir.Stage{{Name: "s", Op: "copy", Func: "f", Args: []string{"x", "bits", "y"}}}}
	inputs := inputsOf(t, p)
	given := slices.Clone(inputs[0])
	s := verify.Ties(p, inputs, 1)
	if len(s) != 1 || bytes.Equal(s[0].Inputs[0], given) || !bytes.Equal(inputs[0], given) {
		t.Fatalf("%d Sets, or one that is as given", len(s))
	}
	for _, v := range s[0].Inputs[0] {
		if !bytes.Contains(given, []byte{v}) || int8(v) > 1 && int8(v) < 100 {
			t.Errorf("%d is not one of few", int8(v))
		}
	}
	zeros := 0
	for word := range slices.Chunk(s[0].Inputs[1], 4) {
		if bytes.Equal(word, make([]byte, 4)) {
			zeros++
		}
	}
	if zeros == 0 || zeros == 16 {
		t.Errorf("%d of 16 packed words are 0", zeros)
	}
}

// TestTiesFind has code that is wrong at ties alone, found on tie inputs: the sign of a sum that cancels (Arm's
// fnmadd in the place of a negated multiply-add), a half that is rounded up, and a threshold that does not count.
func TestTiesFind(t *testing.T) {
	affine := func(b, c float32) func(x ir.Expr) ir.Expr {
		return func(x ir.Expr) ir.Expr { return &ir.Fma{A: x, B: ir.Float(b), C: ir.Float(c)} }
	}
	level := func(op ir.BinOp) func(x ir.Expr) ir.Expr {
		return func(x ir.Expr) ir.Expr {
			return &ir.Select{Cond: ir.Bin(op, x, ir.Float(0.7)), A: ir.Float(1), B: ir.Float(0)}
		}
	}
	cases := map[string][2]func(x ir.Expr) ir.Expr{
		"sign": {func(x ir.Expr) ir.Expr { return ir.Un(ir.Neg, affine(2, -1)(x)) }, affine(-2, 1)},
		"half": {func(x ir.Expr) ir.Expr { return ir.Un(ir.RoundEven, ir.Bin(ir.Mul, x, ir.Float(2))) },
			func(x ir.Expr) ir.Expr {
				return ir.Un(ir.Floor, ir.Bin(ir.Add, ir.Bin(ir.Mul, x, ir.Float(2)), ir.Float(0.5)))
			}},
		"threshold": {level(ir.Ge), level(ir.Gt)},
	}
	for name, c := range cases {
		for _, board := range []string{targets.HostName, "rpi3"} {
			t.Run(name+"/"+board, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "steps.so")
				if err := os.WriteFile(file, build(t, machine(t, board), steps(c[1]))[codegen.SO], 0o600); err != nil {
					t.Fatal(err)
				}
				in := verify.Input{Program: steps(c[0]), SO: file}
				in.Inputs = inputsOf(t, in.Program)
				if r, err := verify.Verify(context.Background(), in); err != nil || !r.OK {
					t.Fatalf("differs on random inputs, too: %v %+v", err, r)
				}
				in.More = verify.Ties(in.Program, in.Inputs, 1)
				r, err := verify.Verify(context.Background(), in)
				if err != nil || r.OK {
					t.Fatalf("not found: %v %+v", err, r)
				}
				if !slices.ContainsFunc(r.Stages[0].Differences, func(d verify.Difference) bool { return d.Inputs == verify.TieInputs }) {
					t.Errorf("the inputs are not named: %+v", r)
				}
			})
		}
	}
}
