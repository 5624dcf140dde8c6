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
	n := 0
	f.Body = ir.Nest(ls, storeLinks(y, stepLinks(steps, func() ir.Expr {
		b := buf(fmt.Sprintf("s%d", n), ir.F32, s[3])
		n++
		f.Params = append(f.Params, in(b))
		return ir.At(b, i[3])
	}), ir.At(x, i...), i))
	f.Params = append(f.Params, out(y))
	return f
}

// Softmax over the last axis of [B, C]: exp(x - max) / sum, summed in the order of the channels.
func Softmax(shape []int) *ir.Func {
	s := []int{1, shape[len(shape)-1]}
	for _, d := range shape[:len(shape)-1] {
		s[0] *= d
	}
	x, y := buf("x", ir.F32, s...), buf("y", ir.F32, s...)
	top, sum, e := buf("top", ir.F32), buf("sum", ir.F32), buf("e", ir.F32, s[1])
	b := ir.V("b")
	d := buf("d", ir.F32, s[1])
	body := ir.Seq(
		set(top, ir.At(x, b, ir.Int(0))),
		ir.Nest(loops("", over(ir.Reduce, "m", s[1])), update(ir.MaxTo, top, ir.At(x, b, ir.V("m")))),
		ir.Nest(loops("", over(ir.Channel, "c0", s[1])), set(d, sub(ir.At(x, b, ir.V("c0")), ir.At(top)), ir.V("c0"))),
		ir.Nest(loops("", over(ir.Channel, "c1", s[1])), set(e, scalar.ExpExpr(ir.At(d, ir.V("c1"))), ir.V("c1"))),
		set(sum, ir.Float(0)),
		ir.Nest(loops("", over(ir.Reduce, "s", s[1])), update(ir.AddTo, sum, ir.At(e, ir.V("s")))),
		ir.Nest(loops("", over(ir.Channel, "c2", s[1])), set(y, ir.Bin(ir.Div, ir.At(e, ir.V("c2")), ir.At(sum)), b, ir.V("c2"))),
	)
	return &ir.Func{Name: fmt.Sprintf("softmax_%d", s[1]), Params: []ir.Param{in(x), out(y)},
		Body: ir.Nest(loops("", over(ir.Batch, "b", s[0])), allocs([]ir.Buffer{top, sum, d, e}, body))}
}
