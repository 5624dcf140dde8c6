package schedule

import (
	"fmt"

	"ripc/ir"
)

// Rfactor gives every iteration of a reduction loop a partial sum of its own, and adds these up at the end: the loop can
// then become lanes, where few outputs leave too few of them. Other systems: Halide and TVM rfactor.
//
//	for %b in 0:2 { for %o in 0:10 { for %k in 0:8 { for %l in 0:16 { %acc[%b, %o] += E(%o, %k, %l) } } } }
//	=> rfactor acc l b       a sum for each iteration of l; they live in loop b, which is around it
//	for %b in 0:2 {
//	  alloc %acc.rf: i32[1, 10, 16]
//	  for %acc.rf.z1 in 0:10 { for %acc.rf.z2 in 0:16 { %acc.rf[0, %acc.rf.z1, %acc.rf.z2] = 0i32 } }
//	  for %o in 0:10 { for %k in 0:8 { for %l in 0:16 { %acc.rf[0, %o, %l] += E(%o, %k, %l) } } }
//	  for %acc.rf.w1 in 0:10 { for %acc.rf.w2 in 0:16 { %acc[%b, %acc.rf.w1] += %acc.rf[0, %acc.rf.w1, %acc.rf.w2] } }
//	}
//
// The operands are the accumulator, the loop, and a loop around it. An empty name gives acc.rf. Integers only: float sums
// keep their order. It is refused if the loop is marked or indexes the accumulator; if the statement of the outer loop
// that holds it does anything with the accumulator but "+=" inside the loop and outside of ifs, or does not add to all of
// its region; if that region is not known; and if the outer loop lies in a vectorize loop.
func Rfactor(f *ir.Func, buffer, loop, around, name string) (*ir.Func, error) {
	if name == "" {
		name = buffer + ".rf"
	}
	l, err := findLoop(f, loop)
	if err != nil {
		return nil, err
	}
	outer, err := findLoop(f, around)
	if err != nil {
		return nil, err
	}
	of, ok := f.Buffers()[buffer]
	if !ok {
		return nil, noBuffer(f, buffer)
	}
	nest, put := holding(outer.Body, loop)
	if nest == nil {
		return nil, &ir.Error{Msg: fmt.Sprintf("loop %%%s does not stand in loop %%%s", loop, around), Help: "name the reduction loop, then a loop around it"}
	}
	if err := factorable(f, nest, l, around, of); err != nil {
		return nil, err
	}
	c := &local{f: f, sc: scopeOf(f.Body), loop: outer, of: of, buf: ir.Buffer{Name: name, Type: of.Type}, names: namesOf(f)}
	if err := c.names.take(name); err != nil {
		return nil, err
	}
	if c.region, err = regionOf(c.sc, outer, of, accesses(nest)[buffer], "rfactor"); err != nil {
		return nil, err
	}
	for _, e := range c.region {
		c.buf.Shape = append(c.buf.Shape, e.size)
	}
	body := relocate(nest, buffer, name, c.region)
	if !c.coveredBy(body) {
		return nil, &ir.Error{
			Msg:  fmt.Sprintf("no store in loop %%%s runs over all of the part of %%%s that it adds to", around, buffer),
			Help: "choose a loop around all loops that index it, or inside them",
		}
	}
	rank := len(c.region)
	c.buf.Shape = append(c.buf.Shape, l.Extent)
	body = ir.MapStmt(body, func(s ir.Stmt) ir.Stmt {
		st, ok := s.(*ir.Store)
		if !ok || st.Buf != name {
			return s
		}
		return &ir.Store{Buf: name, Idx: append(append([]ir.Expr{}, st.Idx...), ir.V(loop)), Op: st.Op, Val: st.Val}
	}, nil)
	lanes := func(suffix string, stmt func(inner, outer []ir.Expr) ir.Stmt) (ir.Stmt, error) {
		lane := fmt.Sprintf("%s.%s%d", name, suffix, rank)
		if err := c.names.take(lane); err != nil {
			return nil, err
		}
		return c.each(suffix, func(inner, outer []ir.Expr) ir.Stmt {
			inner = append(append([]ir.Expr{}, inner...), ir.V(lane))
			return &ir.For{Var: lane, Extent: l.Extent, Body: stmt(inner, outer)}
		})
	}
	zero, err := lanes("z", func(inner, _ []ir.Expr) ir.Stmt {
		return &ir.Store{Buf: name, Idx: inner, Val: ir.Const(of.Type, 0)}
	})
	if err != nil {
		return nil, err
	}
	sum, err := lanes("w", func(inner, outer []ir.Expr) ir.Stmt {
		return &ir.Store{Buf: buffer, Idx: outer, Op: ir.AddTo, Val: ir.At(c.buf, inner...)}
	})
	if err != nil {
		return nil, err
	}
	scope := &ir.Alloc{Buf: c.buf, Body: ir.Seq(zero, body, sum)}
	return replaceLoop(f, around, &ir.For{Var: around, Extent: outer.Extent, Kind: outer.Kind, Body: put(scope)}), nil
}

