package arith

import "ripc/ir"

// Scattered reports whether some address in l's body is not an affine function of l's variable.
// Then there are no vectors of neighbours, and the lanes run one by one.
func Scattered(l *ir.For) bool {
	found := false
	index := func(idx []ir.Expr) {
		for _, x := range idx {
			if Mentions(x, l.Var) {
				_, factor := ToAffine(x).Coef(l.Var)
				found = found || !factor
			}
		}
	}
	ir.Walk(l.Body, func(s ir.Stmt) bool {
		if st, ok := s.(*ir.Store); ok {
			index(st.Idx)
		}
		for e := range ir.Exprs(s) {
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

// Neighbours reports whether l's iterations store elements that are adjacent in memory, and load
// adjacent elements, every other one, or the same one. bufs are the buffers that its body names.
func Neighbours(l *ir.For, bufs map[string]ir.Buffer) bool {
	side := true
	at := func(buf string, idx []ir.Expr, most int64) {
		// step: elements from one iteration to the next. size: elements per index of the dimension.
		step, size := int64(0), int64(1)
		shape := bufs[buf].Shape
		for d := len(idx) - 1; d >= 0; d-- {
			c, factor := ToAffine(idx[d]).Coef(l.Var)
			step += c * size
			side = side && factor
			size *= int64(shape[d])
		}
		side = side && step >= 0 && step <= most
	}
	ir.Walk(l.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Store:
			at(s.Buf, s.Idx, 1)
		case *ir.Call:
			side = false
		}
		for e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(x ir.Expr) bool {
				if ld, ok := x.(*ir.Load); ok {
					at(ld.Buf, ld.Idx, 2)
				}
				return side
			})
		}
		return side
	})
	return side
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
