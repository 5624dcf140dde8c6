package emit_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"ripc/internal/difftest"
	"ripc/ir"
)

func allTypes() []ir.Type {
	return []ir.Type{ir.I8, ir.I16, ir.I32, ir.I64, ir.U8, ir.U16, ir.U32, ir.U64, ir.F32}
}

// both makes a scalar and a vector form of y[i] = of(a[i], b[i]) over n elements; each k-th result goes to y[k].
func both(name string, t, r ir.Type, n int, of ...func(a, b ir.Expr) ir.Expr) []*ir.Func {
	a, b, y := buf("a", t, n), buf("b", t, n), buf("y", r, len(of), n)
	var fs []*ir.Func
	for _, kind := range []ir.LoopKind{ir.Serial, ir.Vectorize} {
		var body []ir.Stmt
		for k, f := range of {
			body = append(body, set(y, f(ir.At(a, vi), ir.At(b, vi)), ir.Int(k), vi))
		}
		fs = append(fs, &ir.Func{Name: fmt.Sprintf("%s_%s", name, kind), Params: []ir.Param{in(a), in(b), out(y)},
			Body: loop(kind, "i", n, body...)})
	}
	return fs
}

func bin(op ir.BinOp) func(a, b ir.Expr) ir.Expr {
	return func(a, b ir.Expr) ir.Expr { return ir.Bin(op, a, b) }
}

func un(op ir.UnOp) func(a, b ir.Expr) ir.Expr {
	return func(a, _ ir.Expr) ir.Expr { return ir.Un(op, a) }
}

type exprOf = func(a, b ir.Expr) ir.Expr

func TestIntegerOps(t *testing.T) {
	var fs []*ir.Func
	for _, ty := range allTypes()[:8] {
		of := []exprOf{un(ir.Neg), un(ir.Not), un(ir.Popcount), un(ir.Abs)}
		for _, op := range []ir.BinOp{ir.Add, ir.Sub, ir.Mul, ir.Min, ir.Max, ir.And, ir.Or, ir.Xor} {
			of = append(of, bin(op))
		}
		for _, d := range []int64{1, 2, 3, 7, 16, 100, 127} {
			of = append(of, func(a, _ ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Div, A: a, B: ir.Const(ty, d)} },
				func(a, _ ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Mod, A: a, B: ir.Const(ty, d)} })
		}
		count := ir.Const(ty, int64(ty.Bits()-1))
		for _, op := range []ir.BinOp{ir.Shl, ir.Shr} {
			of = append(of, func(a, b ir.Expr) ir.Expr { return ir.Bin(op, a, ir.Bin(ir.And, b, count)) })
		}
		for _, op := range []ir.BinOp{ir.Eq, ir.Ne, ir.Lt, ir.Le, ir.Gt, ir.Ge} {
			of = append(of, func(a, b ir.Expr) ir.Expr { return &ir.Select{Cond: ir.Bin(op, a, b), A: a, B: ir.Const(ty, 3)} })
		}
		fs = append(fs, both("ops_"+ty.String(), ty, ty, 37, of...)...)
	}
	for _, tg := range natives(t) {
		checkOn(t, tg, fs...)
	}
}

func TestCasts(t *testing.T) {
	var fs, floats []*ir.Func
	for _, from := range allTypes() {
		for _, to := range append(allTypes(), ir.Bool) {
			of := []exprOf{func(a, _ ir.Expr) ir.Expr { return ir.CastTo(to, a) }}
			if to == ir.Bool {
				of = []exprOf{bin(ir.Lt), func(a, b ir.Expr) ir.Expr {
					return ir.Bin(ir.Or, ir.Un(ir.Not, ir.Bin(ir.Lt, a, b)), ir.Bin(ir.Eq, a, b))
				}}
			}
			if from.Bits() == to.Bits() {
				of = append(of, func(a, _ ir.Expr) ir.Expr { return &ir.Bitcast{T: to, A: a} })
			}
			of = append(of, func(a, b ir.Expr) ir.Expr {
				ge := ir.Bin(ir.Ge, a, b)
				if to.IsFloat() { // no cast from bool to f32
					ge = ir.CastTo(ir.I32, ge)
				}
				return ir.CastTo(to, ge)
			})
			pair := both(fmt.Sprintf("from_%s_%s", from, to), from, to, 19, of...)
			fs = append(fs, pair...)
			if from.IsFloat() || to.IsFloat() {
				floats = append(floats, pair...)
			}
		}
	}
	for k, tg := range natives(t) {
		if k > 0 { // what conversions of floats need differs most between processors
			fs = floats
		}
		lib := buildFor(t, tg, fs...)
		for _, f := range fs {
			lib.same(t, f.Name)
			if f.Params[0].Type.IsFloat() {
				lib.sameOn(t, f.Name, special(f, 1))
			}
		}
	}
}

