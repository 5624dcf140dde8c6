package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ripc/internal/lists"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// computeAt moves the producer of an alloc'd buffer into a loop of its consumer and shrinks the
// buffer to the part that one iteration of the loop reads. Other systems: Halide and TVM
// compute_at, Exo fuse with stage_mem.
//
//	alloc %t: i32[56, 128]
//	for %t.w in 0:56 { for %t.o in 0:128 { %t[%t.w, %t.o] = ... %t.w ... } }
//	for %w.o in 0:8 { for %w.i in 0:7 { ... %t[%w.o * 7 + %w.i, %o] ... } }
//	=> compute_at t w.o
//	for %w.o in 0:8 {
//	  alloc %t: i32[7, 128]
//	  for %t.w in 0:7 { for %t.o in 0:128 { %t[%t.w, %t.o] = ... %w.o * 7 + %t.w ... } }
//	  for %w.i in 0:7 { ... %t[%w.i, %o] ... }
//	}
//
// The region is the smallest index and a constant extent in each dimension, and the whole dimension
// where they are not known. Where it may leave the buffer as it was, the producer runs under a
// condition. Loops of the producer that index the buffer and have one iteration left are dropped;
// reduction loops stay. A dimension may be filled by two loops, as words and their parts are, where
// the region is whole words. A nest outside the loop that reads the buffer and itself only fills
// another alloc is moved to the loop first, so that producers may be placed in any order. A buffer
// that is at the loop already stays as it is.
//
// It is refused if the buffer is no alloc, or if the loop is outside its scope, vectorize or in its
// own producer. It is refused if something else outside the loop reads the buffer, or if a nest
// that fills it writes something else or reads a buffer written in between. If iterations read
// different parts of a dimension, the producer must index it by plain loops. The help lists the
// loops that are legal.
func computeAt(f *ir.Func, buffer, loop string) *ir.Func {
	var g *ir.Func
	err := ir.Try(func() { g = placeAt(f, buffer, loop) })
	if err == nil {
		return g
	}
	e := asError(err)
	if e.Help != "" {
		panic(e)
	}
	var legal []string
	for _, l := range loopNames(f.Body) {
		if ir.Try(func() { formed(f, placeAt(f, buffer, l), "") }) == nil {
			legal = append(legal, l)
		}
	}
	help := fmt.Sprintf("no loop is legal for %%%s as the func stands", buffer)
	if len(legal) > 0 {
		help = fmt.Sprintf("legal for %%%s: %s", buffer, strings.Join(legal, " "))
	}
	panic(&ir.Error{Msg: e.Msg, Help: help})
}

// placeAt is computeAt without the help.
func placeAt(f *ir.Func, buffer, loop string) *ir.Func {
	if isAt(f, buffer, loop) {
		return f
	}
	m := findMove(f, buffer, loop)
	if m.pull != "" { // a consumer of buffer outside the loop comes first
		if err := ir.Try(func() { f = placeAt(f, m.pull, loop) }); err != nil {
			refuse("", "%%%s is read outside loop %%%s, where %%%s is computed, and that cannot move: %s", buffer, loop,
				m.pull, asError(err).Msg)
		}
		return placeAt(f, buffer, loop)
	}
	b := m.alloc.Buf
	m.region = regionOf(m.sc, m.loop, b, deps.Accesses(m.loop.Body)[b.Name], "compute_at")
	m.matchProducers()
	return m.apply()
}

// isAt reports whether loop is the innermost one around the alloc of buffer.
func isAt(f *ir.Func, buffer, loop string) bool {
	l := ir.FindLoop(f.Body, loop)
	if l == nil {
		return false
	}
	at := false
	ir.Walk(l.Body, func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Alloc); ok && a.Buf.Name == buffer {
			at = true
		}
		_, deeper := s.(*ir.For)
		return !deeper
	})
	return at
}

