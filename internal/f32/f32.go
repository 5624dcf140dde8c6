// Package f32 is float32 arithmetic as ripc defines it: round to nearest even, one rounding per operation, subnormal
// operands and results flushed to zero of their sign. The interpreter and the threshold search share it.
package f32

import "math"

// minNormal is the smallest normal float32.
const minNormal = 0x1p-126

// Flush replaces a subnormal by zero of its sign.
func Flush(x float32) float32 {
	if x != 0 && x < minNormal && x > -minNormal {
		return float32(math.Copysign(0, float64(x)))
	}
	return x
}

// Mul is x*y.
func Mul(x, y float32) float32 { return Flush(Flush(x) * Flush(y)) }

// Div is x/y.
func Div(x, y float32) float32 { return Flush(Flush(x) / Flush(y)) }

// Add is x+y.
func Add(x, y float32) float32 { return Flush(Flush(x) + Flush(y)) }

// Fma is x*y+z, rounded once. The product of two float32 is exact in float64; the sum is rounded to odd there, which
// makes the second rounding, to float32, correct.
func Fma(x, y, z float32) float32 {
	p := float64(Flush(x)) * float64(Flush(y))
	c := float64(Flush(z))
	s := p + c
	if e := twoSumError(p, c, s); e != 0 && !math.IsInf(s, 0) && s == s {
		if b := math.Float64bits(s); b&1 == 0 {
			if (e > 0) == (s > 0) {
				b++
			} else {
				b--
			}
			s = math.Float64frombits(b)
		}
	}
	return Flush(float32(s))
}

// twoSumError is the exact p+c-s for s = fl(p+c) (Knuth).
func twoSumError(p, c, s float64) float64 {
	if math.IsInf(s, 0) || s != s {
		return 0
	}
	q := s - p
	return (p - (s - q)) + (c - q)
}

// Max is a > b ? a : b.
func Max(a, b float32) float32 {
	a, b = Flush(a), Flush(b)
	if a > b {
		return a
	}
	return b
}

// Min is a < b ? a : b.
func Min(a, b float32) float32 {
	a, b = Flush(a), Flush(b)
	if a < b {
		return a
	}
	return b
}

// Order maps a float32 to an integer that orders as the floats do (-0 just below +0); NaN is not ordered.
func Order(x float32) int64 {
	b := math.Float32bits(x)
	if b>>31 != 0 {
		return -int64(b&0x7fffffff) - 1
	}
	return int64(b)
}

// FromOrder is the inverse of Order.
func FromOrder(i int64) float32 {
	if i < 0 {
		return math.Float32frombits(uint32(-(i + 1)) | 1<<31)
	}
	return math.Float32frombits(uint32(i))
}
