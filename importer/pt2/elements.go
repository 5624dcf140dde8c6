package pt2

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/kit"
)

// broadcast returns the shape of an operator on single elements of tensors.
func (n *node) broadcast(in ...*tensor) []int {
	var out []int
	for _, t := range in {
		shape := t.extents()
		joined := make([]int, max(len(out), len(shape)))
		for back := 1; back <= len(joined); back++ {
			x, y := 1, 1
			if back <= len(out) {
				x = out[len(out)-back]
			}
			if back <= len(shape) {
				y = shape[len(shape)-back]
			}
			if x != y && x != 1 && y != 1 {
				panic(n.fail("", "shapes %v and %v do not fit each other", out, shape))
			}
			joined[len(joined)-back] = max(x, y)
			if x == 0 || y == 0 {
				panic(n.fail("", "a tensor of shape %v is empty", shape))
			}
		}
		out = joined
	}
	return out
}

// ranked returns t with leading axes of extent 1 up to a rank.
func (b *builder) ranked(t *tensor, rank int) *tensor {
	if t.konst != nil {
		return &tensor{konst: t.konst.ranked(rank), truth: t.truth}
	}
	shape := append(slices.Repeat([]int{1}, max(0, rank-len(t.Shape))), t.Shape...)
	return &tensor{View: b.Reshaped(t.View, shape), truth: t.truth}
}

// each emits op of single elements of tensors. At least one tensor is no constant. Constants become
// weights if they are one number or one for each stored channel.
func (b *builder) each(op string, attrs any, in ...*tensor) *tensor {
	shape := b.n.broadcast(in...)
	ranked := make([]*tensor, len(in))
	for i, t := range in {
		if ranked[i] = b.ranked(t, len(shape)); t.konst != nil && op != "batch_norm" {
			ranked[i].konst = ranked[i].konst.narrowed()
		}
	}
	lead := b.leader(ranked, shape)
	if axis := b.channelAxis(ranked, lead); axis >= 0 {
		axes := lead.AxisLast(axis)
		lead = kit.ViewIn(b.StoreView(lead, axes), axes)
	}
	direct := slices.Equal(lead.Shape, shape)
	for _, t := range ranked {
		direct = direct && (t.konst != nil || t.SameOrder(lead))
	}
	if direct {
		if out := b.inMemory(op, attrs, lead, ranked); out != nil {
			return out
		}
	}
	axes, whole := lead.Axes()
	if !whole {
		axes = kit.Identity(len(shape))
	}
	weights, values, reverse := map[string]*graph.Tensor{}, []*graph.Value(nil), false
	for i, t := range ranked {
		switch {
		case t.konst == nil:
			values = append(values, b.StoreView(t.View, axes))
		case len(t.konst.data) == 1 && slices.Equal(lead.Shape, shape) && !t.truth:
			weights[weightKey(op, i, len(in))] = kit.Vector(t.konst.data)
			reverse = len(in) == 2 && i == 0
		default:
			v := b.constant(b.permuted(t.konst, axes))
			if t.truth {
				v = b.NonZero(v)
			}
			values = append(values, v)
		}
	}
	v := b.Emit(op, reversed(attrs, reverse), weights, values...)
	return &tensor{View: kit.ViewIn(v, axes), truth: v.LevelType == graph.Truths()}
}

// reversed returns the attributes of an op of two operands. If reverse is set, the first operand is
// a weight.
func reversed(attrs any, reverse bool) any {
	if a, ok := attrs.(*graph.BinaryOpAttrs); ok {
		return &graph.BinaryOpAttrs{Reverse: a.Reverse || reverse}
	}
	return attrs
}

// weightKey is the name of the weight that operand i of an op takes the place of.
func weightKey(op string, i, operands int) string {
	switch {
	case op == "batch_norm":
		return []string{"", "gamma", "beta", "mean", "var"}[i]
	case operands == 3:
		return []string{"", "a", "b"}[i]
	}
	return "b"
}

// leader is the operand that decides the order in memory: the first of the result's shape, and
// rather one in a layer's order than one in the file's.
func (b *builder) leader(in []*tensor, shape []int) *kit.View {
	var best *kit.View
	rank := -1
	for _, t := range in {
		if t.konst != nil {
			continue
		}
		r := 0
		if slices.Equal(t.Shape, shape) {
			r += 2
		}
		if axes, whole := t.Axes(); !whole || !slices.IsSorted(axes) {
			r++
		}
		if r > rank {
			best, rank = t.View, r
		}
	}
	return best
}

