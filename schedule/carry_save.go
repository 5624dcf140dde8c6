package schedule

import (
	"cmp"
	"fmt"

	"ripc/internal/lists"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// carrySave counts the bits of two words with one popcount: a sum of bits is carried from pair to
// pair, and the carries are counted. Other systems: none; known as Harley-Seal.
//
//	for %k in 0:9 { for %c in 0:4 { for %o in 0:16 { %acc[%o] += cast<i32>(popcount(E(%c, %o))) } } }
//	=> carry_save acc c b      pairs of iterations of c; sum and carries live in loop b, which is around k
//	alloc %acc.s: u32[16]   alloc %acc.cs: i32[16]
//	for %acc.s.z0 in 0:16 { %acc.s[%acc.s.z0] = 0u32   %acc.cs[%acc.s.z0] = 0i32 }
//	for %k in 0:9 { for %c.p in 0:2 { for %o in 0:16 {
//	  %acc.cs[%o] += cast<i32>(popcount(%acc.s[%o] & U | (%acc.s[%o] | U) & V))     U = E(2 * %c.p, %o)
//	  %acc.s[%o] = %acc.s[%o] ^ U ^ V                                             V = E(2 * %c.p + 1, %o)
//	} } }
//	for %acc.s.w0 in 0:16 { %acc[%acc.s.w0] += %acc.cs[%acc.s.w0] + %acc.cs[%acc.s.w0] + cast<i32>(popcount(%acc.s[%acc.s.w0])) }
//
// The operands are the accumulator, the loop to pair, and a loop around it: an iteration of that
// one holds the sum and the carries. Empty names give acc.s and acc.cs. It is refused if the paired
// loop has an odd extent or a mark. It is refused if that loop is not a perfect nest around one
// "+=" of a popcount, or if an inner loop does not index the accumulator. It is refused if the
// outer loop's statement around it touches the accumulator otherwise or under a condition, and
// where cache_write is.
func carrySave(f *ir.Func, buffer, loop, around, sum, carries string) *ir.Func {
	sum, carries = cmp.Or(sum, buffer+".s"), cmp.Or(carries, buffer+".cs")
	c := newNested(f, buffer, loop, around, "paired")
	l, nest := findLoop(f, loop), c.loop.Body
	if !c.of.Type.IsInt() {
		refuse("", "%%%s has elements of type %s: only integers are counted", buffer, c.of.Type)
	}
	if len(deps.Accesses(nest)[buffer]) == 0 {
		refuse("", "the nest around loop %%%s in loop %%%s does not use %%%s from outside of it", loop, around, buffer)
	}
	noLanes(f, around, "carry_save")
	c.open("carry_save", sum)
	c.names.take(carries)
	st, words := c.popcountOf(nest, l)
	c.buf.Type = words.Type()
	cc := c.buf
	cc.Name, cc.Type = carries, c.of.Type
	idx := relocate(st, buffer, sum, c.region).(*ir.Store).Idx
	pair := l.Var + ".p"
	c.names.take(pair)
	r := c.sc.Ranges.With(pair, l.Extent/2)
	word := func(odd int) ir.Expr {
		at := ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V(pair), ir.Int(2)), ir.Int(odd))
		return simplifyIndices(ir.Subst(words, map[string]ir.Expr{l.Var: at}), r)
	}
	u, v, s := word(0), word(1), ir.At(c.buf, idx...)
	bin := func(op ir.BinOp, a, b ir.Expr) ir.Expr { return &ir.Binary{Op: op, A: a, B: b} }
	count := func(e ir.Expr) ir.Expr { return ir.CastTo(cc.Type, ir.Un(ir.Popcount, e)) }
	step := ir.Seq(
		&ir.Store{Buf: carries, Idx: idx, Op: ir.AddTo,
			Val: count(bin(ir.Or, bin(ir.And, s, u), bin(ir.And, bin(ir.Or, s, u), v)))},
		&ir.Store{Buf: sum, Idx: idx, Val: bin(ir.Xor, bin(ir.Xor, s, u), v)})
	inner := ir.MapStmt(l.Body, func(t ir.Stmt) ir.Stmt {
		if _, ok := t.(*ir.Store); ok {
			return step
		}
		return t
	}, nil)
	zero := c.each("z", func(inner, _ []ir.Expr) ir.Stmt {
		return ir.Seq(&ir.Store{Buf: sum, Idx: inner, Val: ir.Const(c.buf.Type, 0)},
			&ir.Store{Buf: carries, Idx: inner, Val: ir.Const(cc.Type, 0)})
	})
	flush := c.each("w", func(inner, outer []ir.Expr) ir.Stmt {
		twice := bin(ir.Add, ir.At(cc, inner...), ir.At(cc, inner...))
		return &ir.Store{Buf: buffer, Idx: outer, Op: ir.AddTo, Val: bin(ir.Add, twice, count(ir.At(c.buf, inner...)))}
	})
	nest = replace(nest, loop, &ir.For{Var: pair, Extent: l.Extent / 2, Axis: l.Axis, Body: inner})
	scope := &ir.Alloc{Buf: c.buf, Body: &ir.Alloc{Buf: cc, Body: ir.Seq(zero, nest, flush)}}
	return replaceLoop(f, around, c.loop.WithBody(c.put(scope)))
}

