package c99_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ripc/codegen"
	"ripc/codegen/c99"
	"ripc/internal/abi"
	"ripc/internal/difftest"
	"ripc/internal/files"
	"ripc/internal/irgen"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/runtime"
	"ripc/targets"
	"ripc/targets/isa"
)

func anyTarget(t testing.TB) targets.Target {
	t.Helper()
	tg, err := targets.Lookup("x86-64-v4") // the target with the most instructions
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

// program has two stages for each Func: the second runs it, and the first, which tests leave out, is there because a Program
// must write what it reads. All parameters lie in the arena, behind each other, so that they can be of any type.
func program(fs []*ir.Func) *ir.Program {
	word := ir.Buffer{Name: "x", Type: ir.I32, Shape: []int{1}}
	y := word
	y.Name = "y"
	p := &ir.Program{Name: "test", Buffers: []ir.ProgBuf{{Buffer: word, Kind: ir.InputBuf}, {Buffer: y, Kind: ir.OutputBuf}},
		Funcs: append(slices.Clone(fs), &ir.Func{Name: "copy", Params: []ir.Param{{Buffer: word}, {Buffer: y, Out: true}},
			Body: &ir.Store{Buf: "y", Idx: []ir.Expr{ir.Int(0)}, Val: ir.At(word, ir.Int(0))}})}
	for i, f := range fs {
		s := ir.Stage{Name: f.Name, Op: "test", Func: f.Name}
		first := &ir.Func{Name: "first_" + f.Name}
		var zeros []ir.Stmt
		for j, q := range f.Params {
			b := ir.ProgBuf{Buffer: q.Buffer, Kind: ir.ArenaBuf, Offset: p.Arena}
			b.Name = fmt.Sprintf("b%d_%d", i, j)
			p.Buffers, s.Args = append(p.Buffers, b), append(s.Args, b.Name)
			q.Out = true
			zero := ir.Expr(ir.Float(math.SmallestNonzeroFloat32)) // so that the second has to flush
			if !q.Type.IsFloat() {
				zero = ir.Const(q.Type, 0)
			}
			first.Params = append(first.Params, q)
			zeros = append(zeros, &ir.Store{Buf: q.Name, Idx: slices.Repeat([]ir.Expr{ir.Int(0)}, len(q.Shape)), Val: zero})
			p.Arena += abi.RoundUp(max(int64(q.Bytes()), 1))
		}
		first.Body = ir.Seq(zeros...)
		p.Funcs = append(p.Funcs, first)
		p.Stages = append(p.Stages, ir.Stage{Name: first.Name, Op: "test", Func: first.Name, Args: s.Args}, s)
	}
	p.Stages = append(p.Stages, ir.Stage{Name: "copy", Op: "test", Func: "copy", Args: []string{"x", "y"}})
	return p
}

// library builds Funcs with a compiler, and compares what they do with the interpreter.
type library struct {
	p        *ir.Program
	sessions map[int]session // by threads
}

// session is loaded code with its memory.
type session interface {
	RunStages(ctx context.Context, first, last int) error
	Workspace() []byte
	Close() error
}

func build(t *testing.T, command string, fs []*ir.Func) *library {
	t.Helper()
	p := program(fs)
	files, err := codegen.Build(t.Context(), codegen.Input{Program: p, Target: anyTarget(t), Version: "1", Emit: []codegen.Kind{codegen.Runnable}},
		c99.Backend{Compiler: c99.Compiler{Command: command}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.so")
	if err := os.WriteFile(path, files[codegen.Runnable], 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := runtime.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	l := &library{p, map[int]session{}}
	for _, threads := range []int{1, 3} {
		if l.sessions[threads], err = m.NewSession(threads); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, s := range l.sessions {
			s.Close()
		}
		m.Close()
	})
	return l
}

// run calls Func i with args, and returns what they are then.
func (l *library) run(t *testing.T, threads, i int, args [][]byte) [][]byte {
	t.Helper()
	s := l.sessions[threads]
	var at []int64
	for _, a := range l.p.Stages[2*i+1].Args {
		at = append(at, l.p.BufferByName(a).Offset)
	}
	for k, a := range args {
		copy(s.Workspace()[at[k]:], a)
	}
	if err := s.RunStages(context.Background(), 2*i+1, 2*i+2); err != nil {
		t.Fatal(err)
	}
	out := difftest.Clone(args)
	for k := range out {
		copy(out[k], s.Workspace()[at[k]:])
	}
	return out
}

// same fails the test unless Func i does with args what the interpreter says.
func (l *library) same(t *testing.T, i int, args [][]byte) {
	t.Helper()
	f := l.p.Funcs[i]
	c, err := interp.CompileChecked(f)
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	want := difftest.Clone(args)
	if err := c.Run(t.Context(), want); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	for threads := range l.sessions {
		got := l.run(t, threads, i, args)
		for k, p := range f.Params {
			if d := difftest.Diff(want[k], got[k], p.Buffer); d != "" {
				t.Fatalf("%d threads: interpreter and C differ: %s\n%s", threads, d, f)
			}
		}
	}
}

// randomFuncs are Funcs by number, so that a failure can be repeated.
func randomFuncs(t *testing.T, first, n int) []*ir.Func {
	var fs []*ir.Func
	for i := first; i < first+n; i++ {
		f := rapid.Custom(irgen.Func).Example(i)
		f.Name = fmt.Sprintf("r%d", i)
		if _, err := (c99.Backend{}).Kernel(f, f.Name, anyTarget(t), nil); err != nil {
			var e *ir.Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			continue // a parallel loop that is none
		}
		fs = append(fs, f)
	}
	if len(fs) < n/2 {
		t.Fatalf("%d of %d Funcs are legal", len(fs), n)
	}
	return fs
}

// TestInPlace: an output that may lie over an input, and that input, are not restrict.
func TestInPlace(t *testing.T) {
	x, z, y, i := buf("x", ir.F32, 8), buf("z", ir.F32, 8), buf("y", ir.F32, 8), ir.V("i")
	for over, want := range map[string]string{
		"":  "static RIPC_KERNEL void f(const rc_f32 *restrict x, const rc_f32 *restrict z, rc_f32 *restrict y,",
		"z": "static RIPC_KERNEL void f(const rc_f32 *restrict x, const rc_f32 *z, rc_f32 *y,",
	} {
		f := &ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: z}, {Buffer: y, Out: true, Over: over}},
			Body: &ir.For{Var: "i", Extent: 8, Kind: ir.Vectorize, Body: &ir.Store{Buf: "y", Idx: []ir.Expr{i}, Val: ir.Bin(ir.Add, ir.At(x, i), ir.At(z, i))}}}
		k, err := c99.Backend{}.Kernel(f, "f", anyTarget(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(k.Text), want) {
			t.Errorf("over %q: no %s in\n%s", over, want, k.Text)
		}
	}
}

// TestRandomFuncs compares random nests of loops on all types with the interpreter.
func TestRandomFuncs(t *testing.T) {
	fs := randomFuncs(t, 0, 100)
	for _, cc := range need.CCompilers() {
		t.Run(cc, func(t *testing.T) {
			l := build(t, need.CCompiler(t, cc), fs)
			for i, f := range fs {
				for seed := range uint64(3) {
					l.same(t, i, difftest.RandomArgs(f, seed))
				}
			}
		})
	}
}

func buf(name string, t ir.Type, shape ...int) ir.Buffer {
	return ir.Buffer{Name: name, Type: t, Shape: shape}
}

// each makes y[k, i] = of[k](a[i], b[i], c[i]) for i < n.
func each(name string, t, r ir.Type, n int, of ...func(a, b, c ir.Expr) ir.Expr) *ir.Func {
	a, b, c, y := buf("a", t, n), buf("b", t, n), buf("c", t, n), buf("y", r, len(of), n)
	i := ir.V("i")
	var body []ir.Stmt
	for k, f := range of {
		body = append(body, &ir.Store{Buf: "y", Idx: []ir.Expr{ir.Int(k), i}, Val: f(ir.At(a, i), ir.At(b, i), ir.At(c, i))})
	}
	return &ir.Func{Name: name, Params: []ir.Param{{Buffer: a}, {Buffer: b}, {Buffer: c}, {Buffer: y, Out: true}},
		Body: &ir.For{Var: "i", Extent: n, Body: ir.Seq(body...)}}
}

func integerTypes() []ir.Type {
	return []ir.Type{ir.I8, ir.I16, ir.I32, ir.I64, ir.U8, ir.U16, ir.U32, ir.U64}
}

// integerFuncs have every operation on every type, and every cast.
func integerFuncs() []*ir.Func {
	var fs []*ir.Func
	for _, ty := range integerTypes() {
		var of []func(a, b, c ir.Expr) ir.Expr
		for _, op := range []ir.UnOp{ir.Neg, ir.Not, ir.Popcount, ir.Abs} {
			of = append(of, func(a, _, _ ir.Expr) ir.Expr { return ir.Un(op, a) })
		}
		for _, op := range []ir.BinOp{ir.Add, ir.Sub, ir.Mul, ir.Min, ir.Max, ir.And, ir.Or, ir.Xor} {
			of = append(of, func(a, b, c ir.Expr) ir.Expr { return ir.Bin(op, ir.Bin(op, a, b), c) })
		}
		for _, d := range []int64{2, 3, 7, 100, 127} {
			of = append(of, func(a, _, _ ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Div, A: a, B: ir.Const(ty, d)} },
				func(a, _, _ ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Mod, A: a, B: ir.Const(ty, d)} })
		}
		count := ir.Const(ty, int64(ty.Bits()-1))
		for _, op := range []ir.BinOp{ir.Shl, ir.Shr} {
			of = append(of, func(a, b, _ ir.Expr) ir.Expr { return ir.Bin(op, a, ir.Bin(ir.And, b, count)) })
		}
		for _, op := range []ir.BinOp{ir.Eq, ir.Ne, ir.Lt, ir.Le, ir.Gt, ir.Ge} {
			of = append(of, func(a, b, c ir.Expr) ir.Expr {
				both := ir.Bin(ir.Xor, ir.Bin(ir.Or, ir.Bin(op, a, b), ir.Bin(ir.Lt, b, c)), ir.Bin(ir.And, ir.Un(ir.Not, ir.Bin(op, a, c)), ir.Bin(ir.Gt, a, c)))
				return &ir.Select{Cond: both, A: a, B: ir.Const(ty, 3)}
			})
		}
		for _, v := range []int64{0, -1, 127, -128, 255, math.MinInt32, math.MaxInt32, math.MinInt64, math.MaxInt64} {
			shift := 64 - ty.Bits()
			k := v << shift >> shift
			if !ty.Signed() {
				k = int64(uint64(v) << shift >> shift)
			}
			of = append(of, func(a, _, _ ir.Expr) ir.Expr { return ir.Bin(ir.Xor, a, ir.Const(ty, k)) })
		}
		fs = append(fs, each("ops_"+ty.String(), ty, ty, 37, of...))
		for _, to := range append(integerTypes(), ir.F32) {
			of := []func(a, b, c ir.Expr) ir.Expr{func(a, _, _ ir.Expr) ir.Expr { return ir.CastTo(to, a) }}
			if to.Bits() == ty.Bits() {
				of = append(of, func(a, _, _ ir.Expr) ir.Expr { return &ir.Bitcast{T: to, A: a} })
			}
			fs = append(fs, each(fmt.Sprintf("cast_%s_%s", ty, to), ty, to, 37, of...))
		}
	}
	return fs
}

