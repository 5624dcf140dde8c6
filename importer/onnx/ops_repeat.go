package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// lowerExpand repeats a tensor along axes of extent 1.
func lowerExpand(n *node) *tensor {
	t := n.in[0]
	want := n.listOf(1, "shape")
	shape := kit.Must(broadcastShape(t.shape, want))
	t = n.b.ranked(t, len(shape))
	times := make([]int, len(shape))
	for d := range shape {
		n.failIf(shape[d] < 1, "", "shape %v", want)
		times[d] = shape[d] / t.shape[d]
	}
	return n.b.repeated(t, times)
}

// lowerTile repeats a tensor along each axis as often as its second input says.
func lowerTile(n *node) *tensor {
	t := n.in[0]
	times := n.listOf(1, "repeats")
	n.failIf(len(times) != len(t.shape), "", "%d repeats for %d axes", len(times), len(t.shape))
	n.failIf(!kit.Within(times, 1, graph.MaxElems), "", "repeats %v: want positive numbers", times)
	return n.b.repeated(t, times)
}

// repeated is t, one after another times[d] times along each axis d.
func (b *builder) repeated(t *tensor, times []int) *tensor {
	if !slices.ContainsFunc(times, func(r int) bool { return r != 1 }) {
		return t.copied()
	}
	t = b.plain(t)
	stored := make([]int, len(times))
	for k, d := range t.order() {
		stored[k] = times[d]
	}
	v := b.Repeat(t.value, stored)
	shape := slices.Clone(t.shape)
	for d, r := range times {
		shape[d] *= r
	}
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers}
}
