package ops

import (
	"fmt"
	"slices"

	"ripc/graph/scalar"
	"ripc/ir"
)

// Function is f of the elements of tensors of the given shapes, whose axes of extent 1 are repeated; a shape with fewer axes has
// such axes in front. f's truth values are packed levels of 1 bit, its numbers f32.
func Function(fn scalar.Function, shapes ...[]int) *ir.Func {
	rank := 0
	for _, shape := range shapes {
		rank = max(rank, len(shape))
	}
	operands, full := make([][]int, len(shapes)), make([]int, rank)
	for k, shape := range shapes {
		operands[k] = Leading(shape, rank)
		for d, n := range operands[k] {
			full[d] = max(full[d], n)
		}
	}
	s := Spatial(full)
	f := &ir.Func{Name: fmt.Sprintf("%s_%dx%dx%d", fn, s[1], s[2], s[3])}
	_, truths := fn.Arguments()
	var read []func(i []ir.Expr) ir.Expr // the operands at position i of the result
	for k, shape := range operands {
		size, at := s, func(i []ir.Expr) []ir.Expr { return i }
		if !slices.Equal(shape, full) {
			f.Name += fmt.Sprintf("_x%d", k) // repeated
			size = spread(shape, 1)
			at = func(i []ir.Expr) []ir.Expr {
				i = append([]ir.Expr{}, coords(i, full)...)
				for d, n := range size {
					if n == 1 {
						i[d] = ir.Int(0)
					}
				}
				return i
			}
		}
		name := fmt.Sprintf("x%d", k)
		x := buf(name, ir.F32, size...)
		load := func(i []ir.Expr) ir.Expr { return ir.At(x, at(i)...) }
		if k < truths {
			x = BitBuffer(name, 1, size, ir.Unipolar)
			load = func(i []ir.Expr) ir.Expr {
				p := at(i)
				return ir.Bin(ir.Ne, bitOf(x, ir.Int(0), p[:len(p)-1], p[len(p)-1]), ir.Const(ir.U32, 0))
			}
		}
		f.Params, read = append(f.Params, in(x)), append(read, load)
	}
	value := func(i []ir.Expr) ir.Expr {
		args := make([]ir.Expr, len(read))
		for k := range read {
			args[k] = read[k](i)
		}
		return fn.Expr(args...)
	}
	if fn.Truth() {
		y := BitBuffer("y", 1, s, ir.Unipolar)
		f.Params = append(f.Params, out(y))
		f.Body = packLoop(y, func(i []ir.Expr, o ir.Expr) []ir.Expr { return []ir.Expr{value(append(slices.Clone(i), o))} })
		return f
	}
	y := buf("y", ir.F32, s...)
	ls := loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2]), over(ir.Channel, "c", s[3]))
	i := vars(ls)
	f.Params = append(f.Params, out(y))
	f.Body = ir.Nest(ls, set(y, value(i), i...))
	return f
}

// Leading puts axes of extent 1 in front of shape.
func Leading(shape []int, rank int) []int {
	out := make([]int, 0, rank)
	for range rank - len(shape) {
		out = append(out, 1)
	}
	return append(out, shape...)
}
