package schedule

import (
	"ripc/ir"
	"ripc/ir/arith"
)

// reads reports whether x reads the buffer.
func (e *encoding) reads(x ir.Expr) bool {
	found := false
	ir.WalkExpr(x, func(y ir.Expr) bool {
		l, ok := y.(*ir.Load)
		found = found || ok && l.Buf == e.of.Name
		return !found
	})
	return found
}

// part is part v of the word x.
func (e *encoding) part(x ir.Expr, v ir.Expr) ir.Expr {
	t := e.to.Type
	switch y := x.(type) {
	case *ir.Load:
		if y.Buf == e.of.Name {
			idx := make([]ir.Expr, len(y.Idx))
			for i, x := range y.Idx {
				idx[i] = e.read(x)
			}
			return e.element(idx, v)
		}
	case *ir.Binary:
		if y.Op == ir.And || y.Op == ir.Or || y.Op == ir.Xor {
			return &ir.Binary{Op: y.Op, A: e.part(y.A, v), B: e.part(y.B, v)}
		}
	case *ir.Unary:
		if y.Op == ir.Not {
			return ir.Un(ir.Not, e.part(y.A, v))
		}
	case *ir.Select:
		return &ir.Select{Cond: e.read(y.Cond), A: e.part(y.A, v), B: e.part(y.B, v)}
	case *ir.IntImm:
		mask := int64(1)<<t.Bits() - 1
		same := true
		for k := range e.parts {
			same = same && y.V>>(k*t.Bits())&mask == y.V&mask
		}
		if same {
			return ir.Const(t, y.V&mask)
		}
	}
	count := ir.CastTo(e.of.Type, ir.Bin(ir.Mul, v, ir.Int(t.Bits())))
	return ir.CastTo(t, &ir.Binary{Op: ir.Shr, A: e.read(x), B: count})
}

// read is x with the words of the buffer as they are now: a part that is taken of one is read itself, other words are put
// together.
func (e *encoding) read(x ir.Expr) ir.Expr {
	if !e.reads(x) {
		return x
	}
	words := map[ir.Expr]*ir.Load{}
	return ir.MapExpr(x, func(y ir.Expr) ir.Expr {
		switch y := y.(type) {
		case *ir.Load:
			if y.Buf == e.of.Name {
				w := e.word(y.Idx)
				words[w] = y
				return w
			}
		case *ir.Cast:
			shift, ok := y.A.(*ir.Binary)
			if !ok || shift.Op != ir.Shr || y.T != e.to.Type || words[shift.A] == nil {
				return y
			}
			if v, ok := e.partOf(shift.B); ok {
				return e.element(words[shift.A].Idx, v)
			}
		}
		return y
	})
}

// element is part v of the word at idx.
func (e *encoding) element(idx []ir.Expr, v ir.Expr) ir.Expr {
	return &ir.Load{Buf: e.of.Name, T: e.to.Type, Idx: append(append([]ir.Expr{}, idx...), v)}
}

// word puts the word at idx together.
func (e *encoding) word(idx []ir.Expr) ir.Expr {
	var word ir.Expr
	for k := range e.parts {
		at := ir.Bin(ir.Shl, ir.CastTo(e.of.Type, e.element(idx, ir.Int(k))), ir.Const(e.of.Type, int64(k*e.to.Type.Bits())))
		if word == nil {
			word = at
		} else {
			word = &ir.Binary{Op: ir.Or, A: word, B: at}
		}
	}
	return word
}

// partOf finds v in a count of bits that is v times the bits of a part.
func (e *encoding) partOf(count ir.Expr) (ir.Expr, bool) {
	bits := int64(e.to.Type.Bits())
	if k, ok := count.(*ir.IntImm); ok && k.V%bits == 0 && k.V >= 0 && k.V < int64(e.of.Type.Bits()) {
		return ir.Int(int(k.V / bits)), true
	}
	c, ok := count.(*ir.Cast)
	if !ok || c.A.Type() != ir.I64 {
		return nil, false
	}
	a := arith.ToAffine(c.A)
	if a.Const%bits != 0 {
		return nil, false
	}
	v := arith.Affine{Const: a.Const / bits}
	for _, t := range a.Terms {
		if t.Coef%bits != 0 {
			return nil, false
		}
		v.Terms = append(v.Terms, arith.Term{Coef: t.Coef / bits, Atom: t.Atom})
	}
	iv, known := v.Bounds(e.ranges)
	return v.Expr(), known && iv.Lo >= 0 && iv.Hi < int64(e.parts)
}
