package emit_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"ripc/codegen/llvm/emit"
	"ripc/graph/scalar"
	"ripc/internal/need"
	"ripc/ir"
)

// negativeZero is -0.
func negativeZero() float32 { return float32(math.Copysign(0, -1)) }

func neg(x ir.Expr) ir.Expr { return ir.Un(ir.Neg, x) }

// sum makes a number that may be an exact 0, of either sign.
type sum struct {
	name string
	of   func(a, b, c ir.Expr) ir.Expr
}

// sums begins with those that differ most.
func sums() []sum {
	product := func(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Mul, a, b) }
	level := func(x ir.Expr) ir.Expr { return ir.CastTo(ir.I32, ir.CastTo(ir.I8, x)) }
	return []sum{
		{"fma", func(a, b, c ir.Expr) ir.Expr { return &ir.Fma{A: a, B: b, C: c} }},
		{"affine", func(a, _, c ir.Expr) ir.Expr { return &ir.Fma{A: a, B: ir.Float(-2), C: c} }},
		{"levels", func(a, b, _ ir.Expr) ir.Expr { return ir.CastTo(ir.F32, ir.Bin(ir.Sub, level(a), level(b))) }},
		{"mul_add", func(a, b, c ir.Expr) ir.Expr { return ir.Bin(ir.Add, product(a, b), c) }},
		{"fma_less", func(a, b, c ir.Expr) ir.Expr { return &ir.Fma{A: a, B: b, C: neg(c)} }},
		{"less_fma", func(a, b, c ir.Expr) ir.Expr { return &ir.Fma{A: neg(a), B: b, C: c} }},
		{"mul", func(a, b, _ ir.Expr) ir.Expr { return product(a, b) }},
		{"mul_sub", func(a, b, c ir.Expr) ir.Expr { return ir.Bin(ir.Sub, product(a, b), c) }},
		{"sub_mul", func(a, b, c ir.Expr) ir.Expr { return ir.Bin(ir.Sub, c, product(a, b)) }},
		{"add", func(a, _, c ir.Expr) ir.Expr { return ir.Bin(ir.Add, a, c) }},
		{"sub", func(a, _, c ir.Expr) ir.Expr { return ir.Bin(ir.Sub, a, c) }},
		{"level", func(a, _, _ ir.Expr) ir.Expr { return ir.CastTo(ir.F32, ir.CastTo(ir.I8, a)) }},
	}
}