// move is a compute_at under way.
type move struct {
	f         *ir.Func
	sc        deps.Scope
	alloc     *ir.Alloc
	loop      *ir.For
	producers []ir.Stmt
	pull      string // a buffer to move first
	region    []extent
	axes      map[string]axis // loops of the producers that run over a shrunk dimension
}

// findMove finds the statements to move, and refuses illegal moves.
func findMove(f *ir.Func, buffer, loop string) *move {
	l := findLoop(f, loop)
	m := &move{f: f, sc: deps.ScopeOf(f.Body), alloc: findAlloc(f, buffer), loop: l}
	refuse := func(format string, args ...any) { refuse("", format, args...) }
	if ir.FindLoop(m.alloc.Body, loop) == nil {
		refuse("loop %%%s is outside the scope of %%%s", loop, buffer)
	}
	noLanes(f, loop, "compute_at")

	items := sequence(m.alloc.Body)
	touches := make([]map[string][]deps.Access, len(items)) // of each
	for i, s := range items {
		touches[i] = deps.Accesses(s)
	}
	target := -1
	first := -1 // producer
	for i, s := range items {
		isTarget, touched := ir.FindLoop(s, loop) != nil, touches[i]
		switch {
		case isTarget && deps.Written(touched[buffer]):
			refuse("loop %%%s lies in a nest that writes %%%s", loop, buffer)
		case isTarget:
			target = i
		case !deps.Written(touched[buffer]):
		case target >= 0:
			refuse("%%%s is written again after loop %%%s", buffer, loop)
		default:
			if first < 0 {
				first = i
			}
			m.producers = append(m.producers, s)
			if c := otherWrite(touched, buffer); c != "" {
				refuse("the nest that writes %%%s also writes %%%s", buffer, c)
			}
		}
	}
	if first < 0 {
		refuse("nothing writes %%%s before loop %%%s", buffer, loop)
	}
	inside := len(deps.Accesses(l.Body)[buffer])
	if len(touches[target][buffer]) != inside {
		refuse("%%%s is read outside loop %%%s", buffer, loop)
	}
	for i, touched := range touches {
		if i == target || len(touched[buffer]) == 0 || deps.Written(touched[buffer]) {
			continue
		}
		c := otherWrite(touched, buffer)
		if a := ir.FindAlloc(f.Body, c); a == nil || i > target || otherWrite(touched, c) != "" {
			refuse("%%%s is read outside loop %%%s, where %%%s is written", buffer, loop, c)
		}
		m.pull = c
		return m
	}
	if inside == 0 {
		refuse("nothing in loop %%%s reads %%%s", loop, buffer)
	}
	for _, r := range slices.Sorted(maps.Keys(deps.Accesses(m.producers...))) {
		if a := ir.FindAlloc(f.Body, r); a != nil && ir.FindLoop(a.Body, loop) == nil {
			refuse("the nest that writes %%%s reads %%%s, but loop %%%s is outside of its scope", buffer, r,
				loop)
		}
	}
	m.checkOrder(touches[first:])
	return m
}

// checkOrder refuses to move a producer behind a statement that writes its operands. touches lists
// the accesses of each statement, in order.
func (m *move) checkOrder(touches []map[string][]deps.Access) {
	b := m.alloc.Buf.Name
	reads := map[string]bool{}
	for _, touched := range touches {
		if deps.Written(touched[b]) {
			for r := range touched {
				reads[r] = true
			}
			continue
		}
		for _, w := range slices.Sorted(maps.Keys(touched)) {
			if w != b && deps.Written(touched[w]) && reads[w] {
				refuse("", "%%%s, which is needed for %%%s, is written in between", w, b)
			}
		}
	}
}

// otherWrite is a buffer other than b that is written, or "".
func otherWrite(touched map[string][]deps.Access, b string) string {
	for _, c := range slices.Sorted(maps.Keys(touched)) {
		if c != b && deps.Written(touched[c]) {
			return c
		}
	}
	return ""
}

