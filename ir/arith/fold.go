package arith

import (
	"math"
	"math/big"
	"math/bits"

	"ripc/ir"
)

// Constant folding by the semantics of package ir. Undefined operations stay, and so do floats that
// folding might change (NaNs, subnormals).

// Wrap reduces v to the width of t.
func Wrap(t ir.Type, v int64) int64 {
	n := 64 - t.Bits()
	switch {
	case t == ir.Bool:
		return v & 1
	case t.Signed():
		return v << n >> n
	}
	return int64(uint64(v) << n >> n)
}

func boolean(b bool) ir.Expr {
	if b {
		return ir.Const(ir.Bool, 1)
	}
	return ir.Const(ir.Bool, 0)
}

// foldBinary computes op on constants; nil if it cannot.
func foldBinary(op ir.BinOp, a, b ir.Expr) ir.Expr {
	switch x := a.(type) {
	case *ir.IntImm:
		if y, ok := b.(*ir.IntImm); ok && x.T == y.T {
			return FoldInts(op, x.T, Wrap(x.T, x.V), Wrap(x.T, y.V))
		}
	case *ir.FloatImm:
		if y, ok := b.(*ir.FloatImm); ok && plain(x.V) && plain(y.V) {
			return foldFloats(op, x.V, y.V)
		}
	}
	return nil
}

// FoldInts computes op on constants of type t, integers or bools; nil if the result is undefined.
func FoldInts(op ir.BinOp, t ir.Type, a, b int64) ir.Expr {
	imm := func(v int64) ir.Expr { return ir.Const(t, Wrap(t, v)) }
	switch op {
	case ir.Add:
		return imm(a + b)
	case ir.Sub:
		return imm(a - b)
	case ir.Mul:
		return imm(a * b)
	case ir.And:
		return imm(a & b)
	case ir.Or:
		return imm(a | b)
	case ir.Xor:
		return imm(a ^ b)
	case ir.Min:
		if t == ir.U64 {
			return imm(int64(min(uint64(a), uint64(b))))
		}
		return imm(min(a, b))
	case ir.Max:
		if t == ir.U64 {
			return imm(int64(max(uint64(a), uint64(b))))
		}
		return imm(max(a, b))
	case ir.Div, ir.Mod:
		var q int64
		switch {
		case t == ir.U64 && b != 0:
			q = int64(uint64(a) / uint64(b))
		case b > 0:
			q = FloorDiv(a, b)
		default:
			return nil
		}
		if op == ir.Div {
			return imm(q)
		}
		return imm(a - q*b)
	case ir.Shl, ir.Shr:
		switch {
		case b < 0 || b >= int64(t.Bits()):
			return nil
		case op == ir.Shl:
			return imm(a << b)
		case t == ir.U64:
			return imm(int64(uint64(a) >> b))
		}
		return imm(a >> b)
	}
	if t == ir.U64 {
		return foldCompare(op, uint64(a), uint64(b))
	}
	return foldCompare(op, a, b)
}

// foldCompare computes a comparison; nil for other operators.
func foldCompare[T int64 | uint64 | float32](op ir.BinOp, a, b T) ir.Expr {
	switch op {
	case ir.Eq:
		return boolean(a == b)
	case ir.Ne:
		return boolean(a != b)
	case ir.Lt:
		return boolean(a < b)
	case ir.Le:
		return boolean(a <= b)
	case ir.Gt:
		return boolean(a > b)
	case ir.Ge:
		return boolean(a >= b)
	}
	return nil
}

