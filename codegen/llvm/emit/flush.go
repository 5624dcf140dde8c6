package emit

import (
	"math"

	"ripc/codegen"
	"ripc/internal/f32"
	"ripc/ir"
)

// Float arithmetic flushes subnormal operands and results, on most processors that drivers set up
// (Facts.Flushes). Two kinds of operations do not: min and max, which are a comparison and a
// choice, and arithmetic that LLVM folds away, such as x * 1. This file flushes their operands. On
// other processors it flushes the operands and results of all arithmetic. (Load, Select and Store
// only move values, and must not flush.)

// flush replaces x's subnormal numbers by zeros and quiets its NaNs, unless that is done.
func (e *emitter) flush(x val) val {
	if x.flushed || !x.t.IsFloat() {
		return x
	}
	if x.constant {
		k := floatConst(f32.Flush(x.f))
		if x.wide {
			k = e.splat(k)
		}
		return k
	}
	switch {
	case !e.facts.Flushes:
		bits := e.reinterpret(x, ir.U32)
		exponent := e.binary(ir.And, bits, imm(ir.U32, 0x7F800000))
		return e.zeroWhere(e.binary(ir.Eq, exponent, imm(ir.U32, 0)), x)
	case !e.facts.Canonicalizes:
		return e.product(x)
	}
	x.v = e.overloaded("llvm.canonicalize", x.v.Type(), x.v)
	x.flushed, x.positive = true, false
	return x
}

// zeroWhere returns x, or where small holds a zero of x's sign.
func (e *emitter) zeroWhere(small, x val) val {
	bits := e.reinterpret(x, ir.U32)
	y := e.reinterpret(e.pick(small, e.binary(ir.And, bits, imm(ir.U32, 1<<31)), bits), ir.F32)
	y.flushed, y.grain = true, x.grain
	return y
}

// rounded returns a result of float arithmetic, flushed. Sums are exact where they are subnormal.
// For other operations scaled returns the result times scaleUp: a result just below 2^-126 is
// rounded to 2^-126 in the subnormals' precision, and to less in that of other floats.
func (e *emitter) rounded(x val, scaled func() val) val {
	x.flushed = e.facts.Flushes || x.grain >= codegen.NormalGrain
	if x.flushed || scaled == nil {
		return e.flush(x)
	}
	y := e.unary(ir.Abs, scaled())
	y, least := e.match(y, floatConst(scaleUp*0x1p-126))
	return e.zeroWhere(e.compareFloats(ir.Lt, y, least), x)
}

// scaleUp moves subnormal numbers of 24 bits to normal ones. Where a factor times scaleUp is
// infinite, the result is no number below 2^-126, but may be 0.
const scaleUp = 1 << 24

// scale returns x * scaleUp.
func (e *emitter) scale(x val) val {
	by := floatConst(scaleUp)
	if x.wide {
		by = e.splat(by)
	}
	x.v = e.b().NewFMul(x.v, by.v)
	return x
}

// product returns x * 1 in a form that LLVM does not fold.
func (e *emitter) product(x val) val {
	return val{v: e.b().NewFMul(x.v, e.hiddenConstant(1, x.wide).v), t: x.t, wide: x.wide, flushed: true}
}

// floatConst returns a float constant.
func floatConst(v float32) val {
	k := f32.Flush(v)
	return val{v: literal{regType(ir.F32), floatText(v)}, t: ir.F32, constant: true, f: v, flushed: k == v || v != v,
		neutral: k == 0 || k == 1 || k == -1, zero: k == 0, positive: !math.Signbit(float64(v)),
		grain: codegen.Grain(v)}
}

// operands prepares the operands of float arithmetic. It flushes all that the processor would not,
// and those that LLVM may return as the result: operands beside 0, 1 and -1, and values without a
// sign, to which 0 may be added.
func (e *emitter) operands(xs ...*val) {
	neutral := false
	for _, x := range xs {
		neutral = neutral || x.neutral
	}
	for _, x := range xs {
		if neutral || x.positive || !e.facts.Flushes {
			*x = e.flush(*x)
		}
	}
}

// extreme returns op, min or max, of a and b, which have one shape. If one side is a constant, LLVM
// may select instructions that quiet a signaling NaN and return the other side, so both are flushed
// first. Otherwise flushing the result suffices, since comparisons flush their operands in any
// case.
func (e *emitter) extreme(op ir.BinOp, a, b val) val {
	by := ir.Lt
	if op == ir.Max {
		by = ir.Gt
	}
	after := e.facts.Flushes && !a.flushed && !b.flushed && !a.constant && !b.constant
	// An instruction for it would flush its result, but LLVM does not always select one. It turns a
	// choice of 0 or b into a masked move, and a maximum with memory into a masked store.
	if !after || a.zero {
		a, b = e.flush(a), e.flush(b)
	}
	compare := e.compare
	if b.zero && b.positive == (op == ir.Max) && !e.facts.QuietsNaNs {
		compare = e.compareFloats // LLVM's instruction orders zeros, and returns this one
	}
	return e.flush(e.pick(compare(by, a, b), a, b))
}

// condition evaluates the condition of a Select. LLVM might merge a float comparison and the choice
// into a min or max, which flush. So the comparison gets an operand that LLVM cannot identify with
// the chosen one.
func (e *emitter) condition(x *ir.Select) val {
	c, ok := x.Cond.(*ir.Binary)
	if !ok || !c.Op.IsCompare() || !c.A.Type().IsFloat() || !x.Type().IsFloat() || !e.facts.Flushes ||
		codegen.Flushed(x, e.flushedAllocs) {
		return e.eval(x.Cond)
	}
	a, b := e.product(e.eval(c.A)), e.eval(c.B)
	return e.binary(c.Op, a, b)
}
