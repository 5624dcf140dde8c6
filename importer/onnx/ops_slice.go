package onnx

import (
	"slices"

	"ripc/graph"
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
			if s.count > maxPieces {
				return nil, b.n.fail("", "takes more than %d positions of axis %d backwards", maxPieces, s.axis)
			}
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
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers, truth: t.truth}, nil
}
