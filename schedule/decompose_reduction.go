package schedule

import (
	"fmt"

	"ripc/ir"
)

// DecomposeReduction splits a loop in front of its first inner loop: the start of an accumulation
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
func DecomposeReduction(f *ir.Func, loop, name string) (*ir.Func, error) {
	l, err := findLoop(f, loop)
	if err != nil {
		return nil, err
	}
	if l.Kind != ir.Serial {
		return nil, &ir.Error{Msg: fmt.Sprintf("loop %%%s is marked %s already", l.Var, l.Kind),
			Help: fmt.Sprintf("decompose_reduction before %s", l.Kind)}
	}
	ss := stmts(l.Body)
	n := 0
	for n < len(ss) {
		if _, ok := ss[n].(*ir.Store); !ok && doesSomething(ss[n:n+1]) {
			break
		}
		n++
	}
	if n == len(ss) || !doesSomething(ss[:n]) {
		return nil, &ir.Error{Msg: fmt.Sprintf("loop %%%s has no store in front of an inner loop", loop),
			Help: "choose a loop such as: for { acc = start  for { acc += ... } }"}
	}
	first, second := ss[:n], ss[n:]
	if err := checkFission(f, l, first, second); err != nil {
		return nil, err
	}
	names := namesOf(f)
	if name == "" {
		name = names.copyOf(loop)
	} else if err := names.take(name); err != nil {
		return nil, err
	}
	start := ir.SubstStmt(ir.Seq(first...), map[string]ir.Expr{loop: ir.V(name)})
	return replaceLoop(f, loop, ir.Seq(
		&ir.For{Var: name, Extent: l.Extent, Axis: l.Axis, Body: start},
		&ir.For{Var: loop, Extent: l.Extent, Axis: l.Axis, Body: ir.Seq(second...)})), nil
}
