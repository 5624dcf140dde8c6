package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/internal/lists"
	"ripc/internal/stop"
)

// elementwise emits an op that leaves every element in its place; weights that differ by channel
// need t's axis of channels stored last.
func (b *builder) elementwise(t *tensor, op string, attrs any, weights map[string]*graph.Tensor) *tensor {
	return t.derive(b.emitShaped(op, attrs, weights, t.value))
}

// emitShaped emits an op on single elements of tensors of one shape. Where they were made by
// reshapes of tensors that have one shape, too, and the same channels, it stands in front of these:
// so it comes next to the layer that made the elements, and the reshapes next to those that follow,
// with which they often cancel out.
func (b *builder) emitShaped(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) *graph.Value {
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
	return b.emitReshape(b.emit(op, attrs, weights, from...), shape)
}

func lowerBinary(op string) func(n *node) *tensor {
	return func(n *node) *tensor {
		y := n.b.binary(op, n.in[0], n.in[1])
		n.b.constantOf(y.value, n.in[0], n.in[1])
		return y
	}
}

// binary is x op y, broadcast as numpy does.
func (b *builder) binary(op string, x, y *tensor) *tensor { return b.function(op, x, y) }

// padRank returns t with axes of extent 1 in front, so that it has rank axes.
func (b *builder) padRank(t *tensor, rank int) *tensor {
	if len(t.shape) == rank {
		return t
	}
	shape := make([]int, rank-len(t.shape), rank)
	for i := range shape {
		shape[i] = 1
	}
	return b.reshape(t, append(shape, t.shape...))
}

// withConstant is t op c.
func (b *builder) withConstant(op string, t *tensor, c *array) *tensor {
	return b.function(op, t, &tensor{shape: c.shape, konst: c})
}

