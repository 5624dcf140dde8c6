package onnx

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	"ripc/internal/f32"
	"ripc/internal/stop"
	"ripc/ir"
)

// condition is a comparison of a tensor with a constant: level 1 where x >= limit, or where x <
// limit does not hold if notLess is set (a NaN counts). It is true at level 1, or at level 0 if low
// is set.
type condition struct {
	x            *tensor
	limit        *array
	notLess, low bool
}

// lowerCompare makes a condition; name is the comparison with the tensor on the left.
func lowerCompare(name string) func(n *node) *tensor {
	return func(n *node) *tensor {
		name, x, c := name, n.in[0], n.in[1]
		if x.konst != nil {
			x, c = c, x
			name = map[string]string{"Greater": "Less", "GreaterOrEqual": "LessOrEqual", "Less": "Greater",
				"LessOrEqual": "GreaterOrEqual"}[name]
		}
		shape := stop.Must(broadcastShape(x.shape, c.shape))
		if c.konst == nil || !slices.Equal(shape, x.shape) {
			op := map[string]string{"Greater": "greater", "GreaterOrEqual": "greater_equal", "Less": "less",
				"LessOrEqual": "less_equal"}[name]
			return n.b.function(op, x, c)
		}
		limits := n.b.mem.narrow(c.konst, x.shape)
		cond := &condition{x: x, low: name == "Less" || name == "LessOrEqual"}
		cond.notLess = cond.low
		after := name == "Greater" || name == "LessOrEqual"
		cond.limit = n.b.mem.newArray(dtFloat, limits.shape)
		for k, v := range limits.floats() {
			v = f32.Flush(v) + 0 // -0 becomes 0
			n.failIf(v != v || after && math.IsInf(float64(v), 1), "", "compares with %g", v)
			if after {
				v = next(v)
			}
			cond.limit.f[k] = v
		}
		return &tensor{shape: x.shape, cond: cond}
	}
}

// next is the smallest normal number above a finite one.
func next(v float32) float32 { return normal(f32.FromOrder(f32.Order(f32.Flush(v)+0) + 1)) }

// lowerNot turns a condition around.
func lowerNot(n *node) *tensor {
	if n.in[0].cond == nil {
		return lowerLogic("logical_not")(n)
	}
	c := *n.in[0].cond
	c.low = !c.low
	return &tensor{shape: n.in[0].shape, cond: &c}
}

// lowerWhere takes elements of one operand or the other by truth values: of two constants by a
// comparison with a threshold.
func lowerWhere(n *node) *tensor {
	yes, no := n.in[1].konst, n.in[2].konst
	if c := n.in[0].konst; c != nil && c.dt == dtBool && c.len() > 0 &&
		!slices.ContainsFunc(c.bytes, func(v byte) bool { return v != c.bytes[0] }) {
		t := n.in[1]
		if c.bytes[0] == 0 {
			t = n.in[2]
		}
		shape := stop.Must(broadcastShape(stop.Must(broadcastShape(n.in[1].shape, n.in[2].shape)), c.shape))
		if slices.Equal(shape, t.shape) {
			return t.clone()
		}
	}
	if c := n.in[0].cond; c != nil && yes != nil && no != nil && n.b.oneLimit(c) && finite(yes) && finite(no) {
		return n.b.choose(c, yes, no)
	}
	c := n.b.truths(n.in[0])
	for i, t := range n.in[1:] {
		if k := t.konst; t.truth || t.cond != nil || k != nil && !k.dt.float() {
			panic(n.fail("", "chooses between values, but %q is no float", n.Input[1+i]))
		}
	}
	return n.b.function("where", c, n.in[1], n.in[2])
}

// finite reports whether a is a tensor of finite floats.
func finite(a *array) bool {
	return a.dt.float() && a.len() > 0 && !slices.ContainsFunc(a.floats(), func(v float32) bool { return v-v != 0 })
}

// oneLimit reports whether c compares with one number, or with one for each channel of a tensor of
// channels.
func (b *builder) oneLimit(c *condition) bool {
	axis := varyingAxis(c.limit, len(c.x.shape))
	return c.limit.len() == 1 || axis == 1 || axis >= 0 && c.x.order()[len(c.x.shape)-1] == axis
}

// choose is yes where c holds and no elsewhere, exactly.
func (b *builder) choose(c *condition, yes, no *array) *tensor {
	lo, hi := no, yes
	if c.low {
		lo, hi = yes, no
	}
	t := b.channelsLast(c.x, c.limit)
	w := b.vector(t, c.limit)
	b.n.failIf(w == nil,
		"", "compares with a constant of shape %v; one number, or one for each channel, is supported", c.limit.shape)
	w.Shape = []int{1, w.Data.Len()}
	a := &graph.ThresholdAttrs{LevelType: unipolar(1, 1, 0), NotLess: c.notLess}
	if lo.len() == 1 && hi.len() == 1 && len(lo.shape) <= len(t.shape) && len(hi.shape) <= len(t.shape) {
		l, h := lo.floats()[0], hi.floats()[0]
		if h < l && !slices.ContainsFunc(w.Data.Floats(), func(v float32) bool { return math.IsInf(float64(v), 0) }) {
			// The levels must go up with their values: those of -x >= the next number after -limit
			// do.
			t = b.scalar("mul", t, -1)
			after := make([]float32, w.Data.Len())
			for i, v := range w.Data.All() {
				after[i] = next(-v)
			}
			w.Data = graph.NumbersOf(after)
			a.NotLess = !a.NotLess
			l, h, lo, hi = h, l, hi, lo
		}
		switch {
		case h == -l && h > 0:
			a.Enc, a.Scale = ir.Bipolar, float64(h)
			return b.thresholds(t, w, a)
		case h > l && float32(h-l)+l == h:
			a.Scale = float64(float32(h - l))
			y := b.thresholds(t, w, a)
			if l != 0 {
				y = b.scalar("add", y, l)
			}
			return y
		}
	}
	// d*hi + (1-d)*lo with d 0 or 1.
	d := b.thresholds(t, w, a)
	rest := b.elementwise(d, "sub", &graph.BinaryOpAttrs{Reverse: true}, map[string]*graph.Tensor{"b": kit.One(1)})
	d = b.withConstant("mul", d, hi)
	rest = b.withConstant("mul", rest, lo)
	return b.binary("add", d, rest)
}
