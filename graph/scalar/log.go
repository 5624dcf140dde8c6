package scalar

import (
	"math"

	"ripc/internal/f32"
	"ripc/ir"
)

// logArithmetic has the operations of the logarithm's formula.
type logArithmetic[T any] interface {
	constant(v float32) T
	add(a, b T) T
	mul(a, b T) T
	fma(a, b, c T) T
	exponent(v T) T // the integer e for which 2^-e * v is from sqrt(1/2) to sqrt(2), for normal v > 0
	mantissa(v T) T // 2^-e * v
}

// rootHalf are the bits of sqrt(1/2).
const rootHalf = 0x3F3504F3

// logarithm is that of normal numbers above 0, to base e, by the polynomial and the two parts of
// ln2 of logf in Moshier's Cephes library.
func logarithm[T any](m logArithmetic[T], x T) T {
	e, r := m.exponent(x), m.add(m.mantissa(x), m.constant(-1))
	p := m.constant(7.0376836292e-2)
	for _, c := range []float32{-1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
		2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1} {
		p = m.fma(p, r, m.constant(c))
	}
	square := m.mul(r, r)
	y := m.fma(e, m.constant(-2.12194440e-4), m.mul(m.mul(square, r), p))
	y = m.add(r, m.fma(square, m.constant(-0.5), y))
	return m.fma(e, m.constant(0.693359375), y)
}

// logAll is the logarithm of all x: minus infinity for 0 and subnormals, NaN for negative numbers.
// Bits of a NaN are not inspected: a product brings it back in.
func logAll[T any](m interface {
	logArithmetic[T]
	expArithmetic[T]
	sqrt(v T) T
}, x T) T {
	least, most := m.constant(0x1p-126), m.constant(math.MaxFloat32)
	v := m.fma(x, m.constant(0), logarithm[T](m, m.min(m.max(x, least), most)))
	v = m.selectLess(most, x, x, v)
	return m.selectLess(x, least, m.selectLess(x, m.constant(0), m.sqrt(x), m.constant(float32(math.Inf(-1)))), v)
}

// LogExpr is the logarithm, to base e, of an f32 expression, which must be a normal number above 0;
// at most 1 ulp from the true value for numbers from 1.
func LogExpr(x ir.Expr) ir.Expr { return logarithm(exprs{}, x) }

func (numbers) exponent(v float32) float32 {
	return float32((int32(math.Float32bits(v)) - rootHalf) >> 23)
}

func (m numbers) mantissa(v float32) float32 {
	return math.Float32frombits(math.Float32bits(v) - uint32(f32.Truncate(m.exponent(v), 32, true))<<23)
}

func (exprs) exponent(v ir.Expr) ir.Expr {
	bits := ir.Bin(ir.Sub, &ir.Bitcast{T: ir.I32, A: v}, ir.Const(ir.I32, rootHalf))
	return ir.CastTo(ir.F32, ir.Bin(ir.Shr, bits, ir.Const(ir.I32, 23)))
}

func (m exprs) mantissa(v ir.Expr) ir.Expr {
	shift := ir.Bin(ir.Shl, ir.CastTo(ir.I32, m.exponent(v)), ir.Const(ir.I32, 23))
	return &ir.Bitcast{T: ir.F32, A: ir.Bin(ir.Sub, &ir.Bitcast{T: ir.I32, A: v}, shift)}
}
