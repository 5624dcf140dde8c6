package interp

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"ripc/ir"
)

var (
	nan  = float32(math.NaN())
	tiny = math.Float32frombits(1) // the least subnormal
	negz = float32(math.Copysign(0, -1))
)

// same compares bits; any NaN is like any other.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// eval gives the value of e in canonical form, f32 as bits. Integers are stored as i64, so that a closure which leaves
// bits beyond its type shows.
func eval(t *testing.T, e ir.Expr) int64 {
	t.Helper()
	if e.Type() != ir.F32 {
		e = ir.CastTo(ir.I64, e)
	}
	ty := e.Type()
	f := &ir.Func{Name: "f", Params: []ir.Param{{Buffer: ir.Buffer{Name: "y", Type: ty}, Out: true}}, Body: &ir.Store{Buf: "y", Val: e}}
	c, err := CompileChecked(f)
	if err != nil {
		t.Fatalf("%s: %v", ir.ExprString(e), err)
	}
	out := make([]byte, ty.Bytes())
	if err := c.Run(context.Background(), [][]byte{out}); err != nil {
		t.Fatalf("%s: %v", ir.ExprString(e), err)
	}
	var w [8]byte
	copy(w[:], out)
	u := binary.LittleEndian.Uint64(w[:])
	if ty.Signed() && !ty.IsFloat() {
		shift := 64 - ty.Bits()
		return int64(u<<shift) >> shift
	}
	return int64(u)
}

func TestIntBinary(t *testing.T) {
	for _, c := range []struct {
		t    ir.Type
		a    int64
		op   ir.BinOp
		b    int64
		want int64
	}{
		{ir.I8, 127, ir.Add, 1, -128}, {ir.U8, 255, ir.Add, 2, 1}, {ir.I16, 32767, ir.Add, 1, -32768},
		{ir.U16, 65535, ir.Add, 1, 0}, {ir.I32, math.MaxInt32, ir.Add, 1, math.MinInt32}, {ir.U32, math.MaxUint32, ir.Add, 1, 0},
		{ir.I64, math.MaxInt64, ir.Add, 1, math.MinInt64}, {ir.U64, -1, ir.Add, 1, 0},
		{ir.U8, 0, ir.Sub, 1, 255}, {ir.I8, -128, ir.Sub, 1, 127}, {ir.U64, 0, ir.Sub, 1, -1},
		{ir.I8, 16, ir.Mul, 16, 0}, {ir.I8, -128, ir.Mul, -1, -128}, {ir.U16, 300, ir.Mul, 300, 24464},
		{ir.I32, 7, ir.Div, 2, 3}, {ir.I32, -7, ir.Div, 2, -4}, {ir.I32, -8, ir.Div, 2, -4}, {ir.I64, -1, ir.Div, 64, -1},
		{ir.I8, -128, ir.Div, 127, -2}, {ir.U8, 255, ir.Div, 16, 15}, {ir.U64, -1, ir.Div, 2, math.MaxInt64},
		{ir.I32, 7, ir.Mod, 4, 3}, {ir.I32, -7, ir.Mod, 4, 1}, {ir.I32, -8, ir.Mod, 4, 0}, {ir.U64, -1, ir.Mod, 10, 5},
		{ir.I8, -3, ir.Min, 2, -3}, {ir.U8, 253, ir.Min, 2, 2}, {ir.U64, -1, ir.Max, 1, -1}, {ir.I64, -1, ir.Max, 1, 1},
		{ir.U8, 0xF0, ir.And, 0x3C, 0x30}, {ir.I8, -16, ir.Or, 3, -13}, {ir.I8, -1, ir.Xor, 127, -128},
		{ir.Bool, 1, ir.And, 0, 0}, {ir.Bool, 1, ir.Or, 0, 1}, {ir.Bool, 1, ir.Xor, 1, 0}, {ir.Bool, 1, ir.Eq, 1, 1},
		{ir.U8, 1, ir.Shl, 7, 128}, {ir.I8, 1, ir.Shl, 7, -128}, {ir.I8, 3, ir.Shl, 7, -128}, {ir.U64, 1, ir.Shl, 63, math.MinInt64},
		{ir.I8, -128, ir.Shr, 7, -1}, {ir.I32, -5, ir.Shr, 1, -3}, {ir.U8, 0x80, ir.Shr, 7, 1}, {ir.U64, -1, ir.Shr, 63, 1},
		{ir.I32, -1, ir.Lt, 0, 1}, {ir.U32, -1, ir.Lt, 0, 0}, {ir.U64, -1, ir.Gt, 0, 1}, {ir.I64, -1, ir.Gt, 0, 0},
		{ir.U8, 3, ir.Le, 3, 1}, {ir.U8, 4, ir.Le, 3, 0}, {ir.I8, -3, ir.Ge, -3, 1}, {ir.I8, -4, ir.Ge, -3, 0},
		{ir.I8, 4, ir.Eq, 4, 1}, {ir.I8, 4, ir.Ne, 4, 0}, {ir.U64, -1, ir.Ne, 1, 1}, {ir.U64, -1, ir.Le, 1, 0},
	} {
		e := &ir.Binary{Op: c.op, A: ir.Const(c.t, c.a), B: ir.Const(c.t, c.b)}
		if got := eval(t, e); got != c.want {
			t.Errorf("%s = %d, want %d", ir.ExprString(e), got, c.want)
		}
	}
}

