package ops

import (
	"fmt"

	"ripc/ir"
)

// MatMul is the product of a [..., M, K] and b [..., K, N], both of one rank from 2 to 4; leading
// axes of extent 1 are repeated. Each element is a chain of fma over K, as in a convolution.
func MatMul(a, b []int) *ir.Func {
	rank, last := len(a), len(a)-1
	to := make([]int, rank)
	for d := range to {
		to[d] = max(a[d], b[d])
	}
	to[last-1], to[last] = a[last-1], b[last]
	s := Spatial(to)
	x, z, y, acc := buf("x", ir.F32, Spatial(a)...), buf("z", ir.F32, Spatial(b)...), buf("y", ir.F32, s...),
		allocBuffer(ir.RoleSum, "acc", ir.F32, s...)
	at := place(rank)
	outer, i := image("acc.", s, "o")
	red := loops("acc.", loop(ir.TapRow, "kh", 1), loop(ir.TapCol, "kw", 1), loop(ir.Reduce, "c", a[last]))
	operand := func(shape []int, row, col ir.Expr) []ir.Expr {
		idx := []ir.Expr{ir.Int(0), ir.Int(0), ir.Int(0), ir.Int(0)}
		for d, p := range at {
			switch {
			case d == last:
				idx[p] = col
			case d == last-1:
				idx[p] = row
			case shape[d] > 1:
				idx[p] = i[p]
			}
		}
		return idx
	}
	k := ir.V("acc.c")
	step := set(acc, &ir.Fma{A: ir.At(x, operand(a, i[at[last-1]], k)...), B: ir.At(z, operand(b, k, i[3])...),
		C: ir.At(acc, i...)}, i...)
	sums := ir.Nest(outer, ir.Seq(set(acc, ir.Float(0), i...), ir.Nest(red, step)))
	ls, j := image("", s, "o")
	body := allocs([]ir.Buffer{acc}, ir.Seq(sums, ir.Nest(ls, set(y, ir.At(acc, j...), j...))))
	return &ir.Func{Name: fmt.Sprintf("matmul_%dx%dx%d_%d", s[0]*s[1]*s[2]/a[last-1], a[last-1], a[last], s[3]),
		Params: []ir.Param{inParam(x), inParam(z), outParam(y)}, Body: body}
}
