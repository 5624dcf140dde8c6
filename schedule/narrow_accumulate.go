package schedule

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"ripc/internal/lists"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// narrowAccumulate sums in a narrow type inside a loop and adds the sums to the wide accumulator
// once an iteration, so that more of them fit in a vector. Other systems: none; written by hand in
// XNNPACK, Ruy and gemmlowp.
//
//	for %k in 0:9 { for %c in 0:4 { for %o in 0:32 { %acc[%o] += cast<i32>(popcount(%x[%k, %c] ^ %w[%k, %c, %o])) } } }
//	=> narrow_accumulate acc k u8
//	for %k in 0:9 {
//	  alloc %acc.u8: u8[32]
//	  for %acc.u8.z0 in 0:32 { %acc.u8[%acc.u8.z0] = 0u8 }
//	  for %c in 0:4 { for %o in 0:32 { %acc.u8[%o] += cast<u8>(popcount(%x[%k, %c] ^ %w[%k, %c, %o])) } }
//	  for %acc.u8.w0 in 0:32 { %acc[%acc.u8.w0] += cast<i32>(%acc.u8[%acc.u8.w0]) }
//	}
//
// With apart=N sums lie apart in blocks of N along the last dimension: those of a block's first
// half at even places, of its second half at odd ones. Even and odd lanes of a vector then widen to
// neighbours without a shuffle.
//
//	=> narrow_accumulate acc k u8 apart=32
//	  ... %acc.u8[%o % 16 * 2 + %o / 16] += ...
//
// A type of the same width gives each iteration sums of its own, for registers.
//
// An empty name gives acc.u8 (buffer and type). It is refused unless the loop uses the buffer only
// for "+=" of integers outside of ifs, and one such store runs over its whole region. It is refused
// if the type is wider than the buffer's, and if blocks of N do not divide the last dimension into
// halves. Interval analysis must prove that every summand and every sum of one iteration fits; else
// the help names a loop and the number of its iterations that fit.
func narrowAccumulate(f *ir.Func, buffer, loop string, t ir.Type, apart int, name string) *ir.Func {
	c := newLocal(f, "narrow_accumulate", buffer, loop, name, buffer+"."+t.String())
	if !t.IsInt() || !c.of.Type.IsInt() || t.Bits() > c.of.Type.Bits() {
		refuse("", "%s is not an integer type that is no wider than %s of %%%s", t, c.of.Type, buffer)
	}
	c.buf.Type = t
	c.onlySums()
	body := c.narrowBody(t)
	place := func(idx []ir.Expr) []ir.Expr { return idx }
	if apart != 0 {
		if n := len(c.buf.Shape) - 1; n < 0 || apart < 2 || apart%2 != 0 || c.buf.Shape[n]%apart != 0 {
			refuse("", "blocks of %d do not divide %s into halves", apart, ir.BufferString(c.buf))
		}
		place = c.interleave(apart)
		body = c.moveElements(body, place)
	}
	zero := c.each("z", func(inner, _ []ir.Expr) ir.Stmt {
		return &ir.Store{Buf: c.buf.Name, Idx: inner, Val: ir.Const(t, 0)}
	})
	widen := c.each("w", func(inner, outer []ir.Expr) ir.Stmt {
		return &ir.Store{Buf: buffer, Idx: outer, Op: ir.AddTo,
			Val: ir.CastTo(c.of.Type, ir.At(c.buf, place(inner)...))}
	})
	c.mustFit(zero, body, func(l string) string {
		if apart != 0 {
			return fmt.Sprintf("narrow_accumulate %s %s %s apart=%d", buffer, l, t, apart)
		}
		return fmt.Sprintf("narrow_accumulate %s %s %s", buffer, l, t)
	})
	return c.wrap(zero, body, widen)
}

// interleave returns the place of an element of the alloc: blocks of `apart` elements have their
// halves at even and at odd places.
func (c *local) interleave(apart int) func(idx []ir.Expr) []ir.Expr {
	r := deps.ScopeOf(c.loop).Ranges
	maps.Copy(r, c.sc.Ranges)
	bin := func(op ir.BinOp, a ir.Expr, n int) ir.Expr { return ir.Bin(op, a, ir.Int(n)) }
	return func(idx []ir.Expr) []ir.Expr {
		out, last := slices.Clone(idx), len(idx)-1
		x := idx[last]
		block := bin(ir.Mul, bin(ir.Div, x, apart), apart)
		half := bin(ir.Div, bin(ir.Mod, x, apart), apart/2)
		out[last] = arith.Simplify(ir.Bin(ir.Add, ir.Bin(ir.Add, block, bin(ir.Mul, bin(ir.Mod, x, apart/2), 2)), half),
			r)
		return out
	}
}

// moveElements is body with the alloc's elements elsewhere.
func (c *local) moveElements(body ir.Stmt, place func(idx []ir.Expr) []ir.Expr) ir.Stmt {
	return mapStores(body, c.buf.Name, func(st *ir.Store) ir.Stmt {
		return &ir.Store{Buf: st.Buf, Idx: place(st.Idx), Op: st.Op, Val: st.Val}
	})
}

// onlySums refuses unless the loop only adds to the buffer, certainly to all of the region.
func (c *local) onlySums() {
	for _, a := range deps.Accesses(c.loop.Body)[c.of.Name] {
		c.requireSum(a, c.loop.Var, "choose a loop inside it, or distribute it with reorder or decompose_reduction")
	}
	if guarded(c.loop.Body, c.of.Name) {
		refuse("split with tail=cut or tail=shift instead of tail=guard",
			"%%%s is added to under a condition inside loop %%%s", c.of.Name, c.loop.Var)
	}
	c.requireWholeStore()
}

