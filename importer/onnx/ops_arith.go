package onnx

import (
	"slices"

	"ripc/graph"
)

// elementwise emits an op that leaves every element in its place; weights that differ by channel need t's axis of channels
// stored last.
func (b *builder) elementwise(t *tensor, op string, attrs any, weights map[string]*graph.Tensor) (*tensor, error) {
	v, err := b.emitShaped(op, attrs, weights, t.value)
	if err != nil {
		return nil, err
	}
	return t.derived(v), nil
}

// emitShaped emits an op on single elements of tensors of one shape. Where they were made by reshapes of tensors that have one
// shape, too, and the same channels, it stands in front of these: so it comes next to the layer that made the elements, and the
// reshapes next to those that follow, with which they often cancel out.
func (b *builder) emitShaped(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) (*graph.Value, error) {
	shape, from := in[0].Shape, make([]*graph.Value, len(in))
	for i, v := range in {
		p := b.g.Producer(v.Name)
		if p == nil || p.Op != "reshape" {
			return b.emit(op, attrs, weights, in...)
		}
		from[i] = b.g.Graph().Values[p.Inputs[0]]
		if from[i].Channels() != v.Channels() || !slices.Equal(from[i].Shape, from[0].Shape) {
			return b.emit(op, attrs, weights, in...)
		}
	}
	v, err := b.emit(op, attrs, weights, from...)
	if err != nil {
		return nil, err
	}
	return b.reshaped(v, shape)
}

// one is the result of an op with a single output.
func one(t *tensor, err error) ([]*tensor, error) { return []*tensor{t}, err }

// lowerBinary makes add, sub, mul or div of two operands, of which one may be constant.
func lowerBinary(op string) func(n *node) ([]*tensor, error) {
	return func(n *node) ([]*tensor, error) {
		y, err := n.b.binary(op, n.in[0], n.in[1])
		if err == nil {
			n.b.constantOf(y.value, n.in[0], n.in[1])
		}
		return one(y, err)
	}
}

// binary is x op y, broadcast as numpy does.
func (b *builder) binary(op string, x, y *tensor) (*tensor, error) {
	switch {
	case y.konst != nil:
		return b.withConstant(op, x, y.konst, false)
	case x.konst != nil:
		return b.withConstant(op, y, x.konst, true)
	}
	shape, err := broadcastShape(x.shape, y.shape)
	if err != nil {
		return nil, err
	}
	if x, y, err = b.alike(x, y); err != nil {
		return nil, err
	}
	emit := b.emit
	if slices.Equal(x.shape, y.shape) {
		emit = b.emitShaped
	}
	v, err := emit(op, &graph.BinaryOpAttrs{}, nil, x.value, y.value)
	if err != nil {
		return nil, err
	}
	return &tensor{shape: shape, value: v, perm: x.perm, flat: x.flat}, nil
}

