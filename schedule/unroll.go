package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/size"
)

// unroll marks a loop to be written out. Other systems: Halide, TVM unroll; Exo unroll_loop.
//
//	for %l in 0:4 { S }   =>   for %l in 0:4 unroll { S }
//
// It is refused if the loop has another mark, and if a parallel loop lies in it. It is refused if
// the func would then have more than 4000 instructions (size.Max) by estimate.
func unroll(f *ir.Func, loop string) *ir.Func {
	l := findLoop(f, loop)
	for _, name := range loopNames(l.Body) {
		if ir.FindLoop(l.Body, name).Kind == ir.Parallel {
			refuse("leave the loops around it serial", "loop %%%s lies in loop %%%s, and is parallel", name, loop)
		}
	}
	g := mark(f, l, ir.Unroll)
	if n := size.Of(g.Body); n > size.Max {
		refuse(fmt.Sprintf("the body of %%%s has about %d: split the loop and unroll the inner part", l.Var,
			size.Of(l.Body)), "unrolling loop %%%s (extent %d) makes about %d instructions of the func, more than %d",
			l.Var, l.Extent, n, size.Max)
	}
	return g
}

func mark(f *ir.Func, l *ir.For, kind ir.LoopKind) *ir.Func {
	if l.Kind != ir.Serial && l.Kind != kind {
		refuse("", "loop %%%s is marked %s already", l.Var, l.Kind)
	}
	return replaceLoop(f, l.Var, &ir.For{Var: l.Var, Extent: l.Extent, Kind: kind, Axis: l.Axis, Body: l.Body})
}
