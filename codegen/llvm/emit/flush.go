package emit

import (
	"math"

	"ripc/codegen"
	"ripc/internal/f32"
	"ripc/ir"
)

// Float arithmetic flushes subnormal operands and results by itself, on every processor that
// drivers set up. This file sees to what only hands an operand on: min and max, which are a
// comparison and a choice, and arithmetic that LLVM leaves out, such as x * 1. (What only moves
// values, such as a Load, a Select or a Store, does not flush them.)

// flush makes zeros of x's subnormal numbers and quiets its NaNs, unless that is done.
func (e *emitter) flush(x val) val {
	if x.flushed || !x.t.IsFloat() {
		return x
	}
	if x.constant {
		k := number(f32.Flush(x.f))
		if x.wide {
			k = e.splat(k)
		}
		return k
	}
	if e.target.Arch != "aarch64" { // LLVM takes vectors apart for the intrinsic, or fails
		return e.product(x)
	}
	x.v = e.overloaded("llvm.canonicalize", x.v.Type(), x.v)
	x.flushed, x.positive = true, false
	return x
}

// product is x * 1, which LLVM does not see through.
func (e *emitter) product(x val) val {
	return val{v: e.b().NewFMul(x.v, e.hiddenConstant(1, x.wide).v), t: x.t, wide: x.wide, flushed: true}
}

// number is a float constant.
func number(v float32) val {
	k := f32.Flush(v)
	return val{v: literal{regType(ir.F32), floatText(v)}, t: ir.F32, constant: true, f: v, flushed: k == v || v != v,
		neutral: k == 0 || k == 1 || k == -1, zero: k == 0, positive: !math.Signbit(float64(v))}
}

// operands prepares the operands of float arithmetic: those that LLVM may take for the result are
// flushed first. That is so beside 0, 1 and -1, which may change nothing, and for values without a
// sign, to which 0 may be added.
func (e *emitter) operands(xs ...*val) {
	neutral := false
	for _, x := range xs {
		neutral = neutral || x.neutral
	}
	for _, x := range xs {
		if neutral || x.positive {
			*x = e.flush(*x)
		}
	}
}

// extreme is op, min or max, of a and b, which have one shape. LLVM makes instructions of the
// choice that quiet a signaling NaN, and then take the other side, only where one side is a
// constant. Elsewhere it is enough to flush what was chosen: the comparison sees flushed numbers in
// any case.
func (e *emitter) extreme(op ir.BinOp, a, b val) val {
	by := ir.Lt
	if op == ir.Max {
		by = ir.Gt
	}
	after := !a.flushed && !b.flushed && !a.constant && !b.constant
	// minps and maxps would flush what they choose, but LLVM does not always make these of a
	// choice: 0 or b is b under a mask, and with AVX-512 the larger of x and what lies in memory is
	// a store of x under one.
	if !after || a.zero {
		a, b = e.flush(a), e.flush(b)
	}
	compare := e.compare
	if b.zero && b.positive == (op == ir.Max) {
		compare = e.compareFloats // LLVM's instruction orders zeros, and gives this one
	}
	return e.flush(e.pick(compare(by, a, b), a, b))
}

// condition evaluates the condition of a Select. Where it compares floats, LLVM might take both for
// a min or max, which flush; so what is compared is made another value than what is chosen. (LLVM
// compares with what it canonicalizes.)
func (e *emitter) condition(x *ir.Select) val {
	c, ok := x.Cond.(*ir.Binary)
	if !ok || !c.Op.IsCompare() || !c.A.Type().IsFloat() || !x.Type().IsFloat() || codegen.Flushed(x, e.clean) {
		return e.eval(x.Cond)
	}
	a, b := e.product(e.eval(c.A)), e.eval(c.B)
	return e.binary(c.Op, a, b)
}
