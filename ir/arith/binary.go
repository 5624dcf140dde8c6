package arith

import (
	"math"

	"ripc/ir"
)

// binary simplifies op on simplified operands; i64 sums do not come here.
func (s simplifier) binary(op ir.BinOp, a, b ir.Expr) ir.Expr {
	if c := foldBinary(op, a, b); c != nil {
		return c
	}
	e := &ir.Binary{Op: op, A: a, B: b}
	t := a.Type()
	if t.IsFloat() {
		return e
	}
	if c := identity(op, a, b); c != nil {
		return c
	}
	switch {
	case op.IsCompare():
		return s.compare(op, a, b)
	case op == ir.Min || op == ir.Max:
		return s.minMax(op, a, b)
	case (op == ir.Div || op == ir.Mod) && t == ir.I64:
		return s.divide(op, a, b)
	case op == ir.Mod:
		if c, ok := s.interval(b), isConst(b); ok && c.Lo > 0 && !c.open {
			if iv, known := s.bounds(a); known && iv.Lo >= 0 && iv.Hi < c.Lo {
				return a
			}
		}
	}
	return s.decide(e)
}

// identity simplifies op by rules that hold for every value of the operand that is not constant. It
// returns nil if none applies.
func identity(op ir.BinOp, a, b ir.Expr) ir.Expr {
	t := a.Type()
	if ir.Equal(a, b) {
		switch op {
		case ir.Sub, ir.Xor:
			return ir.Const(t, 0)
		case ir.And, ir.Or, ir.Min, ir.Max:
			return a
		case ir.Eq, ir.Le, ir.Ge:
			return boolean(true)
		case ir.Ne, ir.Lt, ir.Gt:
			return boolean(false)
		}
	}
	x, y := a, b
	switch op {
	case ir.Add, ir.Mul, ir.And, ir.Or, ir.Xor, ir.Eq, ir.Ne:
		if isConst(a) {
			x, y = b, a
		}
	}
	k, ok := y.(*ir.IntImm)
	if !ok {
		return nil
	}
	v, ones := Wrap(t, k.V), Wrap(t, -1)
	switch op {
	case ir.Add, ir.Or, ir.Xor, ir.Sub, ir.Shl, ir.Shr:
		if v == 0 {
			return x
		}
	case ir.Mul, ir.Div:
		if v == 1 {
			return x
		}
	}
	switch {
	case op == ir.Mul && v == 0, op == ir.And && v == 0:
		return ir.Const(t, 0)
	case op == ir.Mod && v == 1:
		return ir.Const(t, 0)
	case op == ir.And && v == ones:
		return x
	case op == ir.Or && v == ones:
		return ir.Const(t, ones)
	case op == ir.Xor && v == ones:
		return coalesce(foldUnary(ir.Not, x), &ir.Unary{Op: ir.Not, A: x})
	case t == ir.Bool && (op == ir.Eq && v == 1 || op == ir.Ne && v == 0):
		return x
	}
	return nil
}

// Difference returns a-b of i64 as integers, if neither the difference nor its negation can wrap
// for loop variables in r.
func Difference(a, b ir.Expr, r Ranges) (Affine, bool) {
	d, _, ok := simplifier{env{r: r}}.difference(a, b)
	_, exact := Affine{}.plusExact(-1, d)
	return d, ok && exact
}

// difference returns a-b and its interval as integers, if the i64 subtraction cannot wrap.
func (s simplifier) difference(a, b ir.Expr) (Affine, Interval, bool) {
	d := ToAffine(a).Plus(-1, ToAffine(b))
	// The machine computes a and b; d equals a-b modulo 1<<64, so both must be known to fit.
	x, y := s.interval(a), s.interval(b)
	_, ok1 := subOK(x.Lo, y.Hi)
	_, ok2 := subOK(x.Hi, y.Lo)
	iv, ok := s.affine(d)
	return d, iv, ok && ok1 && ok2
}

func (s simplifier) compare(op ir.BinOp, a, b ir.Expr) ir.Expr {
	e := &ir.Binary{Op: op, A: a, B: b}
	if a.Type() != ir.I64 {
		return s.decide(e)
	}
	d, iv, ok := s.difference(a, b)
	if !ok {
		return s.decide(e)
	}
	if c := compareInterval(op, iv, Interval{}); c.Lo == c.Hi {
		return boolean(c.Lo == 1)
	}
	return coalesce(s.cancel(op, a, b, d), e)
}

// cancel removes terms that both sides share, given d = a-b: i*4 + j < i*4 + 3 is j < 3. It returns
// nil if there are none.
func (s simplifier) cancel(op ir.BinOp, a, b ir.Expr, d Affine) ir.Expr {
	if len(d.Terms) == len(ToAffine(a).Terms)+len(ToAffine(b).Terms) || d.Const == math.MinInt64 {
		return nil
	}
	var l, r Affine
	for _, t := range d.Terms {
		switch {
		case t.Coef == math.MinInt64:
			return nil
		case t.Coef > 0:
			l.Terms = append(l.Terms, t)
		default:
			r.Terms = append(r.Terms, Term{-t.Coef, t.Atom})
		}
	}
	if len(l.Terms) > 0 {
		r.Const = -d.Const
	} else {
		l.Const = d.Const
	}
	_, ok1 := s.affine(l)
	_, ok2 := s.affine(r)
	if !ok1 || !ok2 {
		return nil
	}
	return &ir.Binary{Op: op, A: l.Expr(), B: r.Expr()}
}

func (s simplifier) minMax(op ir.BinOp, a, b ir.Expr) ir.Expr {
	if a.Type() == ir.I64 {
		if _, d, ok := s.difference(a, b); ok {
			switch {
			case d.Hi <= 0:
				return pick(op == ir.Min, a, b)
			case d.Lo >= 0:
				return pick(op == ir.Min, b, a)
			}
		}
	}
	x, y := s.interval(a), s.interval(b)
	switch {
	case lessOrSame(x, y):
		return pick(op == ir.Min, a, b)
	case lessOrSame(y, x):
		return pick(op == ir.Min, b, a)
	}
	return s.decide(&ir.Binary{Op: op, A: a, B: b})
}

func pick(first bool, a, b ir.Expr) ir.Expr {
	if first {
		return a
	}
	return b
}
