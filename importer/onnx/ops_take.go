package onnx

import (
	"ripc/importer/internal/kit"
	"slices"
)

// pick is t with the given positions of an axis in that order, in runs where they go up by equal steps.
func (b *builder) pick(t *tensor, axis int, positions []int) *tensor {
	b.n.failIf(axis < 0 || len(positions) == 0, "", "nothing is left of shape %v", t.shape)
	t = b.plain(t)
	runs := kit.Runs(positions)
	switch {
	case len(runs) > maxPieces:
		panic(b.n.fail("", "takes more than %d separate pieces of axis %d", maxPieces, axis))
	case len(runs) == 1:
		return b.slice(t, []span{{axis, runs[0]}})
	}
	shape := slices.Clone(t.shape)
	shape[axis] = len(positions)
	v := b.Pick(t.value, slices.Index(t.order(), axis), positions)
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers}
}

// lowerGather takes positions that are known from an axis.
func lowerGather(n *node) *tensor {
	b, t := n.b, n.in[0]
	axis := n.axis(n.intAttr("axis", 0), len(t.shape))
	idx := n.konst(1, "indices")
	positions := n.positions(idx, t.shape[axis])
	shape := slices.Concat(t.shape[:axis], idx.shape, t.shape[axis+1:])
	return b.reshape(b.pick(t, axis, positions), shape)
}

// positions checks indices into an axis.
func (n *node) positions(idx *array, extent int) []int {
	v := n.intsOf(idx, "the list of indices")
	for i, p := range v {
		n.failIf(p < -extent || p >= extent, "", "index %d of an axis of %d", p, extent)
		if p < 0 {
			v[i] += extent
		}
	}
	return v
}

// parts are the extents that Split cuts its axis into.
func (n *node) parts(shape []int) (axis int, sizes []int) {
	axis = n.axis(n.intAttr("axis", 0), len(shape))
	sizes, given := n.listArg("split", 13, 1)
	if !given {
		// Equal parts, the last one smaller if it must.
		count := len(n.Output)
		n.failIf(count == 0 || count > shape[axis], "", "%d parts of an axis of %d", count, shape[axis])
		size := (shape[axis] + count - 1) / count
		for range count {
			sizes = append(sizes, size)
		}
		sizes[count-1] = shape[axis] - size*(count-1)
	}
	total := 0
	for _, s := range sizes {
		n.failIf(s < 0 || s > shape[axis], "", "parts %v of an axis of %d", sizes, shape[axis])
		total += s
	}
	n.failIf(total != shape[axis] || len(sizes) != len(n.Output),
		"", "parts %v of an axis of %d for %d outputs", sizes, shape[axis], len(n.Output))
	return axis, sizes
}

func lowerSplit(n *node) []*tensor {
	axis, sizes := n.parts(n.in[0].shape)
	outs := make([]*tensor, len(sizes))
	at := 0
	for i, s := range sizes {
		if n.Output[i] != "" && n.b.read(n.Output[i]) {
			outs[i] = n.b.take(n.in[0], []span{{axis, kit.Span{Begin: at, Count: s, Step: 1}}})
		}
		at += s
	}
	return outs
}