// sequence lists the statements of a scope in order; those in the scope of nested allocs are part
// of it.
func sequence(s ir.Stmt) []ir.Stmt {
	var out []ir.Stmt
	for _, t := range stmts(s) {
		if a, ok := t.(*ir.Alloc); ok {
			out = append(out, sequence(a.Body)...)
		} else {
			out = append(out, t)
		}
	}
	return out
}

// axis is a producer's loop over dimension dim: the index is loop * unit + offset, and within a
// unit that of another loop, which goes over all of it.
type axis struct {
	dim    int
	offset int64
	extent int
	unit   int
}

// matchProducers finds the loops that run over each dimension that shrinks.
func (m *move) matchProducers() {
	b := m.alloc.Buf
	m.axes = map[string]axis{}
	for _, p := range m.producers {
		for _, a := range deps.Accesses(p)[b.Name] {
			if a.Size != nil {
				refuse("compute_at before tensorize", "%%%s is an operand of a call", b.Name)
			}
			for d := range b.Shape {
				m.matchIndex(p, d, a.Idx[d])
			}
		}
		for _, x := range slices.Sorted(maps.Keys(m.axes)) {
			if l := ir.FindLoop(p, x); l != nil {
				m.checkAxis(l)
			}
		}
	}
	for x, ax := range m.axes { // a constant index found later makes a dimension whole
		if m.region[ax.dim].whole {
			delete(m.axes, x)
		}
	}
}

func (m *move) matchIndex(producer ir.Stmt, d int, idx ir.Expr) {
	if m.region[d].whole {
		return
	}
	a := arith.ToAffine(idx)
	if len(a.Terms) == 0 {
		m.region[d] = extent{whole: true, size: m.alloc.Buf.Shape[d]}
		return
	}
	v, isVar := a.Terms[0].Atom.(*ir.Var)
	var l *ir.For
	if isVar && len(a.Terms) == 1 && a.Terms[0].Coef == 1 {
		l = ir.FindLoop(producer, v.Name)
	}
	if m.matchUnits(producer, d, a) {
		return
	}
	if l == nil && len(m.region[d].base.Terms) == 0 { // each iteration reads the same part: the rest may stay
		m.region[d] = extent{whole: true, size: m.alloc.Buf.Shape[d]}
		return
	}
	if l == nil {
		refuse("",
			"dimension %d of %%%s would shrink, but it is written at %s, not by a plain loop; compute_at before "+
				"splitting the producer", d, m.alloc.Buf.Name, ir.ExprString(idx))
	}
	ax := axis{d, a.Const, l.Extent, 1}
	if old, seen := m.axes[l.Var]; seen && old != ax {
		refuse("", "loop %%%s indexes %%%s in two ways", l.Var, m.alloc.Buf.Name)
	}
	m.axes[l.Var] = ax
}

// matchUnits finds the loop over units of a dimension that is written at loop * unit + other, where
// the other loop goes over a unit, and the region is whole units.
func (m *move) matchUnits(producer ir.Stmt, d int, idx arith.Affine) bool {
	if len(idx.Terms) != 2 || idx.Const != 0 {
		return false
	}
	var loops [2]*ir.For
	for i, t := range idx.Terms {
		if v, ok := t.Atom.(*ir.Var); ok {
			loops[i] = ir.FindLoop(producer, v.Name)
		}
	}
	over, in := 0, 1
	if idx.Terms[0].Coef == 1 {
		over, in = 1, 0
	}
	unit := idx.Terms[over].Coef
	if loops[0] == nil || loops[1] == nil || idx.Terms[in].Coef != 1 || unit != int64(loops[in].Extent) {
		return false
	}
	e := m.region[d]
	if !multiple(e.base, unit) || int64(e.size)%unit != 0 {
		return false
	}
	ax := axis{d, 0, loops[over].Extent, int(unit)}
	if old, seen := m.axes[loops[over].Var]; seen && old != ax {
		return false
	}
	m.axes[loops[over].Var] = ax
	return true
}

