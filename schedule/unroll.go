package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/size"
)

// Unroll marks a loop to be written out. Other systems: Halide, TVM unroll; Exo unroll_loop.
//
//	for %l in 0:4 { S }   =>   for %l in 0:4 unroll { S }
//
// It is refused if the loop has another mark, and if a parallel loop lies in it. It is refused if
// the func would then have more than 4000 instructions (size.Max) by estimate.
func Unroll(f *ir.Func, loop string) (*ir.Func, error) {
	l, err := findLoop(f, loop)
	if err != nil {
		return nil, err
	}
	for _, name := range loopNames(l.Body) {
		if ir.FindLoop(l.Body, name).Kind == ir.Parallel {
			return nil, &ir.Error{Msg: fmt.Sprintf("loop %%%s lies in loop %%%s, and is parallel", name, loop),
				Help: "leave the loops around it serial"}
		}
	}
	g, err := mark(f, l, ir.Unroll)
	if err != nil {
		return nil, err
	}
	if n := size.Of(g.Body); n > size.Max {
		return nil, &ir.Error{
			Msg: fmt.Sprintf("unrolling loop %%%s (extent %d) makes about %d instructions of the func, more than %d",
				l.Var, l.Extent, n, size.Max),
			Help: fmt.Sprintf("the body of %%%s has about %d: split the loop and unroll the inner part", l.Var,
				size.Of(l.Body)),
		}
	}
	return g, nil
}

func mark(f *ir.Func, l *ir.For, kind ir.LoopKind) (*ir.Func, error) {
	if l.Kind != ir.Serial && l.Kind != kind {
		return nil, &ir.Error{Msg: fmt.Sprintf("loop %%%s is marked %s already", l.Var, l.Kind)}
	}
	return replaceLoop(f, l.Var, &ir.For{Var: l.Var, Extent: l.Extent, Kind: kind, Axis: l.Axis, Body: l.Body}), nil
}
