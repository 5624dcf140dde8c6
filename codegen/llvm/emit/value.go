package emit

import (
	"math"
	"strings"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/ir"
	"ripc/ir/arith"
)

// val is the value of an expression: one for all lanes, or, if wide, one per lane.
type val struct {
	v     value.Value
	t     ir.Type
	wide  bool
	known bool  // an integer or bool constant (never wide)
	k     int64 // its value, in t's range (for u64, the bits)
	// Properties of floats, for flush. flushed: not subnormal and no signaling NaN. constant: f is
	// its value. neutral: 0, 1 or -1, so that adding or multiplying by it may change at most a
	// sign. zero: counts as 0. positive: the sign bit is clear.
	flushed, constant, neutral, zero, positive bool
	grain                                      int     // see codegen.Grain
	f                                          float32 // the constant
}

// imm returns an integer or bool constant.
func imm(t ir.Type, v int64) val {
	v = arith.Wrap(t, v)
	return val{v: literal{regType(t), intText(t, v)}, t: t, known: true, k: v}
}

// typeOf returns the LLVM type of a value of type t, wide or not.
func (e *emitter) typeOf(t ir.Type, wide bool) types.Type {
	if wide {
		return vectorOf(e.lanes, regType(t))
	}
	return regType(t)
}

// splat makes x wide.
func (e *emitter) splat(x val) val {
	if x.wide {
		return x
	}
	vt := vectorOf(e.lanes, regType(x.t))
	w := x
	w.wide, w.known = true, false
	if l, ok := x.v.(literal); ok {
		w.v = literal{vt, "splat (" + l.String() + ")"}
		return w
	}
	one := e.b().NewInsertElement(poison(vt), x.v, indexOf(0))
	w.v = e.b().NewShuffleVector(one, poison(vt), literal{vectorOf(e.lanes, types.I32), "zeroinitializer"})
	return w
}

// match makes both values wide if one is.
func (e *emitter) match(a, b val) (val, val) {
	if a.wide || b.wide {
		return e.splat(a), e.splat(b)
	}
	return a, b
}

// lane returns element k of x, or x itself unless it is wide.
func (e *emitter) lane(x val, k int) val {
	if !x.wide {
		return x
	}
	x.v, x.wide = e.b().NewExtractElement(x.v, indexOf(int64(k))), false
	return x
}

// fromLanes makes a wide value of one value per lane.
func (e *emitter) fromLanes(t ir.Type, at func(k int) val) val {
	n := e.lanes
	w := poison(vectorOf(n, regType(t)))
	flushed, grain := true, math.MaxInt
	for k := range n {
		x := at(k)
		flushed, grain = flushed && x.flushed, min(grain, x.grain)
		w = e.b().NewInsertElement(w, x.v, indexOf(int64(k)))
	}
	return val{v: w, t: t, wide: true, flushed: flushed, grain: grain}
}

// laneNumbers is 0, 1, 2, ... as a wide value.
func (e *emitter) laneNumbers() val {
	var parts []string
	for k := range e.lanes {
		parts = append(parts, indexOf(int64(k)).String())
	}
	return val{v: literal{vectorOf(e.lanes, types.I64), "<" + strings.Join(parts, ", ") + ">"}, t: ir.I64, wide: true}
}

// intrinsic calls LLVM's function of that name, declaring it on first use.
func (e *emitter) intrinsic(name string, ret types.Type, args ...value.Value) value.Value {
	f := e.declared[name]
	if f == nil {
		var ps []*llir.Param
		for _, a := range args {
			ps = append(ps, llir.NewParam("", a.Type()))
		}
		f = e.m.NewFunc(name, ret, ps...)
		e.declared[name] = f
	}
	return e.b().NewCall(f, args...)
}

// overloaded calls an intrinsic with the type of its first operand as the suffix of its name.
func (e *emitter) overloaded(name string, ret types.Type, args ...value.Value) value.Value {
	return e.intrinsic(name+"."+suffix(args[0].Type()), ret, args...)
}
