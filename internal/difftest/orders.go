package difftest

import "ripc/ir"

// Backwards is f with parallel and vectorize loops from their ends: the interpreter takes them in
// order, threads and lanes need not.
func Backwards(f *ir.Func) *ir.Func {
	return f.WithBody(ir.MapStmt(f.Body, func(s ir.Stmt) ir.Stmt {
		l, ok := s.(*ir.For)
		if !ok || l.Kind != ir.Parallel && l.Kind != ir.Vectorize {
			return s
		}
		last := ir.Bin(ir.Sub, ir.Int(l.Extent-1), ir.V(l.Var))
		return &ir.For{Var: l.Var, Extent: l.Extent, Kind: l.Kind,
			Body: ir.SubstStmt(l.Body, map[string]ir.Expr{l.Var: last})}
	}, nil))
}

// Iterations counts the innermost iterations of s, with those of both branches of an If.
func Iterations(s ir.Stmt) int {
	switch s := s.(type) {
	case *ir.For:
		return min(s.Extent*Iterations(s.Body), 1<<30)
	case *ir.Block:
		n := 0
		for _, t := range s.Stmts {
			n += Iterations(t)
		}
		return n
	case *ir.Alloc:
		return Iterations(s.Body)
	case *ir.If:
		n := Iterations(s.Then)
		if s.Else != nil {
			n += Iterations(s.Else)
		}
		return n
	}
	return 1
}
