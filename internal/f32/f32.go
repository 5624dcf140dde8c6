// Package f32 is float32 arithmetic as ripc defines it, one rounding per operation. The
// interpreter, the simplifier and the threshold search share it. Subnormal operands and results
// become zeros of their sign, except in Neg and Abs, which only touch the sign bit. The conversions
// to float32 keep the Go compiler from fusing operations.
package f32

import "math"

const signBit = 1 << 31

// Flush gives zero of x's sign for a subnormal x, and x for others.
func Flush(x float32) float32 {
	if b := math.Float32bits(x); b&0x7F800000 == 0 {
		return math.Float32frombits(b & signBit)
	}
	return x
}

// Add is a + b.
func Add(a, b float32) float32 { return Flush(float32(Flush(a) + Flush(b))) }

// Sub is a - b.
func Sub(a, b float32) float32 { return Flush(float32(Flush(a) - Flush(b))) }

// Mul is a * b; the product is exact in float64.
func Mul(a, b float32) float32 { return narrow(float64(Flush(a)) * float64(Flush(b))) }

// Div is a / b; the quotient, rounded to 53 bits, is never near enough half way to round wrongly.
func Div(a, b float32) float32 { return narrow(float64(Flush(a)) / float64(Flush(b))) }

// narrow rounds x to f32. A result that would be below 2^-126 if exponents had no end becomes zero.
// (Processors that look before rounding differ for |x| in 2^-126 * [1-2^-25, 1) alone.)
func narrow(x float64) float32 {
	if math.Abs(x) < 0x1.ffffffp-127 {
		return float32(math.Copysign(0, x))
	}
	return float32(x)
}

// Min is a < b ? a : b, so b if either is NaN or both are zeros.
func Min(a, b float32) float32 {
	a, b = Flush(a), Flush(b)
	if a < b {
		return a
	}
	return b
}

// Max is a > b ? a : b.
func Max(a, b float32) float32 {
	a, b = Flush(a), Flush(b)
	if a > b {
		return a
	}
	return b
}

// Neg is -a.
func Neg(a float32) float32 { return math.Float32frombits(math.Float32bits(a) ^ signBit) }

// Abs is |a|.
func Abs(a float32) float32 { return math.Float32frombits(math.Float32bits(a) &^ signBit) }

// Sqrt is the square root; 53 bits are enough to round twice.
func Sqrt(a float32) float32 { return float32(math.Sqrt(float64(Flush(a)))) }

// Floor rounds down to an integral value.
func Floor(a float32) float32 { return float32(math.Floor(float64(Flush(a)))) }

// RoundEven rounds to the nearest integral value, halves to even.
func RoundEven(a float32) float32 { return float32(math.RoundToEven(float64(Flush(a)))) }

// Fma is a*b + c rounded once. In float64 the product is exact and the sum s is rounded. Rounding s
// again to f32 is wrong only if s is half way between two f32 values (or at narrow's edge) but the
// true sum is not. Then s is rounded to odd (Boldo and Melquiond 2008): it moves to its neighbour
// with an odd last bit on the true sum's side.
func Fma(a, b, c float32) float32 {
	p := float64(float64(Flush(a)) * float64(Flush(b)))
	d := float64(Flush(c))
	s := float64(p + d)
	if u := math.Float64bits(s); u&(1<<29-1) == 1<<28 {
		// TwoSum: p + d is exactly s + e.
		t := float64(s - p)
		e := float64(float64(p-float64(s-t)) + float64(d-t))
		switch {
		case e == 0 || e != e:
		case (e > 0) == (s > 0):
			s = math.Float64frombits(u + 1)
		default:
			s = math.Float64frombits(u - 1)
		}
	}
	return narrow(s)
}

// Truncate converts to an integer of the given width: toward zero, saturating, 0 for NaN; in
// canonical form.
func Truncate(x float32, bits int, signed bool) int64 {
	v := float64(Flush(x))
	switch {
	case v != v:
		return 0
	case !signed && v <= 0:
		return 0
	case !signed && v >= math.Ldexp(1, bits):
		return int64(^uint64(0) >> (64 - bits))
	case !signed:
		return int64(uint64(v))
	case v >= math.Ldexp(1, bits-1):
		return 1<<(bits-1) - 1
	case v < -math.Ldexp(1, bits-1):
		return -1 << (bits - 1)
	}
	return int64(v)
}

// Order maps a float32 to an integer that orders as the floats do (-0 just below +0); NaN is not
// ordered.
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
