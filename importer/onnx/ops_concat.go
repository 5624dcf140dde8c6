package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

func lowerConcat(n *node) *tensor {
	axis := n.concatAxis(n.in[0])
	return n.b.concat(n.realParts(), axis)
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
	n.failIf(!n.has("axis"), "", "attribute \"axis\" is missing")
	return n.axis(n.intAttr("axis", 0), len(t.shape))
}

// concat puts tensors, of which some may be constant, together along an axis.
func (b *builder) concat(parts []*tensor, axis int) *tensor {
	if len(parts) == 1 {
		return parts[0]
	}
	var like *tensor // decides how the result is stored
	shape := slices.Clone(parts[0].shape)
	total := 0
	for _, t := range parts {
		b.n.failIf(t == nil, "", "an input is left out")
		b.n.failIf(len(t.shape) != len(shape), "", "shapes %v and %v differ in rank", shape, t.shape)
		shape[axis] = t.shape[axis]
		b.n.failIf(!slices.Equal(t.shape, shape),
			"", "shapes %v and %v differ elsewhere than along axis %d", parts[0].shape, t.shape, axis)
		total += t.shape[axis]
		if t.konst == nil && (like == nil || t.order()[len(shape)-1] == axis && like.order()[len(shape)-1] != axis) {
			like = t
		}
	}
	shape[axis] = total
	like = b.plain(like)
	order := like.order()
	at := slices.Index(order, axis)
	var in []*graph.Value
	for _, t := range parts {
		switch {
		case t.konst != nil && t.konst.len() == 0:
		case t.konst != nil:
			in = append(in, b.Part(b.constantLike(&tensor{shape: t.shape, perm: order}, t.konst), at))
		case !t.integers.equal(like.integers):
			panic(b.n.fail("quantize them alike", "its inputs hold integers of different scales"))
		default:
			in = append(in, b.Part(b.stored(t, order).value, at))
		}
	}
	v := b.Join(in, kit.Permuted(shape, order))
	return &tensor{shape: shape, value: v, perm: order, integers: like.integers}
}
