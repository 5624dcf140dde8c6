package lce

import (
	"math"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// arithmetic is ADD, SUB, MUL or DIV of two tensors, one of which may be a constant; kind is that of its options.
func arithmetic(op string, kind int) func(*builder) *graph.Value {
	return func(b *builder) *graph.Value {
		t := b.builtin(kind)
		if y := b.integerPair(op, t.Int8(0, 0)); y != nil {
			return y
		}
		return b.activation(b.binary(op), t.Int8(0, 0))
	}
}

// binary makes the node: with a weight where one side is a constant that is one number or one for each channel, else of
// two tensors of the same rank.
func (b *builder) binary(op string) *graph.Value {
	failIf(b.input(0) == nil || b.input(1) == nil, "", "has a missing input")
	for k, other := range []int{1, 0} {
		if !b.isConstant(k) || b.isConstant(other) {
			continue
		}
		c, shape := b.input(k), b.input(other).shape
		n := 1
		if len(c.shape) > 0 {
			n = c.shape[len(c.shape)-1]
		}
		if c.elems != n || len(c.shape) > len(shape) || n != 1 && n != shape[len(shape)-1] {
			break
		}
		w := map[string]*graph.Tensor{"b": kit.Vector(b.numbers(k, "constant operand"))}
		return b.add(op, &graph.BinaryOpAttrs{Reverse: k == 0 && op != "add" && op != "mul"}, w, b.float(other))
	}
	in := make([]*graph.Value, 2)
	for k := range in {
		in[k] = b.float(k)
	}
	b.ranked(in)
	return b.add(op, &graph.BinaryOpAttrs{}, nil, in...)
}

// simple is an operator without options that is an op of ours.
func simple(op string) func(*builder) *graph.Value { return withAttrs(op, &graph.NoAttrs{}) }

// prelu has slopes for each channel, [C] or [1, 1, C].
func prelu(b *builder) *graph.Value {
	x := b.float(0)
	alpha := b.vector(1, "slope", x.Channels())
	failIf(alpha == nil, "", "has no slopes")
	return b.add("prelu", &graph.PReluAttrs{}, map[string]*graph.Tensor{"alpha": alpha}, x)
}

func leakyRelu(b *builder) *graph.Value {
	t, x := b.unary(optLeakyRelu)
	if y := b.integerTable(0, leaking(t.Float32(0, 0))); y != nil {
		return y
	}
	return b.Slope(x, t.Float32(0, 0))
}

// softmax is that of beta * x along the last axis.
func softmax(b *builder) *graph.Value {
	t, x := b.unary(optSoftmax)
	beta := float32(1)
	if t.Has() {
		beta = t.Float32(0, 0)
	}
	failIf(!(math.Abs(float64(beta)) <= math.MaxFloat32), "", "beta is %g", beta)
	if beta != 1 {
		x = b.Number("mul", x, beta)
	}
	x = b.reshape(x, []int{elems(x.Shape) / x.Channels(), x.Channels()})
	return b.likeOutput(b.Plain(x, "softmax"))
}

// convertType is QUANTIZE or DEQUANTIZE: what the output's type asks for is done where results are bound. Constants are
// folded, those of half floats among them.
func convertType(b *builder) *graph.Value {
	out := b.op.outputs[0]
	if b.isConstant(0) && b.file.tensors[out].typ == typeF32 && !b.outputs[out] {
		data := b.numbers(0, "input")
		failIf(len(data) != b.file.tensors[out].elems,
			"", "makes %d elements, the file says shape %v", len(data), b.file.tensors[out].shape)
		b.folded[out] = data
		return nil
	}
	return b.float(0)
}
