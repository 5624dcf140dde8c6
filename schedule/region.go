package schedule

import (
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// extent is what one iteration of a loop needs of a dimension: size elements from base, or all of it.
type extent struct {
	whole bool
	base  arith.Affine
	size  int
}

// axis is a producer's loop over dimension dim: the index is loop + offset.
type axis struct {
	dim    int
	offset int64
	extent int
}

// findRegion computes what m.loop's body reads of the buffer.
func (m *move) findRegion() error {
	var err error
	m.region, err = regionOf(m.sc, m.loop, m.alloc.Buf, deps.Accesses(m.loop.Body)[m.alloc.Buf.Name], "compute_at")
	return err
}

// regionOf is what one iteration of loop l touches of buffer b by the accesses as: the smallest index and a constant
// extent in each dimension, or the whole dimension where they are not known.
func regionOf(sc deps.Scope, l *ir.For, b ir.Buffer, as []deps.Access, op string) ([]extent, error) {
	still := deps.With(sc.Outer[l.Var], l.Var)
	if hasCall(as) {
		return nil, &ir.Error{Msg: fmt.Sprintf("%%%s is an operand of a call", b.Name), Help: op + " before tensorize"}
	}
	var region []extent
	for d, size := range b.Shape {
		e := extent{whole: true, size: size}
		for i, a := range as {
			fixed, moving := deps.Split(a.Idx[d], still)
			span, ok := moving.Bounds(sc.Ranges)
			if !ok || deps.Large(span.Lo) || deps.Large(span.Hi) {
				e = extent{whole: true, size: size}
				break
			}
			lo, n := span.Lo, span.Hi-span.Lo+1
			if i > 0 {
				if e.whole || affineKey(arith.Affine{Terms: e.base.Terms}) != affineKey(fixed) {
					e = extent{whole: true, size: size}
					break
				}
				lo = min(span.Lo, e.base.Const)
				n = max(span.Hi, e.base.Const+int64(e.size)-1) - lo + 1
			}
			e = extent{base: arith.Affine{Const: lo, Terms: fixed.Terms}, size: int(n), whole: n >= int64(size)}
			if e.whole {
				e.size = size
				break
			}
		}
		region = append(region, e)
	}
	return region, nil
}

// matchProducers finds the loops that run over each dimension that shrinks.
func (m *move) matchProducers() error {
	b := m.alloc.Buf
	m.axes = map[string]axis{}
	for _, p := range m.producers {
		for _, a := range deps.Accesses(p)[b.Name] {
			if a.Size != nil {
				return &ir.Error{Msg: fmt.Sprintf("%%%s is an operand of a call", b.Name), Help: "compute_at before tensorize"}
			}
			for d := range b.Shape {
				if err := m.matchIndex(p, d, a.Idx[d]); err != nil {
					return err
				}
			}
		}
		for _, x := range slices.Sorted(maps.Keys(m.axes)) {
			if l := ir.FindLoop(p, x); l != nil {
				if err := m.checkAxis(l); err != nil {
					return err
				}
			}
		}
	}
	for x, ax := range m.axes { // a constant index found later makes a dimension whole
		if m.region[ax.dim].whole {
			delete(m.axes, x)
		}
	}
	return nil
}

func (m *move) matchIndex(producer ir.Stmt, d int, idx ir.Expr) error {
	if m.region[d].whole {
		return nil
	}
	a := arith.ToAffine(idx)
	if len(a.Terms) == 0 {
		m.region[d] = extent{whole: true, size: m.alloc.Buf.Shape[d]}
		return nil
	}
	v, isVar := a.Terms[0].Atom.(*ir.Var)
	var l *ir.For
	if isVar && len(a.Terms) == 1 && a.Terms[0].Coef == 1 {
		l = ir.FindLoop(producer, v.Name)
	}
	if l == nil {
		return &ir.Error{Msg: fmt.Sprintf("dimension %d of %%%s would shrink, but it is written at %s, not by a plain loop; compute_at before splitting the producer",
			d, m.alloc.Buf.Name, ir.ExprString(idx))}
	}
	ax := axis{d, a.Const, l.Extent}
	if old, seen := m.axes[l.Var]; seen && old != ax {
		return &ir.Error{Msg: fmt.Sprintf("loop %%%s indexes %%%s in two ways", l.Var, m.alloc.Buf.Name)}
	}
	m.axes[l.Var] = ax
	return nil
}

// checkAxis refuses if an iteration of loop l reads elements of the buffer that belong to other iterations.
func (m *move) checkAxis(l *ir.For) error {
	if l.Kind == ir.Parallel {
		return &ir.Error{Msg: fmt.Sprintf("loop %%%s is parallel", l.Var)}
	}
	d := m.axes[l.Var].dim
	for _, n := range loopNames(l.Body) {
		if ax, ok := m.axes[n]; ok && ax.dim == d {
			return &ir.Error{Msg: fmt.Sprintf("an element of %%%s needs others: loops %%%s and %%%s both run over dimension %d", m.alloc.Buf.Name, l.Var, n, d)}
		}
	}
	return nil
}

// apply rewrites the func.
func (m *move) apply() *ir.Func {
	buf := m.alloc.Buf
	buf.Shape = make([]int, len(m.region))
	for d, e := range m.region {
		buf.Shape[d] = e.size
		if !e.whole && (d == 0 || d == len(m.region)-1) {
			buf.Enc = ir.Encoding{}
		}
	}
	filled := make([]ir.Stmt, len(m.producers))
	for i, p := range m.producers {
		filled[i] = m.dropUnit(m.relocate(m.shrink(p)))
	}
	in := insertBefore(m.relocate(m.loop.Body), buf, filled)
	l := m.loop.WithBody(in)

	rest := replace(without(m.alloc.Body, m.producers), l.Var, l)
	g := m.f.WithBody(ir.MapStmt(m.f.Body, func(s ir.Stmt) ir.Stmt {
		if a, ok := s.(*ir.Alloc); ok && a.Buf.Name == buf.Name {
			return rest
		}
		return s
	}, nil))
	return replaceLoop(g, l.Var, tidy(l, deps.ScopeOf(g.Body).Ranges, guards(g.Body, l.Var)))
}

// shrink lets the loops of a producer run over the region only: loop := base - offset + loop.
func (m *move) shrink(p ir.Stmt) ir.Stmt {
	values := map[string]ir.Expr{}
	for v, ax := range m.axes {
		e := m.region[ax.dim]
		a := e.base.Plus(1, arith.Affine{Const: -ax.offset, Terms: []arith.Term{{Coef: 1, Atom: ir.V(v)}}})
		values[v] = a.Expr()
	}
	ranges := arith.Ranges{}
	for k, iv := range m.sc.Ranges {
		ranges[k] = iv
	}
	for v, ax := range m.axes {
		ranges[v] = arith.Interval{Lo: 0, Hi: int64(m.region[ax.dim].size) - 1}
	}
	return ir.MapStmt(ir.SubstStmt(p, values), func(s ir.Stmt) ir.Stmt {
		l, ok := s.(*ir.For)
		if !ok {
			return s
		}
		ax, ok := m.axes[l.Var]
		if !ok {
			return s
		}
		body := l.Body
		iv, known := arith.Bounds(values[l.Var], ranges)
		if !known || iv.Hi >= int64(ax.extent) {
			body = &ir.If{Cond: ir.Bin(ir.Lt, values[l.Var], ir.Int(ax.extent)), Then: body}
		}
		if !known || iv.Lo < 0 {
			body = &ir.If{Cond: ir.Bin(ir.Ge, values[l.Var], ir.Int(0)), Then: body}
		}
		return &ir.For{Var: l.Var, Extent: m.region[ax.dim].size, Kind: l.Kind, Axis: l.Axis, Body: body}
	}, nil)
}

// relocate makes the indices of the buffer count from the region's base.
func (m *move) relocate(s ir.Stmt) ir.Stmt {
	return relocate(s, m.alloc.Buf.Name, m.alloc.Buf.Name, m.region)
}

// relocate turns the accesses of buffer from below s into accesses of buffer to, which holds a region of it.
func relocate(s ir.Stmt, from, to string, region []extent) ir.Stmt {
	idx := func(old []ir.Expr) []ir.Expr {
		out := make([]ir.Expr, len(old))
		for d, e := range old {
			out[d] = e
			if r := region[d]; !r.whole {
				out[d] = arith.ToAffine(e).Plus(-1, r.base).Expr()
			}
		}
		return out
	}
	return ir.MapStmt(s, func(s ir.Stmt) ir.Stmt {
		if st, ok := s.(*ir.Store); ok && st.Buf == from {
			return &ir.Store{Buf: to, Idx: idx(st.Idx), Op: st.Op, Val: st.Val}
		}
		return s
	}, func(e ir.Expr) ir.Expr {
		return ir.MapExpr(e, func(e ir.Expr) ir.Expr {
			if l, ok := e.(*ir.Load); ok && l.Buf == from {
				return &ir.Load{Buf: to, T: l.T, Idx: idx(l.Idx)}
			}
			return e
		})
	})
}

// dropUnit removes the loops of a producer that index the buffer and run once.
func (m *move) dropUnit(p ir.Stmt) ir.Stmt {
	indexing := map[string]bool{}
	for _, a := range deps.Accesses(p)[m.alloc.Buf.Name] {
		for _, e := range a.Idx {
			uses(e, func(n string) bool { indexing[n] = true; return false })
		}
	}
	return ir.MapStmt(p, func(s ir.Stmt) ir.Stmt {
		if l, ok := s.(*ir.For); ok && l.Extent == 1 && indexing[l.Var] {
			return ir.SubstStmt(l.Body, map[string]ir.Expr{l.Var: ir.Int(0)})
		}
		return s
	}, nil)
}

// insertBefore opens the buffer's scope in body right before the first statement that reads it.
func insertBefore(body ir.Stmt, buf ir.Buffer, filled []ir.Stmt) ir.Stmt {
	ss := stmts(body)
	for i, s := range ss {
		if len(deps.Accesses(s)[buf.Name]) == 0 {
			continue
		}
		var in ir.Stmt
		if a, ok := s.(*ir.Alloc); ok {
			in = ir.Seq(append([]ir.Stmt{&ir.Alloc{Buf: a.Buf, Body: insertBefore(a.Body, buf, filled)}}, ss[i+1:]...)...)
		} else {
			in = &ir.Alloc{Buf: buf, Body: ir.Seq(append(append([]ir.Stmt{}, filled...), ss[i:]...)...)}
		}
		return ir.Seq(append(append([]ir.Stmt{}, ss[:i]...), in)...)
	}
	return body
}

// without removes statements from the sequence of a scope.
func without(s ir.Stmt, drop []ir.Stmt) ir.Stmt {
	switch x := s.(type) {
	case *ir.Alloc:
		return &ir.Alloc{Buf: x.Buf, Body: without(x.Body, drop)}
	case *ir.Block:
		var out []ir.Stmt
		for _, t := range x.Stmts {
			out = append(out, without(t, drop))
		}
		return ir.Seq(out...)
	}
	for _, d := range drop {
		if s == d {
			return &ir.Block{}
		}
	}
	return s
}
