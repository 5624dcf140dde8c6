package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// maxPieces bounds the slices that a reversal or a Gather is made of.
const maxPieces = 64

// span is a span of one axis.
type span struct {
	axis int
	kit.Span
}

// spans reads the operands of Slice of a tensor of the given shape.
func (n *node) spans(shape []int) []span {
	starts, _ := n.listArg("starts", 10, 1)
	ends, _ := n.listArg("ends", 10, 2)
	axes, given := n.listArg("axes", 10, 3)
	if !given {
		axes = kit.Identity(len(starts))
	}
	var steps []int
	if n.opset >= 10 {
		steps = n.listOf(4, "steps")
	}
	if steps == nil {
		steps = slices.Repeat([]int{1}, len(starts))
	}
	n.failIf(len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts),
		"", "%d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(axes), len(steps))
	n.axes(axes, len(shape))
	out := make([]span, len(starts))
	for i := range out {
		axis := n.axis(axes[i], len(shape))
		n.failIf(steps[i] == 0, "", "step 0 along axis %d", axis)
		out[i] = span{axis, kit.Cut(shape[axis], starts[i], ends[i], steps[i])}
	}
	return out
}

func lowerSlice(n *node) *tensor {
	t := n.in[0]
	return n.b.take(t, n.spans(t.shape))
}

// take is the part of t that the spans leave; an axis that is read backwards is put together of
// slices.
func (b *builder) take(t *tensor, list []span) *tensor {
	t = b.orderColumns(t)
	forward := make([]span, len(list))
	for i, s := range list {
		b.n.failIf(s.Count == 0, "", "nothing is left of axis %d of %v", s.axis, t.shape)
		forward[i].axis = s.axis
		forward[i].Span, _ = s.Forward()
	}
	t = b.slice(t, forward)
	for _, s := range list {
		if _, backwards := s.Forward(); !backwards {
			continue
		}
		b.n.failIf(s.Count > maxPieces, "", "takes more than %d positions of axis %d backwards", maxPieces, s.axis)
		positions := kit.Identity(s.Count)
		slices.Reverse(positions)
		t = b.pick(t, s.axis, positions)
	}
	return t
}

// slice cuts along axes of the file's; steps are positive.
func (b *builder) slice(t *tensor, list []span) *tensor {
	var spans []kit.Span
	shape := slices.Clone(t.shape)
	for _, d := range t.order() {
		s := kit.WholeSpan(t.shape[d])
		for _, o := range list {
			if o.axis == d {
				s = o.Span
			}
		}
		shape[d], spans = s.Count, append(spans, s)
	}
	if slices.Equal(shape, t.shape) {
		return t
	}
	return &tensor{shape: shape, value: b.Cut(t.value, spans), perm: t.perm, integers: t.integers, truth: t.truth}
}

// pick is t with the given positions of an axis in that order, in runs where they go up by equal
// steps.
func (b *builder) pick(t *tensor, axis int, positions []int) *tensor {
	b.n.failIf(axis < 0 || len(positions) == 0, "", "nothing is left of shape %v", t.shape)
	t = b.orderColumns(t)
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
		if n.Output[i] != "" && n.b.isRead(n.Output[i]) {
			outs[i] = n.b.take(n.in[0], []span{{axis, kit.Span{Begin: at, Count: s, Step: 1}}})
		}
		at += s
	}
	return outs
}

// sampleAxes returns t with the given positions along some axes. Spatial axes are rows and columns
// of the stored image. For any other axis, an image is made: the axis is its rows, and the axes
// behind it are its pixels.
func (b *builder) sampleAxes(t *tensor, axes []*kit.Along) *tensor {
	axes = slices.DeleteFunc(slices.Clone(axes), func(a *kit.Along) bool { return a == nil })
	if len(axes) == 0 {
		return t
	}
	t = b.orderColumns(t)
	if rank := len(t.shape); (rank == 3 || rank == 4) &&
		!slices.ContainsFunc(axes, func(a *kit.Along) bool { return a.Axis < 2 }) {
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

func lowerConcat(n *node) *tensor {
	axis := n.concatAxis(n.in[0])
	return n.b.concat(n.realParts(), axis)
}

// realParts are n's inputs, constants among them being the numbers that their integers stand for
// where the others hold integers.
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
			panic(n.fail("give all the same type", "its input %q is a constant %s, and %q is %s", n.Input[k], dt,
				n.Input[i], of))
		}
		if q != nil {
			parts[k] = &tensor{shape: t.shape, konst: n.b.mem.real(t.konst, q)}
		}
	}
	return parts
}

// concatAxis is that along which n puts t and others together.
func (n *node) concatAxis(t *tensor) int {
	n.failIf(!n.has("axis"), "", "attribute \"axis\" is missing")
	return n.axis(n.intAttr("axis", 0), len(t.shape))
}

// concat joins tensors along an axis. Some of them may be constant.
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
	like = b.orderColumns(like)
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
			in = append(in, b.Part(b.store(t, order).value, at))
		}
	}
	v := b.Join(in, kit.Permuted(shape, order))
	return &tensor{shape: shape, value: v, perm: order, integers: like.integers}
}