// alike are x and y, operands of an op on single elements, of one rank and stored in one order.
func (b *builder) alike(x, y *tensor) (*tensor, *tensor, error) {
	shape, err := broadcastShape(x.shape, y.shape)
	if err != nil {
		return nil, nil, err
	}
	if x, err = b.ranked(x, len(shape)); err != nil {
		return nil, nil, err
	}
	if y, err = b.ranked(y, len(shape)); err != nil {
		return nil, nil, err
	}
	if !x.flat.equal(y.flat) || !slices.Equal(x.shape, y.shape) {
		if x, err = b.plain(x); err != nil {
			return nil, nil, err
		}
		if y, err = b.plain(y); err != nil {
			return nil, nil, err
		}
	}
	if x.flat == nil {
		// Of two orders, that of layers with channels is kept, not that of a tensor as the file has it.
		asFile := slices.Equal(x.order(), identity(len(shape))) && slices.Equal(y.shape, shape)
		if slices.Equal(x.shape, shape) && !asFile {
			y, err = b.stored(y, x.order())
		} else {
			x, err = b.stored(x, y.order())
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return x, y, nil
}

// ranked is t with extents of 1 before its axes until it has as many as rank.
func (b *builder) ranked(t *tensor, rank int) (*tensor, error) {
	if len(t.shape) == rank {
		return t, nil
	}
	shape := make([]int, rank-len(t.shape), rank)
	for i := range shape {
		shape[i] = 1
	}
	return b.reshape(t, append(shape, t.shape...))
}

// withConstant is t op c, or c op t where reverse is set.
func (b *builder) withConstant(op string, t *tensor, c *array, reverse bool) (*tensor, error) {
	shape, err := broadcastShape(t.shape, c.shape)
	if err != nil {
		return nil, err
	}
	if c, err = b.mem.narrowed(c, t.shape); err != nil {
		return nil, err
	}
	if slices.Equal(shape, t.shape) {
		if w, err := b.vector(t, c); w != nil || err != nil {
			if err != nil {
				return nil, err
			}
			return b.elementwise(t, op, &graph.BinaryOpAttrs{Reverse: reverse}, map[string]*graph.Tensor{"b": w})
		}
	}
	if t, err = b.ranked(t, len(shape)); err != nil {
		return nil, err
	}
	if t, err = b.plain(t); err != nil {
		return nil, err
	}
	k, err := b.constantLike(t, c)
	if err != nil {
		return nil, err
	}
	in := []*graph.Value{t.value, k}
	if reverse {
		in[0], in[1] = in[1], in[0]
	}
	v, err := b.emit(op, &graph.BinaryOpAttrs{}, nil, in...)
	if err != nil {
		return nil, err
	}
	return &tensor{shape: shape, value: v, perm: t.perm}, nil
}

// varying is the axis of a tensor of the given rank along which c has more than one element: -1 if there is none, -2 if
// there are several.
func varying(c *array, rank int) int {
	axis := -1
	for d, e := range c.shape {
		if e != 1 {
			if axis >= 0 {
				return -2
			}
			axis = rank - len(c.shape) + d
		}
	}
	return axis
}

// channelsLast is t with its channels stored last where c varies along them, so that vector can make a weight of c.
func (b *builder) channelsLast(t *tensor, c *array) (*tensor, error) {
	if t.flat != nil || varying(c, len(t.shape)) != 1 {
		return t, nil
	}
	return b.stored(t, t.last(1))
}

// vector is c as the weight [1] or [C] of an elementwise op on t; nil if it varies along other axes than t's last stored.
// c must be broadcastable to t's shape.
func (b *builder) vector(t *tensor, c *array) (*graph.Tensor, error) {
	axis := varying(c, len(t.shape))
	switch {
	case axis == -1 && c.len() == 1:
		return &graph.Tensor{Shape: []int{1}, Data: graph.NumbersOf(slices.Clone(c.floats()))}, nil
	case axis < 0 || t.order()[len(t.shape)-1] != axis || c.len() == 0:
		return nil, nil
	}
	if err := b.mem.take(c.len(), 8); err != nil {
		return nil, err
	}
	src := c.floats()
	data := slices.Clone(src)
	if t.flat != nil {
		cols, err := b.mem.columns(t.flat)
		if err != nil {
			return nil, err
		}
		for j, k := range cols {
			data[j] = src[k]
		}
	}
	return &graph.Tensor{Shape: []int{len(data)}, Data: graph.NumbersOf(data)}, nil
}

// constantLike is a constant node with c's elements in the order in which t, of at least c's rank, is stored.
func (b *builder) constantLike(t *tensor, c *array) (*graph.Value, error) {
	shape := make([]int, len(t.shape))
	for d := range shape {
		shape[d] = extentFromEnd(c.shape, len(shape)-d)
	}
	a, err := b.mem.permuted(c.view(shape), t.order())
	if err != nil {
		return nil, err
	}
	return b.constantNode(a)
}

func (b *builder) constantNode(a *array) (*graph.Value, error) {
	if a.len() == 0 {
		return nil, b.n.fail("", "a constant of shape %v is empty", a.shape)
	}
	if err := b.mem.take(a.len(), 4); err != nil {
		return nil, err
	}
	shape := a.shape
	if len(shape) == 0 {
		shape = []int{1}
	}
	return b.emit("constant", &graph.ConstantAttrs{}, map[string]*graph.Tensor{"value": {Shape: slices.Clone(shape), Data: graph.NumbersOf(a.floats())}})
}

// scalar is t op a number.
func (b *builder) scalar(op string, t *tensor, v float32) (*tensor, error) {
	return b.elementwise(t, op, &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{v})}})
}

// lowerSum adds up any number of operands.
func lowerSum(n *node) ([]*tensor, error) {
	t := n.in[0]
	for _, y := range n.in[1:] {
		if t.konst != nil && y.konst != nil {
			as, err := foldBinary(addOf, nil)(n, []*array{t.konst, y.konst})
			if err != nil {
				return nil, err
			}
			t = &tensor{shape: as[0].shape, konst: as[0]}
			continue
		}
		var err error
		if t, err = n.b.binary("add", t, y); err != nil {
			return nil, err
		}
	}
	return []*tensor{t}, nil
}

// lowerNeg multiplies by -1, which is exact.
func lowerNeg(n *node) ([]*tensor, error) { return one(n.b.scalar("mul", n.in[0], -1)) }