// varyingAxis returns the axis of a tensor of the given rank along which c has more than one
// element: -1 if there is none, -2 if there are several.
func varyingAxis(c *array, rank int) int {
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

// channelsLast is t with its channels stored last where c varies along them, so that vector can
// make a weight of c.
func (b *builder) channelsLast(t *tensor, c *array) *tensor {
	if t.flat != nil || varyingAxis(c, len(t.shape)) != 1 {
		return t
	}
	return b.store(t, t.last(1))
}

// vector is c as the weight [1] or [C] of an elementwise op on t; nil if it varies along other axes
// than t's last stored. c must be broadcastable to t's shape.
func (b *builder) vector(t *tensor, c *array) *graph.Tensor {
	axis := varyingAxis(c, len(t.shape))
	switch {
	case axis == -1 && c.len() == 1:
		return &graph.Tensor{Shape: []int{1}, Data: graph.NumbersOf(slices.Clone(c.floats()))}
	case axis < 0 || t.order()[len(t.shape)-1] != axis || c.len() == 0:
		return nil
	}
	b.mem.take(c.len(), 8)
	src := c.floats()
	data := slices.Clone(src)
	if t.flat != nil {
		cols := b.mem.columns(t.flat)
		for j, k := range cols {
			data[j] = src[k]
		}
	}
	return &graph.Tensor{Shape: []int{len(data)}, Data: graph.NumbersOf(data)}
}

// constantLike is a constant node with c's elements in the order in which t, of at least c's rank,
// is stored.
func (b *builder) constantLike(t *tensor, c *array) *graph.Value {
	shape := make([]int, len(t.shape))
	for d := range shape {
		shape[d] = extentFromEnd(c.shape, len(shape)-d)
	}
	return b.constantNode(b.mem.permute(c.view(shape), t.order()))
}

func (b *builder) constantNode(a *array) *graph.Value {
	b.n.failIf(a.len() == 0, "", "a constant of shape %v is empty", a.shape)
	b.mem.take(a.len(), 4)
	shape := a.shape
	if len(shape) == 0 {
		shape = []int{1}
	}
	return b.Constant(shape, a.floats())
}

// scalar is t op a number.
func (b *builder) scalar(op string, t *tensor, v float32) *tensor {
	return t.derive(b.Number(op, t.value, v))
}

// lowerSum adds up any number of operands.
func lowerSum(n *node) *tensor {
	t := n.in[0]
	for _, y := range n.in[1:] {
		if t.konst != nil && y.konst != nil {
			as := foldBinary(addOf, nil)(n, []*array{t.konst, y.konst})
			t = &tensor{shape: as[0].shape, konst: as[0]}
			continue
		}
		t = n.b.binary("add", t, y)
	}
	return t
}

// lowerNeg multiplies by -1, which is exact.
func lowerNeg(n *node) *tensor { return n.b.scalar("mul", n.in[0], -1) }

// function is op, one on single elements of several tensors, of in, broadcast as numpy does.
// Constants become weights where they are one number or one for each channel; at least one operand
// is none.
func (b *builder) function(op string, in ...*tensor) *tensor {
	var shape []int
	for _, t := range in {
		shape = stop.Must(broadcastShape(shape, t.shape))
	}
	in = slices.Clone(in)
	full, joined := b.alignOperands(in, shape)
	vectors := make([]*graph.Tensor, len(in)) // of constants that become weights
	for i, t := range in {
		if t.konst == nil {
			continue
		}
		c := b.mem.narrow(t.konst, joined)
		in[i] = &tensor{shape: c.shape, konst: c}
		if slices.Equal(joined, shape) && c.dt != dtBool {
			vectors[i] = b.vector(full, c)
		}
		if vectors[i] == nil && full.flat != nil { // a node has the order of columns that the file has
			return b.function(op, b.ordered(in)...)
		}
	}
	weights, reverse, emit := map[string]*graph.Tensor{}, false, b.emitShaped
	var values []*graph.Value
	for i, t := range in {
		if vectors[i] != nil {
			key := "b"
			if len(in) == 3 {
				key = []string{"", "a", "b"}[i]
			}
			weights[key], reverse = vectors[i], len(in) == 2 && i == 0
			continue
		}
		v := t.value
		if t.konst != nil {
			v = b.constantLike(full, t.konst)
		}
		if values = append(values, v); !slices.Equal(v.Shape, values[0].Shape) {
			emit = b.emit
		}
	}
	attrs := graph.OpNamed(op).NewAttrs()
	if a, ok := attrs.(*graph.BinaryOpAttrs); ok {
		a.Reverse = reverse
	}
	v := emit(op, attrs, weights, values...)
	return &tensor{shape: shape, value: v, perm: full.perm, flat: full.flat, truth: v.Encoded()}
}

// ordered returns tensors with their columns in the file's order.
func (b *builder) ordered(in []*tensor) []*tensor {
	return lists.Map(in, b.orderColumns)
}

// alignOperands stores the computed tensors of in in one order of axes, with the rank of shape.
// full says how a tensor of that shape is stored then. joined is the broadcast shape without the
// constants. Of several orders, that of layers with channels is kept, not that of a tensor as the
// file has it.
func (b *builder) alignOperands(in []*tensor, shape []int) (full *tensor, joined []int) {
	var first *tensor // the result has its order
	alike, best := true, -1
	for i, t := range in {
		if t.konst != nil {
			continue
		}
		in[i] = b.padRank(t, len(shape))
		t = in[i]
		joined = stop.Must(broadcastShape(joined, t.shape))
		if first != nil {
			alike = alike && t.flat.equal(first.flat) && slices.Equal(t.shape, first.shape)
		}
		rank := 0
		if slices.Equal(t.shape, shape) {
			rank = 2
		}
		if !slices.IsSorted(t.order()) {
			rank++
		}
		if rank > best {
			first, best = t, rank
		}
	}
	if first.flat != nil && alike && slices.Equal(first.shape, shape) {
		return first, joined
	}
	first = b.orderColumns(first)
	for i, t := range in {
		if t.konst == nil {
			in[i] = b.store(t, first.order())
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
		if t := n.integerInput(); t != nil {
			return n.extremeOfIntegers(t, greater)
		}
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
				acc = n.b.clipSide(t, k.konst.number(0), clip)
			default:
				acc = n.b.function(op, acc, y)
			}
		}
		if acc.konst == nil && slices.Contains(n.in, acc) {
			return acc.clone()
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
	y := t.derive(b.NonZero(t.value))
	y.truth = true
	return y
}

// lowerLogic makes op of truth values.
func lowerLogic(op string) lowerFunc {
	return func(n *node) *tensor {
		in := lists.Map(n.in, n.b.truths)
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
