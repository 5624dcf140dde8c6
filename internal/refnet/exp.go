package refnet

import (
	"math"

	"ripc/internal/f32"
)

// expOf returns e**x - 1, before the last rounding p*t + (p-1), as t and p = 2^n: the fixed
// sequence of rounded operations in docs/ops.md. x is between -87 and 88, or NaN.
func expOf(x float32) (t, p float32) {
	n := f32.RoundEven(f32.Mul(x, 1/math.Ln2))
	r := f32.Fma(n, 2.12194440e-4, f32.Fma(n, -0.693359375, x))
	q := float32(1.9875691500e-4)
	for _, c := range []float32{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		q = f32.Fma(q, r, c)
	}
	if n != n {
		n = 0
	}
	return f32.Fma(f32.Mul(r, r), q, r), float32(math.Ldexp(1, int(n)))
}

// clamp keeps x between a and b; a NaN stays one.
func clamp(x, a, b float32) float32 { return max(a, min(b, x)) }

func sigmoidOf(x float32) float32 {
	t, p := expOf(clamp(-x, -87, 88))
	return f32.Div(1, f32.Add(f32.Fma(p, t, p), 1))
}

// expm1Of is e**x - 1 for x from 0 down.
func expm1Of(x float32) float32 {
	t, p := expOf(clamp(x, -87, 0))
	return f32.Fma(p, t, f32.Sub(p, 1))
}

func tanhOf(x float32) float32 {
	u := -expm1Of(-2 * f32.Abs(f32.Flush(x)))
	return float32(math.Copysign(float64(f32.Div(u, f32.Sub(2, u))), float64(x)))
}

func eluOf(x, alpha float32) float32 {
	if x > 0 {
		return x
	}
	return f32.Mul(alpha, expm1Of(x))
}
