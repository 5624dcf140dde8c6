package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// at is t with the given positions along some axes. The rows and columns of an image, or the positions of a sequence, are those of
// the stored image; other axes are rows of an image whose pixels are what lies behind them.
func (b *builder) at(t *tensor, axes []*kit.Along) *tensor {
	axes = slices.DeleteFunc(slices.Clone(axes), func(a *kit.Along) bool { return a == nil })
	if len(axes) == 0 {
		return t
	}
	t = b.plain(t)
	if rank := len(t.shape); (rank == 3 || rank == 4) && !slices.ContainsFunc(axes, func(a *kit.Along) bool { return a.Axis < 2 }) {
		x, spatials := b.image(t)
		var along [2]*kit.Along
		for _, a := range axes {
			along[a.Axis-2+4-rank] = a
		}
		y := b.fromImage(ofImage(b.AtPixels(x.value, along[0], along[1])), spatials)
		y.integers, y.truth = t.integers, t.truth
		return y
	}
	v, shape := t.value, slices.Clone(t.shape)
	for _, a := range axes {
		d := slices.Index(t.order(), a.Axis)
		v = b.AsRows(v, d, func(v *graph.Value) *graph.Value { return b.AtPixels(v, a, nil) })
		shape[a.Axis] = v.Shape[d]
	}
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers, truth: t.truth}
}
