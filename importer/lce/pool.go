package lce

import (
	"slices"

	"ripc/graph"
)

// pool is MAX_POOL_2D or AVERAGE_POOL_2D, which counts only positions inside the image.
func pool(op string) func(*builder) (string, error) {
	return func(b *builder) (string, error) {
		t, err := b.builtin(optPool)
		if err != nil {
			return "", err
		}
		a := &graph.PoolAttrs{Kernel: [2]int{t.Int32(4, 0), t.Int32(3, 0)}}
		if a.Pad, a.Strides, err = window(t); err != nil {
			return "", err
		}
		if op == "avg_pool" {
			if y, err := b.integerPool(a, t.Int8(5, 0)); y != "" || err != nil {
				return y, err
			}
		}
		x, err := b.float(0)
		if err != nil {
			return "", err
		}
		y, err := b.add(op, a, nil, x)
		if err != nil {
			return "", err
		}
		return b.activation(y, t.Int8(5, 0))
	}
}

// reduce is MEAN or REDUCE_MAX over neighbouring axes, such as the rows and columns of an image or the steps of a sequence: a pool
// over an image that has them as rows.
func reduce(op string) func(*builder) (string, error) {
	return func(b *builder) (string, error) {
		x, err := b.float(0)
		if err != nil {
			return "", err
		}
		return b.reduced(op, x)
	}
}

// reduced is x, which takes the place of input 0, reduced by op over the operator's axes.
func (b *builder) reduced(op, x string) (string, error) {
	if _, err := b.builtin(optReducer); err != nil {
		return "", err
	}
	axes, err := b.ints(1, "axes")
	if err != nil {
		return "", err
	}
	shape := b.g.Value(x).Shape
	for i, a := range axes {
		if axes[i], err = axisOf(a, len(shape)); err != nil {
			return "", err
		}
	}
	slices.Sort(axes)
	axes = slices.Compact(axes)
	if len(axes) == 0 || axes[len(axes)-1]-axes[0] != len(axes)-1 {
		return "", faultf("neighbouring axes are supported, such as the rows and columns of an image", "is over axes %v of %d", axes, len(shape))
	}
	from, to := axes[0], axes[len(axes)-1]+1
	image := []int{elems(shape[:from]), elems(shape[from:to]), 1, elems(shape[to:])}
	if len(shape) == 4 && from == 1 && to == 3 {
		image = shape
	}
	if op == "global_avg_pool" {
		if y, err := b.integerMean(image); y != "" || err != nil {
			if err != nil {
				return "", err
			}
			return b.likeOutput(y)
		}
	}
	if x, err = b.reshape(x, image); err != nil {
		return "", err
	}
	if op == "max_pool" {
		k := [2]int{image[1], image[2]}
		x, err = b.add(op, &graph.PoolAttrs{Kernel: k, Strides: k}, nil, x)
	} else {
		x, err = b.add(op, &graph.NoAttrs{}, nil, x)
	}
	if err != nil {
		return "", err
	}
	return b.likeOutput(x) // with keep_dims, axes of extent 1 are left
}
