package onnx

import (
	"math"

	"ripc/graph"
)

// pipe puts elementwise ops without attributes, each on the result of the one before, behind t.
func (b *builder) pipe(t *tensor, ops ...string) (*tensor, error) {
	for _, op := range ops {
		var err error
		if t, err = b.elementwise(t, op, &graph.NoAttrs{}, nil); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// affine is t*mul + add.
func (b *builder) affine(t *tensor, mul, add float32) (*tensor, error) {
	var err error
	if mul != 1 {
		t, err = b.scalar("mul", t, mul)
	}
	if err == nil && add != 0 {
		t, err = b.scalar("add", t, add)
	}
	return t, err
}

// lowerReciprocal is 1 / x.
func lowerReciprocal(n *node) ([]*tensor, error) {
	return one(n.b.reciprocal(n.in[0]))
}

func (b *builder) reciprocal(t *tensor) (*tensor, error) {
	return b.elementwise(t, "div", &graph.BinaryOpAttrs{Reverse: true}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{1})}})
}

// lowerPow is x to a power that is a small integer, or a half of one, by products, square root and quotient.
func lowerPow(n *node) ([]*tensor, error) {
	b, x := n.b, n.in[0]
	p, err := n.scalarOf(1, "exponent", 0)
	if err != nil {
		return nil, err
	}
	whole := math.Floor(math.Abs(p))
	half := math.Abs(p) != whole
	if p == 0 || whole > 8 || half && math.Abs(p)-whole != 0.5 {
		return nil, n.fail("", "exponent %g: want a multiple of 0.5 up to 8.5, and not 0", p)
	}
	var y *tensor
	for range int(whole) {
		if y == nil {
			y = x
		} else if y, err = b.binary("mul", y, x); err != nil {
			return nil, err
		}
	}
	if half {
		root, err := b.pipe(x, "sqrt")
		if err != nil {
			return nil, err
		}
		if y == nil {
			y = root
		} else if y, err = b.binary("mul", y, root); err != nil {
			return nil, err
		}
	}
	if p < 0 {
		y, err = b.reciprocal(y)
	}
	if y == x {
		c := *x
		y = &c
	}
	return one(y, err)
}

// lowerGelu is x/2 * (1 + erf(x/sqrt(2))), or the approximation of it by tanh.
func lowerGelu(n *node) ([]*tensor, error) {
	b, x := n.b, n.in[0]
	kind, err := n.textAttr("approximate", "none")
	if err != nil {
		return nil, err
	}
	var y *tensor
	switch kind {
	case "none":
		if y, err = b.affine(x, float32(math.Sqrt(0.5)), 0); err == nil {
			y, err = b.pipe(y, "erf")
		}
	case "tanh": // of sqrt(2/pi) * (x + 0.044715 x^3)
		if y, err = b.binary("mul", x, x); err == nil {
			c := math.Sqrt(2 / math.Pi)
			y, err = b.affine(y, float32(0.044715*c), float32(c))
		}
		if err == nil {
			y, err = b.binary("mul", y, x)
		}
		if err == nil {
			y, err = b.pipe(y, "tanh")
		}
	default:
		return nil, n.fail("", "approximate is %q", kind)
	}
	if err == nil {
		y, err = b.affine(y, 0.5, 0.5)
	}
	if err == nil {
		y, err = b.binary("mul", x, y)
	}
	return one(y, err)
}

// softplus is max(x, 0) + log(1 + e**-|x|).
func (b *builder) softplus(x *tensor) (*tensor, error) {
	y, err := b.pipe(x, "abs")
	if err == nil {
		y, err = b.affine(y, -1, 0)
	}
	if err == nil {
		y, err = b.pipe(y, "exp")
	}
	if err == nil {
		y, err = b.affine(y, 1, 1)
	}
	if err == nil {
		y, err = b.pipe(y, "log")
	}
	if err != nil {
		return nil, err
	}
	positive, err := b.pipe(x, "relu")
	if err != nil {
		return nil, err
	}
	return b.binary("add", positive, y)
}

func lowerSoftplus(n *node) ([]*tensor, error) { return one(n.b.softplus(n.in[0])) }

// lowerMish is x * tanh(softplus(x)).
func lowerMish(n *node) ([]*tensor, error) {
	y, err := n.b.softplus(n.in[0])
	if err == nil {
		y, err = n.b.pipe(y, "tanh")
	}
	if err == nil {
		y, err = n.b.binary("mul", n.in[0], y)
	}
	return one(y, err)
}
