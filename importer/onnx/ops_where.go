package onnx

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
)

// condition is a comparison of a tensor with a constant: level 1 where x >= limit, or where x < limit does not hold if
// notLess is set (a NaN counts). It is true at level 1, or at level 0 if low is set.
type condition struct {
	x            *tensor
	limit        *array
	notLess, low bool
}

// lowerCompare makes a condition; name is the comparison with the tensor on the left.
func lowerCompare(name string) func(n *node) ([]*tensor, error) {
	return func(n *node) ([]*tensor, error) {
		name, x, c := name, n.in[0], n.in[1]
		if x.konst != nil {
			x, c = c, x
			name = map[string]string{"Greater": "Less", "GreaterOrEqual": "LessOrEqual", "Less": "Greater", "LessOrEqual": "GreaterOrEqual"}[name]
		}
		if c.konst == nil {
			return nil, n.fail("compare with a constant", "both sides are computed from an input")
		}
		shape, err := broadcastShape(x.shape, c.shape)
		if err != nil || !slices.Equal(shape, x.shape) {
			return nil, n.fail("", "a constant of shape %v and a tensor of shape %v", c.shape, x.shape)
		}
		cond := &condition{x: x, low: name == "Less" || name == "LessOrEqual"}
		cond.notLess = cond.low
		after := name == "Greater" || name == "LessOrEqual"
		if cond.limit, err = n.b.mem.newArray(dtFloat, c.shape); err != nil {
			return nil, err
		}
		for k, v := range c.konst.floats() {
			v = f32.Flush(v) + 0 // -0 becomes 0
			if v != v || after && math.IsInf(float64(v), 1) {
				return nil, n.fail("", "compares with %g", v)
			}
			if after {
				v = next(v)
			}
			cond.limit.f[k] = v
		}
		return []*tensor{{shape: x.shape, cond: cond}}, nil
	}
}

// next is the smallest normal number above a finite one.
func next(v float32) float32 { return normal(f32.FromOrder(f32.Order(f32.Flush(v)+0) + 1)) }

// lowerNot turns a condition around.
func lowerNot(n *node) ([]*tensor, error) {
	if n.in[0].cond == nil {
		return nil, n.fail("", "its input holds no truth values")
	}
	c := *n.in[0].cond
	c.low = !c.low
	return []*tensor{{shape: n.in[0].shape, cond: &c}}, nil
}

// lowerWhere takes one of two constants by a comparison.
func lowerWhere(n *node) ([]*tensor, error) {
	yes, no := n.in[1].konst, n.in[2].konst
	if c := n.in[0].konst; c != nil && c.dt == dtBool && c.len() > 0 && !slices.ContainsFunc(c.i, func(v int64) bool { return v != c.i[0] }) {
		t := n.in[1]
		if c.i[0] == 0 {
			t = n.in[2]
		}
		shape, err := broadcastShape(n.in[1].shape, n.in[2].shape)
		if err == nil {
			shape, err = broadcastShape(shape, c.shape)
		}
		if err == nil && slices.Equal(shape, t.shape) {
			d := *t
			return []*tensor{&d}, nil
		}
	}
	switch {
	case n.in[0].cond == nil:
		return nil, n.fail("", "its condition is no comparison of a tensor with a constant")
	case yes == nil || no == nil:
		return nil, n.fail("write it with Clip, Relu or PRelu if it is one of those", "chooses between computed tensors; only constants are supported")
	}
	return one(n.b.choose(n.in[0].cond, yes, no))
}

// choose is yes where c holds and no elsewhere, exactly.
func (b *builder) choose(c *condition, yes, no *array) (*tensor, error) {
	lo, hi := no, yes
	if c.low {
		lo, hi = yes, no
	}
	for _, a := range []*array{lo, hi} {
		if !a.dt.float() || a.len() == 0 {
			return nil, b.n.fail("", "chooses between values of type %s", a.dt)
		}
		for _, v := range a.floats() {
			if v-v != 0 {
				return nil, b.n.fail("", "chooses between values of which one is %g", v)
			}
		}
	}
	t, err := b.channelsLast(c.x, c.limit)
	if err != nil {
		return nil, err
	}
	w, err := b.vector(t, c.limit)
	if err != nil {
		return nil, err
	}
	if w == nil {
		return nil, b.n.fail("", "compares with a constant of shape %v; one number, or one for each channel, is supported", c.limit.shape)
	}
	w.Shape = []int{1, len(w.Data)}
	a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Unipolar, Scale: 1}, NotLess: c.notLess}
	if lo.len() == 1 && hi.len() == 1 && len(lo.shape) <= len(t.shape) && len(hi.shape) <= len(t.shape) {
		l, h := lo.floats()[0], hi.floats()[0]
		if h < l && !slices.ContainsFunc(w.Data, func(v float32) bool { return math.IsInf(float64(v), 0) }) {
			// The levels must go up with their values: those of -x >= the next number after -limit do.
			if t, err = b.scalar("mul", t, -1); err != nil {
				return nil, err
			}
			for i, v := range w.Data {
				w.Data[i] = next(-v)
			}
			a.NotLess = !a.NotLess
			l, h, lo, hi = h, l, hi, lo
		}
		switch {
		case h == -l && h > 0:
			a.Enc, a.Scale = ir.Bipolar, float64(h)
			return b.thresholds(t, w, a)
		case h > l && float32(h-l)+l == h:
			a.Scale = float64(float32(h - l))
			y, err := b.thresholds(t, w, a)
			if err == nil && l != 0 {
				y, err = b.scalar("add", y, l)
			}
			return y, err
		}
	}
	// d*hi + (1-d)*lo with d 0 or 1.
	d, err := b.thresholds(t, w, a)
	if err != nil {
		return nil, err
	}
	rest, err := b.elementwise(d, "sub", &graph.BinaryOpAttrs{Reverse: true}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: []float32{1}}})
	if err != nil {
		return nil, err
	}
	if d, err = b.withConstant("mul", d, hi, false); err != nil {
		return nil, err
	}
	if rest, err = b.withConstant("mul", rest, lo, false); err != nil {
		return nil, err
	}
	return b.binary("add", d, rest)
}
