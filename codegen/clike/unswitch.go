package clike

import (
	"slices"

	"ripc/ir"
)

// unswitch returns an If around two copies of a nest of loops: one around a store of one value of a
// Select, one of the other. It returns nil unless the condition is invariant in the nest.
// Compilers do not see through conditions that guard loads (RIPC_COND), and would evaluate the
// condition for each element.
func unswitch(s *ir.For) ir.Stmt {
	var nest []string // variables
	var body ir.Stmt = s
	for {
		l, ok := body.(*ir.For)
		if !ok {
			break
		}
		if l.Kind == ir.Parallel {
			return nil
		}
		nest, body = append(nest, l.Var), l.Body
	}
	store, ok := body.(*ir.Store)
	if !ok {
		return nil
	}
	choice, ok := store.Val.(*ir.Select)
	if !ok {
		return nil
	}
	moves := ir.ReadsMemory(choice.Cond) ||
		slices.ContainsFunc(nest, func(v string) bool { return ir.Mentions(choice.Cond, v) })
	if moves || !ir.ReadsMemory(choice.A) && !ir.ReadsMemory(choice.B) {
		return nil
	}
	with := func(v ir.Expr) ir.Stmt {
		one := *store
		one.Val = v
		return rebuild(s, &one)
	}
	return &ir.If{Cond: choice.Cond, Then: with(choice.A), Else: with(choice.B)}
}

// rebuild returns a nest of loops around another body.
func rebuild(s ir.Stmt, body ir.Stmt) ir.Stmt {
	l, ok := s.(*ir.For)
	if !ok {
		return body
	}
	out := *l
	out.Body = rebuild(l.Body, body)
	return &out
}
