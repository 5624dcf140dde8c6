package lce

import (
	"fmt"

	"ripc/graph"
	"ripc/importer/lce/internal/flatbuf"
	"ripc/internal/lists"
)

// sparsity lists the elements of a tensor that its data holds: the leaves of a tree. The levels of
// the tree are the axes, in some order, and behind them dense blocks of axes.
type sparsity struct {
	order  []int // by level: an axis, or, from the number of axes on, a block
	blocks []int // by block: the axis that it is of
	levels []sparseLevel
}

// sparseLevel is an axis: of size positions, or of those that node n lists,
// indices[segments[n]:segments[n+1]].
type sparseLevel struct {
	dense             bool
	size              int
	segments, indices []int
}

// readSparsity reads a SparsityParameters.
func readSparsity(t flatbuf.Table) *sparsity {
	s := &sparsity{order: t.Int32s(0), blocks: t.Int32s(1)}
	for _, d := range t.Tables(2) {
		s.levels = append(s.levels, sparseLevel{dense: d.Int8(0, 0) == 0, size: d.Int32(1, 0),
			segments: indexVector(d, 2), indices: indexVector(d, 4)})
	}
	return s
}

// indexVector reads a SparseIndexVector, a union. Field i has its type.
func indexVector(d flatbuf.Table, i int) []int {
	switch v := d.Table(i + 1); d.Int8(i, 0) {
	case 1:
		return v.Int32s(0)
	case 2:
		return v.Uint16s(0)
	case 3:
		return lists.Map(v.Bytes(0), func(b byte) int { return int(b) })
	}
	return nil
}

// densify is DENSIFY of a constant, which becomes one with all of its elements.
func densify(b *builder) *graph.Value {
	t, out := b.input(0), &b.file.tensors[b.op.outputs[0]]
	failIf(t == nil || !t.sparse || t.data == nil, "", "its input is no sparse constant")
	size := typeSize(t.typ)
	failIf(size == 0 || t.typ != out.typ || t.elems != out.elems,
		"", "makes %s of shape %v of %s of shape %v", typeName(out.typ), out.shape, typeName(t.typ), t.shape)
	b.take(t.elems)
	w := &sparseWalk{sparsity: t.sparsity, name: t.name, shape: t.shape, from: t.data,
		to: make([]byte, t.elems*size), size: size, at: make([]int, len(t.shape))}
	w.check()
	w.walk(0, 0)
	out.data = w.to
	return nil
}

// sparseWalk copies elements of size bytes each from a sparse tensor to their places in a dense
// one.
type sparseWalk struct {
	*sparsity
	name     string
	shape    []int
	from, to []byte
	size     int
	at       []int // the place so far
	left     int   // nodes that may still be visited: a tensor has no more at each level than elements
}

// failIf ends the walk, as the file is damaged, if a condition holds.
func (w *sparseWalk) failIf(condition bool, format string, args ...any) {
	if condition {
		panic(faultf("the file is damaged", "its input %q: %s", w.name, fmt.Sprintf(format, args...)))
	}
}

// check wants each axis once, and blocks of axes behind them.
func (w *sparseWalk) check() {
	rank := len(w.shape)
	w.left = len(w.levels) * elems(w.shape)
	w.failIf(len(w.levels) != len(w.order) || len(w.order) != rank+len(w.blocks) || len(w.blocks) > rank,
		"%d levels in the order %v, blocks of the axes %v, for %d axes", len(w.levels), w.order, w.blocks, rank)
	seen := make([]bool, len(w.order))
	for i, o := range w.order {
		w.failIf(o < 0 || o >= len(w.order) || seen[o] || (o < rank) != (i < rank), "order %v of %d axes", w.order,
			rank)
		seen[o] = true
	}
	for _, axis := range w.blocks {
		w.failIf(axis < 0 || axis >= rank, "a block of axis %d of %d", axis, rank)
	}
}

// walk goes through node n of a level.
func (w *sparseWalk) walk(level, n int) {
	if level == len(w.levels) {
		w.copyElement()
		return
	}
	w.left--
	w.failIf(w.left < 0, "it has more positions than elements")
	l, axis, times := w.levels[level], w.order[level], 0
	if rank := len(w.shape); axis >= rank {
		axis, times = w.blocks[axis-rank], l.size
	}
	before := w.at[axis]
	defer func() { w.at[axis] = before }()
	first, end := n*l.size, (n+1)*l.size
	w.failIf(l.dense && (l.size < 1 || l.size > w.shape[axis]), "%d positions of axis %d of %v", l.size, axis, w.shape)
	if !l.dense {
		w.failIf(n+1 >= len(l.segments) || l.segments[n] < 0 || l.segments[n+1] > len(l.indices),
			"level %d has no segment %d", level, n)
		first, end = l.segments[n], l.segments[n+1]
	}
	for i := first; i < end; i++ {
		p := i - first
		if !l.dense {
			p = l.indices[i]
		}
		w.failIf(p < 0 || p >= w.shape[axis] || before > w.shape[axis], "position %d of axis %d of %v", p, axis,
			w.shape)
		w.at[axis] = before*times + p
		w.walk(level+1, i)
	}
}

// copyElement takes the next element.
func (w *sparseWalk) copyElement() {
	place := 0
	for d, p := range w.at {
		w.failIf(p >= w.shape[d], "an element at %v of %v", w.at, w.shape)
		place = place*w.shape[d] + p
	}
	w.failIf(len(w.from) < w.size, "it has too few elements")
	copy(w.to[place*w.size:], w.from[:w.size])
	w.from = w.from[w.size:]
}
