package ops

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/ir"
)

// transposed returns the shape of the result. from maps a position of the result's spatial form to
// one of x, in spread(shape, 1).
func transposed(a *graph.TransposeAttrs, shape []int) (to []int, from func(i []ir.Expr) []ir.Expr) {
	to = make([]int, len(shape))
	for d, p := range a.Perm {
		to[d] = shape[p]
	}
	at := place(len(shape))
	return to, func(i []ir.Expr) []ir.Expr {
		y := coords(i, to)
		x := make([]ir.Expr, len(y))
		for d := range x {
			x[d] = ir.Int(0)
		}
		for d, p := range a.Perm {
			x[at[p]] = y[at[d]]
		}
		return x
	}
}

// TransposeIsView reports whether the elements, packed where bits is not 0, lie in memory in the
// same order before and after.
func TransposeIsView(a *graph.TransposeAttrs, bits int, shape []int) bool {
	var order []int // axes of more than one element, as the result has them
	for _, p := range a.Perm {
		if shape[p] > 1 {
			order = append(order, p)
		}
	}
	last := len(shape) - 1
	before, after := shape[last], shape[a.Perm[last]]
	return slices.IsSorted(order) && (bits == 0 || before == after || before%WordBits == 0 && after%WordBits == 0)
}

// TransposeNumbers gives elements of type t another order of axes.
func TransposeNumbers(a *graph.TransposeAttrs, t ir.Type, shape []int) *ir.Func {
	to, from := transposed(a, shape)
	s := Spatial(to)
	x, y := buf("x", t, spread(shape, 1)...), buf("y", t, s...)
	return elementwise(transposeName(a, 0, s), x, y, func(i []ir.Expr) ir.Expr { return ir.At(x, from(i)...) })
}

// TransposeBits gives packed levels another order of axes: whole words where the channels stay,
// else bit by bit.
func TransposeBits(a *graph.TransposeAttrs, bits int, shape []int, enc ir.EncodingKind) *ir.Func {
	to, from := transposed(a, shape)
	s := Spatial(to)
	x, y := BitBuffer("x", bits, spread(shape, 1), enc), BitBuffer("y", bits, s, enc)
	name := transposeName(a, bits, s)
	if last := len(shape) - 1; a.Perm[last] == last {
		ls, i := planes(y, loop(ir.Word, "c", y.Shape[4]))
		return unary(name, x, y, ir.Nest(ls, set(y, ir.At(x, append([]ir.Expr{i[0]}, from(i[1:])...)...), i...)))
	}
	return unary(name, x, y, repackLoop(x, y, from))
}

func transposeName(a *graph.TransposeAttrs, bits int, to []int) string {
	name := fmt.Sprintf("transpose_%d_", bits)
	for _, p := range a.Perm {
		name += fmt.Sprint(p)
	}
	return name + fmt.Sprintf("_%dx%dx%d", to[1], to[2], to[3])
}
