package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ripc/internal/lists"
	"ripc/ir"
	"ripc/ir/deps"
)

// reorder puts nested loops into the order given, outermost first; loops that are not named stay
// where they are. Other systems: Halide and TVM reorder, Exo reorder_loops (with fission).
//
//	for %a in 0:A { for %b in 0:B { S } }                =>  for %b in 0:B { for %a in 0:A { S } }
//	for %a in 0:A { T   for %b in 0:B { S } }            =>  for %a.1 in 0:A { T }   for %b in 0:B { for %a in 0:A { S } }
//	for %a in 0:A { if C { for %b in 0:B { S } } }       =>  for %b in 0:B { for %a in 0:A { if C { S } } }
//
// Where the body is a sequence, the loop that moves inwards is distributed over it; statements
// before or after the nest keep a copy of the loop, named %a.1, %a.2 and so on. It is refused if
// the loops are not nested in one another, if an alloc lies between them, and if one is parallel.
// It is refused if iterations of a distributed loop share elements, and if the order of a float
// accumulation, or of anything else but an integer reduction, would change.
func reorder(f *ir.Func, loops ...string) *ir.Func {
	chain := chainOf(f, loops)
	target := append([]string{}, chain...)
	next := 0
	for i, n := range chain {
		if slices.Contains(loops, n) {
			target[i] = loops[next]
			next++
		}
	}
	for p, want := range target {
		for c := slices.Index(chain, want); c > p; c-- {
			f = interchange(f, chain[c-1], chain[c])
			chain[c-1], chain[c] = chain[c], chain[c-1]
		}
	}
	return f
}

// chainOf lists the loops from the outermost to the innermost named one. All must lie on one path.
func chainOf(f *ir.Func, loops []string) []string {
	var deepest []*ir.For
	for i, n := range loops {
		findLoop(f, n)
		if slices.Contains(loops[:i], n) {
			refuse("", "loop %%%s is named twice", n)
		}
		if p := path(f.Body, n); len(p) > len(deepest) {
			deepest = p
		}
	}
	var chain []string
	found := 0
	for _, l := range deepest {
		if slices.Contains(loops, l.Var) {
			found++
		}
		if found > 0 {
			chain = append(chain, l.Var)
		}
	}
	for _, n := range loops {
		if !slices.Contains(chain, n) {
			names := lists.Map(deepest, func(l *ir.For) string { return l.Var })
			refuse("loops around that one: "+strings.Join(names, " "), "loop %%%s is not nested with %%%s", n,
				deepest[len(deepest)-1].Var)
		}
	}
	return chain
}

// interchange swaps loop outer with inner, the next loop inside it, distributing outer over the
// statements beside inner.
func interchange(f *ir.Func, outer, inner string) *ir.Func {
	a := ir.FindLoop(f.Body, outer)
	if a.Kind == ir.Parallel || ir.FindLoop(a.Body, inner).Kind == ir.Parallel {
		refuse("reorder before parallel", "a parallel loop stays where it is")
	}
	x := expose(a.Body, inner)
	b := x.loop
	for _, g := range [][2][]ir.Stmt{{x.before, {b}}, {x.before, x.after}, {{b}, x.after}} {
		checkFission(f, a, g[0], g[1])
	}
	checkInterchange(f, a, b, b.Body)
	var names used
	copyOver := func(ss []ir.Stmt) []ir.Stmt {
		if !doesSomething(ss) {
			return ss
		}
		if names == nil { // mostly there is nothing to name
			names = namesOf(f)
		}
		n := names.copyOf(a.Var)
		body := ir.SubstStmt(ir.Seq(ss...), map[string]ir.Expr{a.Var: ir.V(n)})
		return []ir.Stmt{&ir.For{Var: n, Extent: a.Extent, Kind: a.Kind, Axis: a.Axis, Body: body}}
	}
	out := copyOver(x.before)
	out = append(out, b.WithBody(a.WithBody(b.Body)))
	out = append(out, copyOver(x.after)...)
	return replaceLoop(f, outer, ir.Seq(out...))
}

// exposed is a body taken apart around one of its loops.
type exposed struct {
	before []ir.Stmt
	loop   *ir.For
	after  []ir.Stmt
}

// expose writes body as a sequence with the loop called name as a member: conditions around the
// loop move into it and onto the statements beside it.
func expose(body ir.Stmt, name string) exposed {
	switch s := body.(type) {
	case *ir.For:
		return exposed{loop: s}
	case *ir.Block:
		for i, t := range s.Stmts {
			if ir.FindLoop(t, name) == nil {
				continue
			}
			x := expose(t, name)
			x.before = append(append([]ir.Stmt{}, s.Stmts[:i]...), x.before...)
			x.after = append(append([]ir.Stmt{}, x.after...), s.Stmts[i+1:]...)
			return x
		}
	case *ir.If:
		if s.Else != nil {
			refuse("", "loop %%%s lies in an if with an else", name)
		}
		acc := deps.Accesses(s.Then)
		for _, b := range slices.Sorted(maps.Keys(deps.Accesses(&ir.If{Cond: s.Cond, Then: &ir.Block{}}))) {
			if deps.Written(acc[b]) {
				refuse("", "loop %%%s lies in an if with a condition on %%%s, which is written there", name, b)
			}
		}
		x := expose(s.Then, name)
		x.before, x.after = guard(s.Cond, x.before), guard(s.Cond, x.after)
		x.loop = x.loop.WithBody(&ir.If{Cond: s.Cond, Then: x.loop.Body})
		return x
	case *ir.Alloc:
		refuse(fmt.Sprintf("reorder before compute_at %s", s.Buf.Name), "the alloc of %%%s lies between the loops",
			s.Buf.Name)
	}
	panic(refusal("", "no loop %%%s in the body", name))
}

func guard(cond ir.Expr, ss []ir.Stmt) []ir.Stmt {
	if !doesSomething(ss) {
		return ss
	}
	return []ir.Stmt{&ir.If{Cond: cond, Then: ir.Seq(ss...)}}
}

// doesSomething reports whether ss holds more than comments.
func doesSomething(ss []ir.Stmt) bool {
	return slices.ContainsFunc(ss, func(s ir.Stmt) bool {
		_, comment := s.(*ir.Comment)
		return !comment
	})
}
