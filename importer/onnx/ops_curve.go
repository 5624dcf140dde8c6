package onnx

import (
	"math"

	"ripc/graph"
)

// pipe puts elementwise ops without attributes, each on the result of the one before, behind t.
func (b *builder) pipe(t *tensor, ops ...string) *tensor {
	for _, op := range ops {
		t = b.elementwise(t, op, &graph.NoAttrs{}, nil)
	}
	return t
}

// affine is t*mul + add.
func (b *builder) affine(t *tensor, mul, add float32) *tensor {
	if mul != 1 {
		t = b.scalar("mul", t, mul)
	}
	if add != 0 {
		t = b.scalar("add", t, add)
	}
	return t
}

// lowerReciprocal is 1 / x.
func lowerReciprocal(n *node) []*tensor {
	return one(n.b.reciprocal(n.in[0]))
}

func (b *builder) reciprocal(t *tensor) *tensor {
	return b.elementwise(t, "div", &graph.BinaryOpAttrs{Reverse: true}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{1})}})
}

// lowerPow is x to a power that is a small integer, or a half of one, by products, square root and quotient.
func lowerPow(n *node) []*tensor {
	b, x := n.b, n.in[0]
	p := n.scalarOf(1, "exponent", 0)
	whole := math.Floor(math.Abs(p))
	half := math.Abs(p) != whole
	if p == 0 || whole > 8 || half && math.Abs(p)-whole != 0.5 {
		panic(n.fail("", "exponent %g: want a multiple of 0.5 up to 8.5, and not 0", p))
	}
	var y *tensor
	for range int(whole) {
		if y == nil {
			y = x
		} else {
			y = b.binary("mul", y, x)
		}
	}
	if half {
		root := b.pipe(x, "sqrt")
		if y == nil {
			y = root
		} else {
			y = b.binary("mul", y, root)
		}
	}
	if p < 0 {
		y = b.reciprocal(y)
	}
	if y == x {
		c := *x
		y = &c
	}
	return one(y)
}

// lowerGelu is x/2 * (1 + erf(x/sqrt(2))), or the approximation of it by tanh.
func lowerGelu(n *node) []*tensor {
	b, x := n.b, n.in[0]
	kind := n.textAttr("approximate", "none")
	var y *tensor
	switch kind {
	case "none":
		y = b.affine(x, float32(math.Sqrt(0.5)), 0)
		y = b.pipe(y, "erf")
	case "tanh": // of sqrt(2/pi) * (x + 0.044715 x^3)
		y = b.binary("mul", x, x)
		c := math.Sqrt(2 / math.Pi)
		y = b.affine(y, float32(0.044715*c), float32(c))

		y = b.binary("mul", y, x)

		y = b.pipe(y, "tanh")
	default:
		panic(n.fail("", "approximate is %q", kind))
	}

	y = b.affine(y, 0.5, 0.5)

	y = b.binary("mul", x, y)
	return one(y)
}

// softplus is max(x, 0) + log(1 + e**-|x|).
func (b *builder) softplus(x *tensor) *tensor {
	y := b.pipe(x, "abs")

	y = b.affine(y, -1, 0)

	y = b.pipe(y, "exp")

	y = b.affine(y, 1, 1)

	y = b.pipe(y, "log")
	positive := b.pipe(x, "relu")
	return b.binary("add", positive, y)
}

func lowerSoftplus(n *node) []*tensor { return one(n.b.softplus(n.in[0])) }

// lowerMish is x * tanh(softplus(x)).
func lowerMish(n *node) []*tensor {
	y := n.b.softplus(n.in[0])

	y = n.b.pipe(y, "tanh")

	y = n.b.binary("mul", n.in[0], y)
	return one(y)
}