func TestIntUnary(t *testing.T) {
	for _, c := range []struct {
		op   ir.UnOp
		t    ir.Type
		a    int64
		want int64
	}{
		{ir.Neg, ir.I8, -128, -128}, {ir.Neg, ir.U8, 1, 255}, {ir.Neg, ir.I32, 5, -5},
		{ir.Not, ir.U8, 0x0F, 0xF0}, {ir.Not, ir.I16, 0, -1}, {ir.Not, ir.Bool, 1, 0}, {ir.Not, ir.Bool, 0, 1},
		{ir.Popcount, ir.I8, -1, 8}, {ir.Popcount, ir.I16, -2, 15}, {ir.Popcount, ir.I64, -1, 64}, {ir.Popcount, ir.U32, 0xF0F0, 8},
		{ir.Popcount, ir.U64, -1, 64}, {ir.Popcount, ir.I32, math.MinInt32, 1},
		{ir.Abs, ir.I8, -128, -128}, {ir.Abs, ir.I8, -5, 5}, {ir.Abs, ir.U8, 200, 200}, {ir.Abs, ir.I64, 7, 7},
	} {
		e := ir.Un(c.op, ir.Const(c.t, c.a))
		if got := eval(t, e); got != c.want {
			t.Errorf("%s = %d, want %d", ir.ExprString(e), got, c.want)
		}
	}
}

func TestCasts(t *testing.T) {
	f := func(v float32) ir.Expr { return ir.Float(v) }
	bits := func(v float32) int64 { return int64(math.Float32bits(v)) }
	cast := func(to ir.Type, e ir.Expr) ir.Expr { return &ir.Cast{T: to, A: e} }
	for _, c := range []struct {
		e    ir.Expr
		want int64
	}{
		{cast(ir.U8, ir.Const(ir.I32, -1)), 255}, {cast(ir.I8, ir.Const(ir.I32, 200)), -56}, {cast(ir.I32, ir.Const(ir.I8, -1)), -1},
		{cast(ir.U32, ir.Const(ir.I8, -1)), math.MaxUint32}, {cast(ir.I32, ir.Const(ir.U8, 255)), 255}, {cast(ir.I8, ir.Const(ir.U8, 255)), -1},
		{cast(ir.I64, ir.Const(ir.U32, -1)), math.MaxUint32}, {cast(ir.U64, ir.Const(ir.I8, -1)), -1}, {cast(ir.U16, ir.Const(ir.I8, -1)), 65535},
		{cast(ir.I32, ir.Const(ir.Bool, 1)), 1}, {cast(ir.I8, ir.Un(ir.Popcount, ir.Const(ir.U64, -1))), 64},
		{cast(ir.F32, ir.Const(ir.I32, -3)), bits(-3)}, {cast(ir.F32, ir.Const(ir.I32, 1<<24+1)), bits(1 << 24)},
		{cast(ir.F32, ir.Const(ir.I32, 1<<24+3)), bits(1<<24 + 4)}, {cast(ir.F32, ir.Const(ir.U64, -1)), bits(0x1p64)},
		{cast(ir.F32, ir.Const(ir.U32, -1)), bits(0x1p32)},
		// One rounding: by way of float64 these two would be ties and round the other way.
		{cast(ir.F32, ir.Const(ir.I64, 1<<60+1<<36+1)), bits(0x1.000002p60)}, {cast(ir.F32, ir.Const(ir.U64, math.MinInt64+1<<39+1)), bits(0x1.000002p63)},
		{cast(ir.U8, f(300)), 255}, {cast(ir.I8, f(-1.9)), -1}, {cast(ir.I32, f(nan)), 0}, {cast(ir.U64, f(0x1p63)), math.MinInt64},
		{&ir.Bitcast{T: ir.U32, A: f(-2)}, 0xC0000000}, {&ir.Bitcast{T: ir.I32, A: f(-2)}, -0x40000000}, {&ir.Bitcast{T: ir.U32, A: f(tiny)}, 1},
		{&ir.Bitcast{T: ir.F32, A: ir.Const(ir.I32, -0x40000000)}, bits(-2)}, {&ir.Bitcast{T: ir.F32, A: ir.Const(ir.U32, 1)}, 1},
		{&ir.Bitcast{T: ir.U8, A: ir.Const(ir.I8, -1)}, 255}, {&ir.Bitcast{T: ir.I64, A: ir.Const(ir.U64, -1)}, -1},
	} {
		if got := eval(t, c.e); got != c.want {
			t.Errorf("%s = %d, want %d", ir.ExprString(c.e), got, c.want)
		}
	}
}