// special is random data in which floats are replaced by all pairs of awkward ones, as far as they fit.
func special(f *ir.Func, seed uint64) [][]byte {
	args := difftest.RandomArgs(f, seed)
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	vs := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, 1.5, 2.5, -0.5, -2.5, 127.5, -129, 255.9, 256, 32768, 65536,
		2147483520, 2147483648, -2147483648, -2147483904, 4294967296, 9223372036854775808, -9223372036854775808,
		18446744073709551616, 1e30, -1e30, math.MaxFloat32, inf, -inf, nan, 16777217, 8388609.5, 0x1p-126, 0x1p-130, -0x1p-149, 0x1p-100,
		-0x1p-126, 0x1.fffffcp-127, -0x1.fffffcp-127, -math.MaxFloat32}
	var bits []uint32
	for _, v := range vs {
		bits = append(bits, math.Float32bits(v))
	}
	bits = append(bits, 0xFFC00000, 0x7F800001, 0xFFA00000) // -NaN, and two signaling ones
	k := 0
	for i := 0; i+3 < len(args[0]) && f.Params[0].Type.IsFloat(); i += 4 {
		a, b := bits[(k+int(seed))%len(bits)], bits[(k/len(bits)*7+k*5)%len(bits)]
		binary.LittleEndian.PutUint32(args[0][i:], a)
		if len(args[1]) == len(args[0]) {
			binary.LittleEndian.PutUint32(args[1][i:], b)
		}
		k++
	}
	return args
}