// afterSums are the operations on a sum s that show the sign of its zero, or could change it.
func afterSums() []func(s, a, b ir.Expr) ir.Expr {
	type after = func(s, a, b ir.Expr) ir.Expr
	of := []after{}
	one := func(f func(s ir.Expr) ir.Expr) { of = append(of, func(s, _, _ ir.Expr) ir.Expr { return f(s) }) }
	sel := func(op ir.BinOp, x, y, yes, no ir.Expr) ir.Expr {
		return &ir.Select{Cond: ir.Bin(op, x, y), A: yes, B: no}
	}
	for _, op := range []ir.UnOp{ir.Neg, ir.Abs, ir.Floor, ir.RoundEven, ir.Sqrt} {
		one(func(s ir.Expr) ir.Expr { return ir.Un(op, s) })
		one(func(s ir.Expr) ir.Expr { return ir.Un(op, neg(s)) })
		one(func(s ir.Expr) ir.Expr { return neg(ir.Un(op, s)) })
	}
	for _, r := range scalar.Roundings() {
		one(r.Expr)
	}
	ops := []ir.BinOp{ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Min, ir.Max}
	compare := []ir.BinOp{ir.Lt, ir.Le, ir.Gt, ir.Ge, ir.Eq, ir.Ne}
	for _, k := range []float32{0, negativeZero(), 1, -1, 0.5, -2} {
		for _, op := range ops {
			one(func(s ir.Expr) ir.Expr { return ir.Bin(op, s, ir.Float(k)) })
			one(func(s ir.Expr) ir.Expr { return ir.Bin(op, ir.Float(k), s) })
			one(func(s ir.Expr) ir.Expr { return neg(ir.Bin(op, s, ir.Float(k))) })
		}
		for _, op := range compare {
			one(func(s ir.Expr) ir.Expr { return sel(op, s, ir.Float(k), s, ir.Float(k)) })
			one(func(s ir.Expr) ir.Expr { return sel(op, s, ir.Float(k), ir.Float(k), s) })
			one(func(s ir.Expr) ir.Expr { return sel(op, s, ir.Float(k), s, neg(s)) })
			one(func(s ir.Expr) ir.Expr { return sel(op, s, ir.Float(k), ir.Bin(ir.Sub, ir.Float(0), s), s) })
		}
		of = append(of, func(s, _, b ir.Expr) ir.Expr { return &ir.Fma{A: s, B: ir.Float(k), C: b} },
			func(s, a, _ ir.Expr) ir.Expr { return &ir.Fma{A: s, B: a, C: ir.Float(k)} })
	}
	for _, op := range ops {
		of = append(of, func(s, _, b ir.Expr) ir.Expr { return ir.Bin(op, s, b) }, func(s, _, b ir.Expr) ir.Expr { return ir.Bin(op, b, s) },
			func(s, _, b ir.Expr) ir.Expr { return neg(ir.Bin(op, s, b)) }, func(s, _, b ir.Expr) ir.Expr { return ir.Bin(op, neg(s), b) },
			func(s, _, b ir.Expr) ir.Expr { return ir.Bin(op, b, neg(s)) }, func(s, _, b ir.Expr) ir.Expr { return neg(ir.Bin(op, b, s)) })
		one(func(s ir.Expr) ir.Expr { return ir.Bin(op, s, s) })
		one(func(s ir.Expr) ir.Expr { return ir.Bin(op, s, neg(s)) })
		one(func(s ir.Expr) ir.Expr { return ir.Bin(op, neg(s), s) })
		one(func(s ir.Expr) ir.Expr { return ir.Bin(op, ir.Un(ir.Abs, s), s) })
	}
	for _, op := range compare {
		of = append(of, func(s, _, b ir.Expr) ir.Expr { return sel(op, s, b, s, b) }, func(s, _, b ir.Expr) ir.Expr { return sel(op, b, s, s, b) },
			func(s, a, b ir.Expr) ir.Expr { return sel(op, a, b, s, neg(s)) },
			func(s, a, b ir.Expr) ir.Expr { return ir.Bin(ir.Mul, s, sel(op, a, b, ir.Float(1), ir.Float(-1))) },
			func(s, a, b ir.Expr) ir.Expr { return ir.Bin(ir.Div, s, sel(op, a, b, ir.Float(-1), ir.Float(1))) })
	}
	bits := func(x ir.Expr) ir.Expr { return &ir.Bitcast{T: ir.U32, A: x} }
	float := func(x ir.Expr) ir.Expr { return &ir.Bitcast{T: ir.F32, A: x} }
	signBit := func() ir.Expr { return ir.Const(ir.U32, 1<<31) }
	for _, op := range []ir.BinOp{ir.Xor, ir.Or, ir.And} {
		one(func(s ir.Expr) ir.Expr { return float(ir.Bin(op, bits(s), signBit())) })
		of = append(of, func(s, _, b ir.Expr) ir.Expr { return float(ir.Bin(op, bits(s), ir.Bin(ir.And, bits(b), signBit()))) },
			func(s, a, _ ir.Expr) ir.Expr {
				return float(ir.Bin(op, bits(ir.Un(ir.Abs, a)), ir.Bin(ir.And, bits(s), signBit())))
			})
	}
	whole := func(x ir.Expr) ir.Expr { return ir.CastTo(ir.F32, ir.CastTo(ir.I32, x)) }
	one(whole)
	one(func(s ir.Expr) ir.Expr { return neg(whole(s)) })
	one(func(s ir.Expr) ir.Expr { return ir.Bin(ir.Mul, whole(s), ir.Float(-1)) })
	one(func(s ir.Expr) ir.Expr { return ir.Bin(ir.Sub, s, whole(s)) })
	one(func(s ir.Expr) ir.Expr { return ir.Bin(ir.Sub, whole(s), s) })
	one(func(s ir.Expr) ir.Expr { return ir.CastTo(ir.F32, ir.CastTo(ir.U8, s)) })
	return append(of, func(s, a, b ir.Expr) ir.Expr { return &ir.Fma{A: s, B: a, C: b} },
		func(s, a, b ir.Expr) ir.Expr { return &ir.Fma{A: a, B: b, C: s} },
		func(s, a, b ir.Expr) ir.Expr { return &ir.Fma{A: neg(s), B: a, C: b} },
		func(s, a, b ir.Expr) ir.Expr { return &ir.Fma{A: a, B: b, C: neg(s)} },
		func(s, a, b ir.Expr) ir.Expr { return &ir.Fma{A: neg(s), B: a, C: neg(b)} },
		func(s, a, b ir.Expr) ir.Expr { return &ir.Fma{A: neg(s), B: neg(a), C: neg(b)} },
		func(s, a, b ir.Expr) ir.Expr { return neg(&ir.Fma{A: neg(s), B: a, C: b}) },
		func(s, a, b ir.Expr) ir.Expr { return neg(&ir.Fma{A: a, B: b, C: neg(s)}) },
		func(s, _, _ ir.Expr) ir.Expr { return s })
}

