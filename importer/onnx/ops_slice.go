package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/source"
)

// maxPieces bounds the slices that a reversal or a Gather is made of.
const maxPieces = 64

// span is a range of one axis: count positions from begin on in steps of step, which may be negative.
type span struct{ axis, begin, count, step int }

// spanOf is s along an axis.
func spanOf(axis int, s source.Span) span { return span{axis, s.Begin, s.Count, s.Step} }

// spans reads what Slice takes from a tensor of the given shape.
func (n *node) spans(shape []int) []span {
	starts, _ := n.listArg("starts", 10, 1)
	ends, _ := n.listArg("ends", 10, 2)
	axes, given := n.listArg("axes", 10, 3)
	if !given {
		axes = identity(len(starts))
	}
	var steps []int
	if n.opset >= 10 {
		steps = n.listOf(4, "steps")
	}
	if steps == nil {
		steps = slices.Repeat([]int{1}, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		panic(n.fail("", "%d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(axes), len(steps)))
	}
	n.axes(axes, len(shape))
	out := make([]span, len(starts))
	for i := range out {
		axis := n.axis(axes[i], len(shape))
		if steps[i] == 0 {
			panic(n.fail("", "step 0 along axis %d", axis))
		}
		out[i] = spanOf(axis, source.Cut(shape[axis], starts[i], ends[i], steps[i]))
	}
	return out
}

func lowerSlice(n *node) []*tensor {
	t := n.in[0]
	list := n.spans(t.shape)
	return one(n.b.take(t, list))
}

// take is the part of t that the spans leave; an axis that is read backwards is put together of slices.
func (b *builder) take(t *tensor, list []span) *tensor {
	t = b.plain(t)
	forward := slices.Clone(list)
	for i, s := range list {
		if s.count == 0 {
			panic(b.n.fail("", "nothing is left of axis %d of %v", s.axis, t.shape))
		}
		if s.step < 0 {
			forward[i] = span{axis: s.axis, begin: s.begin + (s.count-1)*s.step, count: s.count, step: -s.step}
		}
		if s.count == 1 {
			forward[i].step = 1
		}
	}
	t = b.slice(t, forward)
	for _, s := range list {
		if s.step < 0 && s.count > 1 {
			if s.count > maxPieces {
				panic(b.n.fail("", "takes more than %d positions of axis %d backwards", maxPieces, s.axis))
			}
			t = b.pick(t, s.axis, reversed(s.count))
		}
	}
	return t
}

func reversed(n int) []int {
	p := identity(n)
	slices.Reverse(p)
	return p
}

// slice cuts along axes of the file's; steps are positive.
func (b *builder) slice(t *tensor, list []span) *tensor {
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
		return t
	}
	v := b.emit("slice", a, nil, t.value)
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers, truth: t.truth}
}
