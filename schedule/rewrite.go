package schedule

import (
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// replaceLoop puts s in the place of the loop called name.
func replaceLoop(f *ir.Func, name string, s ir.Stmt) *ir.Func {
	return f.WithBody(replace(f.Body, name, s))
}

func replace(body ir.Stmt, name string, s ir.Stmt) ir.Stmt {
	switch x := body.(type) {
	case *ir.For:
		if x.Var == name {
			return s
		}
		if b := replace(x.Body, name, s); b != x.Body {
			return x.WithBody(b)
		}
	case *ir.If:
		t := replace(x.Then, name, s)
		e := x.Else
		if e != nil {
			e = replace(x.Else, name, s)
		}
		if t != x.Then || e != x.Else {
			return &ir.If{Cond: x.Cond, Then: t, Else: e}
		}
	case *ir.Alloc:
		if b := replace(x.Body, name, s); b != x.Body {
			return &ir.Alloc{Buf: x.Buf, Body: b}
		}
	case *ir.Block:
		for i, t := range x.Stmts {
			if n := replace(t, name, s); n != t {
				out := append([]ir.Stmt{}, x.Stmts[:i]...)
				return ir.Seq(append(append(out, n), x.Stmts[i+1:]...)...)
			}
		}
	}
	return body
}

// substitute replaces loop variables below s and simplifies the expressions in which they occur.
func substitute(s ir.Stmt, m map[string]ir.Expr, r arith.Ranges) ir.Stmt {
	return ir.MapStmt(s, nil, func(e ir.Expr) ir.Expr {
		if !uses(e, func(n string) bool { return m[n] != nil }) {
			return e
		}
		return arith.Simplify(ir.Subst(e, m), r)
	})
}

// stmts lists the statements of s, a Block or a single one.
func stmts(s ir.Stmt) []ir.Stmt {
	if b, ok := s.(*ir.Block); ok {
		return b.Stmts
	}
	if s == nil {
		return nil
	}
	return []ir.Stmt{s}
}

// path lists the loops around and including the loop called name, outermost first.
func path(s ir.Stmt, name string) []*ir.For {
	switch s := s.(type) {
	case *ir.For:
		if s.Var == name {
			return []*ir.For{s}
		}
		if p := path(s.Body, name); p != nil {
			return append([]*ir.For{s}, p...)
		}
	case *ir.Block:
		for _, t := range s.Stmts {
			if p := path(t, name); p != nil {
				return p
			}
		}
	case *ir.If:
		if p := path(s.Then, name); p != nil {
			return p
		}
		return path(s.Else, name)
	case *ir.Alloc:
		return path(s.Body, name)
	}
	return nil
}

// conditions lists the conditions that hold around the loop called name of f.
func conditions(f *ir.Func, name string) (held []ir.Expr) {
	holds := func(s ir.Stmt) bool { return s != nil && path(s, name) != nil }
	for i := range ir.StmtsOf[*ir.If](f.Body) {
		switch {
		case holds(i.Then):
			held = append(held, f.Lasting(i.Cond, i.Then)...)
		case holds(i.Else):
			held = append(held, f.Lasting(ir.Un(ir.Not, i.Cond), i.Else)...)
		}
	}
	return held
}

// removeStmts removes statements from the sequence of a scope.
func removeStmts(s ir.Stmt, drop []ir.Stmt) ir.Stmt {
	switch x := s.(type) {
	case *ir.Alloc:
		return &ir.Alloc{Buf: x.Buf, Body: removeStmts(x.Body, drop)}
	case *ir.Block:
		var out []ir.Stmt
		for _, t := range x.Stmts {
			out = append(out, removeStmts(t, drop))
		}
		return ir.Seq(out...)
	}
	if slices.Contains(drop, s) {
		return &ir.Block{}
	}
	return s
}

// affineKey compares affine forms: equal keys, equal values where neither reads memory.
func affineKey(a arith.Affine) string { return ir.ExprString(a.Expr()) }

func uses(e ir.Expr, is func(string) bool) bool {
	return ir.Contains(e, func(e ir.Expr) bool {
		v, ok := e.(*ir.Var)
		return ok && is(v.Name)
	})
}

// mentionsAny reports whether a variable occurs in one of the expressions.
func mentionsAny(es []ir.Expr, name string) bool {
	return slices.ContainsFunc(es, func(e ir.Expr) bool { return ir.Mentions(e, name) })
}

// mapOwn maps the expressions of s itself, not of statements below it.
func mapOwn(s ir.Stmt, f func(ir.Expr) ir.Expr) ir.Stmt {
	switch x := s.(type) {
	case *ir.If:
		return &ir.If{Cond: f(x.Cond), Then: x.Then, Else: x.Else}
	case *ir.Store, *ir.Call:
		return ir.MapStmt(s, nil, f)
	}
	return s
}

// mapLoads maps the loads from a buffer in an expression.
func mapLoads(buf string, f func(*ir.Load) ir.Expr) func(ir.Expr) ir.Expr {
	return func(e ir.Expr) ir.Expr {
		return ir.MapExpr(e, func(e ir.Expr) ir.Expr {
			if l, ok := e.(*ir.Load); ok && l.Buf == buf {
				return f(l)
			}
			return e
		})
	}
}

// mapStores maps the stores to a buffer below s.
func mapStores(s ir.Stmt, buf string, f func(*ir.Store) ir.Stmt) ir.Stmt {
	return ir.MapStmt(s, func(s ir.Stmt) ir.Stmt {
		if st, ok := s.(*ir.Store); ok && st.Buf == buf {
			return f(st)
		}
		return s
	}, nil)
}

// copied gives the loops and buffers below s the names that name makes of theirs.
func copied(s ir.Stmt, name func(string) string) ir.Stmt {
	loops, bufs := map[string]string{}, map[string]string{}
	for t := range ir.Stmts(s) {
		switch t := t.(type) {
		case *ir.For:
			loops[t.Var] = name(t.Var)
		case *ir.Alloc:
			bufs[t.Buf.Name] = name(t.Buf.Name)
		}
	}
	return ir.Rename(s, loops, bufs)
}

// noStoreInLanes refuses stores in vectorize loops that would become loops over parts.
func noStoreInLanes(f *ir.Func, step, parts string, becomesLoop func(*ir.Store) bool) {
	for s := range ir.Stmts(f.Body) {
		l, ok := s.(*ir.For)
		if !ok || l.Kind != ir.Vectorize {
			continue
		}
		for t := range ir.Stmts(l.Body) {
			if st, ok := t.(*ir.Store); ok && becomesLoop(st) {
				refuse(step+" before vectorize", "%s would be a loop inside a vectorize loop, in %s", parts,
					storeText([]deps.Access{{Store: st}}))
			}
		}
	}
}
