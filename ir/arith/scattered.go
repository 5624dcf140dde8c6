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
				ir.WalkExpr(t.Atom, func(y ir.Expr) bool {
					v, ok := y.(*ir.Var)
					found = found || ok && v.Name == l.Var
					return !found
				})
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
