package arith_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ripc/ir"
	"ripc/ir/arith"
)

var (
	i, j, k = ir.V("i"), ir.V("j"), ir.V("k")
	// i in 0..7, j in 0..3, k in 0..2
	small = arith.Ranges{"i": {Lo: 0, Hi: 7}, "j": {Lo: 0, Hi: 3}, "k": {Lo: 0, Hi: 2}}
)

func n(v int64) ir.Expr                       { return ir.Const(ir.I64, v) }
func b(op ir.BinOp, x, y ir.Expr) ir.Expr     { return &ir.Binary{Op: op, A: x, B: y} }
func add(x, y ir.Expr) ir.Expr                { return b(ir.Add, x, y) }
func mul(x ir.Expr, c int64) ir.Expr          { return b(ir.Mul, x, n(c)) }
func div(x ir.Expr, c int64) ir.Expr          { return b(ir.Div, x, n(c)) }
func mod(x ir.Expr, c int64) ir.Expr          { return b(ir.Mod, x, n(c)) }
func load(t ir.Type, idx ...ir.Expr) *ir.Load { return &ir.Load{Buf: "x", T: t, Idx: idx} }
func u8(v int64) ir.Expr                      { return ir.Const(ir.U8, v) }

func TestSimplify(t *testing.T) {
	x8 := load(ir.U8)
	tests := []struct {
		name string
		e    ir.Expr
		want string
	}{
		{"canonical sum", add(n(3), add(j, mul(i, 4))), "%i*4 + %j + 3"},
		{"cancel", b(ir.Sub, add(i, j), i), "%j"},
		{"negative", b(ir.Sub, n(7), i), "7 - %i"},
		{"only negative", b(ir.Sub, b(ir.Sub, n(0), i), mul(j, 2)), "%j*-2 - %i"},
		{"neg", ir.Un(ir.Neg, b(ir.Sub, i, j)), "%j - %i"},
		{"shift left", b(ir.Shl, i, n(3)), "%i*8"},
		{"product of variables", b(ir.Mul, j, i), "%j*%i"},
		{"div exact", div(mul(i, 4), 4), "%i"},
		{"div of tile", div(add(mul(i, 4), j), 4), "%i"},
		{"div not decided", div(add(mul(i, 4), i), 4), "%i*5/4"},
		{"div with rest", div(add(mul(k, 8), add(mul(i, 2), n(1))), 8), "%k + %i/4"},
		{"div offset", div(add(i, n(17)), 8), "(%i + 1)/8 + 2"},
		{"div of div", div(div(add(i, mul(k, 3)), 2), 3), "(%k*3 + %i)/6"},
		{"div below zero", div(b(ir.Sub, j, n(4)), 4), "-1"},
		{"mod of tile", mod(add(mul(i, 4), j), 4), "%j"},
		{"mod of two tiles", mod(add(mul(i, 4), j), 8), "%i % 2*4 + %j"},
		{"mod of mod", mod(mod(add(i, mul(k, 3)), 12), 4), "(%k*3 + %i) % 4"},
		{"mod offset", mod(add(j, n(8)), 8), "%j"},
		{"div and mod", add(mul(div(i, 3), 3), mod(i, 3)), "%i"},
		{"div and mod of sum, scaled", add(mul(div(add(i, k), 4), 8), mul(mod(add(i, k), 4), 2)), "%i*2 + %k*2"},
		{"min decided", b(ir.Min, add(i, n(1)), i), "%i"},
		{"max decided", b(ir.Max, j, n(3)), "3"},
		{"min open", b(ir.Min, i, n(3)), "min(%i, 3)"},
		{"lt true", b(ir.Lt, add(mul(i, 4), j), n(32)), "true"},
		{"lt false", b(ir.Lt, add(i, n(8)), i), "false"},
		{"lt open", b(ir.Lt, add(mul(i, 4), j), n(13)), "%i*4 + %j < 13"},
		{"lt cancels", b(ir.Lt, add(mul(i, 4), j), add(mul(i, 4), n(2))), "%j < 2"},
		{"eq of equals", b(ir.Eq, add(i, j), add(j, i)), "true"},
		{"and", b(ir.And, b(ir.Lt, i, n(8)), b(ir.Lt, i, n(3))), "%i < 3"},
		{"or", b(ir.Or, b(ir.Lt, i, n(8)), b(ir.Lt, i, n(3))), "true"},
		{"not", ir.Un(ir.Not, b(ir.Lt, i, n(3))), "%i >= 3"},
		{"select decided", &ir.Select{Cond: b(ir.Ge, i, n(0)), A: x8, B: u8(0)}, "%x"},
		{"select same", &ir.Select{Cond: b(ir.Ge, i, n(3)), A: x8, B: x8}, "%x"},
		{"inside an index", load(ir.U8, div(add(mul(i, 4), j), 4)), "%x[%i]"},
		{"xor self", b(ir.Xor, x8, x8), "0u8"},
		{"and ones", b(ir.And, x8, u8(255)), "%x"},
		{"or zero", b(ir.Or, u8(0), x8), "%x"},
		{"wraps", b(ir.Add, u8(200), u8(100)), "44u8"},
		{"shift of u8", b(ir.Shl, u8(255), u8(1)), "254u8"},
		{"bad shift stays", b(ir.Shl, u8(1), u8(8)), "1u8 << 8u8"},
		{"zero divisor stays", div(n(4), 0), "4 / 0"},
		{"floor of negatives", ir.Const(ir.I8, -7), "-7i8"},
		{"i8 floor", b(ir.Div, ir.Const(ir.I8, -7), ir.Const(ir.I8, 2)), "-4i8"},
		{"i8 rest", b(ir.Mod, ir.Const(ir.I8, -7), ir.Const(ir.I8, 2)), "1i8"},
		{"u64 divides unsigned", b(ir.Div, ir.Const(ir.U64, -1), ir.Const(ir.U64, 2)), "9223372036854775807u64"},
		{"u64 to float", &ir.Cast{T: ir.F32, A: ir.Const(ir.U64, -1)}, "1.8446744e+19"},
		{"float to u8", &ir.Cast{T: ir.U8, A: ir.Float(300)}, "255u8"},
		{"float to i8", &ir.Cast{T: ir.I8, A: ir.Float(-1.75)}, "-1i8"},
		{"nan to int", &ir.Cast{T: ir.I8, A: ir.Float(float32(math.NaN()))}, "0i8"},
		{"float sum", b(ir.Add, ir.Float(1), ir.Float(2)), "3.0"},
		{"float zero is not dropped", b(ir.Add, &ir.Load{Buf: "f", T: ir.F32}, ir.Float(0)), "%f + 0.0"},
		{"float self", b(ir.Eq, &ir.Load{Buf: "f", T: ir.F32}, &ir.Load{Buf: "f", T: ir.F32}), "%f == %f"},
		{"float not", ir.Un(ir.Not, b(ir.Lt, &ir.Load{Buf: "f", T: ir.F32}, ir.Float(1))), "~(%f < 1.0)"},
		{"subnormal stays", b(ir.Mul, ir.Float(1e-30), ir.Float(1e-10)), "1e-30*1e-10"},
		{"fma rounds once", &ir.Fma{A: ir.Float(1 + 0x1p-12), B: ir.Float(1 + 0x1p-12), C: ir.Float(-1)}, "0.00048834085"},
		{"round even", ir.Un(ir.RoundEven, ir.Float(2.5)), "2.0"},
		{"bitcast", &ir.Bitcast{T: ir.U32, A: ir.Float(1)}, "1065353216u32"},
		{"popcount", ir.Un(ir.Popcount, ir.Const(ir.I8, -1)), "8i8"},
		{"popcount below", b(ir.Lt, ir.Un(ir.Popcount, x8), u8(9)), "true"},
		{"may wrap, so stays", b(ir.Lt, ir.V("free"), add(ir.V("free"), n(1))), "%free < %free + 1"},
		{"u64 beyond i64", b(ir.Min, load(ir.U64), ir.Const(ir.U64, -1)), "min(%x, 18446744073709551615u64)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// Spaces around "*" and "/" are the printer's business.
			got := ir.ExprString(arith.Simplify(tt.e, small))
			if diff := cmp.Diff(normal(tt.want), normal(got)); diff != "" {
				t.Errorf("Simplify(%s) (-want +got):\n%s", ir.ExprString(tt.e), diff)
			}
		})
	}
}

