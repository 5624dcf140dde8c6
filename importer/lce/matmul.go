package lce

import (
	"slices"

	"ripc/graph"
)

// batchMatMul is BATCH_MATMUL: a dense layer where the right side is one constant matrix, else a product of two tensors.
func batchMatMul(b *builder) (string, error) {
	t, err := b.builtin(optBatchMatMul)
	if err != nil {
		return "", err
	}
	x, err := b.operand(0, t.Bool(0))
	if err != nil {
		return "", err
	}
	if w := b.input(1); w != nil && b.isConstant(1) && len(w.shape) >= 2 && elems(w.shape[:len(w.shape)-2]) == 1 {
		return b.timesMatrix(x, w.shape[len(w.shape)-2:], t.Bool(1))
	}
	y, err := b.operand(1, t.Bool(1))
	if err != nil {
		return "", err
	}
	rank := max(len(b.g.Value(x).Shape), len(b.g.Value(y).Shape))
	sides := []string{x, y}
	for i, v := range sides {
		shape := b.g.Value(v).Shape
		if len(shape) == rank {
			continue
		}
		if sides[i], err = b.add("reshape", &graph.ReshapeAttrs{Shape: append(slices.Repeat([]int{1}, rank-len(shape)), shape...)}, nil, v); err != nil {
			return "", err
		}
	}
	return b.add("matmul", &graph.NoAttrs{}, nil, sides...)
}

// operand is input k as floats, with its last two axes exchanged if adjoint is set.
func (b *builder) operand(k int, adjoint bool) (string, error) {
	x, err := b.float(k)
	if err != nil || !adjoint {
		return x, err
	}
	rank := len(b.g.Value(x).Shape)
	if rank < 2 {
		return "", faultf("", "input %d has %d axes, want 2 or more", k, rank)
	}
	perm := make([]int, rank)
	for d := range perm {
		perm[d] = d
	}
	perm[rank-2], perm[rank-1] = rank-1, rank-2
	return b.add("transpose", &graph.TransposeAttrs{Perm: perm}, nil, x)
}

// timesMatrix is x times input 1, a constant matrix of this shape, or its transpose.
func (b *builder) timesMatrix(x string, shape []int, adjoint bool) (string, error) {
	w, err := b.weights(1, "matrix", func() (*graph.Tensor, error) {
		if !adjoint {
			data, err := b.numbers(1, "right side")
			return &graph.Tensor{Shape: shape, Data: graph.NumbersOf(data)}, err
		}
		data, err := b.constants(1, "right side")
		if err != nil {
			return nil, err
		}
		return &graph.Tensor{Shape: []int{shape[1], shape[0]}, Data: data.Transposed(shape[0], shape[1])}, b.take(data.Len())
	})
	if err != nil {
		return "", err
	}
	from := b.g.Value(x).Shape
	last := len(from) - 1
	if x, err = b.reshape(x, []int{elems(from[:last]), from[last]}); err != nil {
		return "", err
	}
	if x, err = b.add("dense", &graph.DenseAttrs{}, map[string]*graph.Tensor{"w": w}, x); err != nil {
		return "", err
	}
	return b.reshape(x, append(slices.Clone(from[:last]), w.Shape[1]))
}
