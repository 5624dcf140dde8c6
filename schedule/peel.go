package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/deps"
)

// Peel gives the first and the last iterations of a loop loops of their own, so that conditions on
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
func Peel(f *ir.Func, loop string, first, last int) (*ir.Func, error) {
	l, err := findLoop(f, loop)
	if err != nil {
		return nil, err
	}
	switch {
	case l.Kind != ir.Serial:
		return nil, &ir.Error{Msg: fmt.Sprintf("loop %%%s is marked %s already", l.Var, l.Kind),
			Help: fmt.Sprintf("peel before %s", l.Kind)}
	case first < 0 || last < 0 || first > l.Extent || last > l.Extent || first+last >= l.Extent:
		return nil, &ir.Error{
			Msg: fmt.Sprintf("%d and %d of the %d iterations of loop %%%s leave none in the middle", first, last,
				l.Extent, l.Var),
			Help: fmt.Sprintf("peel at most %d in all", l.Extent-1),
		}
	case first+last == 0:
		return nil, &ir.Error{Msg: fmt.Sprintf("no iteration of loop %%%s is to be peeled", l.Var),
			Help: fmt.Sprintf("write peel %s 1 1", l.Var)}
	}
	names := namesOf(f)
	known := guards(f.Body, loop)
	part := func(from, n int, name func(string) string) ir.Stmt {
		if n == 0 {
			return nil
		}
		body, v := l.Body, l.Var
		if name != nil {
			loops, bufs := map[string]string{}, map[string]string{}
			v = name(l.Var)
			ir.Walk(body, func(s ir.Stmt) bool {
				switch s := s.(type) {
				case *ir.For:
					loops[s.Var] = name(s.Var)
				case *ir.Alloc:
					bufs[s.Buf.Name] = name(s.Buf.Name)
				}
				return true
			})
			body = rename(body, loops, bufs)
		}
		r := deps.ScopeOf(body).Ranges
		for k, iv := range deps.ScopeOf(f.Body).Ranges {
			r[k] = iv
		}
		r = r.With(v, n)
		body = ir.SubstStmt(body, map[string]ir.Expr{l.Var: ir.Bin(ir.Add, ir.V(v), ir.Int(from))})
		return &ir.For{Var: v, Extent: n, Axis: l.Axis, Body: tidy(body, r, known)}
	}
	return replaceLoop(f, loop, ir.Seq(
		part(0, first, names.copyOf),
		part(first, l.Extent-first-last, nil),
		part(l.Extent-last, last, names.tailOf))), nil
}
