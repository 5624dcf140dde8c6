package interp

import "math"

// Single f32 operations. Subnormal operands and results become zeros of their sign, except in neg and abs, which only
// touch the sign bit. The conversions to float32 keep the Go compiler from fusing what the IR does not.

const signBit = 1 << 31

// flush gives zero of x's sign for a subnormal x, and x for others.
func flush(x float32) float32 {
	if b := math.Float32bits(x); b&0x7F800000 == 0 {
		return math.Float32frombits(b & signBit)
	}
	return x
}

func add32(a, b float32) float32 { return flush(float32(flush(a) + flush(b))) }
func sub32(a, b float32) float32 { return flush(float32(flush(a) - flush(b))) }

// The product is exact in float64; the quotient, rounded to 53 bits, is never near enough half way to round wrongly.
func mul32(a, b float32) float32 { return narrow(float64(flush(a)) * float64(flush(b))) }
func div32(a, b float32) float32 { return narrow(float64(flush(a)) / float64(flush(b))) }

// narrow rounds x to f32. A result that would be below 2^-126 if exponents had no end becomes zero. (That is how SSE
// decides; NEON looks before rounding, which differs for |x| in 2^-126 * [1-2^-25, 1) alone.)
func narrow(x float64) float32 {
	if math.Abs(x) < 0x1.ffffffp-127 {
		return float32(math.Copysign(0, x))
	}
	return float32(x)
}

// min32 is a < b ? a : b, so b if either is NaN or both are zeros.
func min32(a, b float32) float32 {
	a, b = flush(a), flush(b)
	if a < b {
		return a
	}
	return b
}

// max32 is a > b ? a : b.
func max32(a, b float32) float32 {
	a, b = flush(a), flush(b)
	if a > b {
		return a
	}
	return b
}

func neg32(a float32) float32 { return math.Float32frombits(math.Float32bits(a) ^ signBit) }
func abs32(a float32) float32 { return math.Float32frombits(math.Float32bits(a) &^ signBit) }

// Going through float64 is exact for floor and round_even; for sqrt, 53 bits are enough to round twice.
func sqrt32(a float32) float32      { return float32(math.Sqrt(float64(flush(a)))) }
func floor32(a float32) float32     { return float32(math.Floor(float64(flush(a)))) }
func roundEven32(a float32) float32 { return float32(math.RoundToEven(float64(flush(a)))) }

// fma32 is a*b + c rounded once. In float64 the product is exact and the sum s is rounded; rounding s again to f32 goes
// wrong only if s is half way between two f32 values (narrow's edge is such a point too) but the true sum is not. Then
// s is rounded to odd (Boldo and Melquiond 2008): it moves to its neighbour with an odd last bit on the true sum's side.
func fma32(a, b, c float32) float32 {
	p := float64(float64(flush(a)) * float64(flush(b)))
	d := float64(flush(c))
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

// truncate converts to an integer of the given width: toward zero, saturating, 0 for NaN; in canonical form.
func truncate(x float32, bits int, signed bool) int64 {
	v := float64(flush(x))
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
