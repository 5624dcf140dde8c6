package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// function is op, one on single elements of several tensors, of in, broadcast as numpy does. Constants become weights where they
// are one number or one for each channel; at least one operand is none.
func (b *builder) function(op string, in ...*tensor) *tensor {
	var shape []int
	for _, t := range in {
		shape = kit.Must(broadcastShape(shape, t.shape))
	}
	in = slices.Clone(in)
	full, joined := b.aligned(in, shape)
	weights, reverse := map[string]*graph.Tensor{}, false
	var values []*graph.Value
	for i, t := range in {
		if t.konst == nil {
			values = append(values, t.value)
			continue
		}
		c := b.mem.narrowed(t.konst, joined)
		var w *graph.Tensor
		if slices.Equal(joined, shape) && c.dt != dtBool {
			w = b.vector(full, c)
		}
		if w == nil {
			values = append(values, b.constantLike(full, c))
			continue
		}
		key := "b"
		if len(in) == 3 {
			key = []string{"", "a", "b"}[i]
		}
		weights[key], reverse = w, len(in) == 2 && i == 0
	}
	attrs := graph.OpNamed(op).NewAttrs()
	if a, ok := attrs.(*graph.BinaryOpAttrs); ok {
		a.Reverse = reverse
	}
	v := b.emit(op, attrs, weights, values...)
	return &tensor{shape: shape, value: v, perm: full.perm, flat: full.flat, truth: v.Encoded()}
}

// aligned stores those of in that are no constants in one order of axes, and gives all as many as shape has. full is how a tensor
// of that shape is stored then, joined the shape to which they broadcast without the constants.
func (b *builder) aligned(in []*tensor, shape []int) (full *tensor, joined []int) {
	var first *tensor // whose order is taken
	alike := true
	for i, t := range in {
		if t.konst != nil {
			continue
		}
		in[i] = b.ranked(t, len(shape))
		t = in[i]
		joined = kit.Must(broadcastShape(joined, t.shape))
		if first != nil {
			alike = alike && t.flat.equal(first.flat) && slices.Equal(t.shape, first.shape)
		}
		if first == nil || !slices.Equal(first.shape, shape) && slices.Equal(t.shape, shape) {
			first = t
		}
	}
	if first.flat != nil && alike && slices.Equal(first.shape, shape) {
		return first, joined
	}
	first = b.plain(first)
	for i, t := range in {
		if t.konst == nil {
			in[i] = b.stored(t, first.order())
		}
	}
	return &tensor{shape: shape, perm: first.perm}, joined
}

// lowerExtreme makes Max or Min of any number of tensors and constants.
func lowerExtreme(greater bool) func(n *node) *tensor {
	op, clip := "minimum", -1
	if greater {
		op, clip = "maximum", 1
	}
	return func(n *node) *tensor {
		acc := n.in[0]
		for _, y := range n.in[1:] {
			t, k := acc, y
			if t.konst != nil {
				t, k = k, t
			}
			switch {
			case t.konst != nil:
				as := n.op.fold(n, []*array{t.konst, k.konst})
				acc = &tensor{shape: as[0].shape, konst: as[0]}
			case k.konst != nil && k.konst.len() == 1 && len(k.shape) <= len(t.shape):
				acc = n.b.bounded(t, k.konst.at(0), clip)
			default:
				acc = n.b.function(op, acc, y)
			}
		}
		if acc.konst == nil && slices.Contains(n.in, acc) {
			return acc.copied()
		}
		return acc
	}
}

// truths are t's truth values as levels.
func (b *builder) truths(t *tensor) *tensor {
	switch c := t.cond; {
	case t.truth:
		return t
	case c != nil:
		op := "greater_equal"
		if c.notLess {
			op = "less"
		}
		y := b.function(op, c.x, &tensor{shape: c.limit.shape, konst: c.limit})
		if c.low != c.notLess {
			y = b.pipe(y, "logical_not")
			y.truth = true
		}
		return y
	case t.konst != nil && t.konst.dt == dtBool && t.konst.len() > 0:
		v := b.constantNode(t.konst)
		return b.nonzero(&tensor{shape: v.Shape, value: v})
	}
	panic(b.n.fail("make them with a comparison", "its operand holds no truth values"))
}

// nonzero is where a float tensor is not 0.
func (b *builder) nonzero(t *tensor) *tensor {
	y := t.derived(b.NonZero(t.value))
	y.truth = true
	return y
}

// lowerLogic makes op of truth values.
func lowerLogic(op string) lowerFunc {
	return func(n *node) *tensor {
		in := make([]*tensor, len(n.in))
		for i, t := range n.in {
			in[i] = n.b.truths(t)
		}
		return n.b.function(op, in...)
	}
}

// lowerEqual compares two operands.
func lowerEqual(n *node) *tensor {
	truth := func(t *tensor) bool { return t.truth || t.cond != nil || t.konst != nil && t.konst.dt == dtBool }
	if !truth(n.in[0]) || !truth(n.in[1]) {
		return n.b.function("equal", n.in...)
	}
	return n.b.function("logical_not", lowerLogic("logical_xor")(n))
}
