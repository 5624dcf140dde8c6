package emit

import (
	"math"
	"math/bits"

	"github.com/llir/llvm/ir/enum"

	"ripc/codegen"
	"ripc/ir"
	"ripc/ir/arith"
)

// binary emits op on operands of one type.
func (e *emitter) binary(op ir.BinOp, a, b val) val {
	if a.known && b.known {
		if k, ok := fold(op, a, b); ok {
			return k
		}
	}
	a, b = e.match(a, b)
	out := val{t: a.t, wide: a.wide}
	switch {
	case op.IsCompare():
		return e.compare(op, a, b)
	case a.t.IsFloat():
		if op == ir.Min || op == ir.Max {
			return e.extreme(op, a, b)
		}
		e.operands(&a, &b)
		var scaled func() val
		out.grain = codegen.GrainOf(op, a.grain, b.grain)
		switch op {
		case ir.Add:
			out.v = e.b().NewFAdd(a.v, b.v)
		case ir.Sub:
			out.v = e.b().NewFSub(a.v, b.v)
		case ir.Mul:
			out.v = e.b().NewFMul(a.v, b.v)
			scaled = func() val { return val{v: e.b().NewFMul(e.scale(a).v, b.v), t: a.t, wide: a.wide} }
		case ir.Div:
			out.v = e.b().NewFDiv(a.v, b.v)
			scaled = func() val { return val{v: e.b().NewFDiv(e.scale(a).v, b.v), t: a.t, wide: a.wide} }
		default:
			e.fail("", "", "%q does not work on f32", op.String())
		}
		return e.rounded(out, scaled)
	}
	switch op {
	case ir.Add:
		out.v = e.b().NewAdd(a.v, b.v)
	case ir.Sub:
		out.v = e.b().NewSub(a.v, b.v)
	case ir.Mul:
		out.v = e.b().NewMul(a.v, b.v)
	case ir.And:
		out.v = e.b().NewAnd(a.v, b.v)
	case ir.Or:
		out.v = e.b().NewOr(a.v, b.v)
	case ir.Xor:
		out.v = e.b().NewXor(a.v, b.v)
	case ir.Shl:
		out.v = e.b().NewShl(a.v, b.v)
	case ir.Shr:
		if a.t.Signed() {
			out.v = e.b().NewAShr(a.v, b.v)
		} else {
			out.v = e.b().NewLShr(a.v, b.v)
		}
	case ir.Min, ir.Max:
		name := map[ir.BinOp]string{ir.Min: "min", ir.Max: "max"}[op]
		sign := "u"
		if a.t.Signed() {
			sign = "s"
		}
		out.v = e.overloaded("llvm."+sign+name, a.v.Type(), a.v, b.v)
	default:
		e.fail("", "", "%q does not work on %s", op.String(), a.t)
	}
	return out
}

// compareFloats emits a comparison. All but != are false for a NaN.
func (e *emitter) compareFloats(op ir.BinOp, a, b val) val {
	p := map[ir.BinOp]enum.FPred{ir.Eq: enum.FPredOEQ, ir.Ne: enum.FPredUNE, ir.Lt: enum.FPredOLT,
		ir.Le: enum.FPredOLE, ir.Gt: enum.FPredOGT, ir.Ge: enum.FPredOGE}[op]
	return val{v: e.b().NewFCmp(p, a.v, b.v), t: ir.Bool, wide: a.wide}
}

// compare emits a comparison.
func (e *emitter) compare(op ir.BinOp, a, b val) val {
	if a.t.IsFloat() {
		if !e.facts.Flushes {
			a, b = e.flush(a), e.flush(b)
		}
		switch {
		case e.facts.QuietsNaNs && op != ir.Eq && op != ir.Ne:
			a, b = e.hideConstant(a), e.hideConstant(b)
		case op == ir.Lt || op == ir.Gt:
			a, b = e.hideZero(a), e.hideZero(b)
		}
		return e.compareFloats(op, a, b)
	}
	out := val{t: ir.Bool, wide: a.wide}
	preds := map[ir.BinOp]enum.IPred{ir.Eq: enum.IPredEQ, ir.Ne: enum.IPredNE, ir.Lt: enum.IPredULT,
		ir.Le: enum.IPredULE, ir.Gt: enum.IPredUGT, ir.Ge: enum.IPredUGE}
	if a.t.Signed() {
		preds = map[ir.BinOp]enum.IPred{ir.Eq: enum.IPredEQ, ir.Ne: enum.IPredNE, ir.Lt: enum.IPredSLT,
			ir.Le: enum.IPredSLE, ir.Gt: enum.IPredSGT, ir.Ge: enum.IPredSGE}
	}
	out.v = e.b().NewICmp(preds[op], a.v, b.v)
	return out
}

