package arith

import "ripc/ir"

// Option changes what SimplifyStmt does.
type Option uint8

// DropUnitLoops replaces a loop of extent 1 by its body, its variable being 0.
const DropUnitLoops Option = 1

// SimplifyStmt simplifies every expression of s, where loop variables from outside are in r. Loops that run no
// iteration, branches that are never taken and statements that do nothing disappear, except for comments. If nothing is
// left the result is an empty Block.
func SimplifyStmt(s ir.Stmt, r Ranges, opts ...Option) ir.Stmt {
	drop := false
	for _, o := range opts {
		drop = drop || o == DropUnitLoops
	}
	if t := simplifyStmt(s, r, drop); t != nil {
		return t
	}
	return &ir.Block{}
}

// simplifyStmt gives nil for a statement that does nothing.
func simplifyStmt(s ir.Stmt, r Ranges, drop bool) ir.Stmt {
	simp := simplifier{env{r: r}}
	switch s := s.(type) {
	case *ir.For:
		if s.Extent <= 0 {
			return nil
		}
		if s.Extent == 1 && drop {
			body := ir.SubstStmt(s.Body, map[string]ir.Expr{s.Var: ir.Int(0)})
			return simplifyStmt(body, r, drop)
		}
		body := simplifyStmt(s.Body, r.With(s.Var, s.Extent), drop)
		if body == nil {
			return nil
		}
		return s.WithBody(body)
	case *ir.Store:
		return &ir.Store{Buf: s.Buf, Idx: simp.exprs(s.Idx), Op: s.Op, Val: simp.expr(s.Val)}
	case *ir.If:
		return simplifyIf(s, r, drop)
	case *ir.Block:
		var out []ir.Stmt
		for _, t := range s.Stmts {
			if t = simplifyStmt(t, r, drop); t != nil {
				out = append(out, t)
			}
		}
		if len(out) == 0 {
			return nil
		}
		return ir.Seq(out...)
	case *ir.Alloc:
		body := simplifyStmt(s.Body, r, drop)
		if body == nil {
			return nil
		}
		return &ir.Alloc{Buf: s.Buf, Body: body}
	case *ir.Call:
		args := make([]ir.Window, len(s.Args))
		for i, w := range s.Args {
			args[i] = ir.Window{Buf: w.Buf, Idx: simp.exprs(w.Idx)}
		}
		return &ir.Call{Fn: s.Fn, Args: args}
	}
	return s
}

func simplifyIf(s *ir.If, r Ranges, drop bool) ir.Stmt {
	cond := Simplify(s.Cond, r)
	if c, ok := cond.(*ir.IntImm); ok {
		if c.V != 0 {
			return simplifyStmt(s.Then, r, drop)
		}
		return simplifyStmt(s.Else, r, drop)
	}
	not := Simplify(ir.Un(ir.Not, cond), r)
	var then, els ir.Stmt
	if q, possible := r.assume(cond); possible {
		then = simplifyStmt(s.Then, q, drop)
	}
	if q, possible := r.assume(not); possible {
		els = simplifyStmt(s.Else, q, drop)
	}
	switch {
	case then == nil && els == nil:
		return nil
	case then == nil:
		return &ir.If{Cond: not, Then: els}
	}
	return &ir.If{Cond: cond, Then: then, Else: els}
}
