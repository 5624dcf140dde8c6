package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// lowerExpand repeats a tensor along axes of extent 1.
func lowerExpand(n *node) []*tensor {
	t := n.in[0]
	want := n.listOf(1, "shape")
	shape := kit.Must(broadcastShape(t.shape, want))
	t = n.b.ranked(t, len(shape))
	times := make([]int, len(shape))
	for d := range shape {
		if shape[d] < 1 {
			panic(n.fail("", "shape %v", want))
		}
		times[d] = shape[d] / t.shape[d]
	}
	return one(n.b.repeated(t, times))
}

// lowerTile repeats a tensor along each axis as often as its second input says.
func lowerTile(n *node) []*tensor {
	t := n.in[0]
	times := n.listOf(1, "repeats")
	if len(times) != len(t.shape) {
		panic(n.fail("", "%d repeats for %d axes", len(times), len(t.shape)))
	}
	for _, r := range times {
		if r < 1 || r > graph.MaxElems {
			panic(n.fail("", "repeats %v: want positive numbers", times))
		}
	}
	return one(n.b.repeated(t, times))
}

// repeated is t, one after another times[d] times along each axis d. What lies behind a stored axis is one pixel of an image,
// which resize repeats; axes of extent 1 before it count as one with it.
func (b *builder) repeated(t *tensor, times []int) *tensor {
	if !slices.ContainsFunc(times, func(r int) bool { return r != 1 }) {
		c := *t
		return &c
	}
	t = b.plain(t)
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
		v = b.reshaped(v, []int{graph.Elems(stored[:first]), 1, 1, graph.Elems(stored[first:])})
		v = b.emit("resize", &graph.ResizeAttrs{Factor: [2]int{1, count}}, nil, v)
		for ; k > first; k-- {
			stored[k] *= times[order[k]]
		}
		stored[k] *= times[order[k]]
	}
	v = b.reshaped(v, stored)
	shape := slices.Clone(t.shape)
	for d, r := range times {
		shape[d] *= r
	}
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers}
}
