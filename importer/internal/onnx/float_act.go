package onnx

import (
	"math"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/kit"
)

// slope is x for x >= 0 and alpha*x for others.
func (b *builder) slope(t *tensor, alpha float32) *tensor { return t.derive(b.Slope(t.value, alpha)) }

func lowerLeakyRelu(n *node) *tensor {
	return n.b.slope(n.in[0], n.floatAttr("alpha", 0.01))
}

// lowerPRelu takes slopes of any shape that broadcasts to the input's: max(x, 0) + slope*min(x, 0)
// unless they are one for a channel.
func lowerPRelu(n *node) *tensor {
	b, t := n.b, n.in[0]
	slopes := n.konst(1, "slope")
	n.failIf(!broadcastsTo(slopes.shape, t.shape),
		"", "slopes of shape %v do not fit an input of shape %v", slopes.shape, t.shape)
	slopes = b.mem.narrow(slopes, t.shape)
	if slopes.len() == 1 {
		return b.slope(t, slopes.floats()[0])
	}
	w := b.vector(t, slopes)
	if w != nil && w.Data.Len() == t.value.Channels() {
		return b.elementwise(t, "prelu", &graph.PReluAttrs{}, map[string]*graph.Tensor{"alpha": w})
	}
	t = b.orderColumns(t)
	return b.binary("add", b.pipe(t, "relu"), b.withConstant("mul", b.clip(t, math.Inf(-1), 0), slopes))
}

// clip is min(max(x, lo), hi) by the op that says it best.
func (b *builder) clip(t *tensor, lo, hi float64) *tensor {
	switch op := kit.ClipOp(lo, hi); op {
	case "":
		return t
	case "clip":
		return b.elementwise(t, op, &graph.ClipAttrs{Min: lo, Max: hi}, nil)
	default:
		return b.pipe(t, op)
	}
}

// clipBounds reads Clip's bounds, attributes before opset 11 and inputs from there on; missing ones
// are infinite.
func clipBounds(n *node) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for i, name := range []string{"min", "max"} {
		p := []*float64{&lo, &hi}[i]
		if n.opset >= 11 {
			*p = n.scalarOf(1+i, name, *p)
		} else if n.has(name) {
			*p = float64(n.floatAttr(name, 0))
		}
		n.failIf(*p != *p, "", "%s is not a number", name)
	}
	if lo <= -math.MaxFloat32 {
		lo = math.Inf(-1)
	}
	if hi >= math.MaxFloat32 {
		hi = math.Inf(1)
	}
	return lo, hi
}

func lowerClip(n *node) *tensor {
	lo, hi := clipBounds(n)
	if t := n.integerInput(); t != nil {
		return n.clipIntegers(t, lo, hi)
	}
	return n.b.clip(n.in[0], min(lo, hi), hi)
}

// lowerRelu keeps integers from 0 on, whatever their scale is.
func lowerRelu(n *node) *tensor {
	if t := n.integerInput(); t != nil {
		return n.clipIntegers(t, 0, math.Inf(1))
	}
	return n.b.pipe(n.in[0], "relu")
}

// clipSide returns t with lo as its least value (side 1), or hi as its greatest (side -1).
func (b *builder) clipSide(t *tensor, v float64, side int) *tensor {
	if side > 0 {
		return b.clip(t, v, math.Inf(1))
	}
	return b.clip(t, math.Inf(-1), v)
}

// lowerPlain makes an op without attributes.
func lowerPlain(op string) lowerFunc {
	return func(n *node) *tensor {
		return n.b.pipe(n.in[0], op)
	}
}

func lowerHardSigmoid(n *node) *tensor {
	alpha := n.floatAttr("alpha", 0.2)
	beta := n.floatAttr("beta", 0.5)
	a := &graph.HardSigmoidAttrs{Alpha: float64(alpha), Beta: float64(beta)}
	return n.b.elementwise(n.in[0], "hard_sigmoid", a, nil)
}

// lowerElu makes gamma * elu(x), Elu and Selu.
func lowerElu(alpha, gamma float32) lowerFunc {
	return func(n *node) *tensor {
		alpha := n.floatAttr("alpha", alpha)
		gamma := n.floatAttr("gamma", gamma)
		return n.b.affine(n.b.elementwise(n.in[0], "elu", &graph.EluAttrs{Alpha: float64(alpha)}, nil), gamma, 0)
	}
}

// lowerCelu is alpha * elu(x / alpha).
func lowerCelu(n *node) *tensor {
	alpha := n.floatAttr("alpha", 1)
	n.failIf(!(alpha > 0), "", "alpha is %g", alpha)
	y := n.b.elementwise(n.b.divide(n.in[0], alpha), "elu", &graph.EluAttrs{Alpha: 1}, nil)
	return n.b.affine(y, alpha, 0)
}

// lowerSwish is x * sigmoid(alpha * x).
func lowerSwish(n *node) *tensor {
	alpha := n.floatAttr("alpha", 1)
	if alpha == 1 {
		return lowerPlain("silu")(n)
	}
	return n.b.binary("mul", n.in[0], n.b.pipe(n.b.scalar("mul", n.in[0], alpha), "sigmoid"))
}

