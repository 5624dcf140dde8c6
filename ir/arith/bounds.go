package arith

import (
	"math"

	"ripc/ir"
)

// Bounds returns an interval that holds every value of e while the loop variables stay in r. It
// allows for wrapping: an operation that could leave its type has the type's whole range. It
// returns false for floats, and if nothing better than all 64 bits is known.
func Bounds(e ir.Expr, r Ranges) (Interval, bool) {
	return env{r: r}.bounds(e)
}

// env has the inputs of intervals. load, if set, narrows the values of a Load.
type env struct {
	r    Ranges
	load func(*ir.Load) (Interval, bool)
}

func typeRange(t ir.Type) Interval {
	if t == ir.Bool {
		return span(0, 1)
	}
	if t == ir.U64 {
		return upFrom(0)
	}
	l := t.Limits()
	return span(l.From, l.To)
}

func (v env) bounds(e ir.Expr) (Interval, bool) {
	t := e.Type()
	if !t.IsInt() && t != ir.Bool {
		return Interval{}, false
	}
	iv := v.interval(e)
	return iv, !iv.open && (t != ir.I64 || iv != typeRange(t))
}

// fit returns iv if an operation that could not overflow int64 (ok) stayed inside t, else all of t.
func fit(t ir.Type, iv Interval, ok bool) Interval {
	w := typeRange(t)
	if !ok || iv.Lo < w.Lo || iv.Hi > w.Hi || iv.open && !w.open {
		return w
	}
	return iv
}

// interval never fails: other expressions get the range of their type. e is an integer or a bool.
func (v env) interval(e ir.Expr) Interval {
	t := e.Type()
	switch e := e.(type) {
	case *ir.IntImm:
		if t == ir.U64 && e.V < 0 { // its bits
			return upFrom(math.MaxInt64)
		}
		return fit(t, span(e.V, e.V), true)
	case *ir.Var:
		if iv, ok := v.r[e.Name]; ok {
			return iv
		}
	case *ir.Load:
		if v.load != nil {
			if iv, ok := v.load(e); ok {
				return fit(t, iv, true)
			}
		}
	case *ir.Select:
		switch c := v.interval(e.Cond); {
		case c.Lo == 1:
			return v.interval(e.A)
		case c.Hi == 0:
			return v.interval(e.B)
		}
		return hull(v.interval(e.A), v.interval(e.B))
	case *ir.Cast:
		if e.A.Type().IsInt() || e.A.Type() == ir.Bool {
			return v.convert(e.A, t)
		}
	case *ir.Bitcast:
		if e.A.Type().IsInt() {
			return v.convert(e.A, t)
		}
	case *ir.Unary:
		return unaryInterval(e.Op, t, v.interval(e.A))
	case *ir.Binary:
		return v.binary(e)
	}
	return typeRange(t)
}

func (v env) convert(a ir.Expr, t ir.Type) Interval {
	return fit(t, v.interval(a), true)
}

func (v env) binary(e *ir.Binary) Interval {
	t := e.Type()
	if e.Op.IsCompare() {
		if at := e.A.Type(); !at.IsInt() && at != ir.Bool {
			return typeRange(t)
		}
		return compareInterval(e.Op, v.interval(e.A), v.interval(e.B))
	}
	if t == ir.I64 && (e.Op == ir.Add || e.Op == ir.Sub) {
		// The affine form sees that x+1-x is 1. It equals e modulo 2^64, so where it cannot
		// overflow it is e.
		if iv, ok := v.affine(ToAffine(e)); ok {
			return iv
		}
		return typeRange(t)
	}
	a, b := v.interval(e.A), v.interval(e.B)
	switch e.Op {
	case ir.Add:
		lo, ok1 := addOK(a.Lo, b.Lo)
		hi, ok2 := addOK(a.Hi, b.Hi)
		return fit(t, span(lo, hi), ok1 && ok2 && !a.open && !b.open)
	case ir.Sub:
		lo, ok1 := subOK(a.Lo, b.Hi)
		hi, ok2 := subOK(a.Hi, b.Lo)
		return fit(t, span(lo, hi), ok1 && ok2 && !a.open && !b.open)
	case ir.Mul:
		iv, ok := mulInterval(a, b)
		return fit(t, iv, ok)
	case ir.Div, ir.Mod:
		return divInterval(e.Op, t, a, b)
	case ir.Min:
		return Interval{min(a.Lo, b.Lo), min(a.Hi, b.Hi), a.open && b.open}
	case ir.Max:
		return Interval{max(a.Lo, b.Lo), max(a.Hi, b.Hi), a.open || b.open}
	case ir.And, ir.Or, ir.Xor:
		return bitInterval(e.Op, t, a, b)
	case ir.Shl, ir.Shr:
		return shiftInterval(e.Op, t, a, b)
	}
	return typeRange(t)
}
