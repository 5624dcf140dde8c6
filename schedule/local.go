package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// local is an alloc inside a loop that stands for the region of a buffer which one iteration
// touches.
type local struct {
	f      *ir.Func
	sc     deps.Scope
	loop   *ir.For
	of     ir.Buffer // the buffer
	buf    ir.Buffer // the alloc
	region []extent
	names  used
	// put, if not nil, puts the new body between the loop's other statements.
	put func(ir.Stmt) ir.Stmt
}

// newLocal plans a local copy of a buffer in a loop. The alloc's name is the user's or, if empty,
// fallback.
func newLocal(f *ir.Func, op, buffer, loop, name, fallback string) *local {
	c := &local{f: f, sc: deps.ScopeOf(f.Body), loop: findLoop(f, loop), of: findBuffer(f, buffer), names: namesOf(f)}
	noLanes(f, loop, op)
	if len(deps.Accesses(c.loop.Body)[buffer]) == 0 {
		refuse("", "nothing in loop %%%s uses %%%s from outside of it", loop, buffer)
	}
	c.open(op, cmp.Or(name, fallback))
	return c
}

// newNested plans a local buffer for the statement of loop around that holds loop inner, which is
// called kind in messages. The local's loop has that statement alone.
func newNested(f *ir.Func, buffer, inner, around, kind string) *local {
	findLoop(f, inner)
	outer, of := findLoop(f, around), findBuffer(f, buffer)
	nest, put := holding(outer.Body, inner)
	if nest == nil {
		refuse(fmt.Sprintf("name the %s loop, then a loop around it", kind), "loop %%%s does not stand in loop %%%s",
			inner, around)
	}
	return &local{f: f, sc: deps.ScopeOf(f.Body), loop: outer.WithBody(nest), of: of, names: namesOf(f), put: put}
}

// open gives the alloc its name, and the shape of the region that an iteration touches.
func (c *local) open(op, name string) {
	c.names.take(name)
	c.region = regionOf(c.sc, c.loop, c.of, deps.Accesses(c.loop.Body)[c.of.Name], op)
	c.buf = ir.Buffer{Name: name, Type: c.of.Type}
	for _, e := range c.region {
		c.buf.Shape = append(c.buf.Shape, e.size)
	}
}

// extend returns idx with one more index.
func extend(idx []ir.Expr, last ir.Expr) []ir.Expr { return append(slices.Clone(idx), last) }

// body is the loop's body with the accesses of the buffer turned into accesses of the alloc.
func (c *local) body() ir.Stmt { return relocate(c.loop.Body, c.of.Name, c.buf.Name, c.region) }

// each runs stmt for every element of the region: inner is its index in the alloc, outer in the
// buffer. Where the region may leave the buffer, that is under a condition. Its loops are the
// alloc's name, suffix and the dimension; dimensions of one element have none.
func (c *local) each(suffix string, stmt func(inner, outer []ir.Expr) ir.Stmt) ir.Stmt {
	var loops []ir.Loop
	var inner, outer []ir.Expr
	var cond []ir.Expr
	r := c.sc.Ranges
	for d, e := range c.region {
		var v ir.Expr = ir.Int(0)
		if e.size > 1 {
			name := fmt.Sprintf("%s.%s%d", c.buf.Name, suffix, d)
			c.names.take(name)
			loops = append(loops, ir.Loop{Var: name, Extent: e.size, Axis: c.axis(d)})
			v, r = ir.V(name), r.With(name, e.size)
		}
		inner = append(inner, v)
		at := v
		if !e.whole {
			at = e.base.Plus(1, arith.ToAffine(v)).Expr()
		}
		outer = append(outer, at)
		iv, known := arith.Bounds(at, r)
		if !known || iv.Lo < 0 {
			cond = append(cond, ir.Bin(ir.Ge, at, ir.Int(0)))
		}
		if !known || iv.Hi >= int64(c.of.Shape[d]) {
			cond = append(cond, ir.Bin(ir.Lt, at, ir.Int(c.of.Shape[d])))
		}
	}
	s := stmt(inner, outer)
	for _, k := range cond {
		s = &ir.If{Cond: k, Then: s}
	}
	return ir.Nest(loops, s)
}