// floatFuncs have every operation on floats.
func floatFuncs(n int) []*ir.Func {
	var of []func(a, b, c ir.Expr) ir.Expr
	for _, op := range []ir.BinOp{ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Min, ir.Max} {
		of = append(of, func(a, b, _ ir.Expr) ir.Expr { return ir.Bin(op, a, b) },
			func(a, b, c ir.Expr) ir.Expr { return ir.Bin(ir.Add, ir.Bin(op, a, b), c) }) // not to be contracted
		for _, k := range []float32{0, float32(math.Copysign(0, -1)), -1.5, 0x1p-130, float32(math.Inf(1)), float32(math.NaN()), 16777217} {
			of = append(of, func(a, _, _ ir.Expr) ir.Expr { return ir.Bin(op, ir.Float(k), a) })
		}
	}
	for _, op := range []ir.UnOp{ir.Neg, ir.Abs, ir.Sqrt, ir.Floor, ir.RoundEven} {
		of = append(of, func(a, _, _ ir.Expr) ir.Expr { return ir.Un(op, a) })
	}
	of = append(of, func(a, b, c ir.Expr) ir.Expr { return &ir.Fma{A: a, B: b, C: c} },
		func(a, b, c ir.Expr) ir.Expr { return &ir.Select{Cond: ir.Bin(ir.Lt, a, b), A: c, B: a} },
		func(a, _, _ ir.Expr) ir.Expr {
			return &ir.Bitcast{T: ir.F32, A: ir.Bin(ir.Xor, ir.CastTo(ir.I32, a), ir.Const(ir.I32, 5))}
		})
	for _, op := range []ir.BinOp{ir.Eq, ir.Ne, ir.Lt, ir.Le, ir.Gt, ir.Ge} {
		of = append(of, func(a, b, _ ir.Expr) ir.Expr { return ir.CastTo(ir.F32, ir.CastTo(ir.I32, ir.Bin(op, a, b))) })
	}
	fs := []*ir.Func{each("floats", ir.F32, ir.F32, n, of...)}
	for _, to := range integerTypes() {
		fs = append(fs, each("trunc_"+to.String(), ir.F32, to, n, func(a, _, _ ir.Expr) ir.Expr { return ir.CastTo(to, a) }))
	}
	x, acc, y := buf("x", ir.F32, n, 4), buf("acc", ir.F32, 1), buf("y", ir.F32, n)
	i := ir.V("i")
	for _, op := range []ir.StoreOp{ir.AddTo, ir.MinTo, ir.MaxTo} { // into an alloc, and into memory
		sum := func(b string, at ir.Expr) ir.Stmt {
			return &ir.For{Var: "k" + b, Extent: 4, Body: &ir.Store{Buf: b, Idx: []ir.Expr{at}, Op: op, Val: ir.At(x, i, ir.V("k"+b))}}
		}
		body := &ir.Alloc{Buf: acc, Body: ir.Seq(&ir.Store{Buf: "acc", Idx: []ir.Expr{ir.Int(0)}, Val: ir.At(x, i, ir.Int(0))}, sum("acc", ir.Int(0)),
			&ir.Store{Buf: "y", Idx: []ir.Expr{i}, Op: op, Val: ir.At(acc, ir.Int(0))}, sum("y", i))}
		fs = append(fs, &ir.Func{Name: fmt.Sprintf("row_%d", op), Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}}, Body: &ir.For{Var: "i", Extent: n, Body: body}})
	}
	return fs
}

