package template

import (
	"ripc/ir"
	"ripc/ir/arith"
)

// maxWeight bounds the code of a Func: code generation has a limit of its own, which this stays below.
const maxWeight = 1500

// weight estimates the instructions of s once its unrolled loops are written out; a vector counts as one.
func weight(s ir.Stmt) int {
	const huge = 1 << 30
	n := 0
	switch s := s.(type) {
	case *ir.For:
		n = weight(s.Body)
		if s.Kind == ir.Unroll {
			n = min(n, huge/max(1, s.Extent)) * s.Extent
		}
	case *ir.Block:
		for _, t := range s.Stmts {
			n = min(huge, n+weight(t))
		}
	case *ir.Alloc:
		n = weight(s.Body)
	case *ir.If:
		n = 3 + exprWeight(s.Cond) + weight(s.Then)
		if s.Else != nil {
			n += weight(s.Else)
		}
	case *ir.Store:
		n = 2 + exprWeight(s.Val)
		if s.Op != ir.Assign {
			n += 2
		}
	case *ir.Call:
		n = 4
	}
	return min(n, huge)
}

// exprWeight counts operations; loads have an address, and a select may be a branch.
func exprWeight(e ir.Expr) int {
	n := 0
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e.(type) {
		case *ir.IntImm, *ir.FloatImm, *ir.Var:
			return false
		case *ir.Load:
			n += 3
			return false
		case *ir.Select:
			n += 6
		}
		n++
		return true
	})
	return n
}

// scattered reports whether some address in l's body is no multiple of l's variable plus something else: then there are
// no vectors of neighbours, and the lanes go one by one.
func scattered(l *ir.For) bool {
	found := false
	index := func(idx []ir.Expr) {
		for _, x := range idx {
			for _, t := range arith.ToAffine(x).Terms {
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