// copyIn copies the region from the buffer to the alloc.
func (c *local) copyIn() ir.Stmt {
	return c.each("r", func(inner, outer []ir.Expr) ir.Stmt {
		return &ir.Store{Buf: c.buf.Name, Idx: inner, Val: ir.At(c.of, outer...)}
	})
}

// axis is that of a loop in which the index in dimension d is chosen.
func (c *local) axis(d int) ir.Axis {
	axis := ir.NoAxis
	chosen := func(idx []ir.Expr) {
		for _, t := range arith.ToAffine(idx[d]).Terms {
			if v, ok := t.Atom.(*ir.Var); ok && axis == ir.NoAxis {
				if l := ir.FindLoop(c.loop.Body, v.Name); l != nil {
					axis = l.Axis
				}
			}
		}
	}
	for s := range ir.Stmts(c.loop.Body) {
		if st, ok := s.(*ir.Store); ok && st.Buf == c.of.Name {
			chosen(st.Idx)
		}
		for e := range ir.Exprs(s) {
			for l := range ir.ExprsOf[*ir.Load](e) {
				if l.Buf == c.of.Name {
					chosen(l.Idx)
				}
			}
		}
	}
	return axis
}

// wrap puts the alloc, with statements ss in its scope, into the loop.
func (c *local) wrap(ss ...ir.Stmt) *ir.Func {
	l := c.loop.WithBody(&ir.Alloc{Buf: c.buf, Body: ir.Seq(ss...)})
	if c.put != nil {
		l.Body = c.put(l.Body)
	}
	g := replaceLoop(c.f, l.Var, l)
	g = replaceLoop(g, l.Var, tidy(l, deps.ScopeOf(g.Body).Ranges, guards(g.Body, l.Var)))
	return g
}

// covered reports whether the indices of a store in the loop, relocated, run over all of the
// region, each element once: each dimension by loops of its own inside the loop, one or the digits
// of its index.
func (c *local) covered(idx []ir.Expr) bool { return c.runsOver(idx, false) }

// runsOver is covered; with again, elements may be met more than once, as those of windows are that
// overlap.
func (c *local) runsOver(idx []ir.Expr, again bool) bool {
	seen := map[string]bool{}
	for d, e := range idx {
		sum := arith.ToAffine(e)
		first, n := sum.Const, int64(1) // the smaller digits run over n elements
		terms := slices.SortedStableFunc(slices.Values(sum.Terms), func(s, t arith.Term) int {
			return cmp.Compare(s.Coef, t.Coef)
		})
		for _, t := range terms {
			if iv, ok := arith.Bounds(t.Atom, c.sc.Ranges); ok && iv.Lo == iv.Hi && !deps.Large(iv.Lo) {
				first += t.Coef * iv.Lo
				continue
			}
			v, ok := t.Atom.(*ir.Var)
			if !ok || seen[v.Name] || t.Coef > n || t.Coef <= 0 || !again && t.Coef != n {
				return false
			}
			seen[v.Name] = true
			l := ir.FindLoop(c.loop.Body, v.Name)
			if l == nil {
				return false
			}
			n += t.Coef * int64(l.Extent-1)
		}
		if first != 0 || n != int64(c.region[d].size) {
			return false
		}
	}
	return true
}

// readWhole reports whether each iteration of the loop reads all of the region, whatever holds.
func (c *local) readWhole() bool {
	found := false
	ir.Walk(c.body(), func(s ir.Stmt) bool {
		switch x := s.(type) {
		case *ir.If:
			return false
		case *ir.Store:
			found = found || len(c.wholeReads(x.Val)) > 0
		}
		return !found
	})
	return found
}

// wholeReads are the loads in e that read all of the region and are made whatever holds: of a
// choice, those that both values make.
func (c *local) wholeReads(e ir.Expr) []string {
	var out []string
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch x := e.(type) {
		case *ir.Select:
			out = append(out, c.wholeReads(x.Cond)...)
			other := c.wholeReads(x.B)
			for _, l := range c.wholeReads(x.A) {
				if slices.Contains(other, l) {
					out = append(out, l)
				}
			}
			return false
		case *ir.Load:
			if x.Buf == c.buf.Name && c.runsOver(x.Idx, true) {
				out = append(out, ir.ExprString(x))
			}
		}
		return true
	})
	return out
}