func foldUnary(op ir.UnOp, a ir.Expr) ir.Expr {
	switch x := a.(type) {
	case *ir.IntImm:
		v := Wrap(x.T, x.V)
		switch {
		case op == ir.Not:
			return ir.Const(x.T, Wrap(x.T, ^v))
		case op == ir.Popcount:
			mask := uint64(math.MaxUint64) >> (64 - x.T.Bits())
			return ir.Const(x.T, int64(bits.OnesCount64(uint64(v)&mask)))
		case op == ir.Neg && x.T.IsInt(), op == ir.Abs && x.T.Signed() && v < 0:
			return ir.Const(x.T, Wrap(x.T, -v))
		case op == ir.Abs && x.T.IsInt():
			return ir.Const(x.T, v)
		}
	case *ir.FloatImm:
		v := float64(x.V)
		if !plain(x.V) {
			return nil
		}
		switch op {
		case ir.Neg:
			return float(-x.V)
		case ir.Abs:
			return float(float32(math.Abs(v)))
		case ir.Sqrt:
			return float(float32(math.Sqrt(v))) // twice the precision and two bits: rounding twice is exact
		case ir.Floor:
			return float(float32(math.Floor(v)))
		case ir.RoundEven:
			return float(float32(math.RoundToEven(v)))
		}
	}
	return nil
}

// plain reports whether v is neither NaN nor subnormal.
func plain(v float32) bool {
	const smallest = 0x1p-126
	return v == 0 || v >= smallest || v <= -smallest
}

// float is the result v of folding. (The smallest normal number may have been rounded up from a
// subnormal.)
func float(v float32) ir.Expr {
	const smallest = 0x1p-126
	if !plain(v) || v == smallest || v == -smallest {
		return nil
	}
	return ir.Float(v)
}

func foldFloats(op ir.BinOp, a, b float32) ir.Expr {
	switch op {
	case ir.Add:
		return float(a + b)
	case ir.Sub:
		return float(a - b)
	case ir.Mul:
		return float(a * b)
	case ir.Div:
		return float(a / b)
	case ir.Min:
		if a < b {
			return float(a)
		}
		return float(b)
	case ir.Max:
		if a > b {
			return float(a)
		}
		return float(b)
	}
	return foldCompare(op, a, b)
}

func foldCast(t ir.Type, a ir.Expr) ir.Expr {
	switch x := a.(type) {
	case *ir.IntImm:
		v := Wrap(x.T, x.V)
		switch {
		case t.IsInt():
			return ir.Const(t, Wrap(t, v))
		case t == ir.F32 && x.T == ir.U64:
			return float(float32(uint64(v)))
		case t == ir.F32 && x.T.IsInt():
			return float(float32(v))
		}
	case *ir.FloatImm:
		if t.IsInt() {
			return ir.Const(t, saturate(t, x.V))
		}
	}
	return nil
}

// saturate truncates v toward zero and clamps it to t; NaN gives 0.
func saturate(t ir.Type, v float32) int64 {
	f := math.Trunc(float64(v))
	if t == ir.U64 {
		switch {
		case f >= 1<<64:
			return -1
		case f > 0:
			return int64(uint64(f))
		}
		return 0
	}
	w := typeRange(t)
	switch {
	case f != f:
		return 0
	case f >= float64(w.Hi):
		return w.Hi
	case f <= float64(w.Lo):
		return w.Lo
	}
	return int64(f)
}

func foldBitcast(t ir.Type, a ir.Expr) ir.Expr {
	switch x := a.(type) {
	case *ir.IntImm:
		switch {
		case t.Bits() != x.T.Bits() || x.T == ir.Bool:
		case t.IsInt():
			return ir.Const(t, Wrap(t, x.V))
		case t == ir.F32:
			return float(math.Float32frombits(uint32(x.V)))
		}
	case *ir.FloatImm:
		if t.IsInt() && t.Bits() == 32 && plain(x.V) {
			return ir.Const(t, Wrap(t, int64(math.Float32bits(x.V))))
		}
	}
	return nil
}

// foldFma computes a*b+c exactly and rounds once.
func foldFma(a, b, c ir.Expr) ir.Expr {
	var f [3]*big.Float
	for i, e := range [...]ir.Expr{a, b, c} {
		x, ok := e.(*ir.FloatImm)
		if !ok || !plain(x.V) || math.IsInf(float64(x.V), 0) {
			return nil
		}
		f[i] = new(big.Float).SetPrec(1024).SetFloat64(float64(x.V))
	}
	p := new(big.Float).SetPrec(1024).Mul(f[0], f[1])
	v, _ := p.Add(p, f[2]).Float32()
	return float(v)
}
