package lce

import (
	"slices"

	"ripc/graph"
)

// pool is MAX_POOL_2D or AVERAGE_POOL_2D, which counts only positions inside the image.
func pool(op string) func(*builder) *graph.Value {
	return func(b *builder) *graph.Value {
		t := b.builtin(optPool)
		a := &graph.PoolAttrs{Kernel: [2]int{t.Int32(4, 0), t.Int32(3, 0)}}
		a.Pad, a.Strides = window(t)
		if op == "avg_pool" {
			if y := b.integerPool(a, t.Int8(5, 0)); y != nil {
				return y
			}
		}
		return b.activation(b.add(op, a, nil, b.float(0)), t.Int8(5, 0))
	}
}

// reduce is MEAN, SUM or REDUCE_MAX over any axes, such as the rows and columns of an image or the steps of a sequence: a pool over an
// image that has them as rows.
func reduce(op string) func(*builder) *graph.Value {
	return func(b *builder) *graph.Value { return b.reduced(op, b.float(0)) }
}

// reduced is x, which takes the place of input 0, reduced by op over the operator's axes. Sums are means times the number of elements.
func (b *builder) reduced(op string, x *graph.Value) *graph.Value {
	b.builtin(optReducer)
	axes := b.ints(1, "axes")
	for i, a := range axes {
		axes[i] = axisOf(a, len(x.Shape))
	}
	slices.Sort(axes)
	if axes = slices.Compact(axes); len(axes) == 0 {
		return b.likeOutput(x)
	}
	perm, from := together(axes, len(x.Shape))
	sum := b.op.op == "SUM"
	if op == "global_avg_pool" {
		if y := b.integerMean(perm, from, len(axes), sum); y != nil {
			return b.likeOutput(y)
		}
	}
	count := graph.Elems(x.Shape)
	x = b.Reduce(b.Transpose(x, perm), from, len(axes), op == "global_avg_pool")
	if sum {
		x = b.Number("mul", x, float32(count/graph.Elems(x.Shape)))
	}
	return b.likeOutput(x) // with keep_dims, axes of extent 1 are left
}

// together is an order of the axes of a tensor in which some axes, given in ascending order, are neighbours, the first of them at from.
// The axes behind the last of them stay at the end.
func together(axes []int, rank int) (perm []int, from int) {
	last := axes[len(axes)-1]
	for d := range last {
		if !slices.Contains(axes, d) {
			perm = append(perm, d)
		}
	}
	from = len(perm)
	perm = append(perm, axes...)
	for d := last + 1; d < rank; d++ {
		perm = append(perm, d)
	}
	return perm, from
}
