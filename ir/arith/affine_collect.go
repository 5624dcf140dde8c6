package arith

import (
	"cmp"
	"slices"

	"ripc/ir"
)

type sum struct {
	c     int64
	terms map[string]*Term
}

func (s *sum) add(e ir.Expr, k int64) {
	if e.Type() != ir.I64 {
		s.atom(e, k)
		return
	}
	switch x := e.(type) {
	case *ir.IntImm:
		s.c += k * x.V
		return
	case *ir.Unary:
		if x.Op == ir.Neg {
			s.add(x.A, -k)
			return
		}
	case *ir.Binary:
		switch x.Op {
		case ir.Add:
			s.add(x.A, k)
			s.add(x.B, k)
			return
		case ir.Sub:
			s.add(x.A, k)
			s.add(x.B, -k)
			return
		case ir.Mul:
			if c, ok := constant(x.B); ok {
				s.add(x.A, k*c)
				return
			}
			if c, ok := constant(x.A); ok {
				s.add(x.B, k*c)
				return
			}
		case ir.Shl:
			if c, ok := constant(x.B); ok && c >= 0 && c < 64 {
				s.add(x.A, k<<c)
				return
			}
		}
	}
	s.atom(e, k)
}

// constant is the value of an i64 expression made of constants only.
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

func (s *sum) atom(e ir.Expr, k int64) {
	key := ir.ExprString(e)
	t, ok := s.terms[key]
	if !ok {
		t = &Term{Atom: e}
		s.terms[key] = t
	}
	t.Coef += k
}

func (s *sum) affine() Affine {
	type keyed struct {
		Term
		key string
	}
	var ts []keyed
	for k, t := range s.terms {
		if t.Coef != 0 {
			ts = append(ts, keyed{*t, k})
		}
	}
	slices.SortFunc(ts, func(a, b keyed) int {
		return cmp.Or(-cmp.Compare(abs(a.Coef), abs(b.Coef)), rank(a.Atom)-rank(b.Atom), cmp.Compare(a.key, b.key))
	})
	a := Affine{Const: s.c}
	for _, t := range ts {
		a.Terms = append(a.Terms, t.Term)
	}
	return a
}

func rank(atom ir.Expr) int {
	if _, ok := atom.(*ir.Var); ok {
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