// zeroFuncs apply every operation to sums, each on a row of its own, so that LLVM sees one use of every value. Loops are of
// the kind given and have n iterations.
func zeroFuncs(kind ir.LoopKind, n int, sums ...sum) []*ir.Func {
	rows := 48 // of a Func, which may not need too many instructions
	if kind == ir.Vectorize {
		rows = rowsOfFunc
	}
	var fs []*ir.Func
	for _, s := range sums {
		part := 0
		for after := range slices.Chunk(afterSums(), rows) {
			matrix := func(name string) ir.Buffer { return buf(name, ir.F32, len(after), n) }
			a, b, c, y := matrix("a"), matrix("b"), matrix("c"), matrix("y")
			var body []ir.Stmt
			for k, f := range after {
				at := func(b ir.Buffer) ir.Expr { return ir.At(b, ir.Int(k), vi) }
				body = append(body, set(y, f(s.of(at(a), at(b), at(c)), at(a), at(b)), ir.Int(k), vi))
			}
			fs = append(fs, &ir.Func{Name: fmt.Sprintf("%s%d_%s%d", s.name, part, kind, n),
				Params: []ir.Param{in(a), in(b), in(c), out(y)}, Body: loop(kind, "i", n, body...)})
			part++
		}
	}
	return append(fs, keptZeros(kind, n)...)
}

// keptZeros combine sums with what a buffer holds: LLVM, not the emitter, finds that these are constants.
func keptZeros(kind ir.LoopKind, n int) []*ir.Func {
	a, b, c, acc := buf("a", ir.F32, 1, n), buf("b", ir.F32, 1, n), buf("c", ir.F32, 1, n), buf("acc", ir.F32, 1)
	var fs []*ir.Func
	for i, k := range []float32{0, negativeZero(), 1, -1} {
		var body []ir.Stmt
		var results int
		y := buf("y", ir.F32, 64, n)
		at := func(b ir.Buffer) ir.Expr { return ir.At(b, ir.Int(0), vi) }
		add := func(stmts func(s ir.Expr) []ir.Stmt) {
			for _, s := range sums()[:4] {
				body = append(body, &ir.Alloc{Buf: acc, Body: ir.Seq(append([]ir.Stmt{set(acc, ir.Float(k), ir.Int(0))}, stmts(s.of(at(a), at(b), at(c)))...)...)})
			}
		}
		kept := func() ir.Expr { return ir.At(acc, ir.Int(0)) }
		result := func(x ir.Expr) ir.Stmt { results++; return set(y, x, ir.Int(results-1), vi) }
		for _, op := range []ir.StoreOp{ir.AddTo, ir.MinTo, ir.MaxTo} {
			add(func(s ir.Expr) []ir.Stmt { return []ir.Stmt{combine(op, acc, s, ir.Int(0)), result(kept())} })
		}
		for _, op := range []ir.BinOp{ir.Mul, ir.Div, ir.Sub, ir.Min, ir.Max} {
			add(func(s ir.Expr) []ir.Stmt { return []ir.Stmt{result(ir.Bin(op, s, kept()))} })
			add(func(s ir.Expr) []ir.Stmt { return []ir.Stmt{result(ir.Bin(op, kept(), s))} })
		}
		y.Shape[0] = results
		fs = append(fs, &ir.Func{Name: fmt.Sprintf("kept%d_%s%d", i, kind, n), Params: []ir.Param{in(a), in(b), in(c), out(y)}, Body: loop(kind, "i", n, body...)})
	}
	return fs
}