// hard fills the floats of args with numbers that implementations differ on: around 2^-126, where it matters how a product
// was rounded, near ties of fused multiply-adds, NaN, infinities, subnormals.
func hard(f *ir.Func, seed uint64) [][]byte {
	args := difftest.RandomArgs(f, seed)
	r := rand.New(rand.NewPCG(seed, 3))
	special := []uint32{0, 1 << 31, 1, 0x80000001, 0x7fffff, 0x807fffff, 0x800000, 0x80800000, 0x800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
		0x7fc00000, 0x7f800001, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0x4b000000, 0x4b7fffff, 0x4effffff, 0x4f000000, 0xcf000000, 0x5f000000, 0x3f000000, 0x3effffff}
	for k, p := range f.Params {
		if !p.Type.IsFloat() {
			continue
		}
		for i := range p.Elems() {
			var u uint32
			switch r.IntN(4) {
			case 0:
				u = special[r.IntN(len(special))]
			case 1: // products near 2^-126: exponents of sum -126 or -127
				e := r.IntN(60) + 10
				if k == 1 {
					e = 254 - 126 - e - r.IntN(2)
				}
				u = uint32(e)<<23 | uint32(r.IntN(1<<23))>>uint(r.IntN(23)) | uint32(r.IntN(2))<<31
			case 2:
				u = uint32(r.Uint64())
			default: // few bits, so that sums meet in the middle
				u = math.Float32bits(float32(math.Ldexp(float64(r.IntN(4096)-2048), r.IntN(50)-25)))
			}
			binary.LittleEndian.PutUint32(args[k][4*i:], u)
		}
	}
	return args
}

