package schedule

import (
	"slices"

	"ripc/internal/lists"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// replaceLoop puts s in the place of the loop called name.
func replaceLoop(f *ir.Func, name string, s ir.Stmt) *ir.Func {
	return f.WithBody(replace(f.Body, name, s))
}

func replace(body ir.Stmt, name string, s ir.Stmt) ir.Stmt {
	if l, ok := body.(*ir.For); ok && l.Var == name {
		return s
	}
	return mapChildren(body, func(t ir.Stmt) ir.Stmt { return replace(t, name, s) })
}

// mapChildren is s with f of the statements right below it; s itself if f changes none.
func mapChildren(s ir.Stmt, f func(ir.Stmt) ir.Stmt) ir.Stmt {
	switch x := s.(type) {
	case *ir.For:
		if b := f(x.Body); b != x.Body {
			return x.WithBody(b)
		}
	case *ir.If:
		then, els := f(x.Then), x.Else
		if els != nil {
			els = f(els)
		}
		if then != x.Then || els != x.Else {
			return &ir.If{Cond: x.Cond, Then: then, Else: els}
		}
	case *ir.Alloc:
		if b := f(x.Body); b != x.Body {
			return &ir.Alloc{Buf: x.Buf, Body: b}
		}
	case *ir.Block:
		out := lists.Map(x.Stmts, f)
		if !slices.Equal(out, x.Stmts) {
			return ir.Seq(out...)
		}
	}
	return s
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

// ancestors lists the statements from s to the loop called name, outermost first; none if s does
// not hold it.
func ancestors(s ir.Stmt, name string) []ir.Stmt {
	if l, ok := s.(*ir.For); ok && l.Var == name {
		return []ir.Stmt{s}
	}
	for _, t := range ir.Children(s) {
		if way := ancestors(t, name); way != nil {
			return append([]ir.Stmt{s}, way...)
		}
	}
	return nil
}

// path lists the loops around and including the loop called name, outermost first.
func path(s ir.Stmt, name string) (loops []*ir.For) {
	for _, t := range ancestors(s, name) {
		if l, ok := t.(*ir.For); ok {
			loops = append(loops, l)
		}
	}
	return loops
}

// conditions lists the conditions that hold around the loop called name of f.
func conditions(f *ir.Func, name string) (held []ir.Expr) {
	way := ancestors(f.Body, name)
	for k, s := range way {
		i, ok := s.(*ir.If)
		switch {
		case !ok:
		case way[k+1] == i.Then:
			held = append(held, f.Lasting(i.Cond, i.Then)...)
		default:
			held = append(held, f.Lasting(ir.Un(ir.Not, i.Cond), i.Else)...)
		}
	}
	return held
}

// guards lists the conditions under which the loop called name runs, up to an else branch around
// it. Those that read buffers are left out.
func guards(s ir.Stmt, name string) (held []ir.Expr) {
	way := ancestors(s, name)
	for k, s := range way {
		if i, ok := s.(*ir.If); ok {
			if way[k+1] != i.Then {
				break
			}
			held = append(held, facts(i.Cond)...)
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
