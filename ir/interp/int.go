package interp

import (
	"math"

	"ripc/ir"
)

// int compiles an integer or bool expression. Results are in canonical form: the value converted to
// int64 by its own type, 0 or 1 for bool. After an error the result may be nil.
func (c *compiler) int(e ir.Expr) intFn {
	c.check(e)
	if t := e.Type(); t != ir.Bool && !t.IsInt() {
		c.fail("%s is %s, where an integer is needed", ir.ExprString(e), t)
	}
	if f, ok := c.affine(e); ok {
		return f.fn()
	}
	switch e := e.(type) {
	case *ir.IntImm:
		v := kindOf(e.T).canonical(e.V)
		return func(*frame) int64 { return v }
	case *ir.Load:
		return kindOf(e.T).load(c.load(e))
	case *ir.Binary:
		return c.binary(e)
	case *ir.Unary:
		return c.unary(e)
	case *ir.Select:
		cond, a, b := c.int(e.Cond), c.int(e.A), c.int(e.B)
		return func(fr *frame) int64 {
			if cond(fr) != 0 {
				return a(fr)
			}
			return b(fr)
		}
	case *ir.Cast:
		return c.cast(e)
	case *ir.Bitcast:
		return c.bitcast(e)
	}
	c.fail("%s is not an integer expression", ir.ExprString(e))
	return nil
}

// fn returns a as an expression.
func (a affine) fn() intFn {
	switch {
	case len(a.terms) == 0:
		return func(*frame) int64 { return a.c }
	case len(a.terms) == 1 && a.c == 0 && a.terms[0].coef == 1:
		slot := a.terms[0].slot
		return func(fr *frame) int64 { return fr.v[slot] }
	}
	return func(fr *frame) int64 { return a.at(fr.v) }
}

// load checks a Load and compiles its access.
func (c *compiler) load(e *ir.Load) *access {
	b := c.buffer(e.Buf)
	if b.Type != e.T {
		c.fail("%s is loaded as %s", ir.BufferString(b.Buffer), e.T)
	}
	return c.access(b, e.Idx)
}

func (c *compiler) binary(e *ir.Binary) intFn {
	t := e.A.Type()
	if t.IsFloat() {
		return compareF32(e.Op, c.f32(e.A), c.f32(e.B))
	}
	k := kindOf(t)
	switch e.Op {
	case ir.Div, ir.Mod:
		return k.divide(e.Op, c.int(e.A), k.canonical(e.B.(*ir.IntImm).V))
	case ir.Shl, ir.Shr:
		return k.shift(e, c.int(e.A), c.int(e.B), c.site())
	}
	return k.binary(e.Op, c.int(e.A), c.int(e.B))
}

func (c *compiler) unary(e *ir.Unary) intFn {
	t := e.A.Type()
	if x, ok := e.A.(*ir.Binary); ok && e.Op == ir.Popcount && x.Op == ir.Xor && x.B.Type() == t {
		if a, b := c.plainLoad(x.A), c.plainLoad(x.B); a != nil && b != nil {
			return kindOf(t).popcountXor(a, b)
		}
	}
	return kindOf(t).unary(e.Op, c.int(e.A))
}

// plainLoad returns e's access if e is a load.
func (c *compiler) plainLoad(e ir.Expr) *access {
	if l, ok := e.(*ir.Load); ok {
		return c.load(l)
	}
	return nil
}

func (c *compiler) cast(e *ir.Cast) intFn {
	from := e.A.Type()
	if from.IsFloat() {
		return kindOf(e.T).truncate(c.f32(e.A))
	}
	if fits(e.A, e.T) {
		return c.int(e.A)
	}
	return kindOf(e.T).wrap(c.int(e.A))
}

// fits reports whether e's canonical form is also that of its cast to t.
func fits(e ir.Expr, t ir.Type) bool {
	from := e.Type()
	if u, ok := e.(*ir.Unary); ok && u.Op == ir.Popcount && from.Bits() <= 64 {
		return true // at most 64
	}
	switch {
	case from == t || from == ir.Bool || t.Bits() == 64:
		return true
	case from.Signed() == t.Signed():
		return from.Bits() <= t.Bits()
	}
	return t.Signed() && from.Bits() < t.Bits()
}

func (c *compiler) bitcast(e *ir.Bitcast) intFn {
	if e.A.Type().IsFloat() {
		a := c.f32(e.A)
		return kindOf(e.T).wrap(func(fr *frame) int64 { return int64(math.Float32bits(a(fr))) })
	}
	return kindOf(e.T).wrap(c.int(e.A))
}

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
	// A negative count becomes a huge one here.
	check := func(fr *frame, n int64) uint64 {
		if uint64(n) >= width {
			panic(at.error(fr, Count, "shift count %d out of range 0..%d for %s in %s", n, width-1, k.t,
				ir.ExprString(e)))
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

// bools is the kind of bool, a byte in memory: 0 is false, any other value true.
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

func (bools) unary(_ ir.UnOp, a intFn) intFn {
	return func(fr *frame) int64 { return 1 - a(fr) }
}
