package emit

import (
	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/ir"
	"ripc/ir/arith"
)

// affine returns the affine form of an i64 expression. Variables of unrolled loops count as
// constants. Divisions and remainders from splits and fuses are resolved if the ranges allow it.
func (e *emitter) affine(x ir.Expr) arith.Affine {
	a := arith.ToAffine(x)
	out := arith.Affine{Const: a.Const}
	for _, t := range a.Terms {
		out = out.Plus(t.Coef, e.atom(t.Atom))
	}
	return out
}

// atom resolves a subexpression that ToAffine keeps whole.
func (e *emitter) atom(x ir.Expr) arith.Affine {
	switch x := x.(type) {
	case *ir.Var:
		if v := e.vars[x.Name]; v.known {
			return arith.Affine{Const: v.k}
		}
	case *ir.Binary:
		d, ok := x.B.(*ir.IntImm)
		if !ok || d.V <= 0 || x.Type() != ir.I64 || x.Op != ir.Div && x.Op != ir.Mod {
			break
		}
		// x.A = d*q + r. If 0 <= r < d, these are the quotient and the remainder.
		q, r := divide(e.affine(x.A), d.V)
		if iv, ok := r.Bounds(e.ranges); !ok || iv.Lo < 0 || iv.Hi >= d.V {
			break
		}
		if x.Op == ir.Div {
			return q
		}
		return r
	}
	return arith.Affine{Terms: []arith.Term{{Coef: 1, Atom: x}}}
}

// divide splits a into d*q and the remaining terms r, and returns q and r.
func divide(a arith.Affine, d int64) (q, r arith.Affine) {
	r.Const = (a.Const%d + d) % d
	q.Const = (a.Const - r.Const) / d
	for _, t := range a.Terms {
		if t.Coef%d == 0 {
			q.Terms = append(q.Terms, arith.Term{Coef: t.Coef / d, Atom: t.Atom})
		} else {
			r.Terms = append(r.Terms, t)
		}
	}
	return q, r
}

// sum emits the value of a: the sum of its terms plus its constant.
func (e *emitter) sum(a arith.Affine) val { return e.sumAs(ir.I64, a) }

// element returns the address base + a elements of type t. A constant part is added last, so that
// it ends up in the addressing mode, if the address without it is provably inside the buffer.
func (e *emitter) element(base value.Value, t types.Type, a arith.Affine) value.Value {
	last := int64(0)
	if a.Const > 0 && len(a.Terms) > 0 {
		rest := arith.Affine{Terms: a.Terms}
		if iv, ok := rest.Bounds(e.ranges); ok && iv.Lo >= 0 {
			last, a = a.Const, rest
		}
	}
	return e.gep(e.gep(base, t, e.sumAs(e.indexType(), a)), t, imm(ir.I64, last))
}

func (e *emitter) gep(base value.Value, t types.Type, i val) value.Value {
	if i.known && i.k == 0 {
		return base
	}
	blk := e.b()
	g := &llir.InstGetElementPtr{ElemType: t, Src: base, Indices: []value.Value{i.v}, InBounds: true, Typ: opaquePtr{}}
	blk.Insts = append(blk.Insts, g)
	return g
}

// inBounds reports whether the index of every dimension of a buffer is provably in bounds.
func (e *emitter) inBounds(buf string, idx []ir.Expr) bool {
	b := e.buffer(buf, idx)
	for d, x := range idx {
		iv, ok := e.affine(x).Bounds(e.ranges)
		if (!ok || iv.Lo < 0 || iv.Hi >= int64(b.Shape[d])) && !e.isImplied(x, b.Shape[d]) {
			return false
		}
	}
	return true
}

// isImplied reports whether 0 <= x < n follows from the enclosing conditions. For example, a
// condition cuts off rows that the last tile does not have.
func (e *emitter) isImplied(x ir.Expr, n int) bool {
	if len(e.conditions) == 0 {
		return false
	}
	within := ir.Bin(ir.And, ir.Bin(ir.Ge, x, ir.Int(0)), ir.Bin(ir.Lt, x, ir.Int(n)))
	return arith.Follows(within, e.ranges, e.conditions...)
}

// isSafe reports whether x may be evaluated though it is not chosen: all its loads are in bounds. A
// Select inside it takes care of its own sides.
func (e *emitter) isSafe(x ir.Expr) bool {
	ok := true
	ir.WalkExpr(x, func(y ir.Expr) bool {
		switch y := y.(type) {
		case *ir.Load:
			ok = ok && e.inBounds(y.Buf, y.Idx)
		case *ir.Select:
			ok = ok && e.isSafe(y.Cond)
			return false
		}
		return ok
	})
	return ok
}

// varies reports whether x can differ between the lanes of the vectorized loop being emitted.
func (e *emitter) varies(x ir.Expr) bool {
	return e.lanes > 0 && ir.Contains(x, func(y ir.Expr) bool {
		switch y := y.(type) {
		case *ir.Var:
			return y.Name == e.laneVar
		case *ir.Load:
			b := e.bufs[y.Buf]
			return b != nil && b.copies > 0
		}
		return false
	})
}