// factorable refuses unless nest does nothing with the buffer but add to it, in loop l, at elements that l does not choose.
func factorable(f *ir.Func, nest ir.Stmt, l *ir.For, around string, of ir.Buffer) error {
	refuse := func(help, format string, args ...any) error {
		return &ir.Error{Msg: fmt.Sprintf(format, args...), Help: help}
	}
	as, inside := accesses(nest)[of.Name], accesses(l.Body)[of.Name]
	switch {
	case !of.Type.IsInt():
		return refuse("", "%%%s has elements of type %s: sums of floats keep their order", of.Name, of.Type)
	case l.Kind != ir.Serial:
		return refuse(fmt.Sprintf("rfactor before %s", l.Kind), "loop %%%s is marked %s already", l.Var, l.Kind)
	case len(inside) == 0:
		return refuse("", "nothing in loop %%%s uses %%%s from outside of it", l.Var, of.Name)
	case len(as) == 0:
		return refuse("choose a loop inside the alloc", "loop %%%s lies outside of the alloc of %%%s", around, of.Name)
	case len(as) > len(inside):
		return refuse("choose an outer loop in which they stand apart", "%%%s is used outside of loop %%%s too, in the same statement of loop %%%s", of.Name, l.Var, around)
	}
	for _, p := range path(f.Body, around) {
		if p.Kind == ir.Vectorize {
			return refuse("rfactor before vectorize", "loop %%%s is vectorize, and lanes cannot have a buffer each", p.Var)
		}
	}
	for _, a := range as {
		if a.store == nil || a.store.Op != ir.AddTo {
			what := "reads it"
			if a.store != nil {
				what = "has " + storeText([]access{a})
			}
			return refuse("distribute it with reorder or decompose_reduction", "loop %%%s does more than add to %%%s: it %s", l.Var, of.Name, what)
		}
		if anyOf(a.idx, func(e ir.Expr) bool { return uses(e, func(v string) bool { return v == l.Var }) }) {
			return refuse("choose a loop that does not", "loop %%%s indexes %%%s: each of its iterations has sums of its own already", l.Var, of.Name)
		}
	}
	guarded := false
	walkGuarded(nest, false, func(s ir.Stmt, under bool) {
		st, ok := s.(*ir.Store)
		guarded = guarded || ok && under && st.Buf == of.Name
	})
	if guarded {
		return refuse("split with tail=cut or tail=shift instead of tail=guard", "%%%s is added to under a condition", of.Name)
	}
	return nil
}

// coveredBy reports whether some store in body, which is relocated, runs over all of the region.
func (c *local) coveredBy(body ir.Stmt) bool {
	found := false
	ir.Walk(body, func(s ir.Stmt) bool {
		if st, ok := s.(*ir.Store); ok && st.Buf == c.buf.Name {
			found = found || c.covered(st.Idx)
		}
		return true
	})
	return found
}
