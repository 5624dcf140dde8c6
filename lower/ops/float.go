package ops

import (
	"fmt"
	"math"
	"slices"

	"ripc/graph/scalar"
	"ripc/ir"
)

// negInf is the identity of max.
func negInf() float32 { return float32(math.Inf(-1)) }

// number is v as f32: itself, or the integer that it is.
func number(v ir.Expr) ir.Expr {
	if v.Type() == ir.F32 {
		return v
	}
	return ir.CastTo(ir.F32, v)
}

// Eltwise applies float steps, in order, to each element of a tensor of numbers of type t that no
// other layer fused. slice is the part of a wider output that it writes.
func Eltwise(steps []scalar.Step, t ir.Type, shape []int, slice Slice) *ir.Func {
	s := Spatial(shape)
	x, y := buf("x", t, s...), buf("y", ir.F32, s...)
	ls := loops("", loop(ir.Batch, "b", s[0]), loop(ir.Row, "h", s[1]), loop(ir.Col, "w", s[2]),
		loop(ir.Channel, "o", s[3]))
	f := &ir.Func{Params: []ir.Param{inParam(x)}}
	withSteps(f, steps, number(ir.At(x, vars(ls)...)), y, ls, slice)
	return f
}

// withSteps completes f, which has its input and the beginning of its name: it stores v after steps
// at each position of y. ls are the loops over y; slice makes y wider.
func withSteps(f *ir.Func, steps []scalar.Step, v ir.Expr, y ir.Buffer, ls []ir.Loop, slice Slice) {
	s, i := y.Shape, vars(ls)
	at := slices.Clone(i)
	if slice.Total > 0 {
		y.Shape = append(slices.Clone(s[:3]), slice.Total)
		at[3] = add(i[3], ir.Int(slice.Offset))
	}
	f.Name += stepsName(steps) + fmt.Sprintf("%dx%dx%d", s[1], s[2], s[3])
	f.Body = ir.Nest(ls, storeLinks(y, stepLinks(steps, operands(f, steps, s[3], i[3])), v, at))
	f.Params = append(f.Params, outParam(y))
}