// divmod emits floor division or its remainder by a positive constant.
func (e *emitter) divmod(x *ir.Binary) val {
	d, ok := x.B.(*ir.IntImm)
	if ok && d.T == ir.I64 && d.V > 0 && d.V <= math.MaxInt32 {
		if a, small := e.eval32(x.A, 0); small && !a.known {
			return e.widen(e.quotient(x.Op, a, imm(ir.I32, d.V)))
		}
	}
	a := e.eval(x.A)
	if !ok || a.t == ir.Bool || d.T != a.t || arith.Wrap(d.T, d.V) == 0 || d.T != ir.U64 && arith.Wrap(d.T, d.V) < 0 {
		e.fail("", "", "%s: the divisor is not a positive constant", ir.ExprString(x))
	}
	k := imm(d.T, d.V)
	if a.known {
		if out, ok := fold(x.Op, a, k); ok {
			return out
		}
	}
	div := x.Op == ir.Div
	out, b := val{t: a.t, wide: a.wide}, k
	if a.wide {
		b = e.splat(k)
	}
	unsigned := !a.t.Signed()
	if !unsigned && a.t == ir.I64 {
		iv, ok := e.affine(x.A).Bounds(e.ranges)
		unsigned = ok && iv.Lo >= 0
	}
	switch {
	case a.t.Bits() == 64 && e.indexType() == ir.I32 && k.k&(k.k-1) != 0:
		return e.divmod64(x.Op, a, k)
	case unsigned:
		return e.quotient(x.Op, a, k)
	case k.k&(k.k-1) == 0 && div:
		return e.binary(ir.Shr, a, imm(a.t, int64(bits.TrailingZeros64(uint64(k.k)))))
	case k.k&(k.k-1) == 0:
		return e.binary(ir.And, a, imm(a.t, k.k-1))
	default:
		// LLVM rounds toward zero: a negative remainder says that the quotient is one too high.
		rem := val{v: e.b().NewSRem(a.v, b.v), t: a.t, wide: a.wide}
		low := e.binary(ir.Shr, rem, imm(a.t, int64(a.t.Bits()-1))) // -1 or 0
		if !div {
			return e.binary(ir.Add, rem, e.binary(ir.And, low, k))
		}
		out.v = e.b().NewSDiv(a.v, b.v)
		return e.binary(ir.Add, out, low)
	}
}

// quotient emits unsigned division or remainder.
func (e *emitter) quotient(op ir.BinOp, a, b val) val {
	out := val{t: a.t, wide: a.wide}
	if a.wide {
		b = e.splat(b)
	}
	if op == ir.Div {
		out.v = e.b().NewUDiv(a.v, b.v)
	} else {
		out.v = e.b().NewURem(a.v, b.v)
	}
	return out
}

// unary emits op.
func (e *emitter) unary(op ir.UnOp, a val) val {
	float := a.t.IsFloat()
	if float && op != ir.Neg && op != ir.Abs && !e.facts.Flushes {
		a = e.flush(a)
	}
	out := val{t: a.t, wide: a.wide}
	lt := a.v.Type()
	switch {
	case op == ir.Neg && float:
		out.v, out.flushed, out.grain = e.b().NewFNeg(a.v), a.flushed, a.grain
	case op == ir.Neg && a.t.IsInt():
		return e.binary(ir.Sub, imm(a.t, 0), a)
	case op == ir.Not && a.t == ir.Bool:
		return e.binary(ir.Xor, a, imm(ir.Bool, 1))
	case op == ir.Not && !float:
		return e.binary(ir.Xor, a, imm(a.t, -1))
	case op == ir.Popcount && a.t.IsInt():
		out.v = e.overloaded("llvm.ctpop", lt, a.v)
		if a.t.Bits() == ir.U32.Bits() {
			e.bits[out.v] = a.v
		}
	case op == ir.Abs && float:
		out.v, out.flushed, out.positive = e.overloaded("llvm.fabs", lt, a.v), a.flushed, true
		out.grain = a.grain
	case op == ir.Abs && a.t.IsInt() && !a.t.Signed():
		return a
	case op == ir.Abs && a.t.IsInt():
		out.v = e.overloaded("llvm.abs", lt, a.v, imm(ir.Bool, 0).v)
	case op == ir.Sqrt && float:
		out.v, out.flushed = e.overloaded("llvm.sqrt", lt, a.v), true
	case op == ir.Floor && float && !e.facts.Rounds:
		return e.floor(a)
	case op == ir.RoundEven && float && !e.facts.Rounds:
		return e.roundEven(a)
	case op == ir.Floor && float:
		out.v, out.flushed = e.overloaded("llvm.floor", lt, a.v), true
	case op == ir.RoundEven && float:
		out.v, out.flushed = e.overloaded("llvm.roundeven", lt, a.v), true
	default:
		e.fail("", "", "%s does not work on %s", op, a.t)
	}
	return out
}
