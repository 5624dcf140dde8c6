package scalar

import (
	"math"

	"ripc/ir"
)

// rootHalf are the bits of sqrt(1/2).
const rootHalf = 0x3F3504F3

// logarithm is that of normal numbers above 0, to base e, by the polynomial and the two parts of
// ln2 of logf in Moshier's Cephes library.
func logarithm[T any](m arithmetic[T], x T) T {
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
func logAll[T any](m arithmetic[T], x T) T {
	least, most := m.constant(0x1p-126), m.constant(math.MaxFloat32)
	v := m.fma(x, m.constant(0), logarithm(m, m.min(m.max(x, least), most)))
	v = m.choose(m.binary(ir.Lt, most, x), x, v)
	low := m.choose(m.binary(ir.Lt, x, m.constant(0)), m.sqrt(x), m.constant(float32(math.Inf(-1))))
	return m.choose(m.binary(ir.Lt, x, least), low, v)
}

// LogExpr is the logarithm, to base e, of an f32 expression, which must be a normal number above 0;
// at most 1 ulp from the true value for numbers from 1.
func LogExpr(x ir.Expr) ir.Expr { return logarithm(exprs{}, x) }
