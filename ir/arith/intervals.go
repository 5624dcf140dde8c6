package arith

import (
	"math"
	"math/bits"

	"ripc/ir"
)

// Interval arithmetic: the interval of each operator with a result of type t.

func hull(a, b Interval) Interval {
	return Interval{min(a.Lo, b.Lo), max(a.Hi, b.Hi), a.open || b.open}
}

func unaryInterval(op ir.UnOp, t ir.Type, a Interval) Interval {
	switch op {
	case ir.Neg:
		lo, ok1 := subOK(0, a.Hi)
		hi, ok2 := subOK(0, a.Lo)
		return fit(t, span(lo, hi), ok1 && ok2 && !a.open)
	case ir.Not:
		switch {
		case t == ir.Bool:
			return span(1-a.Hi, 1-a.Lo)
		case t.Signed():
			return span(^a.Hi, ^a.Lo)
		case t != ir.U64:
			return span(typeRange(t).Hi-a.Hi, typeRange(t).Hi-a.Lo)
		}
	case ir.Popcount:
		if a.Lo >= 0 && !a.open {
			return span(min(1, a.Lo), int64(bits.Len64(uint64(a.Hi))))
		}
		return span(0, int64(t.Bits()))
	case ir.Abs:
		if a.Lo >= 0 {
			return a
		}
		n, ok := subOK(0, a.Lo)
		lo := int64(0)
		if a.Hi < 0 {
			lo = -a.Hi
		}
		return fit(t, span(lo, max(n, a.Hi)), ok)
	}
	return typeRange(t)
}

func compareInterval(op ir.BinOp, a, b Interval) Interval {
	yes, no := false, false
	switch op {
	case ir.Gt:
		return compareInterval(ir.Lt, b, a)
	case ir.Ge:
		return compareInterval(ir.Le, b, a)
	case ir.Lt:
		yes, no = less(a, b), lessOrSame(b, a)
	case ir.Le:
		yes, no = lessOrSame(a, b), less(b, a)
	case ir.Eq:
		yes, no = sameOnly(a, b), less(a, b) || less(b, a)
	case ir.Ne:
		no, yes = sameOnly(a, b), less(a, b) || less(b, a)
	}
	switch {
	case yes:
		return span(1, 1)
	case no:
		return span(0, 0)
	}
	return span(0, 1)
}

// upTo is all u64 from lo to hi, as precisely as an Interval can be.
func upTo(lo int64, hi uint64) Interval {
	if hi > math.MaxInt64 {
		return upFrom(lo)
	}
	return span(lo, int64(hi))
}

// less reports whether each number of a is less than each of b.
func less(a, b Interval) bool { return !a.open && a.Hi < b.Lo }

// lessOrSame reports whether no number of a is more than one of b.
func lessOrSame(a, b Interval) bool { return !a.open && a.Hi <= b.Lo }

// sameOnly reports whether a and b have one and the same number.
func sameOnly(a, b Interval) bool {
	x, ok1 := a.single()
	y, ok2 := b.single()
	return ok1 && ok2 && x == y
}

func divInterval(op ir.BinOp, t ir.Type, a, b Interval) Interval {
	c, ok := b.single()
	if !ok || c <= 0 {
		return typeRange(t)
	}
	if a.open {
		if op == ir.Mod {
			return span(0, c-1)
		}
		return upTo(a.Lo/c, math.MaxUint64/uint64(c))
	}
	lo, hi := FloorDiv(a.Lo, c), FloorDiv(a.Hi, c)
	switch {
	case op == ir.Div:
		return span(lo, hi)
	case lo == hi:
		return span(a.Lo-lo*c, a.Hi-lo*c)
	}
	return span(0, c-1)
}

func bitInterval(op ir.BinOp, t ir.Type, a, b Interval) Interval {
	if op == ir.And {
		switch {
		case a.Lo >= 0 && b.Lo >= 0:
			lo := int64(0)
			if t == ir.Bool {
				lo = a.Lo & b.Lo
			}
			return Interval{lo, min(a.Hi, b.Hi), a.open && b.open}
		case a.Lo >= 0:
			return span(0, a.Hi)
		case b.Lo >= 0:
			return span(0, b.Hi)
		}
		return typeRange(t)
	}
	switch {
	case a.Lo < 0 || b.Lo < 0, a.open && op == ir.Xor, b.open && op == ir.Xor:
		return typeRange(t)
	case a.open || b.open:
		return upFrom(max(a.Lo, b.Lo))
	}
	hi := int64(1)<<bits.Len64(uint64(a.Hi|b.Hi)) - 1
	if bits.Len64(uint64(a.Hi|b.Hi)) == 63 {
		hi = math.MaxInt64
	}
	if op == ir.Or {
		return fit(t, span(max(a.Lo, b.Lo), hi), true)
	}
	if sameOnly(a, b) {
		return span(0, 0)
	}
	if t == ir.Bool && a.Lo == a.Hi && b.Lo == b.Hi {
		return span(a.Lo^b.Lo, a.Lo^b.Lo)
	}
	return span(0, hi)
}

func shiftInterval(op ir.BinOp, t ir.Type, a, n Interval) Interval {
	if n.Lo < 0 || n.Hi >= int64(t.Bits()) || n.open || n.Hi < n.Lo {
		return typeRange(t)
	}
	if op == ir.Shl {
		if n.Hi > 62 {
			return typeRange(t)
		}
		iv, ok := mulInterval(a, span(1<<n.Lo, 1<<n.Hi))
		return fit(t, iv, ok)
	}
	if a.open {
		return upTo(a.Lo>>n.Hi, math.MaxUint64>>n.Lo)
	}
	return span(min(a.Lo>>n.Lo, a.Lo>>n.Hi), max(a.Hi>>n.Lo, a.Hi>>n.Hi))
}
