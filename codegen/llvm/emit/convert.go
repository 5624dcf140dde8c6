package emit

import (
	"math"

	"github.com/llir/llvm/ir/enum"

	"ripc/codegen"
	"ripc/ir"
)

// convert emits a cast to t.
func (e *emitter) convert(a val, t ir.Type) val {
	if a.t == t {
		return a
	}
	if a.known && t.IsInt() {
		return imm(t, a.k)
	}
	if t == ir.Bool {
		e.fail("", "compare with 0", "there is no cast from %s to bool", a.t)
	}
	out := val{t: t, wide: a.wide, flushed: t.IsFloat(), grain: codegen.WholeGrain}
	to := e.typeOf(t, a.wide)
	far := a.t.Bits() == 64 || t.Bits() == 64 // LLVM calls a library for these where registers have 32 bits
	switch {
	case far && a.t.IsFloat() && e.indexType() == ir.I32:
		return e.floatTo64(a, t)
	case far && t.IsFloat() && e.indexType() == ir.I32:
		return e.floatFrom64(a)
	case a.wide && a.t == ir.F32 && t == ir.I32 && e.facts.SaturatesByLane:
		return e.convertSaturating(a)
	case a.t.IsFloat():
		// Plain fptosi is undefined out of range; these saturate and give 0 for NaN.
		name := "llvm.fptoui.sat."
		if t.Signed() {
			name = "llvm.fptosi.sat."
		}
		out.v = e.intrinsic(name+suffix(to)+"."+suffix(a.v.Type()), to, a.v)
	case t.IsFloat() && a.t.Signed():
		out.v = e.b().NewSIToFP(a.v, to)
	case t.IsFloat():
		out.v = e.b().NewUIToFP(a.v, to)
	case t.Bits() < a.t.Bits():
		out.v = e.b().NewTrunc(a.v, to)
		if of := e.bits[a.v]; of != nil {
			e.bits[out.v] = of
		}
	case t.Bits() == a.t.Bits():
		out.v = a.v
	case a.t.Signed():
		out.v = e.b().NewSExt(a.v, to)
	default:
		out.v = e.b().NewZExt(a.v, to)
	}
	return out
}

// convertSaturating emits the cast of a vector of f32 to i32: numbers out of range become the
// nearest bound, and NaN 0. LLVM's own intrinsic would run lane by lane.
func (e *emitter) convertSaturating(a val) val {
	least, past, zero := e.splat(floatConst(math.MinInt32)), e.splat(floatConst(-math.MinInt32)), e.splat(floatConst(0))
	below, fits := e.b().NewFCmp(enum.FPredOLT, a.v, least.v), e.b().NewFCmp(enum.FPredOLT, a.v, past.v)
	above := e.b().NewFCmp(enum.FPredOGE, a.v, past.v)
	inside := e.b().NewAnd(e.b().NewFCmp(enum.FPredOGE, a.v, least.v), fits)
	whole := e.b().NewFPToSI(e.b().NewSelect(inside, a.v, zero.v), e.typeOf(ir.I32, true))
	most := e.b().NewSelect(above, e.splat(imm(ir.I32, math.MaxInt32)).v, whole)
	return val{v: e.b().NewSelect(below, e.splat(imm(ir.I32, math.MinInt32)).v, most), t: ir.I32, wide: true}
}

// reinterpret emits a bitcast to t.
func (e *emitter) reinterpret(a val, t ir.Type) val {
	switch {
	case a.t.Bits() != t.Bits():
		e.fail("", "", "bitcast: %s and %s differ in width", a.t, t)
	case a.known && t.IsInt():
		return imm(t, a.k)
	case a.t.IsFloat() == t.IsFloat():
		a.t = t
		return a
	}
	return val{v: e.b().NewBitCast(a.v, e.typeOf(t, a.wide)), t: t, wide: a.wide}
}
