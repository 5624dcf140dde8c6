package onnx

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

func lowerRelu(n *node) ([]*tensor, error) {
	return one(n.b.elementwise(n.in[0], "relu", &graph.NoAttrs{}, nil))
}

func lowerSign(n *node) ([]*tensor, error) {
	return one(n.b.elementwise(n.in[0], "sign", &graph.NoAttrs{}, nil))
}

// slope is x for x >= 0 and alpha*x for others.
func (b *builder) slope(t *tensor, alpha float32) (*tensor, error) {
	c := t.value.Channels()
	if err := b.mem.take(c, 4); err != nil {
		return nil, err
	}
	return b.elementwise(t, "prelu", &graph.PReluAttrs{}, map[string]*graph.Tensor{"alpha": {Shape: []int{c}, Data: graph.NumbersOf(slices.Repeat([]float32{alpha}, c))}})
}

func lowerLeakyRelu(n *node) ([]*tensor, error) {
	alpha, err := n.floatAttr("alpha", 0.01)
	if err != nil {
		return nil, err
	}
	return one(n.b.slope(n.in[0], alpha))
}

// lowerPRelu takes slopes of any shape that broadcasts to the input's: max(x, 0) + slope*min(x, 0) unless they are one for a
// channel.
func lowerPRelu(n *node) ([]*tensor, error) {
	b, t := n.b, n.in[0]
	slopes, err := n.konst(1, "slope")
	if err != nil {
		return nil, err
	}
	if shape, err := broadcastShape(t.shape, slopes.shape); err != nil || !slices.Equal(shape, t.shape) {
		return nil, n.fail("", "slopes of shape %v do not fit an input of shape %v", slopes.shape, t.shape)
	}
	if slopes, err = b.mem.narrowed(slopes, t.shape); err != nil {
		return nil, err
	}
	if slopes.len() == 1 {
		return one(b.slope(t, slopes.floats()[0]))
	}
	w, err := b.vector(t, slopes)
	if err != nil {
		return nil, err
	}
	if w != nil && w.Data.Len() == t.value.Channels() {
		return one(b.elementwise(t, "prelu", &graph.PReluAttrs{}, map[string]*graph.Tensor{"alpha": w}))
	}
	if t, err = b.plain(t); err != nil {
		return nil, err
	}
	pos, err := b.elementwise(t, "relu", &graph.NoAttrs{}, nil)
	if err != nil {
		return nil, err
	}
	neg, err := b.clip(t, math.Inf(-1), 0)
	if err != nil {
		return nil, err
	}
	if neg, err = b.withConstant("mul", neg, slopes, false); err != nil {
		return nil, err
	}
	return one(b.binary("add", pos, neg))
}

// clip is min(max(x, lo), hi) by the op that says it best.
func (b *builder) clip(t *tensor, lo, hi float64) (*tensor, error) {
	switch {
	case lo == 0 && math.IsInf(hi, 1):
		return b.elementwise(t, "relu", &graph.NoAttrs{}, nil)
	case lo == 0 && hi == 6:
		return b.elementwise(t, "relu6", &graph.NoAttrs{}, nil)
	case lo == -1 && hi == 1:
		return b.elementwise(t, "hard_tanh", &graph.NoAttrs{}, nil)
	case math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return t, nil
	}
	return b.elementwise(t, "clip", &graph.ClipAttrs{Min: lo, Max: hi}, nil)
}

// clipBounds reads Clip's bounds, attributes before opset 11 and inputs from there on; missing ones are infinite.
func clipBounds(n *node) (lo, hi float64, err error) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for i, name := range []string{"min", "max"} {
		p := []*float64{&lo, &hi}[i]
		if n.opset >= 11 {
			*p, err = n.scalarOf(1+i, name, *p)
		} else if n.has(name) {
			var v float32
			v, err = n.floatAttr(name, 0)
			*p = float64(v)
		}
		if err != nil {
			return 0, 0, err
		}
		if *p != *p {
			return 0, 0, n.fail("", "%s is not a number", name)
		}
	}
	if lo <= -math.MaxFloat32 {
		lo = math.Inf(-1)
	}
	if hi >= math.MaxFloat32 {
		hi = math.Inf(1)
	}
	return lo, hi, nil
}

func lowerClip(n *node) ([]*tensor, error) {
	lo, hi, err := clipBounds(n)
	if err != nil {
		return nil, err
	}
	return one(n.b.clip(n.in[0], min(lo, hi), hi))
}

// bounded is t with lo as its least value (side 1), or hi as its greatest (side -1).
func (b *builder) bounded(t *tensor, v float64, side int) (*tensor, error) {
	if side > 0 {
		return b.clip(t, v, math.Inf(1))
	}
	return b.clip(t, math.Inf(-1), v)
}

// lowerPlain makes an op without attributes.
func lowerPlain(op string) lowerFunc {
	return func(n *node) ([]*tensor, error) {
		return one(n.b.elementwise(n.in[0], op, &graph.NoAttrs{}, nil))
	}
}

func lowerHardSigmoid(n *node) ([]*tensor, error) {
	alpha, err := n.floatAttr("alpha", 0.2)
	if err != nil {
		return nil, err
	}
	beta, err := n.floatAttr("beta", 0.5)
	if err != nil {
		return nil, err
	}
	return one(n.b.elementwise(n.in[0], "hard_sigmoid", &graph.HardSigmoidAttrs{Alpha: float64(alpha), Beta: float64(beta)}, nil))
}

