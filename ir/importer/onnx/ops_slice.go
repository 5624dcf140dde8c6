package onnx

import (
	"slices"

	"ripc/ir/graph"
)

// maxPieces bounds the slices that a reversal or a Gather is made of.
const maxPieces = 64

// span is a range of one axis: count positions from begin on in steps of step, which may be negative.
type span struct{ axis, begin, count, step int }

// spans reads what Slice takes from a tensor of the given shape.
func (n *node) spans(shape []int) ([]span, error) {
	starts, _, err := n.listArg("starts", 10, 1)
	if err != nil {
		return nil, err
	}
	ends, _, err := n.listArg("ends", 10, 2)
	if err != nil {
		return nil, err
	}
	axes, given, err := n.listArg("axes", 10, 3)
	if err != nil {
		return nil, err
	}
	if !given {
		axes = identity(len(starts))
	}
	var steps []int
	if n.opset >= 10 {
		if steps, err = n.listOf(4, "steps"); err != nil {
			return nil, err
		}
	}
	if steps == nil {
		steps = slices.Repeat([]int{1}, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		return nil, n.fail("", "%d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	if _, err := n.axes(axes, len(shape)); err != nil {
		return nil, err
	}
	out := make([]span, len(starts))
	for i := range out {
		axis, _ := n.axis(axes[i], len(shape))
		if steps[i] == 0 {
			return nil, n.fail("", "step 0 along axis %d", axis)
		}
		out[i] = cut(axis, shape[axis], starts[i], ends[i], steps[i])
	}
	return out, nil
}

// cut is the span of an axis of the given extent, with ends counting from behind and clamped as Slice has it.
func cut(axis, extent, start, end, step int) span {
	lo, hi := 0, extent
	if step < 0 {
		lo, hi = -1, extent-1
	}
	clamp := func(v int) int {
		if v < 0 {
			v += extent
		}
		return min(max(v, lo), hi)
	}
	s := span{axis: axis, begin: clamp(start), step: step}
	stop := clamp(end)
	if step == -1<<63 {
		s.step = -extent - 1
	}
	if (stop-s.begin)*sign(step) > 0 {
		s.count = (abs(stop-s.begin)-1)/abs(s.step) + 1
	}
	return s
}

func sign(v int) int {
	if v < 0 {
		return -1
	}
	return 1
}

func abs(v int) int { return v * sign(v) }

func lowerSlice(n *node) ([]*tensor, error) {
	t := n.in[0]
	list, err := n.spans(t.shape)
	if err != nil {
		return nil, err
	}
	return one(n.b.take(t, list))
}

// take is the part of t that the spans leave; an axis that is read backwards is put together of slices.
func (b *builder) take(t *tensor, list []span) (*tensor, error) {
	t, err := b.plain(t)
	if err != nil {
		return nil, err
	}
	forward := slices.Clone(list)
	for i, s := range list {
		if s.count == 0 {
			return nil, b.n.fail("", "nothing is left of axis %d of %v", s.axis, t.shape)
		}
		if s.step < 0 {
			forward[i] = span{axis: s.axis, begin: s.begin + (s.count-1)*s.step, count: s.count, step: -s.step}
		}
		if s.count == 1 {
			forward[i].step = 1
		}
	}
	if t, err = b.slice(t, forward); err != nil {
		return nil, err
	}
	for _, s := range list {
		if s.step < 0 && s.count > 1 {
			if t, err = b.pick(t, s.axis, reversed(s.count)); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func reversed(n int) []int {
	p := identity(n)
	slices.Reverse(p)
	return p
}

// slice cuts along axes of the file's; steps are positive.
func (b *builder) slice(t *tensor, list []span) (*tensor, error) {
	a := &graph.SliceAttrs{}
	shape := slices.Clone(t.shape)
	for _, d := range t.order() {
		s := span{count: t.shape[d], step: 1}
		for _, o := range list {
			if o.axis == d {
				s = o
			}
		}
		shape[d] = s.count
		a.Begin, a.Size, a.Stride = append(a.Begin, s.begin), append(a.Size, s.count), append(a.Stride, s.step)
	}
	if slices.Equal(shape, t.shape) {
		return t, nil
	}
	v, err := b.emit("slice", a, nil, t.value)
	if err != nil {
		return nil, err
	}
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers}, nil
}

// pick is t with the given positions of an axis in that order, in runs where they go up one by one.
func (b *builder) pick(t *tensor, axis int, positions []int) (*tensor, error) {
	if axis < 0 || len(positions) == 0 {
		return nil, b.n.fail("", "nothing is left of shape %v", t.shape)
	}
	t, err := b.plain(t)
	if err != nil {
		return nil, err
	}
	var parts []*tensor
	for i := 0; i < len(positions); {
		run := 1
		for i+run < len(positions) && positions[i+run] == positions[i]+run {
			run++
		}
		p, err := b.slice(t, []span{{axis: axis, begin: positions[i], count: run, step: 1}})
		if err != nil {
			return nil, err
		}
		if parts = append(parts, p); len(parts) > maxPieces {
			return nil, b.n.fail("", "takes more than %d separate pieces of axis %d", maxPieces, axis)
		}
		i += run
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

func lowerConcat(n *node) ([]*tensor, error) {
	if !n.has("axis") {
		return nil, n.fail("", "attribute \"axis\" is missing")
	}
	axis, err := n.intAttr("axis", 0)
	if err != nil {
		return nil, err
	}
	if axis, err = n.axis(axis, len(n.in[0].shape)); err != nil {
		return nil, err
	}
	return one(n.b.concat(n.in, axis))
}

// concat puts tensors, of which some may be constant, together along an axis, which is then stored last.
func (b *builder) concat(parts []*tensor, axis int) (*tensor, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	var like *tensor // decides how the result is stored
	shape := slices.Clone(parts[0].shape)
	total := 0
	for _, t := range parts {
		if t == nil {
			return nil, b.n.fail("", "an input is left out")
		}
		if len(t.shape) != len(shape) {
			return nil, b.n.fail("", "shapes %v and %v differ in rank", shape, t.shape)
		}
		shape[axis] = t.shape[axis]
		if !slices.Equal(t.shape, shape) {
			return nil, b.n.fail("", "shapes %v and %v differ elsewhere than along axis %d", parts[0].shape, t.shape, axis)
		}
		total += t.shape[axis]
		if t.konst == nil && (like == nil || t.order()[len(shape)-1] == axis && like.order()[len(shape)-1] != axis) {
			like = t
		}
	}
	shape[axis] = total
	order := like.last(axis)
	var in []*graph.Value
	for _, t := range parts {
		if t.konst != nil {
			if t.konst.len() == 0 {
				continue
			}
			k, err := b.constantLike(&tensor{shape: t.shape, perm: order}, t.konst)
			if err != nil {
				return nil, err
			}
			in = append(in, k)
			continue
		}
		if !t.integers.equal(like.integers) {
			return nil, b.n.fail("quantize them alike", "its inputs hold integers of different scales")
		}
		s, err := b.stored(t, order)
		if err != nil {
			return nil, err
		}
		in = append(in, s.value)
	}
	v, err := b.emit("concat", &graph.ConcatAttrs{}, nil, in...)
	if err != nil {
		return nil, err
	}
	return &tensor{shape: shape, value: v, perm: order, integers: like.integers}, nil
}