func normal(s string) string {
	out := []byte{}
	for _, c := range []byte(s) {
		if c != ' ' {
			out = append(out, c)
		}
	}
	return string(out)
}

func tryEval(a *assignment, e ir.Expr) (v value, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, bad := p.(outOfDomain); !bad {
				panic(p)
			}
			ok = false
		}
	}()
	return a.eval(e), true
}

func TestSimplifyKeepsValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ty := rapid.SampledFrom(append(intTypes, ir.I64, ir.I64, ir.I64, ir.Bool)).Draw(t, "type")
		e, r := genExpr(t, ty, 5), genRanges(t)
		s := arith.Simplify(e, r)
		iv, known := arith.Bounds(e, r)
		if s.Type() != e.Type() {
			t.Fatalf("%s: %s became %s: %s", ir.ExprString(e), e.Type(), ir.ExprString(s), s.Type())
		}
		if again := arith.Simplify(s, r); s.Type() != again.Type() {
			t.Fatal("simplifying twice changes the type")
		}
		for range 5 {
			a := genAssignment(t, r)
			want, ok := tryEval(a, e)
			if !ok {
				continue
			}
			got, ok := tryEval(a, s)
			if !ok || got.i.Cmp(want.i) != 0 {
				t.Fatalf("%s is %v, but simplified to %s it is %v\nat %v, %v", ir.ExprString(e), want.i, ir.ExprString(s), got.i, a.vars, a.loads)
			}
			if known && (want.i.Cmp(big.NewInt(iv.Lo)) < 0 || want.i.Cmp(big.NewInt(iv.Hi)) > 0) {
				t.Fatalf("%s is %v, outside its bounds %v\nat %v, %v", ir.ExprString(e), want.i, iv, a.vars, a.loads)
			}
			if ty == ir.Bool && want.i.Sign() == 0 && arith.CanProve(e, r) {
				t.Fatalf("proved %s, which is false at %v, %v", ir.ExprString(e), a.vars, a.loads)
			}
		}
	})
}