// channelAxis is the axis along which the constants differ, if there is one and memory holds
// another axis last; else -1.
func (b *builder) channelAxis(in []*tensor, lead *kit.View) int {
	axis := -1
	for _, t := range in {
		if t.konst == nil {
			continue
		}
		for d, extent := range t.konst.shape {
			switch {
			case extent == 1:
			case axis >= 0 && axis != d || extent != lead.Shape[d]:
				return -1
			default:
				axis = d
			}
		}
	}
	if axes, whole := lead.Axes(); axis < 0 || !whole || axes[len(axes)-1] == axis || len(axes) != len(lead.Shape) {
		return -1
	}
	return axis
}

// inMemory emits op of operands that lie like lead; nil if a constant is no weight then.
func (b *builder) inMemory(op string, attrs any, lead *kit.View, in []*tensor) *tensor {
	channels, weights, reverse := 1, map[string]*graph.Tensor{}, false
	for i, t := range in {
		if t.konst == nil {
			continue
		}
		extents, data := lead.InMemory(t.konst.shape, t.konst.data)
		for len(extents) > 0 && extents[0] == 1 {
			extents = extents[1:]
		}
		run := 1 // of the last factors in memory
		for back := 1; back <= len(extents); back++ {
			run *= lead.Extent(-back)
		}
		if t.truth || run != len(data) || run > 1 && channels > 1 && run != channels {
			return nil
		}
		channels = max(channels, run)
		weights[weightKey(op, i, len(in))] = kit.Vector(data)
		reverse = len(in) == 2 && i == 0
	}
	shape := lead.Value.Shape
	if channels > 1 && lead.Value.Channels() != channels {
		shape = []int{lead.Value.Elems() / channels, channels}
	}
	var values []*graph.Value
	for _, t := range in {
		if t.konst == nil {
			values = append(values, b.Reshape(t.Value, shape))
		}
	}
	v := b.Emit(op, reversed(attrs, reverse), weights, values...)
	return &tensor{View: lead.Derived(v), truth: v.LevelType == graph.Truths()}
}

// pipe emits ops of one operand, each on the result of the one before.
func (b *builder) pipe(t *tensor, ops ...string) *tensor { return t.derived(b.Plain(t.Value, ops...)) }

// with emits t op v.
func (b *builder) with(op string, t *tensor, v float64) *tensor {
	return b.binary(op, t, number(v))
}

// rounded emits t rounded to integers.
func (b *builder) rounded(t *tensor, mode scalar.Rounding) *tensor {
	return b.each("round", &graph.RoundAttrs{Mode: mode}, t)
}

// binary emits x op y.
func (b *builder) binary(op string, x, y *tensor) *tensor {
	return b.each(op, &graph.BinaryOpAttrs{}, x, y)
}

// clip emits min(max(x, lo), hi) by the op that says it best.
func (b *builder) clip(t *tensor, lo, hi float64) *tensor {
	if lo <= -math.MaxFloat32 {
		lo = math.Inf(-1)
	}
	if hi >= math.MaxFloat32 {
		hi = math.Inf(1)
	}
	lo, hi = float64(float32(lo)), float64(float32(hi))
	switch op := kit.ClipOp(lo, hi); op {
	case "":
		return t
	case "clip":
		return b.each(op, &graph.ClipAttrs{Min: min(lo, hi), Max: hi}, t)
	default:
		return b.pipe(t, op)
	}
}

// unary is an operator of one tensor that is a chain of ops without attributes.
func unary(ops ...string) func(n *node) []*tensor {
	return one(func(n *node) *tensor { return n.b.pipe(n.operand("self"), ops...) })
}

// one is an operator of one result.
func one(f func(n *node) *tensor) func(n *node) []*tensor {
	return func(n *node) []*tensor { return []*tensor{f(n)} }
}

// arithmetic is an operator of two tensors. reverse says that the second stands on the left.
func arithmetic(op string, reverse bool) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		b, x, y := n.b, n.operand("self"), n.operand("other")
		if alpha := n.number("alpha", 1); alpha != 1 {
			scaled := number(alpha)
			switch {
			case reverse:
				x = b.product(x, scaled)
			default:
				y = b.product(y, scaled)
			}
		}
		if reverse {
			x, y = y, x
		}
		out := b.binary(op, x, y)
		switch mode := n.text("rounding_mode"); mode {
		case "floor":
			return b.rounded(out, scalar.Floor)
		case "trunc":
			return b.rounded(out, scalar.Trunc)
		case "":
			return out
		default:
			panic(n.fail("use floor, trunc or none", "rounding_mode %q is unknown", mode))
		}
	})
}

// product is x * y. Each may be a constant.
func (b *builder) product(x, y *tensor) *tensor {
	if x.konst == nil || y.konst == nil {
		return b.binary("mul", x, y)
	}
	c := &constant{x.konst.shape, slices.Clone(x.konst.data)}
	for i := range c.data {
		c.data[i] *= y.konst.data[0]
	}
	return &tensor{konst: c}
}