// lowerElu makes gamma * elu(x), Elu and Selu.
func lowerElu(alpha, gamma float32) lowerFunc {
	return func(n *node) ([]*tensor, error) {
		alpha, err := n.floatAttr("alpha", alpha)
		if err != nil {
			return nil, err
		}
		gamma, err := n.floatAttr("gamma", gamma)
		if err != nil {
			return nil, err
		}
		y, err := n.b.elementwise(n.in[0], "elu", &graph.EluAttrs{Alpha: float64(alpha)}, nil)
		if err == nil && gamma != 1 {
			y, err = n.b.scalar("mul", y, gamma)
		}
		return one(y, err)
	}
}

// lowerCelu is alpha * elu(x / alpha).
func lowerCelu(n *node) ([]*tensor, error) {
	alpha, err := n.floatAttr("alpha", 1)
	if err != nil {
		return nil, err
	}
	if !(alpha > 0) {
		return nil, n.fail("", "alpha is %g", alpha)
	}
	y := n.in[0]
	if alpha != 1 {
		if y, err = n.b.scalar("div", y, alpha); err != nil {
			return nil, err
		}
	}
	if y, err = n.b.elementwise(y, "elu", &graph.EluAttrs{Alpha: 1}, nil); err == nil && alpha != 1 {
		y, err = n.b.scalar("mul", y, alpha)
	}
	return one(y, err)
}

// lowerSwish is x * sigmoid(alpha * x).
func lowerSwish(n *node) ([]*tensor, error) {
	alpha, err := n.floatAttr("alpha", 1)
	if err != nil {
		return nil, err
	}
	if alpha == 1 {
		return lowerPlain("silu")(n)
	}
	y, err := n.b.scalar("mul", n.in[0], alpha)
	if err == nil {
		y, err = n.b.elementwise(y, "sigmoid", &graph.NoAttrs{}, nil)
	}
	if err == nil {
		y, err = n.b.binary("mul", n.in[0], y)
	}
	return one(y, err)
}

// lowerSoftsign is x / (1 + |x|).
func lowerSoftsign(n *node) ([]*tensor, error) {
	y, err := n.b.elementwise(n.in[0], "abs", &graph.NoAttrs{}, nil)
	if err == nil {
		y, err = n.b.scalar("add", y, 1)
	}
	if err == nil {
		y, err = n.b.binary("div", n.in[0], y)
	}
	return one(y, err)
}

// lowerThresholded is ThresholdedRelu: x for x > alpha, else 0.
func lowerThresholded(n *node) ([]*tensor, error) {
	alpha, err := n.floatAttr("alpha", 1)
	if err != nil {
		return nil, err
	}
	above, err := n.b.scalar("greater", n.in[0], alpha)
	if err != nil {
		return nil, err
	}
	return one(n.b.function("where", above, n.in[0], &tensor{konst: &array{dt: dtFloat, f: []float32{0}}}))
}

// lowerRound rounds to integers, halves to even for Round.
func lowerRound(mode scalar.Rounding) func(n *node) ([]*tensor, error) {
	return func(n *node) ([]*tensor, error) {
		return one(n.b.elementwise(n.in[0], "round", &graph.RoundAttrs{Mode: mode}, nil))
	}
}

// lowerSoftmax works along one axis from opset 13 on; before, all axes from one on count as one.
func lowerSoftmax(op string) lowerFunc {
	return func(n *node) ([]*tensor, error) {
		def := -1
		if n.opset < 13 {
			def = 1
		}
		axis, err := n.intAttr("axis", def)
		if err != nil {
			return nil, err
		}
		return one(n.softmax(op, axis, int(n.opset)))
	}
}

// softmax is softmax or log_softmax of input 0, as the standard has it in an opset: before 13, of all axes from the given one on.
func (n *node) softmax(op string, axis, opset int) (*tensor, error) {
	b, t := n.b, n.in[0]
	axis, err := n.axis(axis, len(t.shape))
	if err != nil {
		return nil, err
	}
	if opset < 13 && graph.Elems(t.shape[axis+1:]) > 1 {
		rows, err := b.reshape(t, []int{graph.Elems(t.shape[:axis]), graph.Elems(t.shape[axis:])})
		if err != nil {
			return nil, err
		}
		if rows, err = b.elementwise(rows, op, &graph.NoAttrs{}, nil); err != nil {
			return nil, err
		}
		return b.reshape(rows, t.shape)
	}
	if t.flat != nil && axis == 1 { // the order within a row does not matter
		return b.elementwise(t, op, &graph.NoAttrs{}, nil)
	}
	if t, err = b.stored(t, t.last(axis)); err != nil {
		return nil, err
	}
	return b.elementwise(t, op, &graph.NoAttrs{}, nil)
}

// lowerQLinearSoftmax is Softmax of integers. Inputs: x, its scale and zero point, those of y.
func lowerQLinearSoftmax(n *node) ([]*tensor, error) {
	xq, yq, err := n.paramsOfOne()
	if err != nil {
		return nil, err
	}
	if _, err := n.integerLevels(0, n.in[0], xq); err != nil {
		return nil, err
	}
	opset, err := n.intAttr("opset", 13)
	if err != nil {
		return nil, err
	}
	axis, err := n.intAttr("axis", -1)
	if err != nil {
		return nil, err
	}
	y, err := n.softmax("softmax", axis, opset)
	if err != nil {
		return nil, err
	}
	ints, err := n.quantized(y, yq)
	if ints != nil || err != nil {
		return one(ints, err)
	}
	if y, err = n.b.elementwise(y, "quantize", yq.attrs(), nil); err != nil {
		return nil, err
	}
	return one(n.b.result(y, yq))
}
