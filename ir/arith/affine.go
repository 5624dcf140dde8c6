package arith

import (
	"cmp"
	"math"
	"slices"

	"ripc/ir"
)

// Term is Coef * Atom. An atom is a loop variable or an i64 expression that is not a sum or a
// multiple.
type Term struct {
	Coef int64
	Atom ir.Expr
}

// Affine is Const plus its Terms, modulo 1<<64 like the i64 expressions it stands for. Atoms are
// distinct by their printed text, and coefficients are not 0. Terms are sorted by falling size of
// the coefficient, variables first, then by text. So equal sums have equal forms.
type Affine struct {
	Const int64
	Terms []Term
}

// ToAffine returns the affine form of an i64 expression: sums, differences, products by constants
// and shifts left, nested at will. Everything else is an atom.
func ToAffine(e ir.Expr) Affine {
	var room [8]term
	return sum{terms: room[:0]}.add(e, 1).affine()
}

// plusExact returns a + k*b as integers, or false if a coefficient or the constant would leave
// int64.
func (a Affine) plusExact(k int64, b Affine) (Affine, bool) {
	fits := func(x, y int64) bool {
		p, ok1 := mulOK(k, y)
		_, ok2 := addOK(x, p)
		return ok1 && ok2
	}
	ok := fits(a.Const, b.Const)
	for _, t := range b.Terms {
		ok = ok && fits(coefOf(a, t.Atom), t.Coef)
	}
	if !ok {
		return Affine{}, false
	}
	return a.Plus(k, b), true
}

// Plus is a + k*b, modulo 1<<64.
func (a Affine) Plus(k int64, b Affine) Affine {
	var room [8]term
	s := sum{c: a.Const + k*b.Const, terms: room[:0]}
	for _, t := range a.Terms {
		s = s.atom(t.Atom, t.Coef)
	}
	for _, t := range b.Terms {
		s = s.atom(t.Atom, k*t.Coef)
	}
	return s.affine()
}

// Expr writes a as an expression, largest multiples first, the constant last: %h.o*4 + %h.i + 3.
// Negative terms follow the positive ones.
func (a Affine) Expr() ir.Expr {
	var out ir.Expr
	for _, t := range a.Terms {
		if t.Coef > 0 {
			x := times(t.Atom, t.Coef)
			if out == nil {
				out = x
			} else {
				out = &ir.Binary{Op: ir.Add, A: out, B: x}
			}
		}
	}
	c := a.Const
	if out == nil && (c != 0 || len(a.Terms) == 0) {
		out, c = &ir.IntImm{T: ir.I64, V: c}, 0
	}
	for _, t := range a.Terms {
		switch {
		case t.Coef > 0:
		case out == nil:
			out = times(t.Atom, t.Coef)
		case t.Coef == math.MinInt64:
			out = &ir.Binary{Op: ir.Add, A: out, B: times(t.Atom, t.Coef)}
		default:
			out = &ir.Binary{Op: ir.Sub, A: out, B: times(t.Atom, -t.Coef)}
		}
	}
	switch {
	case c > 0 || c == math.MinInt64:
		out = &ir.Binary{Op: ir.Add, A: out, B: &ir.IntImm{T: ir.I64, V: c}}
	case c < 0:
		out = &ir.Binary{Op: ir.Sub, A: out, B: &ir.IntImm{T: ir.I64, V: -c}}
	}
	return out
}

func times(e ir.Expr, k int64) ir.Expr {
	if k == 1 {
		return e
	}
	return &ir.Binary{Op: ir.Mul, A: e, B: &ir.IntImm{T: ir.I64, V: k}}
}

// Coef returns the factor of a loop variable, 0 if it does not occur. It returns false if the
// variable occurs inside another atom, where it has no single factor.
func (a Affine) Coef(varName string) (int64, bool) {
	c := int64(0)
	for _, t := range a.Terms {
		if v, ok := t.Atom.(*ir.Var); ok {
			if v.Name == varName {
				c = t.Coef
			}
		} else if Mentions(t.Atom, varName) {
			return 0, false
		}
	}
	return c, true
}

