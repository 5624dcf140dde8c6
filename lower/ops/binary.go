package ops

import (
	"fmt"
	"slices"

	"ripc/graph/scalar"
	"ripc/ir"
)

// Function applies fn to the elements of tensors of the given shapes; axes of extent 1 are
// repeated. A shape with fewer axes gets leading axes of extent 1. Truth values are packed levels
// of 1 bit, numbers f32.
func Function(fn scalar.Function, shapes ...[]int) *ir.Func {
	s, operands, repeated := broadcast(shapes...)
	f := &ir.Func{Name: fmt.Sprintf("%s_%dx%dx%d%s", fn, s[1], s[2], s[3], repeated)}
	_, truths := fn.Arguments()
	var read []func(i []ir.Expr) ir.Expr // the operands at position i of the result
	for k, o := range operands {
		name := fmt.Sprintf("x%d", k)
		x := buf(name, ir.F32, o.size...)
		load := func(i []ir.Expr) ir.Expr { return ir.At(x, o.at(i)...) }
		if k < truths {
			x = BitBuffer(name, 1, o.size, ir.Unipolar)
			load = func(i []ir.Expr) ir.Expr {
				p := o.at(i)
				return ir.Bin(ir.Ne, bitOf(x, ir.Int(0), p[:len(p)-1], p[len(p)-1]), ir.Const(ir.U32, 0))
			}
		}
		f.Params, read = append(f.Params, inParam(x)), append(read, load)
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
		f.Params = append(f.Params, outParam(y))
		f.Body = packLoop(y, func(i []ir.Expr, o ir.Expr) []ir.Expr {
			return []ir.Expr{value(append(slices.Clone(i), o))}
		})
		return f
	}
	y := buf("y", ir.F32, s...)
	ls, i := image("", s, "c")
	f.Params = append(f.Params, outParam(y))
	f.Body = ir.Nest(ls, set(y, value(i), i...))
	return f
}

// operand is an operand of an elementwise op; axes of extent 1 are repeated.
type operand struct {
	size []int                       // in memory, channels last
	at   func(i []ir.Expr) []ir.Expr // where element [b, h, w, c] of the result reads it
}

// pixel is where the channels of pixel i of the result, [b, h, w], begin in the operand.
func (o operand) pixel(i []ir.Expr) []ir.Expr {
	at := o.at(append(slices.Clone(i), ir.Int(0)))
	return at[:len(at)-1]
}

// single reports whether the operand has one channel, where a result of size s has more.
func (o operand) single(s []int) bool { return o.size[len(o.size)-1] == 1 && s[len(s)-1] > 1 }

// broadcast returns the size of an elementwise result, [batch, height, width, channels], and the
// operands. repeated is a part of the op's name: it lists the operands with repeated axes.
func broadcast(shapes ...[]int) (size []int, operands []operand, repeated string) {
	rank := 0
	for _, shape := range shapes {
		rank = max(rank, len(shape))
	}
	full := make([]int, rank)
	for _, shape := range shapes {
		for d, n := range Leading(shape, rank) {
			full[d] = max(full[d], n)
		}
	}
	size = Spatial(full)
	for k, shape := range shapes {
		if shape = Leading(shape, rank); slices.Equal(shape, full) {
			operands = append(operands, operand{size, func(i []ir.Expr) []ir.Expr { return i }})
			continue
		}
		repeated += fmt.Sprintf("_x%d", k)
		wide := spread(shape, 1)
		operands = append(operands, operand{wide, func(i []ir.Expr) []ir.Expr {
			i = append([]ir.Expr{}, coords(i, full)...)
			for d, n := range wide {
				if n == 1 {
					i[d] = ir.Int(0)
				}
			}
			return i
		}})
	}
	return size, operands, repeated
}

// Leading puts axes of extent 1 in front of shape.
func Leading(shape []int, rank int) []int {
	out := make([]int, 0, rank)
	for range rank - len(shape) {
		out = append(out, 1)
	}
	return append(out, shape...)
}
