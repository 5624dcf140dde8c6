package ops

import (
	"fmt"
	"slices"

	"ripc/ir"
)

// BinaryOp is left op right, op one of add, sub, mul and div, on f32 tensors whose axes of extent 1 are repeated; a shape with
// fewer axes has such axes in front.
func BinaryOp(op string, left, right []int) *ir.Func {
	rank := max(len(left), len(right))
	operands := [2][]int{leading(left, rank), leading(right, rank)}
	full := make([]int, rank)
	for d := range full {
		full[d] = max(operands[0][d], operands[1][d])
	}
	s := Spatial(full)
	y := buf("y", ir.F32, s...)
	ls := loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2]), over(ir.Channel, "c", s[3]))
	i := vars(ls)
	f := &ir.Func{Name: fmt.Sprintf("%s_%dx%dx%d", op, s[1], s[2], s[3])}
	var values []ir.Expr
	for k, shape := range operands {
		x, at := buf(fmt.Sprintf("x%d", k), ir.F32, s...), i
		if !slices.Equal(shape, full) {
			f.Name += fmt.Sprintf("_x%d", k) // repeated
			x.Shape = spread(shape, 1)
			at = append([]ir.Expr{}, coords(i, full)...)
			for d, n := range x.Shape {
				if n == 1 {
					at[d] = ir.Int(0)
				}
			}
		}
		f.Params = append(f.Params, in(x))
		values = append(values, ir.At(x, at...))
	}
	f.Params = append(f.Params, out(y))
	kind := map[string]ir.BinOp{"add": ir.Add, "sub": ir.Sub, "mul": ir.Mul, "div": ir.Div}[op]
	f.Body = ir.Nest(ls, set(y, ir.Bin(kind, values[0], values[1]), i...))
	return f
}

// leading puts axes of extent 1 in front of shape.
func leading(shape []int, rank int) []int {
	out := make([]int, 0, rank)
	for range rank - len(shape) {
		out = append(out, 1)
	}
	return append(out, shape...)
}
