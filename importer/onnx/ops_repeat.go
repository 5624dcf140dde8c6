package onnx

import (
	"slices"

	"ripc/graph"
)

// lowerExpand repeats a tensor along axes of extent 1.
func lowerExpand(n *node) ([]*tensor, error) {
	t := n.in[0]
	want, err := n.listOf(1, "shape")
	if err != nil {
		return nil, err
	}
	shape, err := broadcastShape(t.shape, want)
	if err != nil {
		return nil, err
	}
	if t, err = n.b.ranked(t, len(shape)); err != nil {
		return nil, err
	}
	times := make([]int, len(shape))
	for d := range shape {
		if shape[d] < 1 {
			return nil, n.fail("", "shape %v", want)
		}
		times[d] = shape[d] / t.shape[d]
	}
	return one(n.b.repeated(t, times))
}

// lowerTile repeats a tensor along each axis as often as its second input says.
func lowerTile(n *node) ([]*tensor, error) {
	t := n.in[0]
	times, err := n.listOf(1, "repeats")
	if err != nil {
		return nil, err
	}
	if len(times) != len(t.shape) {
		return nil, n.fail("", "%d repeats for %d axes", len(times), len(t.shape))
	}
	for _, r := range times {
		if r < 1 || r > graph.MaxElems {
			return nil, n.fail("", "repeats %v: want positive numbers", times)
		}
	}
	return one(n.b.repeated(t, times))
}

// repeated is t, one after another times[d] times along each axis d. What lies behind a stored axis is one pixel of an image,
// which resize repeats; axes of extent 1 before it count as one with it.
func (b *builder) repeated(t *tensor, times []int) (*tensor, error) {
	if !slices.ContainsFunc(times, func(r int) bool { return r != 1 }) {
		c := *t
		return &c, nil
	}
	t, err := b.plain(t)
	if err != nil {
		return nil, err
	}
	order, v := t.order(), t.value
	stored := slices.Clone(v.Shape)
	for k := len(order) - 1; k >= 0; k-- {
		first, count := k, times[order[k]]
		if count == 1 {
			continue
		}
		for first > 0 && stored[first-1] == 1 && times[order[first-1]] > 1 {
			first--
			count *= times[order[first]]
		}
		if v, err = b.reshaped(v, []int{graph.Elems(stored[:first]), 1, 1, graph.Elems(stored[first:])}); err != nil {
			return nil, err
		}
		if v, err = b.emit("resize", &graph.ResizeAttrs{Factor: [2]int{1, count}}, nil, v); err != nil {
			return nil, err
		}
		for ; k > first; k-- {
			stored[k] *= times[order[k]]
		}
		stored[k] *= times[order[k]]
	}
	if v, err = b.reshaped(v, stored); err != nil {
		return nil, err
	}
	shape := slices.Clone(t.shape)
	for d, r := range times {
		shape[d] *= r
	}
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers}, nil
}
