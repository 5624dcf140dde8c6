package arith

import (
	"math"
	"math/big"

	"ripc/ir"
)

// plain reports whether v is neither NaN nor subnormal.
func plain(v float32) bool {
	const smallest = 0x1p-126
	return v == 0 || v >= smallest || v <= -smallest
}

// float is the result v of folding. (The smallest normal number may have been rounded up from a subnormal.)
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

func foldCast(t ir.Type, a ir.Expr) ir.Expr {
	switch x := a.(type) {
	case *ir.IntImm:
		v := wrap(x.T, x.V)
		switch {
		case t.IsInt():
			return ir.Const(t, wrap(t, v))
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
	w := whole(t)
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
			return ir.Const(t, wrap(t, x.V))
		case t == ir.F32:
			return float(math.Float32frombits(uint32(x.V)))
		}
	case *ir.FloatImm:
		if t.IsInt() && t.Bits() == 32 && plain(x.V) {
			return ir.Const(t, wrap(t, int64(math.Float32bits(x.V))))
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