// zeros are arguments of zeroFuncs: few different small numbers, and c often -a*b or a*b.
func zeros(f *ir.Func, seed uint64) [][]byte {
	r := rand.New(rand.NewPCG(seed, 11))
	few := []float32{0, negativeZero(), 0.5, -0.5, 1, -1, 1.5, -1.5, 2, -2, 2.5, -3}
	args := make([][]byte, 4)
	for i, p := range f.Params {
		args[i] = make([]byte, p.Bytes())
	}
	for i := 0; i < len(args[0]); i += 4 {
		a, b, c := few[r.IntN(len(few))], few[r.IntN(len(few))], few[r.IntN(len(few))]
		switch r.IntN(6) {
		case 0:
			c = a * b
		case 1, 2:
			c = -a * b
		case 3:
			c = a
		}
		for k, v := range []float32{a, b, c} {
			binary.LittleEndian.PutUint32(args[k][i:], math.Float32bits(v))
		}
	}
	return args
}

var everySum = flag.Bool("everysum", false, "TestZeros has every sum in every kind of loop")

func zeroCases() (fs []*ir.Func) {
	all := sums()
	serial, few, one := []sum{all[0], all[1], all[2], all[3]}, []sum{all[0], all[2]}, all[:1]
	if *everySum {
		serial, few, one = all, all, all
	}
	return slices.Concat(zeroFuncs(ir.Serial, 16, serial...), zeroFuncs(ir.Vectorize, 5, few...), zeroFuncs(ir.Vectorize, 1, one...))
}

// TestZeros compares what follows sums that cancel exactly, or meet halves, with the interpreter. Arm has instructions that
// compute -0 in the place of 0, or the other way round, and LLVM knows them by patterns of what is emitted (see zero.go). In make
// test, two processors of one architecture share the Funcs.
func TestZeros(t *testing.T) {
	all := zeroCases()
	takes := need.Part(t, 2)
	share := func(k int) (fs []*ir.Func) {
		for i, f := range all {
			if takes(i + k) {
				fs = append(fs, f)
			}
		}
		return fs
	}
	hosts := natives(t)
	for k, tg := range hosts {
		t.Run(tg.Name, func(t *testing.T) {
			fs := all
			if len(hosts) > 1 {
				fs = share(k)
			}
			lib := buildFor(t, tg, fs...)
			for _, f := range fs {
				for seed := range uint64(8) {
					lib.sameOn(t, f.Name, zeros(f, seed))
				}
			}
		})
	}
	for name, fs := range map[string][]*ir.Func{"rpi3": all, "rpi2": share(0), "rpi3-armv7": share(1), "riscv64": share(1)} {
		t.Run(name, func(t *testing.T) {
			tg := target(t, name)
			checkARMOn(t, need.Tool(t, "qemu-"+tg.Arch), tg, fs, func(n int) [][]byte { return zeros(fs[n], uint64(n)) })
		})
	}
}

// TestHiddenIsNotCounted: what hides multiply-adds makes no instruction. A Func that just fits another target fits Arm.
func TestHiddenIsNotCounted(t *testing.T) {
	body := func(n int) *ir.Func {
		x, y := buf("x", ir.F32, n), buf("y", ir.F32, n)
		return &ir.Func{Name: "f", Params: []ir.Param{in(x), out(y)},
			Body: loop(ir.Unroll, "i", n, set(y, &ir.Fma{A: ir.At(x, vi), B: ir.Float(3), C: ir.Float(1)}, vi))}
	}
	fits := func(name string, n int) bool {
		_, err := emit.Kernel(body(n), "f", target(t, name), nil)
		return err == nil
	}
	most := sort.Search(4000, func(n int) bool { return !fits("x86-64-v3", n+1) })
	if most == 0 || !fits("rpi3", most) {
		t.Errorf("%d multiply-adds fit x86-64-v3, and not rpi3", most)
	}
}
