package onnx

import (
	"math"

	"ripc/graph"
)

// pipe puts elementwise ops without attributes, each on the result of the one before, behind t.
func (b *builder) pipe(t *tensor, ops ...string) *tensor { return t.derived(b.Plain(t.value, ops...)) }

// affine is t*mul + add.
func (b *builder) affine(t *tensor, mul, add float32) *tensor {
	return t.derived(b.Affine(t.value, mul, add))
}

// lowerReciprocal is 1 / x.
func lowerReciprocal(n *node) *tensor { return n.b.reciprocal(n.in[0]) }

func (b *builder) reciprocal(t *tensor) *tensor { return t.derived(b.Reversed("div", 1, t.value)) }

// lowerPow is x to a power that is a small integer, or a half of one, by products, square root and quotient.
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
		return x.copied()
	}
	return y
}

// lowerGelu is Gelu by erf, or by tanh.
func lowerGelu(n *node) *tensor {
	kind := n.textAttr("approximate", "none")
	n.failIf(kind != "none" && kind != "tanh", "", "approximate is %q", kind)
	return n.in[0].derived(n.b.Gelu(n.in[0].value, kind == "tanh"))
}

// softplus is max(x, 0) + log(1 + e**-|x|).
func (b *builder) softplus(x *graph.Value) *graph.Value {
	y := b.Plain(b.Affine(b.Plain(b.Affine(b.Plain(x, "abs"), -1, 0), "exp"), 1, 1), "log")
	return b.Pair("add", b.Plain(x, "relu"), y)
}

func lowerSoftplus(n *node) *tensor { return n.in[0].derived(n.b.softplus(n.in[0].value)) }

// lowerMish is x * tanh(softplus(x)).
func lowerMish(n *node) *tensor {
	b, x := n.b, n.in[0].value
	return n.in[0].derived(b.Pair("mul", x, b.Plain(b.softplus(x), "tanh")))
}
