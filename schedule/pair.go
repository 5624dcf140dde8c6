package schedule

import (
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// pair keeps every second element of a dimension of words as its difference from the one before:
// (a, b) becomes (a, a ^ b), which saves an operation of carry_save's sum. Other systems: none.
//
//	%x[%k * 2], %x[%k * 2 + 1]   =>   %x[%k * 2], %x[%k * 2] ^ %x[%k * 2 + 1]
//
// A parameter is packed (see PackBuffer, ApplyAll). An alloc must be set by one "=" with a plain
// loop as index in the dimension, and gets the differences there. It is refused for outputs, if the
// words are no integers, if the dimension does not exist or is odd, and if a call takes the buffer.
// It is refused if the alloc is set in another way or under a condition.
func pair(f *ir.Func, buffer string, dim int) (*ir.Func, *Pack) {
	b := findBuffer(f, buffer)
	switch {
	case !b.Type.IsInt():
		refuse("", "%%%s has elements of type %s, not words", buffer, b.Type)
	case !b.Range.Any():
		refuse("", "%s are numbers, not words", ir.BufferString(b))
	case dim < 0 || dim >= len(b.Shape):
		refuse(fmt.Sprintf("dimensions are 0 to %d", len(b.Shape)-1), "%%%s has no dimension %d", buffer, dim)
	case b.Shape[dim]%2 != 0:
		refuse("", "the %d elements of dimension %d of %%%s are no pairs", b.Shape[dim], dim, buffer)
	}
	noCalls(f, buffer, "pair")
	r := deps.ScopeOf(f.Body).Ranges
	at := func(l *ir.Load, e ir.Expr) ir.Expr {
		idx := slices.Clone(l.Idx)
		idx[dim] = arith.Simplify(e, r)
		return &ir.Load{Buf: l.Buf, T: l.T, Idx: idx}
	}
	body := ir.MapStmt(f.Body, nil, mapLoads(buffer, func(l *ir.Load) ir.Expr {
		both := &ir.Binary{Op: ir.Xor, A: at(l, ir.Bin(ir.Sub, l.Idx[dim], ir.Int(1))), B: l}
		rest := arith.Simplify(ir.Bin(ir.Mod, l.Idx[dim], ir.Int(2)), r)
		if k, ok := rest.(*ir.IntImm); !ok {
			return &ir.Select{Cond: ir.Bin(ir.Eq, rest, ir.Int(1)), A: both, B: l}
		} else if k.V != 0 {
			return both
		}
		return l
	}))
	alloc := ir.FindAlloc(f.Body, buffer)
	if alloc == nil {
		b.Enc = ir.Encoding{}
		f = withParam(f, parameter(f, buffer), b)
		return f.WithBody(body), &Pack{Param: buffer, Func: pairing(b, dim)}
	}
	st := solePlainStore(f, alloc, dim)
	val := paired(st.Val, st.Idx[dim].(*ir.Var), r)
	return f.WithBody(mapStores(body, buffer, func(x *ir.Store) ir.Stmt {
		return &ir.Store{Buf: buffer, Idx: x.Idx, Val: val}
	})), nil
}

// paired is val, the word at v, where v is even, and its difference from the word before where v is
// odd. Conditions that are the same for both words stay outside, so that whole vectors are chosen
// by them.
func paired(val ir.Expr, v *ir.Var, r arith.Ranges) ir.Expr {
	moves := func(e ir.Expr) bool { return ir.Mentions(e, v.Name) }
	odd := ir.Bin(ir.Eq, ir.Bin(ir.Mod, v, ir.Int(2)), ir.Int(1))
	if s, ok := val.(*ir.Select); ok && !moves(s.Cond) {
		return &ir.Select{Cond: s.Cond, A: paired(s.A, v, r), B: paired(s.B, v, r)}
	}
	zero := ir.Const(val.Type(), 0)
	if !moves(val) {
		if k, ok := val.(*ir.IntImm); ok && k.V == 0 {
			return val
		}
		return &ir.Select{Cond: odd, A: zero, B: val}
	}
	even := ir.Bin(ir.Mul, ir.Bin(ir.Div, v, ir.Int(2)), ir.Int(2)) // v - 1 where v is odd, and never outside
	before := simplifyIndices(ir.Subst(val, map[string]ir.Expr{v.Name: even}), r)
	return &ir.Binary{Op: ir.Xor, A: val, B: &ir.Select{Cond: odd, A: before, B: zero}}
}

// solePlainStore is the one store that sets an alloc, by a plain loop in dimension dim.
func solePlainStore(f *ir.Func, alloc *ir.Alloc, dim int) *ir.Store {
	b := alloc.Buf.Name
	refuse := func(format string, args ...any) {
		refuse("pair before splitting, and before compute_at", format, args...)
	}
	var st *ir.Store
	n, guarded := 0, false
	walkGuarded(alloc.Body, false, func(s ir.Stmt, under bool) {
		if x, ok := s.(*ir.Store); ok && x.Buf == b {
			st = x
			guarded = under
			n++
		}
	})
	switch {
	case n != 1:
		refuse("%%%s is set in %d places, not one", b, n)
	case guarded:
		refuse("%%%s is set under a condition", b)
	case st.Op != ir.Assign:
		refuse("%%%s is accumulated into by %s", b, deps.Shorten(ir.StmtString(st)))
	}
	v, ok := st.Idx[dim].(*ir.Var)
	if !ok {
		refuse("dimension %d of %%%s is written at %s, not by a plain loop", dim, b, ir.ExprString(st.Idx[dim]))
	}
	for d, e := range st.Idx {
		if d != dim && ir.Mentions(e, v.Name) {
			refuse("loop %%%s indexes two dimensions of %%%s", v.Name, b)
		}
	}
	loop := ir.FindLoop(f.Body, v.Name)
	acc := deps.Accesses(loop)
	reads := deps.Accesses(&ir.Store{Buf: b, Val: st.Val})
	for _, name := range slices.Sorted(maps.Keys(reads)) {
		if ir.FindAlloc(loop, name) != nil {
			refuse("%%%s, from which %%%s is computed, is another one in each iteration of loop %%%s", name, b,
				v.Name)
		}
		if deps.Written(acc[name]) && (name != b || len(reads[b]) > 1) {
			refuse("%%%s, from which %%%s is computed, is written in the same loop", name, b)
		}
	}
	return st
}

// pairing is the Func that makes the pairs of a parameter.
func pairing(b ir.Buffer, dim int) *ir.Func {
	to := b
	to.Enc = ir.Encoding{}
	return relayoutFunc("pair", b, to, b.Shape, func(from ir.Buffer, i []ir.Expr) ([]ir.Expr, ir.Expr) {
		prev := slices.Clone(i)
		prev[dim] = ir.Bin(ir.Sub, i[dim], ir.Int(1))
		odd := ir.Bin(ir.Eq, ir.Bin(ir.Mod, i[dim], ir.Int(2)), ir.Int(1))
		return i, &ir.Select{Cond: odd, A: ir.Bin(ir.Xor, ir.At(from, prev...), ir.At(from, i...)),
			B: ir.At(from, i...)}
	})
}
