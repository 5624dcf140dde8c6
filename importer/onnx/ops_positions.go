package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/source"
)

// at is t with the given positions along some axes. The rows and columns of an image, or the positions of a sequence, are those of
// the stored image; other axes are rows of an image whose pixels are what lies behind them.
func (b *builder) at(t *tensor, axes []*source.Along) *tensor {
	axes = slices.DeleteFunc(slices.Clone(axes), func(a *source.Along) bool { return a == nil })
	if len(axes) == 0 {
		return t
	}
	t = b.plain(t)
	if rank := len(t.shape); (rank == 3 || rank == 4) && !slices.ContainsFunc(axes, func(a *source.Along) bool { return a.Axis < 2 }) {
		x, spatials := b.image(t)
		var along [2]*source.Along
		for _, a := range axes {
			along[a.Axis-2+4-rank] = a
		}
		v := b.atPositions(x.value, along[0], along[1])
		y := b.fromImage(ofImage(v), spatials)
		y.integers, y.truth = t.integers, t.truth
		return y
	}
	v, shape := t.value, slices.Clone(t.shape)
	for _, a := range axes {
		d := slices.Index(t.order(), a.Axis)
		stored := slices.Clone(v.Shape)
		v = b.reshaped(v, []int{graph.Elems(stored[:d]), stored[d], 1, graph.Elems(stored[d+1:])})
		v = b.atPositions(v, a, nil)
		stored[d], shape[a.Axis] = v.Shape[1], v.Shape[1]
		v = b.reshaped(v, stored)
	}
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers, truth: t.truth}
}

// atPositions is image v, NHWC, at positions along its rows and columns.
func (b *builder) atPositions(v *graph.Value, rows, columns *source.Along) *graph.Value {
	for _, s := range source.AtPositions(rows, columns) {
		v = b.emit(s.Op, s.Attrs, nil, v)
	}
	return v
}
