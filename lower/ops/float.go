package ops

import (
	"fmt"
	"math"

	"ripc/graph/scalar"
	"ripc/ir"
)

// negInf is the identity of max.
func negInf() float32 { return float32(math.Inf(-1)) }

// Eltwise applies float steps, in order, to each element of a tensor that no layer before it could take in.
func Eltwise(steps []scalar.Step, shape []int) *ir.Func {
	s := Spatial(shape)
	x, y := buf("x", ir.F32, s...), buf("y", ir.F32, s...)
	ls := loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2]), over(ir.Channel, "o", s[3]))
	f := &ir.Func{Params: []ir.Param{in(x)}}
	withSteps(f, steps, ir.At(x, vars(ls)...), y, ls)
	return f
}

// withSteps lets f, which has the beginning of its name and its input so far, store what steps make of v at each position of y, which
// ls go through.
func withSteps(f *ir.Func, steps []scalar.Step, v ir.Expr, y ir.Buffer, ls []ir.Loop) {
	s, i := y.Shape, vars(ls)
	f.Name += stepsName(steps) + fmt.Sprintf("%dx%dx%d", s[1], s[2], s[3])
	f.Body = ir.Nest(ls, storeLinks(y, stepLinks(steps, operands(f, steps, s[3], i[3])), v, i))
	f.Params = append(f.Params, out(y))
}
