package onnx

import (
	"slices"

	"ripc/graph"
)

// wholeNote is what is said of a tensor that the file counts in int64.
const wholeNote = "the file makes int64 of these positions, ripc i32"

// positions emits an op that makes i32 integers.
func (b *builder) positions(op string, attrs any, x *graph.Value) *graph.Value {
	v := b.emit(op, attrs, nil, x)
	b.g.Producer(v.Name).Note = wholeNote
	return v
}

// alongLast is t with an axis, which attribute "axis" names, stored last.
func (n *node) alongLast(def int) (t *tensor, axis int) {
	axis = n.axis(n.intAttr("axis", def), len(n.in[0].shape))
	t = n.b.plain(n.in[0])
	t = n.b.stored(t, t.last(axis))
	return t, axis
}

// lowerArg is ArgMax or ArgMin.
func lowerArg(op string) lowerFunc {
	return func(n *node) *tensor {
		t, axis := n.alongLast(0)
		keep := n.intAttr("keepdims", 1)
		last := n.intAttr("select_last_index", 0)
		v := n.b.positions(op, &graph.ArgAttrs{Last: last != 0, Drop: keep == 0}, t.value)
		shape, perm := slices.Clone(t.shape), slices.Clone(t.order())
		if shape[axis] = 1; keep == 0 {
			shape, perm = slices.Delete(shape, axis, axis+1), perm[:len(perm)-1]
			for d, p := range perm {
				if p > axis {
					perm[d] = p - 1
				}
			}
		}
		return &tensor{shape: shape, value: v, perm: perm}
	}
}

// lowerTopK makes a node of each of the two outputs that is read.
func lowerTopK(n *node) []*tensor {
	t, axis := n.alongLast(-1)
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
		if i >= len(n.Output) || n.Output[i] == "" || !n.b.read(n.Output[i]) {
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

// lowerReduceMin is the greatest of what is negated, negated.
func lowerReduceMin(n *node) *tensor {
	negated := n.b.scalar("mul", n.in[0], -1)
	n.in[0] = negated
	return n.b.scalar("mul", lowerReduce(false)(n), -1)
}
