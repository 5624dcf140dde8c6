package interp

import (
	"math/big"

	"ripc/ir"
)

// exactFn is an integer expression without wrapping.
type exactFn func(*frame) *big.Int

// checkSum wraps store, the compiled statement s, with a check that sums stay inside their type:
// "+=", and values that continue an element of s's buffer (ir.Accumulates). arith.VerifyWidths
// proves this for the same sums.
func (c *compiler) checkSum(s *ir.Store, a *access, store stmtFn) stmtFn {
	goesOn := accumulates(s.Val, s.Buf)
	switch {
	case s.Op == ir.OrTo || a.Type == ir.Bool:
		return store
	case s.Op == ir.AddTo && !goesOn:
		return kindOf(a.Type).addTo(a, c.int(s.Val))
	case !goesOn:
		return store
	}
	sum := c.exact(s.Val, s.Buf)
	if s.Op == ir.AddTo {
		value, old := sum, kindOf(a.Type).load(a)
		sum = func(fr *frame) *big.Int { return new(big.Int).Add(value(fr), number(a.Type, old(fr))) }
	}
	lo, hi := limits(a.Type)
	return func(fr *frame) {
		if v := sum(fr); v.Cmp(lo) < 0 || v.Cmp(hi) > 0 {
			a.wraps(fr, v)
		}
		store(fr)
	}
}

// accumulates reports whether e continues a sum in buf.
func accumulates(e ir.Expr, buf string) bool {
	x, ok := e.(*ir.Binary)
	return ok && ir.Accumulates(x, buf)
}

// exact compiles e, the value of a store to buf. The part that continues buf's elements does not
// wrap, the rest does.
func (c *compiler) exact(e ir.Expr, buf string) exactFn {
	if !accumulates(e, buf) {
		t, f := e.Type(), c.int(e)
		return func(fr *frame) *big.Int { return number(t, f(fr)) }
	}
	x := e.(*ir.Binary)
	a := c.exact(x.A, buf)
	if x.Op == ir.Shl {
		n := uint(x.B.(*ir.IntImm).V)
		return func(fr *frame) *big.Int { v := a(fr); return v.Lsh(v, n) }
	}
	b := c.exact(x.B, buf)
	combine := map[ir.BinOp]func(z, x, y *big.Int) *big.Int{ir.Add: (*big.Int).Add, ir.Sub: (*big.Int).Sub,
		ir.Mul: (*big.Int).Mul}[x.Op]
	return func(fr *frame) *big.Int { v := a(fr); return combine(v, v, b(fr)) }
}

// number converts v, in canonical form, to the integer that it stands for in type t.
func number(t ir.Type, v int64) *big.Int {
	if t == ir.U64 {
		return new(big.Int).SetUint64(uint64(v))
	}
	return big.NewInt(v)
}

func limits(t ir.Type) (lo, hi *big.Int) {
	l := t.Limits()
	if t == ir.U64 {
		return new(big.Int), new(big.Int).SetUint64(1<<64 - 1)
	}
	return big.NewInt(l.From), big.NewInt(l.To)
}

// wraps stops at a sum v that leaves its type.
func (a *access) wraps(fr *frame, v *big.Int) {
	lo, hi := limits(a.Type)
	panic(a.describe(fr, a.site.error(fr, Wraps, "a sum in %%%s wraps: it is %s, and %s holds %s to %s", a.Name,
		v, a.Type, lo, hi)))
}

// addTo is the store of "+=", with a check for sums that wrap.
func (k ints[T]) addTo(a *access, v intFn) stmtFn {
	return func(fr *frame) {
		x := T(v(fr))
		p := elem[T](fr.mem[a.mem], a.reading(fr))
		sum := *p + x
		if (x > 0) != (sum > *p) && x != 0 {
			a.wraps(fr, new(big.Int).Add(number(k.t, int64(*p)), number(k.t, int64(x))))
		}
		*p = sum
	}
}