// Bounds returns the interval of a, or false if the sum could leave int64.
func (a Affine) Bounds(r Ranges) (Interval, bool) { return env{r: r}.affine(a) }

func (v env) affine(a Affine) (Interval, bool) {
	out := span(a.Const, a.Const)
	for _, t := range a.Terms {
		iv, ok := mulInterval(v.interval(t.Atom), span(t.Coef, t.Coef))
		lo, ok1 := addOK(out.Lo, iv.Lo)
		hi, ok2 := addOK(out.Hi, iv.Hi)
		if !ok || !ok1 || !ok2 {
			return Interval{}, false
		}
		out = span(lo, hi)
	}
	return out, true
}

// sum collects a few terms.
type sum struct {
	c     int64
	terms []term
}

// term is a Term with the key of its atom: a variable's name, or the text of another expression.
type term struct {
	Term
	plain bool // a variable
	key   string
}

func (s sum) add(e ir.Expr, k int64) sum {
	if e.Type() != ir.I64 {
		return s.atom(e, k)
	}
	switch x := e.(type) {
	case *ir.IntImm:
		s.c += k * x.V
		return s
	case *ir.Unary:
		if x.Op == ir.Neg {
			return s.add(x.A, -k)
		}
	case *ir.Binary:
		switch x.Op {
		case ir.Add:
			return s.add(x.A, k).add(x.B, k)
		case ir.Sub:
			return s.add(x.A, k).add(x.B, -k)
		case ir.Mul:
			if c, ok := constant(x.B); ok {
				return s.add(x.A, k*c)
			}
			if c, ok := constant(x.A); ok {
				return s.add(x.B, k*c)
			}
		case ir.Shl:
			if c, ok := constant(x.B); ok && c >= 0 && c < 64 {
				return s.add(x.A, k<<c)
			}
		}
	}
	return s.atom(e, k)
}

// constant returns the value of an i64 expression made of constants only.
func constant(e ir.Expr) (int64, bool) {
	switch x := e.(type) {
	case *ir.IntImm:
		return x.V, true
	case *ir.Unary:
		if c, ok := constant(x.A); ok && x.Op == ir.Neg {
			return -c, true
		}
	case *ir.Binary:
		if x.Op > ir.Mul {
			return 0, false
		}
		if a, ok := constant(x.A); ok {
			b, ok := constant(x.B)
			switch x.Op {
			case ir.Add:
				return a + b, ok
			case ir.Sub:
				return a - b, ok
			}
			return a * b, ok
		}
	}
	return 0, false
}

func (s sum) atom(e ir.Expr, k int64) sum {
	t := term{Term: Term{Atom: e}}
	if v, ok := e.(*ir.Var); ok {
		t.plain, t.key = true, v.Name
	} else {
		t.key = ir.ExprString(e)
	}
	at := slices.IndexFunc(s.terms, func(u term) bool { return u.plain == t.plain && u.key == t.key })
	if at < 0 {
		at, s.terms = len(s.terms), append(s.terms, t)
	}
	s.terms[at].Coef += k
	return s
}

func (s sum) affine() Affine {
	ts := slices.DeleteFunc(s.terms, func(t term) bool { return t.Coef == 0 })
	slices.SortFunc(ts, func(a, b term) int {
		if d := cmp.Compare(abs(b.Coef), abs(a.Coef)); d != 0 { // most differ here
			return d
		}
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.key, b.key))
	})
	a := Affine{Const: s.c}
	if len(ts) > 0 {
		a.Terms = make([]Term, len(ts))
	}
	for i, t := range ts {
		a.Terms[i] = t.Term
	}
	return a
}

// rank puts variables first.
func rank(t term) int {
	if t.plain {
		return 0
	}
	return 1
}

func abs(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}
