package schedule

import (
	"ripc/ir"
)

// decomposeReduction splits a loop in front of its first inner loop: the start of an accumulation
// and the accumulation itself can then be scheduled apart. Other systems: TVM decompose_reduction,
// Exo fission.
//
//	for %o in 0:64 { %acc[%o] = 0i32   for %k in 0:9 { %acc[%o] += ... } }
//	=> decompose_reduction o
//	for %o.1 in 0:64 { %acc[%o.1] = 0i32 }   for %o in 0:64 { for %k in 0:9 { %acc[%o] += ... } }
//
// An empty name gives l.1 or the next that is free. It is refused if nothing stands before an inner
// loop, if the loop has a mark, and if iterations share elements that the first part writes.
// Reorder does the same where it has to.
func decomposeReduction(f *ir.Func, loop, name string) *ir.Func {
	l := findLoop(f, loop)
	unmarked(l, "decompose_reduction")
	ss := stmts(l.Body)
	n := 0
	for n < len(ss) {
		if _, ok := ss[n].(*ir.Store); !ok && doesSomething(ss[n:n+1]) {
			break
		}
		n++
	}
	if n == len(ss) || !doesSomething(ss[:n]) {
		refuse("choose a loop such as: for { acc = start  for { acc += ... } }",
			"loop %%%s has no store in front of an inner loop", loop)
	}
	first, second := ss[:n], ss[n:]
	checkFission(f, l, first, second)
	names := namesOf(f)
	if name == "" {
		name = names.copyOf(loop)
	} else {
		names.take(name)
	}
	start := ir.SubstStmt(ir.Seq(first...), map[string]ir.Expr{loop: ir.V(name)})
	return replaceLoop(f, loop, ir.Seq(
		&ir.For{Var: name, Extent: l.Extent, Axis: l.Axis, Body: start},
		&ir.For{Var: loop, Extent: l.Extent, Axis: l.Axis, Body: ir.Seq(second...)}))
}
