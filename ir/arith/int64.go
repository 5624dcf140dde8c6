package arith

import "math"

// Arithmetic on int64 that reports whether the result is exact.

func addOK(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}

func subOK(a, b int64) (int64, bool) {
	c := a - b
	return c, (c < a) == (b > 0)
}

func mulOK(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	c := a * b
	if (a == -1 && b == math.MinInt64) || (b == -1 && a == math.MinInt64) {
		return c, false
	}
	return c, c/b == a
}

func mulInterval(a, b Interval) (Interval, bool) {
	out, ok := span(math.MaxInt64, math.MinInt64), !a.open && !b.open
	for _, x := range [...]int64{a.Lo, a.Hi} {
		for _, y := range [...]int64{b.Lo, b.Hi} {
			p, exact := mulOK(x, y)
			ok = ok && exact
			out = hull(out, span(p, p))
		}
	}
	return out, ok
}

// FloorDiv is a/b rounded down, for b > 0.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// GCD is the greatest common divisor, not negative; that of 0 and b is that of b alone. One of the
// two should not be the least int64, nor 0 where the other is that.
func GCD(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}
