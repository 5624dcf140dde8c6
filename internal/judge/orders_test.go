package judge

import "ripc/ir"

// Other orders in which marked loops may run.

// lockstep is f where the lanes of a vectorize loop do each statement before the next one, as far
// as they go through statements alike.
func lockstep(f *ir.Func) *ir.Func {
	var lanes func(l *ir.For, s ir.Stmt) ir.Stmt
	lanes = func(l *ir.For, s ir.Stmt) ir.Stmt {
		switch s := s.(type) {
		case *ir.Block:
			var out []ir.Stmt
			for _, t := range s.Stmts {
				out = append(out, lanes(l, t))
			}
			return ir.Seq(out...)
		case *ir.For:
			return s.WithBody(lanes(l, s.Body))
		}
		v := ir.V(l.Var)
		return &ir.For{Var: l.Var, Extent: l.Extent, Body: ir.SubstStmt(s, map[string]ir.Expr{l.Var: v})}
	}
	return f.WithBody(ir.MapStmt(f.Body, func(s ir.Stmt) ir.Stmt {
		if l, ok := s.(*ir.For); ok && l.Kind == ir.Vectorize {
			return lanes(l, l.Body)
		}
		return s
	}, nil))
}

// threads returns the part of f that one of two threads runs: every other iteration of parallel
// loops, and everything else.
func threads(f *ir.Func, mine int) *ir.Func {
	return f.WithBody(ir.MapStmt(f.Body, func(s ir.Stmt) ir.Stmt {
		l, ok := s.(*ir.For)
		if !ok || l.Kind != ir.Parallel {
			return s
		}
		turn := &ir.Binary{Op: ir.Eq, A: ir.Bin(ir.Mod, ir.V(l.Var), ir.Int(2)), B: ir.Int(mine)}
		return &ir.For{Var: l.Var, Extent: l.Extent, Body: &ir.If{Cond: turn, Then: l.Body}}
	}, nil))
}
