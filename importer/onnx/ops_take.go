package onnx

import (
	"slices"

	"ripc/importer/internal/source"
)

// pick is t with the given positions of an axis in that order, in runs where they go up by equal steps.
func (b *builder) pick(t *tensor, axis int, positions []int) (*tensor, error) {
	if axis < 0 || len(positions) == 0 {
		return nil, b.n.fail("", "nothing is left of shape %v", t.shape)
	}
	t, err := b.plain(t)
	if err != nil {
		return nil, err
	}
	var parts []*tensor
	for _, run := range source.Runs(positions) {
		p, err := b.slice(t, []span{spanOf(axis, run)})
		if err != nil {
			return nil, err
		}
		if parts = append(parts, p); len(parts) > maxPieces {
			return nil, b.n.fail("", "takes more than %d separate pieces of axis %d", maxPieces, axis)
		}
	}
	return b.concat(parts, axis)
}

// lowerGather takes positions that are known from an axis.
func lowerGather(n *node) ([]*tensor, error) {
	b, t := n.b, n.in[0]
	axis, err := n.intAttr("axis", 0)
	if err != nil {
		return nil, err
	}
	if axis, err = n.axis(axis, len(t.shape)); err != nil {
		return nil, err
	}
	idx, err := n.konst(1, "indices")
	if err != nil {
		return nil, err
	}
	positions, err := n.positions(idx, t.shape[axis])
	if err != nil {
		return nil, err
	}
	shape := slices.Concat(t.shape[:axis], idx.shape, t.shape[axis+1:])
	y, err := b.pick(t, axis, positions)
	if err != nil {
		return nil, err
	}
	return one(b.reshape(y, shape))
}

// positions checks indices into an axis.
func (n *node) positions(idx *array, extent int) ([]int, error) {
	v, err := idx.ints()
	if err != nil {
		return nil, n.fail("", "the list of indices %v", err)
	}
	for i, p := range v {
		if p < -extent || p >= extent {
			return nil, n.fail("", "index %d of an axis of %d", p, extent)
		}
		if p < 0 {
			v[i] += extent
		}
	}
	return v, nil
}

// parts are the extents that Split cuts its axis into.
func (n *node) parts(shape []int) (axis int, sizes []int, err error) {
	if axis, err = n.intAttr("axis", 0); err != nil {
		return 0, nil, err
	}
	if axis, err = n.axis(axis, len(shape)); err != nil {
		return 0, nil, err
	}
	sizes, given, err := n.listArg("split", 13, 1)
	if err != nil {
		return 0, nil, err
	}
	if !given {
		// Equal parts, the last one smaller if it must.
		count := len(n.Output)
		if count == 0 || count > shape[axis] {
			return 0, nil, n.fail("", "%d parts of an axis of %d", count, shape[axis])
		}
		size := (shape[axis] + count - 1) / count
		for range count {
			sizes = append(sizes, size)
		}
		sizes[count-1] = shape[axis] - size*(count-1)
	}
	total := 0
	for _, s := range sizes {
		if s < 0 || s > shape[axis] {
			return 0, nil, n.fail("", "parts %v of an axis of %d", sizes, shape[axis])
		}
		total += s
	}
	if total != shape[axis] || len(sizes) != len(n.Output) {
		return 0, nil, n.fail("", "parts %v of an axis of %d for %d outputs", sizes, shape[axis], len(n.Output))
	}
	return axis, sizes, nil
}

func lowerSplit(n *node) ([]*tensor, error) {
	axis, sizes, err := n.parts(n.in[0].shape)
	if err != nil {
		return nil, err
	}
	outs := make([]*tensor, len(sizes))
	at := 0
	for i, s := range sizes {
		if n.Output[i] != "" && n.b.read(n.Output[i]) {
			if outs[i], err = n.b.take(n.in[0], []span{{axis: axis, begin: at, count: s, step: 1}}); err != nil {
				return nil, err
			}
		}
		at += s
	}
	return outs, nil
}
