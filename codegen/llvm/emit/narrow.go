package emit

import (
	_ "embed"
	"fmt"
	"math"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen/llvm/isa"
	"ripc/ir"
	"ripc/ir/arith"
)

// Indices are i64 in the IR. On targets with 32-bit addresses this file computes addresses, and
// values that provably fit (loop counters, divisions, comparisons), in 32 bits. It also expands
// operations for which LLVM would call a library.

// indexType is the type in which addresses are computed. A 32-bit address needs no proof: it is
// taken modulo 2^32.
func (e *emitter) indexType() ir.Type {
	if e.target.PointerBits() == 32 || e.device != nil { // integers of devices have 32 bits
		return ir.I32
	}
	return ir.I64
}

// counterType is the type of a loop's counter: indexType if 0..extent fits.
func (e *emitter) counterType(extent int) ir.Type {
	if int64(extent) > math.MaxInt32 {
		return ir.I64
	}
	return e.indexType()
}

// widen extends a nonnegative value to i64, and records the original for lowHalf.
func (e *emitter) widen(x val) val {
	if x.t == ir.I64 {
		return x
	}
	w := val{v: e.b().NewZExt(x.v, e.typeOf(ir.I64, x.wide)), t: ir.I64, wide: x.wide}
	e.widenedFrom[w.v] = x.v
	return w
}

// lowHalf returns the low half of an i64.
func (e *emitter) lowHalf(x val) val {
	switch {
	case x.t != ir.I64:
		return x
	case x.known:
		return imm(ir.I32, x.k)
	case e.widenedFrom[x.v] != nil:
		return val{v: e.widenedFrom[x.v], t: ir.I32, wide: x.wide}
	}
	return val{v: e.b().NewTrunc(x.v, e.typeOf(ir.I32, x.wide)), t: ir.I32, wide: x.wide}
}

// eval32 emits the i64 expression x as an i32 if addresses have 32 bits and x lies in lo..2^31-1.
func (e *emitter) eval32(x ir.Expr, lo int64) (val, bool) {
	if e.indexType() == ir.I64 || x.Type() != ir.I64 {
		return val{}, false
	}
	a := e.affine(x)
	iv, ok := a.Bounds(e.ranges)
	if !ok || iv.Lo < lo || iv.Hi > math.MaxInt32 {
		return val{}, false
	}
	return e.sumAs(ir.I32, a), true
}

// sumAs is sum in type t: i64, or i32 for the low half.
func (e *emitter) sumAs(t ir.Type, a arith.Affine) val {
	var out val
	for i, term := range a.Terms {
		x := e.eval(term.Atom)
		if t == ir.I32 {
			x = e.lowHalf(x)
		}
		if term.Coef != 1 {
			x = e.binary(ir.Mul, x, imm(t, term.Coef))
		}
		if i == 0 {
			out = x
		} else {
			out = e.binary(ir.Add, out, x)
		}
	}
	switch {
	case out.v == nil:
		return imm(t, a.Const)
	case a.Const != 0:
		return e.binary(ir.Add, out, imm(t, a.Const))
	}
	return out
}

// threadShare32 is threadShare in 32 bits: the first extent mod n threads get one more. If the
// processor cannot divide, it divides doubles: the quotient of two 32-bit numbers is never rounded
// up to the next integer.
func (e *emitter) threadShare32(extent int) (lo, hi value.Value) {
	if int64(extent) > math.MaxInt32 {
		e.fail("parallel", "", "extent %d; at most %d is supported on a target with 32-bit addresses", extent,
			math.MaxInt32)
	}
	n, t, all := e.nthreads, e.tid, imm(ir.I32, int64(extent)).v
	var q value.Value
	if e.facts.Divides {
		q = e.b().NewUDiv(all, n)
	} else {
		x := e.b().NewFDiv(literal{types.Double, fmt.Sprintf("%d.0", extent)}, e.b().NewUIToFP(n, types.Double))
		q = e.b().NewFPToUI(x, types.I32)
	}
	rest := e.b().NewSub(all, e.b().NewMul(q, n))
	lo = e.b().NewAdd(e.b().NewMul(t, q), e.overloaded("llvm.umin", types.I32, t, rest))
	more := e.b().NewZExt(e.b().NewICmp(enum.IPredULT, t, rest), types.I32)
	return lo, e.b().NewAdd(e.b().NewAdd(lo, q), more)
}

// divide64 is the function that divides 64-bit numbers bit by bit.
//
//go:embed udiv64.ll
var divide64 string

// divmod64 is floor division of a 64-bit integer by a constant, or the remainder, without LLVM's
// library call. For a negative a, floor(a/d) is the complement of complement(a)/d.
func (e *emitter) divmod64(op ir.BinOp, a, d val) val {
	sign := imm(a.t, 0)
	if a.t.Signed() {
		sign = e.binary(ir.Shr, a, imm(a.t, 63))
	}
	from := e.binary(ir.Xor, a, sign)
	e.require(helper{kind: divideHelper}, func() isa.Function { return isa.Function{Text: divide64} })
	f := llir.NewFunc("ripc_udiv64", types.I64, llir.NewParam("", types.I64), llir.NewParam("", types.I64))
	one := func(k int) val { return val{v: e.b().NewCall(f, e.lane(from, k).v, d.v), t: a.t} }
	var q val
	if a.wide {
		q = e.fromLanes(a.t, one)
	} else {
		q = one(0)
	}
	q = e.binary(ir.Xor, q, sign)
	if op == ir.Div {
		return q
	}
	return e.binary(ir.Sub, a, e.binary(ir.Mul, q, d))
}

