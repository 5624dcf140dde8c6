package arith

import (
	"math"
	"math/bits"

	"ripc/ir"
)

// What each operator makes of intervals, when its result is of type t.

func hull(a, b Interval) Interval { return Interval{min(a.Lo, b.Lo), max(a.Hi, b.Hi)} }

func unaryInterval(op ir.UnOp, t ir.Type, a Interval) Interval {
	switch op {
	case ir.Neg:
		lo, ok1 := subOK(0, a.Hi)
		hi, ok2 := subOK(0, a.Lo)
		return fit(t, Interval{lo, hi}, ok1 && ok2)
	case ir.Not:
		switch {
		case t == ir.Bool:
			return Interval{1 - a.Hi, 1 - a.Lo}
		case t.Signed():
			return Interval{^a.Hi, ^a.Lo}
		case t != ir.U64:
			return Interval{whole(t).Hi - a.Hi, whole(t).Hi - a.Lo}
		}
	case ir.Popcount:
		if a.Lo >= 0 && a.Hi != unbounded {
			return Interval{min(1, a.Lo), int64(bits.Len64(uint64(a.Hi)))}
		}
		return Interval{0, int64(t.Bits())}
	case ir.Abs:
		if a.Lo >= 0 {
			return a
		}
		n, ok := subOK(0, a.Lo)
		lo := int64(0)
		if a.Hi < 0 {
			lo = -a.Hi
		}
		return fit(t, Interval{lo, max(n, a.Hi)}, ok)
	}
	return whole(t)
}

func compareInterval(op ir.BinOp, a, b Interval) Interval {
	yes, no := false, false
	switch op {
	case ir.Gt:
		return compareInterval(ir.Lt, b, a)
	case ir.Ge:
		return compareInterval(ir.Le, b, a)
	case ir.Lt:
		yes, no = a.Hi < b.Lo, a.Lo >= b.Hi
	case ir.Le:
		yes, no = a.Hi <= b.Lo, a.Lo > b.Hi
	case ir.Eq:
		yes, no = a.Lo == a.Hi && a == b, a.Hi < b.Lo || a.Lo > b.Hi
	case ir.Ne:
		no, yes = a.Lo == a.Hi && a == b, a.Hi < b.Lo || a.Lo > b.Hi
	}
	switch {
	case yes:
		return Interval{1, 1}
	case no:
		return Interval{0, 0}
	}
	return Interval{0, 1}
}

func divInterval(op ir.BinOp, t ir.Type, a, b Interval) Interval {
	c := b.Lo
	if b.Lo != b.Hi || c <= 0 {
		return whole(t)
	}
	if t == ir.U64 && a.Hi == unbounded { // up to 1<<64 - 1
		if op == ir.Mod {
			return Interval{0, c - 1}
		}
		return Interval{a.Lo / c, int64(min(math.MaxUint64/uint64(c), unbounded))}
	}
	lo, hi := FloorDiv(a.Lo, c), FloorDiv(a.Hi, c)
	switch {
	case op == ir.Div:
		return Interval{lo, hi}
	case lo == hi:
		return Interval{a.Lo - lo*c, a.Hi - lo*c}
	}
	return Interval{0, c - 1}
}

func bitInterval(op ir.BinOp, t ir.Type, a, b Interval) Interval {
	if op == ir.And {
		switch {
		case a.Lo >= 0 && b.Lo >= 0:
			lo := int64(0)
			if t == ir.Bool {
				lo = a.Lo & b.Lo
			}
			return Interval{lo, min(a.Hi, b.Hi)}
		case a.Lo >= 0:
			return Interval{0, a.Hi}
		case b.Lo >= 0:
			return Interval{0, b.Hi}
		}
		return whole(t)
	}
	if a.Lo < 0 || b.Lo < 0 {
		return whole(t)
	}
	hi := int64(1)<<bits.Len64(uint64(a.Hi|b.Hi)) - 1
	if bits.Len64(uint64(a.Hi|b.Hi)) == 63 {
		hi = math.MaxInt64
	}
	if op == ir.Or {
		return fit(t, Interval{max(a.Lo, b.Lo), hi}, true)
	}
	if a.Lo == a.Hi && a == b && !(t == ir.U64 && a.Hi == unbounded) {
		return Interval{0, 0}
	}
	if t == ir.Bool && a.Lo == a.Hi && b.Lo == b.Hi {
		return Interval{a.Lo ^ b.Lo, a.Lo ^ b.Lo}
	}
	return Interval{0, hi}
}

func shiftInterval(op ir.BinOp, t ir.Type, a, n Interval) Interval {
	if n.Lo < 0 || n.Hi >= int64(t.Bits()) || n.Hi < n.Lo {
		return whole(t)
	}
	if op == ir.Shl {
		if n.Hi > 62 {
			return whole(t)
		}
		iv, ok := mulInterval(a, Interval{1 << n.Lo, 1 << n.Hi})
		return fit(t, iv, ok)
	}
	if t == ir.U64 && a.Hi == unbounded {
		return Interval{a.Lo >> n.Hi, int64(min(uint64(math.MaxUint64)>>n.Lo, unbounded))}
	}
	return Interval{min(a.Lo>>n.Lo, a.Lo>>n.Hi), max(a.Hi>>n.Lo, a.Hi>>n.Hi)}
}
