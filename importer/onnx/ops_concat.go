package onnx

import (
	"slices"

	"ripc/graph"
)

func lowerConcat(n *node) []*tensor {
	axis := n.concatAxis(n.in[0])
	parts := n.realParts()
	return one(n.b.concat(parts, axis))
}

// realParts are n's inputs, constants among them being the numbers that their integers stand for where the others hold integers.
func (n *node) realParts() []*tensor {
	i := slices.IndexFunc(n.in, func(t *tensor) bool { return t != nil && t.konst == nil })
	parts := slices.Clone(n.in)
	if i < 0 {
		return parts
	}
	q, of := n.in[i].integers, dtFloat
	if q != nil {
		of = q.dt
	}
	for k, t := range parts {
		if t == nil || t.konst == nil {
			continue
		}
		if dt := t.konst.dt; dt != of && (q != nil || dt.eightBits()) {
			panic(n.fail("give all the same type", "its input %q is a constant %s, and %q is %s", n.Input[k], dt, n.Input[i], of))
		}
		if q != nil {
			real := n.b.mem.real(t.konst, q)
			parts[k] = &tensor{shape: t.shape, konst: real}
		}
	}
	return parts
}

// concatAxis is that along which n puts t and others together.
func (n *node) concatAxis(t *tensor) int {
	if !n.has("axis") {
		panic(n.fail("", "attribute \"axis\" is missing"))
	}
	axis := n.intAttr("axis", 0)
	return n.axis(axis, len(t.shape))
}

// concat puts tensors, of which some may be constant, together along an axis. Where others are stored behind it, the elements of
// these count as its own while that is done.
func (b *builder) concat(parts []*tensor, axis int) *tensor {
	if len(parts) == 1 {
		return parts[0]
	}
	var like *tensor // decides how the result is stored
	shape := slices.Clone(parts[0].shape)
	total := 0
	for _, t := range parts {
		if t == nil {
			panic(b.n.fail("", "an input is left out"))
		}
		if len(t.shape) != len(shape) {
			panic(b.n.fail("", "shapes %v and %v differ in rank", shape, t.shape))
		}
		shape[axis] = t.shape[axis]
		if !slices.Equal(t.shape, shape) {
			panic(b.n.fail("", "shapes %v and %v differ elsewhere than along axis %d", parts[0].shape, t.shape, axis))
		}
		total += t.shape[axis]
		if t.konst == nil && (like == nil || t.order()[len(shape)-1] == axis && like.order()[len(shape)-1] != axis) {
			like = t
		}
	}
	shape[axis] = total
	like = b.plain(like)
	order := like.order()
	at := slices.Index(order, axis)
	joined := func(v *graph.Value) *graph.Value {
		if at == len(order)-1 {
			return v
		}
		return b.reshaped(v, []int{graph.Elems(v.Shape[:at]), graph.Elems(v.Shape[at:])})
	}
	var in []*graph.Value
	for _, t := range parts {
		if t.konst != nil {
			if t.konst.len() == 0 {
				continue
			}
			k := b.constantLike(&tensor{shape: t.shape, perm: order}, t.konst)
			k = joined(k)
			in = append(in, k)
			continue
		}
		if !t.integers.equal(like.integers) {
			panic(b.n.fail("quantize them alike", "its inputs hold integers of different scales"))
		}
		s := b.stored(t, order)
		v := joined(s.value)
		in = append(in, v)
	}
	v := b.emit("concat", &graph.ConcatAttrs{}, nil, in...)
	if at < len(order)-1 {
		stored := make([]int, len(order))
		for d, p := range order {
			stored[d] = shape[p]
		}
		v = b.reshaped(v, stored)
	}
	return &tensor{shape: shape, value: v, perm: order, integers: like.integers}
}
