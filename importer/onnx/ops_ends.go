package onnx

import (
	"slices"

	"ripc/graph"
)

// wholeNote is what is said of a tensor that the file counts in int64.
const wholeNote = "the file makes int64 of these positions, ripc i32"

// positions emits an op that makes i32 integers.
func (b *builder) positions(op string, attrs any, x *graph.Value) (*graph.Value, error) {
	v, err := b.emit(op, attrs, nil, x)
	if err == nil {
		b.g.Producer(v.Name).Note = wholeNote
	}
	return v, err
}

// alongLast is t with an axis, which attribute "axis" names, stored last.
func (n *node) alongLast(def int) (t *tensor, axis int, err error) {
	if axis, err = n.intAttr("axis", def); err != nil {
		return nil, 0, err
	}
	if axis, err = n.axis(axis, len(n.in[0].shape)); err != nil {
		return nil, 0, err
	}
	if t, err = n.b.plain(n.in[0]); err != nil {
		return nil, 0, err
	}
	t, err = n.b.stored(t, t.last(axis))
	return t, axis, err
}

// lowerArg is ArgMax or ArgMin.
func lowerArg(op string) lowerFunc {
	return func(n *node) ([]*tensor, error) {
		t, axis, err := n.alongLast(0)
		if err != nil {
			return nil, err
		}
		keep, err := n.intAttr("keepdims", 1)
		if err != nil {
			return nil, err
		}
		last, err := n.intAttr("select_last_index", 0)
		if err != nil {
			return nil, err
		}
		v, err := n.b.positions(op, &graph.ArgAttrs{Last: last != 0, Drop: keep == 0}, t.value)
		if err != nil {
			return nil, err
		}
		shape, perm := slices.Clone(t.shape), slices.Clone(t.order())
		if shape[axis] = 1; keep == 0 {
			shape, perm = slices.Delete(shape, axis, axis+1), perm[:len(perm)-1]
			for d, p := range perm {
				if p > axis {
					perm[d] = p - 1
				}
			}
		}
		return []*tensor{{shape: shape, value: v, perm: perm}}, nil
	}
}

// lowerTopK makes a node of each of the two outputs that is read.
func lowerTopK(n *node) ([]*tensor, error) {
	t, axis, err := n.alongLast(-1)
	if err != nil {
		return nil, err
	}
	var k []int
	if n.opset < 10 {
		if v, err := n.intAttr("k", 0); err != nil {
			return nil, err
		} else if n.has("k") {
			k = []int{v}
		}
	} else if k, err = n.listOf(1, "k"); err != nil {
		return nil, err
	}
	largest, err := n.intAttr("largest", 1)
	if err != nil {
		return nil, err
	}
	if len(k) != 1 {
		return nil, n.fail("", "k is %v, want one number", k)
	}
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
			v, err = n.b.emit(op, a, nil, t.value)
		} else {
			v, err = n.b.positions(op, a, t.value)
		}
		if err != nil {
			return nil, err
		}
		outs[i] = &tensor{shape: shape, value: v, perm: t.perm}
	}
	return outs, nil
}

// lowerReduceMin is the greatest of what is negated, negated.
func lowerReduceMin(n *node) ([]*tensor, error) {
	negated, err := n.b.scalar("mul", n.in[0], -1)
	if err != nil {
		return nil, err
	}
	n.in[0] = negated
	most, err := lowerReduce(false)(n)
	if err != nil {
		return nil, err
	}
	return one(n.b.scalar("mul", most[0], -1))
}
