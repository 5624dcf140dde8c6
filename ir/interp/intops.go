package interp

import "ripc/ir"

func (ints[T]) binary(op ir.BinOp, a, b intFn) intFn {
	switch op {
	case ir.Add:
		return func(fr *frame) int64 { return int64(T(a(fr)) + T(b(fr))) }
	case ir.Sub:
		return func(fr *frame) int64 { return int64(T(a(fr)) - T(b(fr))) }
	case ir.Mul:
		return func(fr *frame) int64 { return int64(T(a(fr)) * T(b(fr))) }
	case ir.Min:
		return func(fr *frame) int64 { return int64(min(T(a(fr)), T(b(fr)))) }
	case ir.Max:
		return func(fr *frame) int64 { return int64(max(T(a(fr)), T(b(fr)))) }
	case ir.And:
		return func(fr *frame) int64 { return a(fr) & b(fr) }
	case ir.Or:
		return func(fr *frame) int64 { return a(fr) | b(fr) }
	case ir.Xor:
		return func(fr *frame) int64 { return a(fr) ^ b(fr) }
	case ir.Eq:
		return func(fr *frame) int64 { return truth(a(fr) == b(fr)) }
	case ir.Ne:
		return func(fr *frame) int64 { return truth(a(fr) != b(fr)) }
	case ir.Lt:
		return func(fr *frame) int64 { return truth(T(a(fr)) < T(b(fr))) }
	case ir.Le:
		return func(fr *frame) int64 { return truth(T(a(fr)) <= T(b(fr))) }
	case ir.Gt:
		return func(fr *frame) int64 { return truth(T(a(fr)) > T(b(fr))) }
	case ir.Ge:
		return func(fr *frame) int64 { return truth(T(a(fr)) >= T(b(fr))) }
	}
	return nil
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// divide is floor division, or its remainder, by a positive constant.
func (ints[T]) divide(op ir.BinOp, a intFn, by int64) intFn {
	d := T(by)
	if op == ir.Mod {
		return func(fr *frame) int64 {
			r := T(a(fr)) % d
			if r < 0 {
				r += d
			}
			return int64(r)
		}
	}
	return func(fr *frame) int64 {
		x := T(a(fr))
		q := x / d
		if x%d < 0 {
			q--
		}
		return int64(q)
	}
}

func (k ints[T]) shift(e *ir.Binary, a, count intFn, at *site) intFn {
	width := uint64(k.t.Bits())
	// A negative count is a huge one here.
	check := func(fr *frame, n int64) uint64 {
		if uint64(n) >= width {
			panic(at.error(fr, "shift count %d out of range 0..%d for %s in %s", n, width-1, k.t, ir.ExprString(e)))
		}
		return uint64(n)
	}
	if e.Op == ir.Shl {
		return func(fr *frame) int64 {
			x, n := a(fr), count(fr)
			return int64(T(x) << check(fr, n))
		}
	}
	return func(fr *frame) int64 {
		x, n := a(fr), count(fr)
		return int64(T(x) >> check(fr, n))
	}
}

// bools is the kind of bool, a byte in memory: 0 is false, and what else is not 0 is true.
type bools struct{ ints[uint8] }

func (bools) canonical(v int64) int64 { return truth(v != 0) }

func (bools) wrap(f intFn) intFn { return f }

func (bools) load(a *access) intFn {
	return func(fr *frame) int64 { return truth(fr.mem[a.mem][a.reading(fr)] != 0) }
}

func (k bools) store(a *access, op ir.StoreOp, v intFn) stmtFn {
	if op != ir.Assign && op != ir.OrTo {
		return nil
	}
	return k.ints.store(a, op, v)
}

func (bools) unary(op ir.UnOp, a intFn) intFn {
	if op != ir.Not {
		return nil
	}
	return func(fr *frame) int64 { return 1 - a(fr) }
}
