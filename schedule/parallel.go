package schedule

import (
	"fmt"
	"slices"
	"strings"

	"ripc/ir"
	"ripc/ir/deps"
)

// Parallel marks a loop whose iterations are shared out among threads. Other systems: Halide and TVM parallel.
//
//	for %l in 0:14 { S }   =>   for %l in 0:14 parallel { S }
//
// All threads run the func, each with its own allocs; only the iterations of a parallel loop are divided. So it is
// refused unless the loop is outermost (loops of one iteration around it are moved into it), its iterations touch
// different elements of the parameters, it writes no alloc from outside of it, and whatever else the func does at the
// top writes no parameter and reads none that the loop writes.
func Parallel(f *ir.Func, loop string) (*ir.Func, error) {
	l, err := findLoop(f, loop)
	if err != nil {
		return nil, err
	}
	around := path(f.Body, loop)
	around = around[:len(around)-1]
	if err := checkOutermost(l, around); err != nil {
		return nil, err
	}
	for _, p := range slices.Backward(around) {
		if f, err = interchange(f, p.Var, loop); err != nil {
			return nil, err
		}
	}
	g, err := mark(f, ir.FindLoop(f.Body, loop), ir.Parallel)
	if err != nil {
		return nil, err
	}
	if err := deps.Check(g); err != nil {
		return nil, err
	}
	return g, nil
}

// checkOutermost refuses l if one of the loops around it, outermost first, has several iterations.
func checkOutermost(l *ir.For, around []*ir.For) error {
	var names []string
	for _, p := range around {
		if p.Extent > 1 {
			names = append(names, p.Var)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &ir.Error{
		Msg:  fmt.Sprintf("loop %%%s is not outermost: it lies in %%%s", l.Var, strings.Join(names, ", %")),
		Help: fmt.Sprintf("choose %s, which is outermost, or first reorder %s %s", names[0], l.Var, strings.Join(names, " ")),
	}
}
