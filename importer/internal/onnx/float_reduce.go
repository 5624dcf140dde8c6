package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// lowerGlobalPool takes the mean or the maximum over all spatial axes.
func lowerGlobalPool(mean bool) func(n *node) *tensor {
	return func(n *node) *tensor {
		n.failIf(len(n.in[0].shape) < 3, "", "input has shape %v, want [N, C, H, W]", n.in[0].shape)
		return n.b.reduce(n.in[0], kit.Identity(len(n.in[0].shape))[2:], true, mean)
	}
}

// readReduction reads the axes of a reduction of a tensor of the given rank, and whether they stay
// with extent 1.
func (n *node) readReduction(rank int) (axes []int, keep bool) {
	since := int64(18)
	if n.GetOpType() == "ReduceSum" {
		since = 13
	}
	list, given := n.listArg("axes", since, 1)
	k := n.intAttr("keepdims", 1)
	noop := n.intAttr("noop_with_empty_axes", 0)
	if !given || len(list) == 0 {
		if noop != 0 {
			return nil, k != 0
		}
		return kit.Identity(rank), k != 0
	}
	axes = n.axes(list, rank)
	return axes, k != 0
}

func lowerReduce(mean bool) func(n *node) *tensor {
	return func(n *node) *tensor {
		axes, keep := n.readReduction(len(n.in[0].shape))
		if len(axes) == 0 {
			return lowerIdentity(n)
		}
		return n.b.reduce(n.in[0], axes, keep, mean)
	}
}

// reduce takes the mean or maximum over axes. It pools an image: the axes are its rows, the last
// axis that stays is its channels.
func (b *builder) reduce(t *tensor, axes []int, keep, mean bool) *tensor {
	t = b.orderColumns(t)
	order := t.order()
	gone := func(d int) bool { return slices.Contains(axes, d) }
	stay := slices.DeleteFunc(slices.Clone(order), gone)
	rows := slices.DeleteFunc(slices.Clone(order), func(d int) bool { return !gone(d) })
	// The axes that go must be neighbours. If they are not, they move in front of the last axis
	// that stays.
	last := max(0, len(stay)-1)
	want := slices.Concat(stay[:last], rows, stay[last:])
	if from := slices.IndexFunc(order, gone); slices.Equal(order[from:min(from+len(rows), len(order))], rows) {
		want, last = order, from
	}
	v := b.Reduce(b.store(t, want).value, last, len(rows), mean)
	shape, left := slices.Clone(t.shape), kit.Identity(len(t.shape)) // axes that the result has
	for _, d := range axes {
		shape[d] = 1
	}
	if !keep {
		want, left = stay, slices.DeleteFunc(left, gone)
	}
	stored := kit.Permuted(shape, want)
	if len(left) == 0 {
		if !b.scalars {
			panic(b.n.fail("keep one axis (keepdims)",
				"its result is a single number without axes, which is only supported for constants"))
		}
		stored = []int{1}
	}
	return &tensor{shape: kit.Permuted(shape, left), value: b.emitReshape(v, stored), perm: kit.Places(want, left)}
}

// wholeNote is the note on positions, which the file counts in int64.
const wholeNote = "the file makes int64 of these positions, ripc i32"

// positions emits an op that makes i32 integers.
func (b *builder) positions(op string, attrs any, x *graph.Value) *graph.Value {
	v := b.emit(op, attrs, nil, x)
	b.g.Producer(v.Name).Note = wholeNote
	return v
}

// axisLast returns t with an axis, which attribute "axis" names, stored last.
func (n *node) axisLast(def int) (t *tensor, axis int) {
	axis = n.axis(n.intAttr("axis", def), len(n.in[0].shape))
	t = n.b.orderColumns(n.in[0])
	t = n.b.store(t, t.last(axis))
	return t, axis
}

// lowerArg is ArgMax or ArgMin.
func lowerArg(op string) lowerFunc {
	return func(n *node) *tensor {
		t, axis := n.axisLast(0)
		keep := n.intAttr("keepdims", 1)
		last := n.intAttr("select_last_index", 0)
		v := n.b.positions(op, &graph.ArgAttrs{Last: last != 0, Drop: keep == 0}, t.value)
		shape, perm, left := slices.Clone(t.shape), t.order(), kit.Identity(len(t.shape))
		if shape[axis] = 1; keep == 0 {
			perm, left = perm[:len(perm)-1], slices.Delete(left, axis, axis+1)
		}
		return &tensor{shape: kit.Permuted(shape, left), value: v, perm: kit.Places(perm, left)}
	}
}

// lowerTopK makes a node of each of the two outputs that is read.
func lowerTopK(n *node) []*tensor {
	t, axis := n.axisLast(-1)
	var k []int
	if n.opset < 10 {
		v := n.intAttr("k", 0)
		if n.has("k") {
			k = []int{v}
		}
	} else {
		k = n.listOf(1, "k")
	}
	largest := n.intAttr("largest", 1)
	n.failIf(len(k) != 1, "", "k is %v, want one number", k)
	a := &graph.TopKAttrs{K: k[0], Least: largest == 0}
	shape := slices.Clone(t.shape)
	shape[axis] = k[0]
	outs := make([]*tensor, 2)
	for i, op := range []string{"top_k", "top_k_indices"} {
		if i >= len(n.Output) || n.Output[i] == "" || !n.b.isRead(n.Output[i]) {
			continue
		}
		var v *graph.Value
		if i == 0 {
			v = n.b.emit(op, a, nil, t.value)
		} else {
			v = n.b.positions(op, a, t.value)
		}
		outs[i] = &tensor{shape: shape, value: v, perm: t.perm}
	}
	return outs
}

// lowerReduceMin is ReduceMax of the negated input, negated.
func lowerReduceMin(n *node) *tensor {
	n.in[0] = n.b.scalar("mul", n.in[0], -1)
	return n.b.scalar("mul", lowerReduce(false)(n), -1)
}
