package onnx

import (
	"ripc/importer/internal/kit"
	"slices"
)

// maxPieces bounds the slices that a reversal or a Gather is made of.
const maxPieces = 64

// span is a span of one axis.
type span struct {
	axis int
	kit.Span
}

// spans reads what Slice takes from a tensor of the given shape.
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

// take is the part of t that the spans leave; an axis that is read backwards is put together of slices.
func (b *builder) take(t *tensor, list []span) *tensor {
	t = b.plain(t)
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
		s := kit.Whole(t.shape[d])
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
