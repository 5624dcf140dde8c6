package randnet

import "slices"

// matmul multiplies the current floats by a second factor: their own transpose, themselves where
// they are square, or one of their batches for all. It keeps the result small.
func (b *modelBuilder) matmul() {
	cur, shape := b.cur, slices.Clone(b.shape)
	if len(shape) == 4 && b.r.IntN(2) == 0 {
		shape = []int{shape[0], shape[1] * shape[2], shape[3]}
		b.add("reshape", map[string]any{"shape": slices.Clone(shape)})
		cur = b.cur
	}
	last := len(shape) - 1
	other := slices.Clone(shape)
	if last > 1 && shape[0] > 1 && b.r.IntN(2) == 0 {
		other[0] = 1
		b.add("slice", map[string]any{"begin": make([]int, len(shape)), "size": other})
	}
	perm := make([]int, len(shape))
	for d := range perm {
		perm[d] = d
	}
	perm[last], perm[last-1] = last-1, last
	b.add("transpose", map[string]any{"perm": perm})
	inputs := []string{cur, b.cur}
	shape[last] = shape[last-1]
	if b.r.IntN(2) == 0 && other[0] == shape[0] {
		slices.Reverse(inputs)
		shape[last-1], shape[last] = b.shape[len(b.shape)-1], b.shape[len(b.shape)-1]
	}
	b.addTo(inputs, "matmul", nil)
	if b.shape = shape; len(shape) == 3 {
		b.shape = []int{shape[0], shape[1], 1, shape[2]}
		b.add("reshape", map[string]any{"shape": b.shape})
	}
}
