package schedule

import (
	"fmt"
	"maps"

	"ripc/ir"
	"ripc/ir/deps"
)

// peel gives the first and the last iterations of a loop loops of their own, so that conditions on
// the border, such as padding's, are decided in the middle. Other systems: Halide's loop
// partitioning, TVM loop_partition, Exo cut_loop.
//
//	for %w in 0:56 { %y[%w] = select(%w >= 1, %x[%w - 1], 0u32) }
//	=> peel w 1 0
//	for %w.1 in 0:1 { %y[%w.1] = 0u32 }
//	for %w in 0:55 { %y[%w + 1] = %x[%w] }
//
// The operands are the loop and how many iterations are peeled from its start and from its end.
// Repeated loops get the names of copies: l.1 for the first iterations, l.t for the last. It is
// refused if the loop has a mark, if nothing is to be peeled, and if no iteration would be left in
// the middle.
func peel(f *ir.Func, loop string, first, last int) *ir.Func {
	l := findLoop(f, loop)
	unmarked(l, "peel")
	switch {
	case first < 0 || last < 0 || first > l.Extent || last > l.Extent || first+last >= l.Extent:
		refuse(fmt.Sprintf("peel at most %d in all", l.Extent-1),
			"%d and %d of the %d iterations of loop %%%s leave none in the middle", first, last, l.Extent, l.Var)
	case first+last == 0:
		refuse(fmt.Sprintf("write peel %s 1 1", l.Var), "no iteration of loop %%%s is to be peeled", l.Var)
	}
	names := namesOf(f)
	known := guards(f.Body, loop)
	part := func(from, n int, name func(string) string) ir.Stmt {
		if n == 0 {
			return nil
		}
		body, v := l.Body, l.Var
		if name != nil {
			v = name(l.Var)
			body = copied(body, name)
		}
		r := deps.ScopeOf(body).Ranges
		maps.Copy(r, deps.ScopeOf(f.Body).Ranges)
		r = r.With(v, n)
		body = ir.SubstStmt(body, map[string]ir.Expr{l.Var: ir.Bin(ir.Add, ir.V(v), ir.Int(from))})
		return &ir.For{Var: v, Extent: n, Axis: l.Axis, Body: tidy(body, r, known)}
	}
	return replaceLoop(f, loop, ir.Seq(
		part(0, first, names.copyOf),
		part(first, l.Extent-first-last, nil),
		part(l.Extent-last, last, names.tailOf)))
}