// TestOperations compares every operation with the interpreter, for compilers with fused multiply-adds and without, and
// such that are free to contract where the text does not forbid it.
func TestOperations(t *testing.T) {
	fs := append(integerFuncs(), floatFuncs(211)...)
	for i, cc := range need.CCompilers() {
		for k, options := range []string{"", " -O0", " -std=gnu99 -O3 -march=native"} {
			if (i+k)%2 != 0 && !need.AllInC() {
				continue
			}
			t.Run(cc+strings.ReplaceAll(options, " ", ""), func(t *testing.T) {
				l := build(t, need.CCompiler(t, cc)+options, fs)
				for i, f := range fs {
					seeds := uint64(20)
					if strings.HasPrefix(f.Name, "cast") {
						seeds = 2
					}
					for seed := range seeds {
						l.same(t, i, hard(f, seed))
					}
				}
			})
		}
	}
}

// TestInstructions: a call of an instruction is written as the body of the instruction.
func TestInstructions(t *testing.T) {
	var fs []*ir.Func
	takes := need.Part(t, 5)
	for i, in := range isa.All() {
		if !takes(i) && !isa.IsHalfProducts(in.Func) {
			continue
		}
		g := in.Func
		f := &ir.Func{Name: "call_" + g.Name, Params: slices.Clone(g.Params)}
		call := &ir.Call{Fn: g}
		for _, p := range g.Params {
			call.Args = append(call.Args, ir.Window{Buf: p.Name, Idx: slices.Repeat([]ir.Expr{ir.Int(0)}, len(p.Shape))})
		}
		f.Body = ir.Seq(call, &ir.For{Var: "again", Extent: 2, Kind: ir.Unroll, Body: call})
		fs = append(fs, f)
	}
	l := build(t, need.Tool(t, "cc"), fs)
	for i, f := range fs {
		for seed := range uint64(4) {
			l.same(t, i, difftest.RandomArgs(f, seed))
		}
	}
}

