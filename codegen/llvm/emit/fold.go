package emit

import "ripc/ir"

// fold evaluates op on two constant integers or bools. It returns false if the result is undefined.
func fold(op ir.BinOp, a, b val) (val, bool) {
	t := a.t
	x, y := a.k, b.k
	less, equal := x < y, x == y
	if !t.Signed() {
		less = uint64(x) < uint64(y)
	}
	truth := func(c bool) (val, bool) {
		if c {
			return imm(ir.Bool, 1), true
		}
		return imm(ir.Bool, 0), true
	}
	switch op {
	case ir.Add:
		return imm(t, x+y), true
	case ir.Sub:
		return imm(t, x-y), true
	case ir.Mul:
		return imm(t, x*y), true
	case ir.And:
		return imm(t, x&y), true
	case ir.Or:
		return imm(t, x|y), true
	case ir.Xor:
		return imm(t, x^y), true
	case ir.Min:
		if less {
			return a, true
		}
		return b, true
	case ir.Max:
		if less {
			return b, true
		}
		return a, true
	case ir.Shl, ir.Shr:
		if uint64(y) >= uint64(t.Bits()) {
			return val{}, false
		}
		switch {
		case op == ir.Shl:
			return imm(t, x<<y), true
		case t.Signed():
			return imm(t, x>>y), true
		}
		return imm(t, int64(uint64(x)>>y)), true
	case ir.Div, ir.Mod:
		q, r := quotient(t, x, y)
		if op == ir.Div {
			return imm(t, q), true
		}
		return imm(t, r), true
	case ir.Eq:
		return truth(equal)
	case ir.Ne:
		return truth(!equal)
	case ir.Lt:
		return truth(less)
	case ir.Le:
		return truth(less || equal)
	case ir.Gt:
		return truth(!less && !equal)
	case ir.Ge:
		return truth(!less)
	}
	return val{}, false
}

// quotient is floor division of x by the positive y, and the remainder.
func quotient(t ir.Type, x, y int64) (q, r int64) {
	if !t.Signed() {
		return int64(uint64(x) / uint64(y)), int64(uint64(x) % uint64(y))
	}
	q, r = x/y, x%y
	if r < 0 {
		q, r = q-1, r+y
	}
	return q, r
}
