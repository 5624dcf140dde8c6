package ops

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
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

// Transpose gives the elements of x another order of axes. Of packed levels these are whole words
// where the channels stay, else single bits.
func Transpose(a *graph.TransposeAttrs, x layout.Tensor) *ir.Func {
	to, from := transposed(a, x.Shape)
	s, last := Spatial(to), len(to)-1
	src, y := tensorBuffer("x", x, spread(x.Shape, 1)), tensorBuffer("y", x, s)
	if x.Form != layout.Planes {
		return elementwise(transposeName(a, 0, s), src, y, func(i []ir.Expr) ir.Expr { return ir.At(src, from(i)...) })
	}
	name := transposeName(a, x.Bits, s)
	if a.Perm[last] == last {
		ls, i := planes(y, loop(ir.Word, "c", y.Shape[4]))
		at := append([]ir.Expr{i[0]}, from(i[1:])...)
		return unary(name, src, y, ir.Nest(ls, set(y, ir.At(src, at...), i...)))
	}
	return unary(name, src, y, repackLoop(src, y, from))
}

func transposeName(a *graph.TransposeAttrs, bits int, to []int) string {
	name := fmt.Sprintf("transpose_%d_", bits)
	for _, p := range a.Perm {
		name += fmt.Sprint(p)
	}
	return name + fmt.Sprintf("_%dx%dx%d", to[1], to[2], to[3])
}
