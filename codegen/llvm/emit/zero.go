package emit

import (
	"math"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/ir"
)

// For some machines (MixesZeros), LLVM's patterns select a pair of instructions that differs from
// the source where a result is 0. This file hides the operands that these patterns match. LLVM 22
// has no other pattern that loses a float's sign bit; TestZeros checks all of this.
//
//   - -(a*b + c), of scalars, becomes fnmadd (vfnma), which computes -a*b - c. Where a*b + c
//     cancels, that is 0 and not -0. LLVM finds the negation in many places: x * -1, x / -1, -0 -
//     x, a flipped sign bit, x times a choice of 1 and -1, and where -1 is found in memory. The
//     multiply-add is therefore hidden, and not the negation.
//   - x < 0 ? x : 0 becomes fminnm (vminnm), which gives -0 for -0. x > -0 ? x : -0 becomes fmaxnm,
//     which gives 0 for 0. The zero is hidden, as an operand of the comparison and in an alloc with
//     compared elements.

// hide returns the scalar float x as a value that LLVM knows nothing about. It costs no
// instruction, so it is not counted.
func (e *emitter) hide(x value.Value) value.Value {
	call := e.hidingCall(x)
	e.blk.Insts = append(e.blk.Insts, call)
	return call
}

func (e *emitter) hidingCall(x value.Value) *llir.InstCall {
	register := e.facts.FloatRegister
	return llir.NewCall(llir.NewInlineAsm(types.NewPointer(types.NewFunc(types.Float, types.Float)), "",
		"="+register+",0"), x)
}

// hidden is a constant, 0 or more, on a number of lanes; 0 lanes stand for a scalar.
type hidden struct {
	k     float32
	lanes int
}

// hiddenConstant returns k, 0 or more, as a value that LLVM cannot see through. It is made in the
// entry block.
func (e *emitter) hiddenConstant(k float32, wide bool) val {
	key := hidden{k: k}
	if wide {
		key.lanes = e.lanes
	}
	if e.hidden[key] == nil {
		call := e.hidingCall(literal{types.Float, floatText(k)})
		made := []llir.Instruction{call}
		e.hidden[key] = call
		if wide {
			t := e.typeOf(ir.F32, true)
			one := llir.NewInsertElement(poison(t), call, indexOf(0))
			all := llir.NewShuffleVector(one, poison(t), literal{vectorOf(e.lanes, types.I32), "zeroinitializer"})
			made, e.hidden[key] = append(made, one, all), all
		}
		entry := e.fn.Blocks[0]
		entry.Insts = append(made, entry.Insts...)
	}
	return val{v: e.hidden[key], t: ir.F32, wide: wide, flushed: true}
}

// hideZero returns x, or a hidden zero of the same sign if x is the constant 0.
func (e *emitter) hideZero(x val) val {
	if x.f != 0 || !e.facts.MixesZeros {
		return x
	}
	return e.hideConstant(x)
}

// hideConstant returns x, or the same number hidden if x is a constant. A NaN stays, since nothing
// is less or greater than it.
func (e *emitter) hideConstant(x val) val {
	k := float64(x.f)
	if !x.constant || math.IsNaN(k) {
		return x
	}
	v := e.hiddenConstant(float32(math.Abs(k)), x.wide)
	if math.Signbit(k) {
		v.v = e.b().NewFNeg(v.v)
	}
	return v
}

// comparedAllocs names the float allocs with elements that are compared, or are the second operand
// of min or max. There LLVM may find a stored zero.
func comparedAllocs(f *ir.Func) map[string]bool {
	compared := map[string]bool{}
	add := func(x ir.Expr) {
		for l := range ir.ExprsOf[*ir.Load](x) {
			if l.T.IsFloat() {
				compared[l.Buf] = true
			}
		}
	}
	for s := range ir.Stmts(f.Body) {
		if s, ok := s.(*ir.Store); ok && (s.Op == ir.MinTo || s.Op == ir.MaxTo) {
			add(s.Val)
		}
	}
	for x := range ir.Nodes(f.Body) {
		b, ok := x.(*ir.Binary)
		switch {
		case !ok || !b.A.Type().IsFloat():
		case b.Op.IsCompare():
			add(b.A)
			add(b.B)
		case b.Op == ir.Min || b.Op == ir.Max:
			add(b.B)
		}
	}
	for _, p := range f.Params {
		delete(compared, p.Name)
	}
	return compared
}
