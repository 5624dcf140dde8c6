package arith

import "ripc/ir"

// Scattered reports whether some address in l's body is no multiple of l's variable plus something else: then there are
// no vectors of neighbours, and the lanes go one by one.
func Scattered(l *ir.For) bool {
	found := false
	index := func(idx []ir.Expr) {
		for _, x := range idx {
			for _, t := range ToAffine(x).Terms {
				if v, ok := t.Atom.(*ir.Var); ok && v.Name == l.Var {
					continue
				}
				found = found || Mentions(t.Atom, l.Var)
			}
		}
	}
	ir.Walk(l.Body, func(s ir.Stmt) bool {
		if st, ok := s.(*ir.Store); ok {
			index(st.Idx)
		}
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(x ir.Expr) bool {
				if ld, ok := x.(*ir.Load); ok {
					index(ld.Idx)
				}
				return !found
			})
		}
		return !found
	})
	return found
}

// Mentions reports whether a variable occurs in e.
func Mentions(e ir.Expr, name string) bool {
	found := false
	ir.WalkExpr(e, func(x ir.Expr) bool {
		v, ok := x.(*ir.Var)
		found = found || ok && v.Name == name
		return !found
	})
	return found
}
