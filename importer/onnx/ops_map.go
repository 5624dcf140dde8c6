package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/kit"
	"ripc/internal/f32"
	"ripc/internal/human"
)

// Functions of one number, and concatenations of several scales, are tables from levels to levels where DequantizeLinear and QuantizeLinear stand around them: onnxruntime
// has tables of them, too.

// intMap emits what a function makes of the real values of levels x, as levels of q; x itself if that changes nothing.
func (b *builder) intMap(x *graph.Value, q *quantParams, real func(v float32) float32) *graph.Value {
	a := graph.IntMapOf(x.LevelType, q.attrs(), real)
	if a.LevelType == x.LevelType && slices.Equal(a.Table, kit.Identity(len(a.Table))) {
		return x
	}
	return b.emit("int_map", a, nil, x)
}

// mapped is t as integers of q, where float steps, or none, make it of levels or of a concatenation of levels; nil where they do not.
func (n *node) mapped(t *tensor, q *quantParams) *tensor {
	b := n.b
	v, real := b.behind.Before(t.value, func(v *graph.Value, p *graph.Node) bool { return b.alone(v) && p.Op != "concat" })
	made := b.behind.Of(v)
	if made != nil {
		made = b.intMap(made, q, real)
	} else if p := b.g.Producer(v.Name); p != nil && p.Op == "concat" && b.alone(v) {
		made = b.concatOf(p, q, real)
	}
	if made == nil {
		return nil
	}
	return b.result(t.derived(b.reshaped(made, t.value.Shape)), q)
}

// concatOf emits the concatenation p with what a function makes of its operands, as levels of q; nil if some are no levels.
func (b *builder) concatOf(p *graph.Node, q *quantParams, real func(v float32) float32) *graph.Value {
	in := make([]*graph.Value, len(p.Inputs))
	for i, name := range p.Inputs {
		if in[i] = b.behind.Of(b.g.Graph().Value(name)); in[i] == nil {
			return nil
		}
	}
	for i, x := range in {
		in[i] = b.intMap(x, q, real)
	}
	return b.emit("concat", p.Attrs, nil, in...)
}

// lowerQLinearConcat joins tensors of integers. Inputs: scale and zero point of y, and of each tensor itself, its scale and its zero point.
func lowerQLinearConcat(n *node) *tensor {
	n.failIf(len(n.in)%3 != 2,
		"", "has %s, want scale and zero point, and three for each tensor", human.Count(len(n.in), "input"))
	yq := n.params(0, 1, n.held(2))
	var at []int
	for i := 2; i < len(n.in); i += 3 {
		at = append(at, i)
	}
	like := n.firstComputed(at...)
	var parts []*tensor
	for _, i := range at {
		t := n.mappedInput(i, yq, like, func(v float32) float32 { return v })
		parts = append(parts, t)
	}
	y := n.b.concat(parts, n.concatAxis(parts[0]))
	return n.b.result(y.derived(y.value), yq)
}

// lowerQLinearLeakyRelu is LeakyRelu of integers, whose inputs are x, its scale and zero point, those of y.
func lowerQLinearLeakyRelu(n *node) *tensor {
	alpha := n.floatAttr("alpha", 0.01)
	return n.mappedAlone(func(v float32) float32 {
		if v >= 0 {
			return v
		}
		return f32.Mul(alpha, v)
	})
}

// lowerQLinearSigmoid is Sigmoid of integers, with inputs as QLinearLeakyRelu has them.
func lowerQLinearSigmoid(n *node) *tensor {
	return n.mappedAlone(func(v float32) float32 { return scalar.Step{Kind: scalar.Sigmoid}.Eval(0, v) })
}

// mappedAlone is what a function makes of the integers that are input 0, whose scale and zero point are inputs 1 and 2; 3 and 4 are those of y.
func (n *node) mappedAlone(real func(v float32) float32) *tensor {
	yq := n.params(3, 4, n.held(0))
	return n.b.result(n.mappedInput(0, yq, n.in[0], real), yq)
}

// mappedInput are the levels of yq that a function makes of the integers that are input i, behind which stand their scale and zero point;
// constants are stored as like is.
func (n *node) mappedInput(i int, yq *quantParams, like *tensor, real func(v float32) float32) *tensor {
	t := n.integers(i, n.params(i+1, i+2, n.held(i)), like)
	t.value = n.b.intMap(t.value, yq, real)
	return t
}

// firstComputed is the first of inputs at that is no constant.
func (n *node) firstComputed(at ...int) *tensor {
	for _, i := range at {
		if t := n.in[i]; t != nil && t.konst == nil {
			return t
		}
	}
	panic(n.fail("", "all its operands are constants, which is not supported"))
}

// integers are the levels of parameters q that are input i, as a tensor; a constant is stored as like is.
func (n *node) integers(i int, q *quantParams, like *tensor) *tensor {
	t := n.in[i]
	switch {
	case t == nil:
		panic(n.fail("", "an input is left out"))
	case t.konst != nil:
		return n.constantIntegers(i, q, like)
	}
	v := n.integerLevels(i, t, q)
	return &tensor{shape: t.shape, value: v, perm: t.perm, flat: t.flat}
}

// real is what integers c of parameters q stand for.
func (b *budget) real(c *array, q *quantParams) *array {
	out := b.newArray(dtFloat, c.shape)
	for k := range out.f {
		out.f[k] = float32(int(c.whole(k))-q.zero) * q.scale
	}
	return out
}

// constantIntegers are the levels that a constant input i is. They are a quantizer's of the numbers that they stand for, each of which is one of the levels.
func (n *node) constantIntegers(i int, q *quantParams, like *tensor) *tensor {
	c := n.in[i].konst
	n.failIf(c.dt != q.dt, "", "its input %q is a constant %s, want %s as its zero point is", n.Input[i], c.dt, q.dt)
	real := n.b.mem.real(c, q)
	t := &tensor{shape: c.shape}
	if rank := len(like.shape); rank >= len(c.shape) {
		t.shape = append(slices.Repeat([]int{1}, rank-len(c.shape)), c.shape...)
		if like.flat == nil {
			t.perm = like.perm
		}
	}
	v := n.b.constantLike(t, real)
	t.value = n.b.emit("quantize", q.attrs(), nil, v)
	return t
}