// floatTo64 converts f32 to a 64-bit integer, saturating, NaN to 0: the significand, shifted by the
// exponent.
func (e *emitter) floatTo64(a val, t ir.Type) val {
	bits := e.reinterpret(a, ir.U32)
	k := func(v int64) val { return imm(ir.U32, v) }
	wide := func(x val) val { return e.convert(x, ir.U64) }
	exp := e.binary(ir.And, e.binary(ir.Shr, bits, k(23)), k(255))
	m := wide(e.binary(ir.Or, e.binary(ir.And, bits, k(1<<23-1)), k(1<<23))) // |a| = m * 2^(exp-150)
	up := e.binary(ir.Min, e.binary(ir.Sub, e.binary(ir.Max, exp, k(150)), k(150)), k(40))
	down := e.binary(ir.Min, e.binary(ir.Sub, k(150), e.binary(ir.Min, exp, k(150))), k(63))
	size := e.pick(e.binary(ir.Ge, exp, k(150)), e.binary(ir.Shl, m, wide(up)), e.binary(ir.Shr, m, wide(down)))
	negative := e.binary(ir.Ge, bits, k(1<<31))
	zero := imm(ir.U64, 0)
	if t.Signed() {
		limit := e.pick(negative, imm(ir.U64, math.MinInt64), imm(ir.U64, math.MaxInt64))
		size = e.pick(e.binary(ir.Ge, exp, k(190)), limit, size)
		size = e.pick(negative, e.binary(ir.Sub, zero, size), size)
	} else {
		size = e.pick(e.binary(ir.Ge, exp, k(191)), imm(ir.U64, -1), size)
		size = e.pick(negative, zero, size)
	}
	nan := e.binary(ir.Gt, e.binary(ir.And, bits, k(1<<31-1)), k(0xFF<<23))
	return e.reinterpret(e.pick(nan, zero, size), t)
}

// floatFrom64 converts a 64-bit integer to f32 by way of a double. To avoid double rounding, a
// number of more than 53 bits is first rounded to odd: its last bit is set if any bit was cut off.
func (e *emitter) floatFrom64(a val) val {
	t := a.t
	cut := e.binary(ir.And, a, imm(t, 0x7FF))
	odd := e.binary(ir.And, e.binary(ir.Or, a, e.binary(ir.Add, cut, imm(t, 0x7FF))), imm(t, -0x800))
	at, limit := e.reinterpret(a, ir.U64), imm(ir.U64, 1<<53)
	if t.Signed() {
		at, limit = e.binary(ir.Add, at, imm(ir.U64, 1<<53)), imm(ir.U64, 1<<54)
	}
	x := e.pick(e.binary(ir.Lt, at, limit), a, odd)
	high := e.binary(ir.Shr, x, imm(t, 32))
	vector := func(elem types.Type) types.Type {
		if x.wide {
			return vectorOf(e.lanes, elem)
		}
		return elem
	}
	lo := e.b().NewUIToFP(e.b().NewTrunc(x.v, vector(types.I32)), vector(types.Double))
	half := e.b().NewTrunc(high.v, vector(types.I32))
	var hi value.Value
	if t.Signed() {
		hi = e.b().NewSIToFP(half, vector(types.Double))
	} else {
		hi = e.b().NewUIToFP(half, vector(types.Double))
	}
	var scale value.Value = literal{types.Double, "4294967296.0"}
	if x.wide {
		scale = literal{vector(types.Double), "splat (double 4294967296.0)"}
	}
	sum := e.b().NewFAdd(e.b().NewFMul(hi, scale), lo)
	return val{v: e.b().NewFPTrunc(sum, vector(types.Float)), t: ir.F32, wide: x.wide, flushed: true}
}

// roundEven rounds to the nearest integer by adding and subtracting 2^23, above which floats have
// no fraction.
func (e *emitter) roundEven(a val) val {
	two23 := floatConst(1 << 23)
	size := e.unary(ir.Abs, a)
	r := e.binary(ir.Sub, e.binary(ir.Add, size, two23), two23)
	r.v = e.overloaded("llvm.copysign", r.v.Type(), r.v, a.v)
	out := e.pick(e.binary(ir.Lt, size, two23), r, a)
	out.flushed = true // a is large here, or a NaN; and no such processor has a minimum that signaling NaNs change
	return out
}

// floor is the nearest integer, or the one below if that is too high.
func (e *emitter) floor(a val) val {
	r := e.roundEven(a)
	one := floatConst(1)
	return e.pick(e.binary(ir.Gt, r, a), e.binary(ir.Sub, r, one), r)
}

// checkSizes refuses buffers with address differences that do not fit 32 bits.
func (e *emitter) checkSizes() {
	for _, p := range e.f.Params {
		if int64(p.Bytes()) > math.MaxInt32 {
			e.fail("", "", "%s has %d bytes; at most %d are supported on a target with 32-bit addresses",
				ir.BufferString(p.Buffer), p.Bytes(), math.MaxInt32)
		}
	}
	if e.frame.Scratch > math.MaxInt32 {
		e.fail("", "", "%d bytes of scratch; at most %d are supported on a target with 32-bit addresses",
			e.frame.Scratch, math.MaxInt32)
	}
}
