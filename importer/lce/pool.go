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
		x, err := b.float(0)
		if err != nil {
			return "", err
		}
		a := &graph.PoolAttrs{Kernel: [2]int{t.Int32(4, 0), t.Int32(3, 0)}}
		if a.Pad, a.Strides, err = window(t); err != nil {
			return "", err
		}
		y, err := b.add(op, a, nil, x)
		if err != nil {
			return "", err
		}
		return b.activation(y, t.Int8(5, 0))
	}
}

// mean is MEAN over rows and columns.
func mean(b *builder) (string, error) {
	if _, err := b.builtin(optReducer); err != nil {
		return "", err
	}
	axes, err := b.ints(1, "axes")
	if err != nil {
		return "", err
	}
	x, err := b.float(0)
	if err != nil {
		return "", err
	}
	rank := len(b.g.Value(x).Shape)
	for i, a := range axes {
		if a < 0 {
			axes[i] += rank
		}
	}
	slices.Sort(axes)
	if rank != 4 || !slices.Equal(axes, []int{1, 2}) {
		return "", faultf("means over the rows and columns of an image are supported", "is a mean over axes %v of %d", axes, rank)
	}
	y, err := b.add("global_avg_pool", &graph.NoAttrs{}, nil, x)
	if err != nil {
		return "", err
	}
	return b.likeOutput(y) // with keep_dims [N, 1, 1, C]
}
