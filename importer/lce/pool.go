package lce

import (
	"slices"

	"ripc/graph"
)

// pool is MAX_POOL_2D or AVERAGE_POOL_2D, which counts only positions inside the image.
func pool(op string) func(*builder) string {
	return func(b *builder) string {
		t := b.builtin(optPool)
		a := &graph.PoolAttrs{Kernel: [2]int{t.Int32(4, 0), t.Int32(3, 0)}}
		a.Pad, a.Strides = window(t)
		if op == "avg_pool" {
			if y := b.integerPool(a, t.Int8(5, 0)); y != "" {
				return y
			}
		}
		x := b.float(0)
		y := b.add(op, a, nil, x)
		return b.activation(y, t.Int8(5, 0))
	}
}

// reduce is MEAN, SUM or REDUCE_MAX over any axes, such as the rows and columns of an image or the steps of a sequence: a pool over an
// image that has them as rows.
func reduce(op string) func(*builder) string {
	return func(b *builder) string {
		x := b.float(0)
		return b.reduced(op, x)
	}
}

// reduced is x, which takes the place of input 0, reduced by op over the operator's axes. Sums are means times the number of elements.
func (b *builder) reduced(op, x string) string {
	b.builtin(optReducer)
	axes := b.ints(1, "axes")
	shape := b.g.Value(x).Shape
	for i, a := range axes {
		axes[i] = axisOf(a, len(shape))
	}
	slices.Sort(axes)
	if axes = slices.Compact(axes); len(axes) == 0 {
		return b.likeOutput(x)
	}
	perm, from := together(axes, len(shape))
	moved := make([]int, len(shape))
	for d, p := range perm {
		moved[d] = shape[p]
	}
	if slices.IsSorted(perm) {
		perm = nil
	}
	to := from + len(axes)
	image := []int{elems(moved[:from]), elems(moved[from:to]), 1, elems(moved[to:])}
	if len(shape) == 4 && from == 1 && to == 3 {
		image = moved
	}
	sum := b.op.op == "SUM"
	if op == "global_avg_pool" {
		if y := b.integerMean(image, perm, sum); y != "" {
			return b.likeOutput(y)
		}
	}
	if perm != nil {
		x = b.add("transpose", &graph.TransposeAttrs{Perm: perm}, nil, x)
	}
	x = b.reshape(x, image)
	if op == "max_pool" {
		k := [2]int{image[1], image[2]}
		x = b.add(op, &graph.PoolAttrs{Kernel: k, Strides: k}, nil, x)
	} else {
		x = b.add(op, &graph.NoAttrs{}, nil, x)
	}
	if sum {
		x = b.withNumber("mul", x, float64(image[1]*image[2]), false)
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
