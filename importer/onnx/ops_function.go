package onnx

import (
	"slices"

	"ripc/graph"
)

// function is op, one on single elements of several tensors, of in, broadcast as numpy does. Constants become weights where they
// are one number or one for each channel; at least one operand is none.
func (b *builder) function(op string, in ...*tensor) (*tensor, error) {
	var shape []int
	for _, t := range in {
		var err error
		if shape, err = broadcastShape(shape, t.shape); err != nil {
			return nil, err
		}
	}
	in = slices.Clone(in)
	full, joined, err := b.aligned(in, shape)
	if err != nil {
		return nil, err
	}
	weights, reverse := map[string]*graph.Tensor{}, false
	var values []*graph.Value
	for i, t := range in {
		if t.konst == nil {
			values = append(values, t.value)
			continue
		}
		c, err := b.mem.narrowed(t.konst, joined)
		if err != nil {
			return nil, err
		}
		var w *graph.Tensor
		if slices.Equal(joined, shape) && c.dt != dtBool {
			if w, err = b.vector(full, c); err != nil {
				return nil, err
			}
		}
		if w == nil {
			k, err := b.constantLike(full, c)
			if err != nil {
				return nil, err
			}
			values = append(values, k)
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
	v, err := b.emit(op, attrs, weights, values...)
	if err != nil {
		return nil, err
	}
	return &tensor{shape: shape, value: v, perm: full.perm, flat: full.flat, truth: v.Encoded()}, nil
}

// aligned stores those of in that are no constants in one order of axes, and gives all as many as shape has. full is how a tensor
// of that shape is stored then, joined the shape to which they broadcast without the constants.
func (b *builder) aligned(in []*tensor, shape []int) (full *tensor, joined []int, err error) {
	var first *tensor // whose order is taken
	alike := true
	for i, t := range in {
		if t.konst != nil {
			continue
		}
		if in[i], err = b.ranked(t, len(shape)); err != nil {
			return nil, nil, err
		}
		t = in[i]
		if joined, err = broadcastShape(joined, t.shape); err != nil {
			return nil, nil, err
		}
		if first != nil {
			alike = alike && t.flat.equal(first.flat) && slices.Equal(t.shape, first.shape)
		}
		if first == nil || !slices.Equal(first.shape, shape) && slices.Equal(t.shape, shape) {
			first = t
		}
	}
	if first.flat != nil && alike && slices.Equal(first.shape, shape) {
		return first, joined, nil
	}
	if first, err = b.plain(first); err != nil {
		return nil, nil, err
	}
	for i, t := range in {
		if t.konst == nil {
			if in[i], err = b.stored(t, first.order()); err != nil {
				return nil, nil, err
			}
		}
	}
	return &tensor{shape: shape, perm: first.perm}, joined, nil
}

// lowerExtreme makes Max or Min of any number of tensors and constants.
func lowerExtreme(greater bool) func(n *node) ([]*tensor, error) {
	op, clip := "minimum", -1
	if greater {
		op, clip = "maximum", 1
	}
	return func(n *node) ([]*tensor, error) {
		acc := n.in[0]
		for _, y := range n.in[1:] {
			t, k := acc, y
			if t.konst != nil {
				t, k = k, t
			}
			var err error
			switch {
			case t.konst != nil:
				as, e := n.op.fold(n, []*array{t.konst, k.konst})
				if e != nil {
					return nil, e
				}
				acc = &tensor{shape: as[0].shape, konst: as[0]}
			case k.konst != nil && k.konst.len() == 1 && len(k.shape) <= len(t.shape):
				acc, err = n.b.bounded(t, k.konst.at(0), clip)
			default:
				acc, err = n.b.function(op, acc, y)
			}
			if err != nil {
				return nil, err
			}
		}
		if acc.konst == nil && slices.Contains(n.in, acc) {
			c := *acc
			acc = &c
		}
		return []*tensor{acc}, nil
	}
}

// truths are t's truth values as levels.
func (b *builder) truths(t *tensor) (*tensor, error) {
	switch c := t.cond; {
	case t.truth:
		return t, nil
	case c != nil:
		op := "greater_equal"
		if c.notLess {
			op = "less"
		}
		y, err := b.function(op, c.x, &tensor{shape: c.limit.shape, konst: c.limit})
		if err == nil && c.low != c.notLess {
			y, err = b.elementwise(y, "logical_not", &graph.NoAttrs{}, nil)
			if err == nil {
				y.truth = true
			}
		}
		return y, err
	case t.konst != nil && t.konst.dt == dtBool && t.konst.len() > 0:
		v, err := b.constantNode(t.konst)
		if err != nil {
			return nil, err
		}
		return b.nonzero(&tensor{shape: v.Shape, value: v})
	}
	return nil, b.n.fail("make them with a comparison", "its operand holds no truth values")
}

// nonzero is where a float tensor is not 0.
func (b *builder) nonzero(t *tensor) (*tensor, error) {
	y, err := b.scalar("not_equal", t, 0)
	if err == nil {
		y.truth = true
	}
	return y, err
}

// lowerLogic makes op of truth values.
func lowerLogic(op string) lowerFunc {
	return func(n *node) ([]*tensor, error) {
		in := make([]*tensor, len(n.in))
		for i, t := range n.in {
			var err error
			if in[i], err = n.b.truths(t); err != nil {
				return nil, err
			}
		}
		return one(n.b.function(op, in...))
	}
}

// lowerEqual compares two operands.
func lowerEqual(n *node) ([]*tensor, error) {
	truth := func(t *tensor) bool { return t.truth || t.cond != nil || t.konst != nil && t.konst.dt == dtBool }
	if !truth(n.in[0]) || !truth(n.in[1]) {
		return one(n.b.function("equal", n.in...))
	}
	differ, err := lowerLogic("logical_xor")(n)
	if err != nil {
		return nil, err
	}
	return one(n.b.function("logical_not", differ...))
}