// source is the file for Funcs.
func source(t *testing.T, fs []*ir.Func) string {
	t.Helper()
	files, err := codegen.Build(t.Context(), codegen.Input{Program: program(fs), Target: anyTarget(t), Version: "1", Emit: []codegen.Kind{codegen.Source}}, c99.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	return string(files[codegen.Source])
}

// TestWarnings: no compiler has anything to say, in C99 and C11, with and without what GCC adds to C, with threads and
// without.
func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	fs := slices.Concat(integerFuncs(), floatFuncs(8)) // random Funcs compare what cannot be
	if err := os.WriteFile(filepath.Join(dir, "test.c"), []byte(source(t, fs)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cc := range need.CCompilers() {
		t.Run(cc, func(t *testing.T) {
			cc := need.CCompiler(t, cc)
			for _, options := range []string{"-std=c99 -O2", "-std=c11 -fsyntax-only", "-std=c99 -DRIPC_NO_THREADS -DRIPC_NO_DESCRIBE -fsyntax-only", "-std=c99 -m32 -msse2 -mfpmath=sse -ffreestanding -fsyntax-only"} {
				args := append(strings.Fields(options), "-pedantic", "-Wall", "-Wextra", "-Werror", "-c", "-o", "test.o", "test.c")
				cmd := exec.Command(cc, args...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%.2000s", options, err, out)
				}
			}
		})
	}
}

// TestSanitizers runs a program of random Funcs and of all operations under the sanitizers for undefined behaviour and for
// addresses, with memory that is just as large as it must be.
func TestSanitizers(t *testing.T) {
	dir := t.TempDir()
	fs := slices.Concat(randomFuncs(t, 2000, 60), integerFuncs(), floatFuncs(64))
	main := `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test.c"
int main(int argc, char **argv)
{
    const size_t size = test_workspace_size(1);
    unsigned char *ws = aligned_alloc(64, size), *x = aligned_alloc(64, 64), *y = aligned_alloc(64, 64);
    const void *in[1];
    void *out[1];
    FILE *f = fopen("data", "rb");
    (void)argc; (void)argv;
    memset(ws, 0, size); memset(x, 0, 64);
    in[0] = x; out[0] = y;
    if (f == NULL || fread(ws, 1, size, f) > size || test_run(in, out, ws, 0, 1, NULL) != RIPC_OK) return 1;
    rewind(f);
    if (fread(ws, 1, size, f) > size) return 1;
    fclose(f);
    for (uint32_t i = 1; i < %[1]d; i += 2) {
        if (test_run_stages(in, out, ws, 0, 1, NULL, i, i + 1) != RIPC_OK) return 1;
    }
    if (test_run(in, out, ws + 4, 0, 1, NULL) != RIPC_BAD_BUFFER || test_run(in, out, ws, 1, 1, NULL) != RIPC_BAD_THREADS || test_run(in, out, ws, 0, 2, NULL) != RIPC_BAD_THREADS) return 2;
    if (test_run(NULL, out, ws, 0, 1, NULL) != RIPC_BAD_BUFFER || test_run(in, NULL, ws, 0, 1, NULL) != RIPC_BAD_BUFFER) return 3;
    if (test_run_stages(in, out, ws, 0, 1, NULL, 1, 0) != RIPC_BAD_STAGES || test_run_stages(in, out, ws, 0, 1, NULL, 0, %[1]d + 1) != RIPC_BAD_STAGES) return 4;
    if (test_run_stages(in, out, ws, 0, 1, NULL, 0xffffffffu, 0xffffffffu) != RIPC_BAD_STAGES || test_run_stages(in, out, ws, 0, 1, NULL, %[1]d, %[1]d) != RIPC_OK) return 5;
    fwrite(ws, 1, size, stdout);
    free(ws); free(x); free(y);
    return 0;
}
`
	p := program(fs)
	data := make([]byte, p.Arena)
	var want [][]byte
	for i, f := range fs {
		args := hard(f, 9)
		if strings.HasPrefix(f.Name, "r") && f.Name[1] <= '9' { // such as shift by what they load
			args = difftest.RandomArgs(f, 9)
		}
		for k, a := range args {
			copy(data[p.BufferByName(p.Stages[2*i+1].Args[k]).Offset:], a)
		}
		c, err := interp.CompileChecked(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context(), args); err != nil {
			t.Fatal(err)
		}
		want = append(want, args...)
	}
	for name, text := range map[string][]byte{"test.c": []byte(source(t, fs)), "main.c": fmt.Appendf(nil, main, len(p.Stages)), "data": data} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, cc := range need.CCompilers() {
		if i > 0 && !need.AllInC() {
			continue
		}
		t.Run(cc, func(t *testing.T) {
			need.Sanitizers(t, cc)
			cmd := exec.Command(cc, "-std=c11", "-O1", "-g", "-fsanitize=undefined,address", "-fno-sanitize-recover=all", "main.c", "-o", "main")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%.2000s", err, out)
			}
			run := exec.Command(filepath.Join(dir, "main"))
			run.Dir = dir
			var stderr strings.Builder
			run.Stderr = &stderr
			got, err := run.Output()
			if err != nil {
				t.Fatalf("%v\n%.3000s", err, stderr.String())
			}
			k := 0
			for i, f := range fs {
				for j, q := range f.Params {
					at := p.BufferByName(p.Stages[2*i+1].Args[j]).Offset
					if d := difftest.Diff(want[k], got[at:at+int64(q.Bytes())], q.Buffer); d != "" {
						t.Fatalf("%s: %s", f.Name, d)
					}
					k++
				}
			}
		})
	}
}

// TestCompilerErrors: what is wrong with the compiler is said.
func TestCompilerErrors(t *testing.T) {
	for command, want := range map[string]string{
		"no-such-compiler -O2": `no C compiler: "no-such-compiler -O2": `,
		"false":                "false: exit status 1",
		"true":                 "true: it made no library",
	} {
		_, err := c99.Compiler{Command: command}.CompileShared(t.Context(), "x", nil)
		var ce *c99.CompilerError
		if !errors.As(err, &ce) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// TestKinds: chips without an operating system get C, and a library is for the target that was asked for.
func TestKinds(t *testing.T) {
	need.Tool(t, "cc")
	in := codegen.Input{Program: program(floatFuncs(4)), Version: "1", Emit: []codegen.Kind{codegen.SO}}
	for name, want := range map[string]string{
		"cortex-m4": "cannot emit so: back end c cannot make it for target cortex-m4: the chip has no system that loads libraries; possible are h, hpp, rs, zip, c, ripir",
		"rpi3":      "cc makes code for x86_64, not for aarch64; name a compiler for it with the environment variable CC, or emit c",
	} {
		var err error
		if in.Target, err = targets.Lookup(name); err != nil {
			t.Fatal(err)
		}
		if h, err := targets.Host(); err == nil && h.Arch == "aarch64" && name == "rpi3" {
			continue
		}
		_, err = codegen.Build(t.Context(), in, c99.Backend{})
		var te *codegen.TargetError
		if !errors.As(err, &te) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCompilerLimit: a compiler that does not end is killed when its time is over, which the error tells; one whose caller has gone is
// killed at once.
func TestCompilerLimit(t *testing.T) {
	command := filepath.Join(t.TempDir(), "cc")
	if err := os.WriteFile(command, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	const limit = 50 * time.Millisecond
	_, err := c99.Compiler{Command: command}.CompileShared(files.WithToolLimit(t.Context(), limit), "x", nil)
	if late := (*files.ToolLimitError)(nil); !errors.As(err, &late) || late.Limit != limit || late.Tool != command {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if _, err := (c99.Compiler{Command: command}).CompileShared(ctx, "x", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