// floatCases are the operations on floats, alone and in the combinations in which LLVM knows a shorter way.
func floatCases() []exprOf {
	of := []exprOf{bin(ir.Add), bin(ir.Sub), bin(ir.Mul), bin(ir.Div), bin(ir.Min), bin(ir.Max),
		un(ir.Neg), un(ir.Abs), un(ir.Floor), un(ir.RoundEven),
		func(a, _ ir.Expr) ir.Expr { return ir.Un(ir.Sqrt, ir.Un(ir.Abs, a)) },
		func(a, b ir.Expr) ir.Expr { return &ir.Fma{A: a, B: b, C: ir.Float(-1)} },
		func(a, b ir.Expr) ir.Expr { return &ir.Fma{A: a, B: b, C: ir.Un(ir.Neg, ir.Bin(ir.Mul, a, b))} },
		func(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Add, ir.Bin(ir.Mul, a, b), a) },
		func(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Sub, ir.Bin(ir.Add, a, b), b) },
		func(a, _ ir.Expr) ir.Expr {
			return ir.Bin(ir.Mul, ir.Bin(ir.Mul, a, ir.Float(0x1p-120)), ir.Float(0x1p100))
		},
		func(a, _ ir.Expr) ir.Expr {
			return ir.Bin(ir.Add, a, ir.Bin(ir.Mul, ir.Float(0x1p-100), ir.Float(0x1p-40)))
		},
		func(a, _ ir.Expr) ir.Expr { return ir.Bin(ir.Div, a, ir.Float(3)) },
		func(a, _ ir.Expr) ir.Expr { return a },
		func(a, _ ir.Expr) ir.Expr { return ir.Un(ir.Neg, ir.Un(ir.Abs, a)) },
		func(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Max, ir.Un(ir.Neg, a), ir.Un(ir.Abs, b)) },
		func(a, _ ir.Expr) ir.Expr { return ir.Bin(ir.Add, ir.Un(ir.Abs, a), ir.Float(0)) },
		func(a, _ ir.Expr) ir.Expr { return ir.Bin(ir.Sub, ir.Un(ir.Abs, a), ir.Float(0)) },
		func(a, b ir.Expr) ir.Expr { // prelu
			return &ir.Fma{A: ir.Bin(ir.Min, a, ir.Float(0)), B: b, C: ir.Bin(ir.Max, a, ir.Float(0))}
		},
		func(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Max, ir.Bin(ir.Max, a, b), ir.Bin(ir.Min, b, a)) },
		func(a, b ir.Expr) ir.Expr { return &ir.Select{Cond: ir.Bin(ir.Gt, a, b), A: a, B: b} },
		func(a, b ir.Expr) ir.Expr {
			return ir.Bin(ir.Max, &ir.Select{Cond: ir.Bin(ir.Eq, a, a), A: a, B: ir.Float(2)}, b)
		},
		func(a, _ ir.Expr) ir.Expr {
			return &ir.Select{Cond: ir.Bin(ir.Lt, a, ir.Float(0)), A: ir.Un(ir.Neg, a), B: a}
		},
		func(a, b ir.Expr) ir.Expr {
			return ir.Bin(ir.Max, ir.Bin(ir.Mul, a, b), ir.Float(-2))
		},
	}
	zero := float32(math.Copysign(0, -1))
	for _, c := range []float32{0, zero, 1, -1, 6, 0x1p-130} {
		k := func() ir.Expr { return ir.Float(c) }
		for _, op := range []ir.BinOp{ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Min, ir.Max} {
			of = append(of, func(a, _ ir.Expr) ir.Expr { return ir.Bin(op, a, k()) },
				func(a, _ ir.Expr) ir.Expr { return ir.Bin(op, k(), a) })
		}
		of = append(of, func(a, _ ir.Expr) ir.Expr { return ir.Bin(ir.Max, ir.Bin(ir.Min, a, ir.Float(6)), k()) },
			func(a, _ ir.Expr) ir.Expr { return ir.Bin(ir.Min, ir.Bin(ir.Max, a, k()), ir.Float(1)) },
			func(a, _ ir.Expr) ir.Expr { return &ir.Select{Cond: ir.Bin(ir.Gt, a, k()), A: a, B: k()} },
			func(a, _ ir.Expr) ir.Expr { return &ir.Select{Cond: ir.Bin(ir.Ge, k(), a), A: k(), B: a} },
			func(a, _ ir.Expr) ir.Expr { return &ir.Select{Cond: ir.Bin(ir.Eq, k(), a), A: k(), B: a} },
			func(a, _ ir.Expr) ir.Expr { return &ir.Fma{A: a, B: k(), C: ir.Float(zero)} },
			func(a, b ir.Expr) ir.Expr { return &ir.Fma{A: k(), B: b, C: a} })
	}
	for _, op := range []ir.BinOp{ir.Eq, ir.Ne, ir.Lt, ir.Le, ir.Gt, ir.Ge} {
		of = append(of, func(a, b ir.Expr) ir.Expr { return &ir.Select{Cond: ir.Bin(op, a, b), A: ir.Float(1), B: ir.Float(2)} })
	}
	return of
}

// rowsOfFunc is how many results of vectors a Func has: LLVM's time grows faster than the code of a function.
const rowsOfFunc = 12