// holding finds the statement of a body, also in the scope of its allocs, that holds a loop, and
// how to put another one in its place. It is nil if there is none.
func holding(body ir.Stmt, loop string) (nest ir.Stmt, put func(ir.Stmt) ir.Stmt) {
	ss := stmts(body)
	for i, s := range ss {
		if ir.FindLoop(s, loop) == nil {
			continue
		}
		here := func(t ir.Stmt) ir.Stmt {
			out := append(append([]ir.Stmt{}, ss[:i]...), t)
			return ir.Seq(append(out, ss[i+1:]...)...)
		}
		if a, ok := s.(*ir.Alloc); ok {
			in, inPut := holding(a.Body, loop)
			return in, func(t ir.Stmt) ir.Stmt { return here(&ir.Alloc{Buf: a.Buf, Body: inPut(t)}) }
		}
		return s, here
	}
	return nil, nil
}

// popcountOf returns the only store of nest into the accumulator, and the words that it counts in
// loop l.
func (c *local) popcountOf(nest ir.Stmt, l *ir.For) (*ir.Store, ir.Expr) {
	unmarked(l, "carry_save")
	if l.Extent%2 != 0 {
		refuse("split it with an even factor and tail=cut, or pair another loop",
			"the %d iterations of loop %%%s are no pairs", l.Extent, l.Var)
	}
	var st *ir.Store
	for s := l.Body; st == nil; {
		in := doing(s)
		if len(in) != 1 {
			refuse("", "loop %%%s holds %d statements besides the sum", l.Var, len(in)-1)
		}
		switch x := in[0].(type) {
		case *ir.For:
			s = x.Body
		case *ir.Store:
			st = x
		default:
			refuse("", "loop %%%s holds %s", l.Var, describe(x))
		}
	}
	val := st.Val
	if cast, ok := val.(*ir.Cast); ok {
		val = cast.A
	}
	pop, ok := val.(*ir.Unary)
	if st.Buf != c.of.Name || st.Op != ir.AddTo || !ok || pop.Op != ir.Popcount {
		refuse("", "loop %%%s holds %s, not a += of a popcount to %%%s", l.Var, deps.Shorten(ir.StmtString(st)),
			c.of.Name)
	}
	if as := deps.Accesses(nest)[c.of.Name]; len(as) != 1 {
		refuse("", "%%%s is used in %d places beside the sum", c.of.Name, len(as)-1)
	}
	guarded := false
	walkGuarded(nest, false, func(s ir.Stmt, under bool) { guarded = guarded || s == ir.Stmt(st) && under })
	if guarded {
		refuse("split with tail=cut or tail=shift instead of tail=guard", "%%%s is added to under a condition",
			c.of.Name)
	}
	idx := relocate(st, c.of.Name, c.buf.Name, c.region).(*ir.Store).Idx
	for _, n := range loopNames(l.Body) {
		if !mentionsAny(idx, n) {
			refuse(fmt.Sprintf("pair loop %%%s, or reorder it outwards", n),
				"loop %%%s inside %%%s does not index %%%s", n, l.Var, c.of.Name)
		}
	}
	if mentionsAny(idx, l.Var) || !c.covered(idx) {
		refuse("", "loop %%%s does not add to all of its part of %%%s in every iteration", l.Var, c.of.Name)
	}
	return st, pop.A
}

// simplifyIndices simplifies the indices in e and the choices that they decide, and nothing else:
// the caller relies on the form.
func simplifyIndices(e ir.Expr, r arith.Ranges) ir.Expr {
	return ir.MapExpr(e, func(e ir.Expr) ir.Expr {
		if s, ok := e.(*ir.Select); ok {
			if k, ok := arith.Simplify(s.Cond, r).(*ir.IntImm); ok && k.V != 0 {
				return s.A
			} else if ok {
				return s.B
			}
		}
		l, ok := e.(*ir.Load)
		if !ok {
			return e
		}
		idx := lists.Map(l.Idx, func(x ir.Expr) ir.Expr { return arith.Simplify(x, r) })
		return &ir.Load{Buf: l.Buf, T: l.T, Idx: idx}
	})
}