// multiple reports whether a is a multiple of n whatever its terms are.
func multiple(a arith.Affine, n int64) bool {
	return a.Const%n == 0 && !slices.ContainsFunc(a.Terms, func(t arith.Term) bool { return t.Coef%n != 0 })
}

// checkAxis refuses if an iteration of loop l reads elements of the buffer that belong to other
// iterations.
func (m *move) checkAxis(l *ir.For) {
	if l.Kind == ir.Parallel {
		refuse("", "loop %%%s is parallel", l.Var)
	}
	d := m.axes[l.Var].dim
	for _, n := range loopNames(l.Body) {
		if ax, ok := m.axes[n]; ok && ax.dim == d {
			refuse("", "an element of %%%s needs others: loops %%%s and %%%s both run over dimension %d",
				m.alloc.Buf.Name, l.Var, n, d)
		}
	}
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
	filled := lists.Map(m.producers, func(p ir.Stmt) ir.Stmt { return m.dropUnit(m.relocate(m.shrink(p))) })
	in := insertBefore(m.relocate(m.loop.Body), buf, filled)
	l := m.loop.WithBody(in)

	rest := replace(removeStmts(m.alloc.Body, m.producers), l.Var, l)
	g := m.f.WithBody(replaceAlloc(m.f.Body, buf.Name, rest))
	return replaceLoop(g, l.Var, tidy(l, deps.ScopeOf(g.Body).Ranges, guards(g.Body, l.Var)))
}

// shrink lets the loops of a producer run over the region only: loop := (base - offset) / unit +
// loop.
func (m *move) shrink(p ir.Stmt) ir.Stmt {
	values := map[string]ir.Expr{}
	for v, ax := range m.axes {
		base := m.region[ax.dim].base.Plus(1, arith.Affine{Const: -ax.offset})
		values[v] = divide(base, int64(ax.unit)).Plus(1,
			arith.Affine{Terms: []arith.Term{{Coef: 1, Atom: ir.V(v)}}}).Expr()
	}
	ranges := arith.Ranges{}
	for k, iv := range m.sc.Ranges {
		ranges[k] = iv
	}
	for v, ax := range m.axes {
		ranges[v] = arith.Interval{Lo: 0, Hi: int64(m.region[ax.dim].size/ax.unit) - 1}
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
		return &ir.For{Var: l.Var, Extent: m.region[ax.dim].size / ax.unit, Kind: l.Kind, Axis: l.Axis, Body: body}
	}, nil)
}

// divide returns a / n; a is a multiple of n.
func divide(a arith.Affine, n int64) arith.Affine {
	out := arith.Affine{Const: a.Const / n}
	for _, t := range a.Terms {
		out.Terms = append(out.Terms, arith.Term{Coef: t.Coef / n, Atom: t.Atom})
	}
	return out
}

// relocate makes the indices of the buffer count from the region's base.
func (m *move) relocate(s ir.Stmt) ir.Stmt {
	return relocate(s, m.alloc.Buf.Name, m.alloc.Buf.Name, m.region)
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

// insertBefore opens the buffer's scope in body right before the first statement that reads it,
// inside of an alloc's scope if nothing behind that reads it.
func insertBefore(body ir.Stmt, buf ir.Buffer, filled []ir.Stmt) ir.Stmt {
	ss := stmts(body)
	for i, s := range ss {
		if len(deps.Accesses(s)[buf.Name]) == 0 {
			continue
		}
		var in ir.Stmt
		if a, ok := s.(*ir.Alloc); ok && len(deps.Accesses(ss[i+1:]...)[buf.Name]) == 0 {
			in = ir.Seq(append([]ir.Stmt{&ir.Alloc{Buf: a.Buf, Body: insertBefore(a.Body, buf, filled)}},
				ss[i+1:]...)...)
		} else {
			in = &ir.Alloc{Buf: buf, Body: ir.Seq(append(append([]ir.Stmt{}, filled...), ss[i:]...)...)}
		}
		return ir.Seq(append(append([]ir.Stmt{}, ss[:i]...), in)...)
	}
	return body
}
