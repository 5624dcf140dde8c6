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
	i := vars(ls)
	f := &ir.Func{Params: []ir.Param{in(x)}}
	for _, step := range steps {
		f.Name += step.Kind.String() + "_"
	}
	if len(steps) > 8 {
		f.Name = fmt.Sprintf("steps%d_", len(steps))
	}
	f.Name += fmt.Sprintf("%dx%dx%d", s[1], s[2], s[3])
	f.Body = ir.Nest(ls, storeLinks(y, stepLinks(steps, operands(f, steps, s[3], i[3])), ir.At(x, i...), i))
	f.Params = append(f.Params, out(y))
	return f
}