// floatFuncs are floatCases, and extremes over a whole row: with the result in memory, and in an alloc.
func floatFuncs(n int) []*ir.Func {
	var fs []*ir.Func
	for part := range slices.Chunk(floatCases(), rowsOfFunc) {
		fs = append(fs, both(fmt.Sprint("floats", len(fs)), ir.F32, ir.F32, n, part...)...)
	}
	x, b := buf("x", ir.F32, 40, 4), buf("b", ir.F32, 40, 4)
	y, acc := buf("y", ir.F32, 40), buf("acc", ir.F32, 1)
	for _, kind := range []ir.LoopKind{ir.Serial, ir.Vectorize, ir.Unroll} {
		rows, row := ir.Serial, kind
		if kind == ir.Vectorize { // floats keep their order: each lane has a row
			rows, row = kind, ir.Serial
		}
		for _, op := range []ir.StoreOp{ir.MinTo, ir.MaxTo, ir.AddTo} {
			name := fmt.Sprintf("%s_%d", kind, op)
			ps := []ir.Param{in(x), in(b), out(y)}
			fs = append(fs, &ir.Func{Name: "row_" + name, Params: ps, Body: loop(rows, "i", 40, ir.Seq(
				set(y, ir.Un(ir.Abs, ir.At(b, vi, ir.Int(0))), vi), loop(row, "k", 4, combine(op, y, ir.At(x, vi, vk), vi))))},
				&ir.Func{Name: "alloc_" + name, Params: ps, Body: loop(rows, "i", 40, &ir.Alloc{Buf: acc, Body: ir.Seq(
					set(acc, ir.Float(0), ir.Int(0)), loop(row, "k", 4, combine(op, acc, ir.Un(ir.Abs, ir.At(x, vi, vk)), ir.Int(0))),
					set(y, ir.At(acc, ir.Int(0)), vi))})})
		}
	}
	// What an If compares and stores is kept as it is, too.
	fs = append(fs, &ir.Func{Name: "stored_if", Params: []ir.Param{in(x), in(b), out(y)}, Body: loop(ir.Serial, "i", 40, ir.Seq(
		set(y, ir.At(x, vi, ir.Int(0)), vi), &ir.If{Cond: ir.Bin(ir.Gt, ir.At(b, vi, ir.Int(0)), ir.At(x, vi, ir.Int(0))),
			Then: set(y, ir.At(b, vi, ir.Int(0)), vi)}))})
	return fs
}

func TestFloatOps(t *testing.T) {
	fs := floatFuncs(37)
	for _, tg := range floatNatives(t) {
		lib := buildFor(t, tg, fs...)
		for _, f := range fs {
			lib.same(t, f.Name)
			for seed := range uint64(42) {
				if lib.sameOn(t, f.Name, special(f, seed)); t.Failed() {
					return
				}
			}
		}
	}
}

// TestImmediates compares constants of every type with the interpreter's.
func TestImmediates(t *testing.T) {
	var fs []*ir.Func
	for _, ty := range allTypes()[:8] {
		var of []exprOf
		for _, v := range []int64{0, 1, -1, 127, -128, 255, 1 << 31, math.MinInt64, math.MaxInt64} {
			shift := 64 - ty.Bits()
			if ty.Signed() {
				v = v << shift >> shift
			} else {
				v = int64(uint64(v) << shift >> shift)
			}
			of = append(of, func(a, _ ir.Expr) ir.Expr { return ir.Bin(ir.Xor, a, ir.Const(ty, v)) },
				func(a, _ ir.Expr) ir.Expr {
					return ir.CastTo(ty, ir.CastTo(ir.F32, ir.Bin(ir.Max, ir.Const(ty, v), ir.Const(ty, 5))))
				},
				func(a, _ ir.Expr) ir.Expr { return ir.Bin(ir.Add, a, ir.CastTo(ty, ir.Const(ir.I16, -2))) })
		}
		fs = append(fs, both("imm_"+ty.String(), ty, ty, 9, of...)...)
	}
	for i, v := range []float32{0, float32(math.Copysign(0, -1)), 0.1, 1e-30, 3e38, float32(math.Inf(-1)), float32(math.NaN()), 16777217} {
		fs = append(fs, both(fmt.Sprintf("fimm_%d", i), ir.F32, ir.F32, 9, func(a, _ ir.Expr) ir.Expr { return ir.Bin(ir.Min, ir.Float(v), a) })...)
	}
	checkAll(t, fs...)
}
