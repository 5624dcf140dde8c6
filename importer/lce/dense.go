package lce

import (
	"ripc/graph"
	"ripc/importer/internal/kit"
)

// batchMatMul is BATCH_MATMUL: a dense layer where the right side is one constant matrix, else a
// product of two tensors.
func batchMatMul(b *builder) *graph.Value {
	t := b.builtin(optBatchMatMul)
	x := b.operand(0, t.Bool(0))
	if w := b.input(1); w != nil && b.isConstant(1) && len(w.shape) >= 2 && elems(w.shape[:len(w.shape)-2]) == 1 {
		return b.timesMatrix(x, w.shape[len(w.shape)-2:], t.Bool(1))
	}
	y := b.operand(1, t.Bool(1))
	sides := []*graph.Value{x, y}
	b.equalizeRanks(sides)
	return b.add("matmul", &graph.NoAttrs{}, nil, sides...)
}

// operand is input k as floats, with its last two axes exchanged if adjoint is set.
func (b *builder) operand(k int, adjoint bool) *graph.Value {
	x := b.floatInput(k)
	if !adjoint {
		return x
	}
	rank := len(x.Shape)
	failIf(rank < 2, "", "input %d has %d axes, want 2 or more", k, rank)
	perm := kit.Identity(rank)
	perm[rank-2], perm[rank-1] = rank-1, rank-2
	return b.Transpose(x, perm)
}

// timesMatrix is x times input 1, a constant matrix of this shape, or its transpose.
func (b *builder) timesMatrix(x *graph.Value, shape []int, adjoint bool) *graph.Value {
	w := b.weights(1, "matrix", func() *graph.Tensor {
		if !adjoint {
			return &graph.Tensor{Shape: shape, Data: graph.NumbersOf(b.numbers(1, "right side"))}
		}
		data := b.constants(1, "right side")
		b.take(data.Len())
		return &graph.Tensor{Shape: []int{shape[1], shape[0]}, Data: data.Transposed(shape[0], shape[1])}
	})
	return b.Rows(x, func(rows *graph.Value) *graph.Value {
		return b.add("dense", &graph.DenseAttrs{}, map[string]*graph.Tensor{"w": w}, rows)
	})
}
