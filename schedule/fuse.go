package schedule

import (
	"cmp"
	"fmt"

	"ripc/ir"
	"ripc/ir/deps"
)

// fuse makes one loop of two that are perfectly nested. Other systems: Halide and TVM fuse, Exo
// mult_loops.
//
//	for %a in 0:A { for %b in 0:B { S } }
//	=>
//	for %a.b.f in 0:A * B { S[a := %a.b.f / B, b := %a.b.f % B] }
//
// An empty name gives a.b.f. It is refused if a loop has a mark, if something stands between the
// two, and if the product is beyond 2^31. It is refused if an index takes a form that the IR does
// not have, such as a count of a shift.
func fuse(f *ir.Func, outer, inner, name string) *ir.Func {
	a := findLoop(f, outer)
	findLoop(f, inner)
	var b *ir.For
	if in := doing(a.Body); len(in) == 1 {
		b, _ = in[0].(*ir.For)
	}
	if b == nil || b.Var != inner {
		help := ""
		if b != nil {
			help = fmt.Sprintf("fuse %s %s, or reorder first", outer, b.Var)
		}
		refuse(help, "loop %%%s does not consist of loop %%%s alone", outer, inner)
	}
	for _, l := range []*ir.For{a, b} {
		unmarked(l, "fuse")
	}
	if a.Extent > 0 && b.Extent > (1<<31-1)/a.Extent {
		refuse("", "%d * %d iterations are too many for one loop", a.Extent, b.Extent)
	}
	name = cmp.Or(name, outer+"."+inner+".f")
	names := namesOf(f)
	delete(names, outer)
	delete(names, inner)
	names.take(name)
	axis := a.Axis
	if b.Axis != axis {
		axis = ir.NoAxis
	}
	v := ir.V(name)
	to := map[string]ir.Expr{outer: ir.Bin(ir.Div, v, ir.Int(b.Extent)), inner: ir.Bin(ir.Mod, v, ir.Int(b.Extent))}
	r := deps.ScopeOf(f.Body).Ranges.With(name, a.Extent*b.Extent)
	l := &ir.For{Var: name, Extent: a.Extent * b.Extent, Axis: axis, Body: substitute(b.Body, to, r)}
	return replaceLoop(f, outer, l)
}