// TestFloatExprs checks that each operator reaches its function; float_test.go has the values.
func TestFloatExprs(t *testing.T) {
	b := func(op ir.BinOp, x, y float32) ir.Expr { return &ir.Binary{Op: op, A: ir.Float(x), B: ir.Float(y)} }
	u := func(op ir.UnOp, x float32) ir.Expr { return ir.Un(op, ir.Float(x)) }
	pick := &ir.Select{Cond: b(ir.Lt, 1, 2), A: ir.Float(tiny), B: ir.Float(5)}
	for _, c := range []struct {
		e    ir.Expr
		want float32
	}{
		{b(ir.Add, 1, 2), 3}, {b(ir.Sub, 1, 2), -1}, {b(ir.Mul, 3, 2), 6}, {b(ir.Div, 1, 4), 0.25}, {b(ir.Min, 3, 2), 2}, {b(ir.Max, 3, 2), 3},
		{b(ir.Min, nan, 2), 2}, {b(ir.Max, 2, nan), nan}, {b(ir.Mul, 0x1p-100, 0x1p-40), 0},
		{u(ir.Neg, 0), negz}, {u(ir.Abs, -2), 2}, {u(ir.Sqrt, 9), 3}, {u(ir.Floor, -1.5), -2}, {u(ir.RoundEven, 2.5), 2},
		{&ir.Fma{A: ir.Float(0x1.000006p0), B: ir.Float(0x1.000006p0), C: ir.Float(-1)}, 0x1.800004p-21}, {pick, tiny},
		// Not contracted: the product is rounded first.
		{&ir.Binary{Op: ir.Add, A: b(ir.Mul, 0x1.000006p0, 0x1.000006p0), B: ir.Float(-1)}, 0x1.8p-21},
	} {
		if got := math.Float32frombits(uint32(eval(t, c.e))); !same(got, c.want) {
			t.Errorf("%s = %x, want %x", ir.ExprString(c.e), got, c.want)
		}
	}
	for _, c := range []struct {
		op   ir.BinOp
		x, y float32
		want int64
	}{
		{ir.Eq, 1, 1, 1}, {ir.Eq, nan, nan, 0}, {ir.Ne, nan, nan, 1}, {ir.Ne, 1, 1, 0}, {ir.Lt, 1, 2, 1}, {ir.Lt, nan, 2, 0}, {ir.Le, 2, 2, 1}, {ir.Le, 3, 2, 0},
		{ir.Gt, 2, 1, 1}, {ir.Gt, 1, 1, 0}, {ir.Ge, 1, 1, 1}, {ir.Ge, nan, 1, 0}, {ir.Eq, 0, negz, 1}, {ir.Eq, tiny, 0, 1}, {ir.Lt, -tiny, tiny, 0},
	} {
		if got := eval(t, b(c.op, c.x, c.y)); got != c.want {
			t.Errorf("%v %s %v = %d, want %d", c.x, c.op, c.y, got, c.want)
		}
	}
}
