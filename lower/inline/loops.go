package inline

import (
	"slices"

	"ripc/ir"
)

// reorderToMemory returns the nest of l with its loops in the order of the elements of a buffer in
// memory. A nest that does more than to fill the buffer, one element in each iteration, stays as it
// is.
func reorderToMemory(l *ir.For, buf string) ir.Stmt {
	all, s := nestOf(l)
	loops := map[string]ir.Loop{}
	for _, l := range all {
		loops[l.Var] = l
	}
	st, isStore := s.(*ir.Store)
	if !isStore || st.Op != ir.Assign || st.Buf != buf || len(loops) != len(st.Idx) {
		return l
	}
	var order []ir.Loop
	for _, e := range st.Idx {
		v, isVar := e.(*ir.Var)
		if !isVar {
			return l
		}
		loop, ok := loops[v.Name]
		if !ok {
			return l
		}
		delete(loops, v.Name)
		order = append(order, loop)
	}
	return ir.Nest(order, st)
}

// imageOrder returns the nest s with its axes in the order of images, channels innermost, if its
// loops are those of an image and fill the output in this order. Schedules then make vectors of
// adjacent elements.
func imageOrder(s ir.Stmt) ir.Stmt {
	axes := []ir.Axis{ir.Batch, ir.Row, ir.Col, ir.Channel}
	loops, s := nestOf(s)
	st, isStore := s.(*ir.Store)
	if !isStore || len(loops) != len(axes) || slices.ContainsFunc(loops, func(l ir.Loop) bool {
		return !slices.Contains(axes, l.Axis)
	}) {
		return ir.Nest(loops, s)
	}
	for d := range loops {
		if v, ok := st.Idx[d].(*ir.Var); !ok || v.Name != loops[d].Var {
			return ir.Nest(loops, s)
		}
		loops[d].Axis = axes[d]
	}
	return ir.Nest(loops, st)
}

// nestOf returns the loops that s begins with, outermost first, and their body.
func nestOf(s ir.Stmt) (loops []ir.Loop, body ir.Stmt) {
	for {
		l, ok := s.(*ir.For)
		if !ok {
			return loops, s
		}
		loops, s = append(loops, ir.Loop{Var: l.Var, Extent: l.Extent, Axis: l.Axis}), l.Body
	}
}