func TestAffine(t *testing.T) {
	ho, hi := ir.V("h.o"), ir.V("h.i")
	a := arith.ToAffine(add(add(hi, mul(ho, 4)), n(3)))
	if got := ir.ExprString(a.Expr()); normal(got) != "%h.o*4+%h.i+3" {
		t.Errorf("Expr: %s", got)
	}
	tests := []struct {
		e    ir.Expr
		v    string
		coef int64
		ok   bool
	}{
		{add(hi, mul(ho, 4)), "h.o", 4, true},
		{add(hi, mul(ho, 4)), "w", 0, true},
		{b(ir.Mul, n(3), b(ir.Sub, hi, mul(ho, 4))), "h.o", -12, true},
		{add(hi, div(hi, 2)), "h.i", 0, false},
		{b(ir.Sub, div(hi, 2), div(hi, 2)), "h.i", 0, true},
		{b(ir.Min, hi, n(3)), "h.i", 0, false},
	}
	for _, tt := range tests {
		if c, ok := arith.ToAffine(tt.e).Coef(tt.v); c != tt.coef || ok != tt.ok {
			t.Errorf("factor of %s in %s: %d, %v; want %d, %v", tt.v, ir.ExprString(tt.e), c, ok, tt.coef, tt.ok)
		}
	}
}

func TestAffineIsExpr(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := genExpr(t, ir.I64, 4)
		back := arith.ToAffine(e).Expr()
		a := genAssignment(t, arith.Ranges{})
		x, ok1 := tryEval(a, e)
		y, ok2 := tryEval(a, back)
		if ok1 && (!ok2 || x.i.Cmp(y.i) != 0) {
			t.Fatalf("%s is %v, as affine form %s it is %v", ir.ExprString(e), x.i, ir.ExprString(back), y.i)
		}
	})
}

func TestBounds(t *testing.T) {
	x8, x64 := load(ir.U8), load(ir.U64)
	tests := []struct {
		e      ir.Expr
		lo, hi int64
		ok     bool
	}{
		{add(mul(i, 4), j), 0, 31, true},
		{b(ir.Sub, add(mul(i, 4), j), mul(i, 4)), 0, 3, true},
		{x8, 0, 255, true},
		{load(ir.I16), -32768, 32767, true},
		{b(ir.Add, x8, u8(1)), 0, 255, true},
		{b(ir.Add, &ir.Cast{T: ir.U16, A: x8}, ir.Const(ir.U16, 1)), 1, 256, true},
		{ir.Un(ir.Popcount, x64), 0, 64, true},
		{ir.Un(ir.Popcount, b(ir.And, x8, u8(7))), 0, 3, true},
		{b(ir.And, x64, ir.Const(ir.U64, 15)), 0, 15, true},
		{b(ir.Shr, x64, ir.Const(ir.U64, 60)), 0, 15, true},
		{b(ir.Div, x64, ir.Const(ir.U64, 1<<62)), 0, 3, true},
		{b(ir.Mod, x64, ir.Const(ir.U64, 10)), 0, 9, true},
		{x64, 0, 0, false},
		{load(ir.I64), 0, 0, false},
		{ir.V("free"), 0, 0, false},
		{ir.Float(1), 0, 0, false},
		{mul(mul(i, math.MaxInt64), 3), 0, 0, false},
		{b(ir.Lt, i, n(8)), 1, 1, true},
		{b(ir.Lt, i, n(7)), 0, 1, true},
		{&ir.Select{Cond: b(ir.Lt, i, n(8)), A: j, B: i}, 0, 3, true},
		{ir.Un(ir.Not, x8), 0, 255, true},
		{b(ir.Xor, &ir.Cast{T: ir.I32, A: x8}, ir.Const(ir.I32, 256)), 0, 511, true},
	}
	for _, tt := range tests {
		iv, ok := arith.Bounds(tt.e, small)
		if ok != tt.ok || ok && (iv.Lo != tt.lo || iv.Hi != tt.hi) {
			t.Errorf("Bounds(%s) = %v, %v; want [%d, %d], %v", ir.ExprString(tt.e), iv, ok, tt.lo, tt.hi, tt.ok)
		}
	}
}
