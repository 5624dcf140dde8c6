package scalar

import (
	"math"

	"ripc/ir"
)

// The exponential function and the functions built on it. A formula is a fixed sequence of rounded
// operations, so its bits are the same everywhere. Clips have their number on the left, where a NaN
// passes them.
//
// With n the integer next to x/ln2 and r = x - n*ln2, |r| <= ln2/2, e**x is 2^n * (1 + t), t = e**r
// - 1. Up to the last rounding, t rises with r by more than its errors are. So the functions built
// on it rise as well (TestRising).

// The range of x for which 2^n is a normal number.
const expLeast, expMost = -87, 88

// expCopies is how often expParts has x.
const expCopies = 26

// expParts gives t and 2^n for x of expLeast..expMost. The coefficients and the two parts of ln2
// are those of expf in Moshier's Cephes library. The first part has few bits, so that n times it is
// exact.
func expParts[T any](m arithmetic[T], x T) (t, scale T) {
	n := m.nearest(m.mul(x, m.constant(1/math.Ln2)))
	r := m.fma(n, m.constant(2.12194440e-4), m.fma(n, m.constant(-0.693359375), x))
	q := m.constant(1.9875691500e-4)
	for _, c := range []float32{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		q = m.fma(q, r, m.constant(c))
	}
	return m.fma(m.mul(r, r), q, r), m.power(n)
}

// exp is e**x for x <= 0, and 0 below expLeast, where it is less than 1.7e-38.
func exp[T any](m arithmetic[T], x T) T {
	t, scale := expParts(m, m.max(m.constant(expLeast), x))
	return m.choose(m.binary(ir.Lt, x, m.constant(expLeast)), m.constant(0), m.fma(scale, t, scale))
}

// expAll is e**x for all x: 0 below expLeast, and infinite where f32 ends. 2^n is made in two
// parts, since n may be 128.
func expAll[T any](m arithmetic[T], x T) T {
	y := m.min(m.constant(89), m.max(m.constant(expLeast), x))
	n := m.nearest(m.mul(y, m.constant(1/math.Ln2)))
	most := m.min(m.constant(127), n)
	t, _ := expParts(m, y)
	scale := m.power(most)
	v := m.mul(m.fma(scale, t, scale), m.power(m.add(n, m.mul(most, m.constant(-1)))))
	return m.choose(m.binary(ir.Lt, x, m.constant(expLeast)), m.constant(0), v)
}

// erf is the error function, by formula 7.1.26 of Abramowitz and Stegun's Handbook, with the sign
// of x: to 5e-7.
func erf[T any](m arithmetic[T], x T) T {
	a := m.abs(x)
	t := m.div(m.constant(1), m.fma(a, m.constant(0.3275911), m.constant(1)))
	p := m.constant(1.061405429)
	for _, c := range []float32{-1.453152027, 1.421413741, -0.284496736, 0.254829592} {
		p = m.fma(p, t, m.constant(c))
	}
	e := exp(m, m.mul(m.mul(x, m.constant(-1)), x))
	return m.withSign(m.abs(m.fma(m.mul(m.mul(p, t), e), m.constant(-1), m.constant(1))), x)
}

// expm1 is e**x - 1 for x <= 0.
func expm1[T any](m arithmetic[T], x T) T {
	t, scale := expParts(m, m.max(m.constant(expLeast), x))
	return m.fma(scale, t, m.add(scale, m.constant(-1)))
}

// sigmoid is 1 / (1 + e**-x). At x = -expMost it is less than a normal number, which is 0.
func sigmoid[T any](m arithmetic[T], x T) T {
	y := m.min(m.constant(expMost), m.max(m.constant(expLeast), m.mul(x, m.constant(-1))))
	t, scale := expParts(m, y)
	return m.div(m.constant(1), m.add(m.fma(scale, t, scale), m.constant(1)))
}

// tanh is u / (2 - u), u = 1 - e**(-2|x|), with the sign of x: as u rises, its quotient does,
// whatever the roundings.
func tanh[T any](m arithmetic[T], x T) T {
	u := m.mul(expm1(m, m.mul(m.abs(x), m.constant(-2))), m.constant(-1))
	return m.withSign(m.abs(m.div(u, m.fma(u, m.constant(-1), m.constant(2)))), x)
}

// elu is x for x > 0, else a * (e**x - 1).
func elu[T any](m arithmetic[T], x, a T) T {
	return m.fma(a, expm1(m, m.min(m.constant(0), x)), m.max(x, m.constant(0)))
}

// ExpExpr is e**x, for x <= 0, of an f32 expression, which it has expCopies times: a few ulp from
// the true value, and 0 below -87.
func ExpExpr(x ir.Expr) ir.Expr { return exp(exprs{}, x) }