// requireSum refuses an access of the buffer in a loop that is no "+=".
func (c *local) requireSum(a deps.Access, loop, help string) {
	what := "reads it"
	switch {
	case a.Store == nil:
	case a.Store.Op == ir.AddTo:
		return
	default:
		what = "has " + storeText([]deps.Access{a})
	}
	refuse(help, "loop %%%s does more than add to %%%s: it %s", loop, c.of.Name, what)
}

// requireWholeStore refuses unless some store of the loop runs over all of the region.
func (c *local) requireWholeStore() {
	for s := range ir.Stmts(c.body()) {
		if st, ok := s.(*ir.Store); ok && st.Buf == c.buf.Name && c.covered(st.Idx) {
			return
		}
	}
	refuse("choose a loop around all loops that index it, or inside them",
		"no store in loop %%%s runs over all of the part of %%%s that it adds to", c.loop.Var, c.of.Name)
}

// guarded reports whether an if in body lies around a store to the buffer.
func guarded(body ir.Stmt, buffer string) bool {
	found := false
	walkGuarded(body, false, func(s ir.Stmt, under bool) {
		st, ok := s.(*ir.Store)
		found = found || ok && under && st.Buf == buffer
	})
	return found
}

// walkGuarded calls f on each statement with whether an if lies around it.
func walkGuarded(s ir.Stmt, under bool, f func(ir.Stmt, bool)) {
	ir.Walk(s, func(t ir.Stmt) bool {
		f(t, under)
		i, ok := t.(*ir.If)
		if !ok {
			return true
		}
		walkGuarded(i.Then, true, f)
		if i.Else != nil {
			walkGuarded(i.Else, true, f)
		}
		return false
	})
}

// narrowBody is the loop's body with the sums in type t.
func (c *local) narrowBody(t ir.Type) ir.Stmt {
	return mapStores(c.body(), c.buf.Name, func(st *ir.Store) ir.Stmt {
		switch iv, known := arith.Bounds(st.Val, c.sc.Ranges); {
		case !known:
			refuse("", "one summand alone, %q, may not fit in %s", ir.ExprString(st.Val), t)
		case !holds(t, iv):
			refuse("", "one summand alone, %q in %d..%d, does not fit in %s", ir.ExprString(st.Val), iv.Lo, iv.Hi, t)
		}
		return &ir.Store{Buf: st.Buf, Idx: st.Idx, Op: st.Op, Val: narrow(t, st.Val)}
	})
}

// holds reports whether t has all values of iv.
func holds(t ir.Type, iv arith.Interval) bool {
	if t.Signed() {
		half := int64(1) << (t.Bits() - 1)
		return iv.Lo >= -half && iv.Hi < half
	}
	return iv.Lo >= 0 && (t.Bits() > 62 || iv.Hi < int64(1)<<t.Bits())
}

// narrow converts e to t. Conversions in between that keep the low bits are left out.
func narrow(t ir.Type, e ir.Expr) ir.Expr {
	for {
		c, ok := e.(*ir.Cast)
		if !ok || !c.A.Type().IsInt() || c.T.Bits() < t.Bits() {
			return ir.CastTo(t, e)
		}
		e = c.A
	}
}

// fits proves that the sums of one iteration stay inside the alloc's type.
func (c *local) fits(zero, body ir.Stmt) error {
	inside := map[string]bool{c.buf.Name: true}
	for a := range ir.StmtsOf[*ir.Alloc](body) {
		inside[a.Buf.Name] = true
	}
	g := &ir.Func{Name: c.f.Name}
	bufs := c.f.Buffers()
	for _, b := range slices.Sorted(maps.Keys(bufs)) {
		if !inside[b] {
			g.Params = append(g.Params, ir.Param{Buffer: bufs[b]})
		}
	}
	loops := lists.Map(path(c.f.Body, c.loop.Var), func(p *ir.For) ir.Loop {
		return ir.Loop{Var: p.Var, Extent: p.Extent, Axis: p.Axis}
	})
	g.Body = ir.Nest(loops, &ir.Alloc{Buf: c.buf, Body: ir.Seq(zero, body)})
	return arith.VerifyWidthsWithin(c.f, g)
}

// mustFit refuses unless the sums of one iteration stay inside the alloc's type. The help says how
// many iterations of the outermost loop of the sum would fit; step is the step for another loop.
func (c *local) mustFit(zero, body ir.Stmt, step func(loop string) string) {
	err := c.fits(zero, body)
	if err == nil {
		return
	}
	refuse(c.fittingExtent(zero, body, step), "one iteration of loop %%%s adds up too much for %s: %s", c.loop.Var,
		c.buf.Type, asError(err).Msg)
}

func (c *local) fittingExtent(zero, body ir.Stmt, step func(loop string) string) string {
	var indices []ir.Expr
	for _, a := range deps.Accesses(body)[c.buf.Name] {
		indices = append(indices, a.Idx...)
	}
	for _, name := range loopNames(body) {
		l := ir.FindLoop(body, name)
		if mentionsAny(indices, name) || !deps.Written(deps.Accesses(l.Body)[c.buf.Name]) {
			continue
		}
		n := sort.Search(l.Extent, func(n int) bool {
			short := &ir.For{Var: l.Var, Extent: n + 1, Axis: l.Axis, Body: l.Body}
			return c.fits(zero, replace(body, name, short)) != nil
		})
		switch {
		case n >= 2:
			return fmt.Sprintf("at most %d of the %d iterations of %%%s fit: split %s %d and take its outer loop", n,
				l.Extent, name, name, n)
		case n == 1:
			return fmt.Sprintf("one iteration of %%%s fits: %s", name, step(name))
		}
	}
	return "use a wider type"
}