// lowerSoftsign is x / (1 + |x|).
func lowerSoftsign(n *node) *tensor {
	return n.b.binary("div", n.in[0], n.b.scalar("add", n.b.pipe(n.in[0], "abs"), 1))
}

// lowerThresholded is ThresholdedRelu: x for x > alpha, else 0.
func lowerThresholded(n *node) *tensor {
	above := n.b.scalar("greater", n.in[0], n.floatAttr("alpha", 1))
	return n.b.function("where", above, n.in[0], &tensor{konst: &array{dt: dtFloat, f: []float32{0}}})
}

// lowerRound rounds to integers, halves to even for Round.
func lowerRound(mode scalar.Rounding) func(n *node) *tensor {
	return func(n *node) *tensor {
		return n.b.elementwise(n.in[0], "round", &graph.RoundAttrs{Mode: mode}, nil)
	}
}

// lowerSoftmax works along one axis from opset 13 on; before, all axes from one on count as one.
func lowerSoftmax(op string) lowerFunc {
	return func(n *node) *tensor {
		def := -1
		if n.opset < 13 {
			def = 1
		}
		return n.softmax(op, n.intAttr("axis", def), int(n.opset))
	}
}

// softmax is softmax or log_softmax of input 0, as the standard has it in an opset: before 13, of
// all axes from the given one on.
func (n *node) softmax(op string, axis, opset int) *tensor {
	b, t := n.b, n.in[0]
	axis = n.axis(axis, len(t.shape))
	if opset < 13 && graph.Elems(t.shape[axis+1:]) > 1 {
		rows := b.pipe(b.reshape(t, []int{graph.Elems(t.shape[:axis]), graph.Elems(t.shape[axis:])}), op)
		return b.reshape(rows, t.shape)
	}
	if t.flat != nil && axis == 1 { // the order within a row does not matter
		return b.pipe(t, op)
	}
	t = b.store(t, t.last(axis))
	return b.pipe(t, op)
}

// lowerQLinearSoftmax is Softmax of integers. Inputs: x, its scale and zero point, those of y.
func lowerQLinearSoftmax(n *node) *tensor {
	xq, yq := n.paramsOfOne()
	n.integerLevels(0, n.in[0], xq)
	opset := n.intAttr("opset", 13)
	y := n.softmax("softmax", n.intAttr("axis", -1), opset)
	ints := n.quantizeIntegers(y, yq)
	if ints != nil {
		return ints
	}
	y = n.b.elementwise(y, "quantize", yq.attrs(), nil)
	return n.b.result(y, yq)
}

// pipe puts elementwise ops without attributes, each on the result of the one before, behind t.
func (b *builder) pipe(t *tensor, ops ...string) *tensor { return t.derive(b.Plain(t.value, ops...)) }

// affine is t*mul + add.
func (b *builder) affine(t *tensor, mul, add float32) *tensor {
	return t.derive(b.Affine(t.value, mul, add))
}

// lowerReciprocal is 1 / x.
func lowerReciprocal(n *node) *tensor { return n.b.reciprocal(n.in[0]) }

func (b *builder) reciprocal(t *tensor) *tensor { return t.derive(b.Reversed("div", 1, t.value)) }

// lowerPow is x to a power that is a small integer, or a half of one, by products, square root and
// quotient.
func lowerPow(n *node) *tensor {
	b, x := n.b, n.in[0]
	p := n.scalarOf(1, "exponent", 0)
	whole := math.Floor(math.Abs(p))
	half := math.Abs(p) != whole
	n.failIf(p == 0 || whole > 8 || half && math.Abs(p)-whole != 0.5,
		"", "exponent %g: want a multiple of 0.5 up to 8.5, and not 0", p)
	var y *tensor
	times := func(x *tensor) {
		if y != nil {
			x = b.binary("mul", y, x)
		}
		y = x
	}
	for range int(whole) {
		times(x)
	}
	if half {
		times(b.pipe(x, "sqrt"))
	}
	if p < 0 {
		y = b.reciprocal(y)
	}
	if y == x {
		return x.clone()
	}
	return y
}

// lowerGelu is Gelu by erf, or by tanh.
func lowerGelu(n *node) *tensor {
	kind := n.textAttr("approximate", "none")
	n.failIf(kind != "none" && kind != "tanh", "", "approximate is %q", kind)
	return n.in[0].derive(n.b.Gelu(n.in[0].value, kind == "tanh"))
}

// softplus is max(x, 0) + log(1 + e**-|x|).
func (b *builder) softplus(x *graph.Value) *graph.Value {
	y := b.Plain(b.Affine(b.Plain(b.Affine(b.Plain(x, "abs"), -1, 0), "exp"), 1, 1), "log")
	return b.Pair("add", b.Plain(x, "relu"), y)
}

func lowerSoftplus(n *node) *tensor { return n.in[0].derive(n.b.softplus(n.in[0].value)) }

// lowerMish is x * tanh(softplus(x)).
func lowerMish(n *node) *tensor {
	b, x := n.b, n.in[0].value
	return n.in[0].derive(b.Pair("mul", x, b.Plain(b.softplus(x), "tanh")))
}
