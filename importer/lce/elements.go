package lce

import (
	"math"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/kit"
)

// elements are operators on single elements, and those that networks end with.
func elements() map[string]handler {
	const broadcast = "of two tensors, extents of 1 being repeated, or of a tensor and a constant"
	round := func(mode scalar.Rounding) func(*builder) *graph.Value {
		return withAttrs("round", &graph.RoundAttrs{Mode: mode})
	}
	all := map[string]handler{
		"LOGISTIC":           {min: 1, max: 1, convert: plainOp("sigmoid")},
		"TANH":               {min: 1, max: 1, convert: plainOp("tanh")},
		"HARD_SWISH":         {min: 1, max: 1, convert: tableOr(0, hardSwish, plainOp("hard_swish"))},
		"ELU":                {min: 1, max: 1, convert: withAttrs("elu", &graph.EluAttrs{Alpha: 1})},
		"EXP":                {min: 1, max: 1, convert: tableOr(0, curve(math.Exp), plainOp("exp"))},
		"LOG":                {min: 1, max: 1, convert: tableOr(0, curve(math.Log), plainOp("log"))},
		"SQRT":               {min: 1, max: 1, convert: plainOp("sqrt")},
		"RSQRT":              {min: 1, max: 1, convert: tableOr(0, inverseRoot, rsqrt)},
		"GELU":               {min: 1, max: 1, convert: gelu},
		"ABS":                {min: 1, max: 1, convert: plainOp("abs")},
		"SIGN":               {min: 1, max: 1, convert: plainOp("sign")},
		"ROUND":              {min: 1, max: 1, convert: round(scalar.HalfEven)},
		"FLOOR":              {min: 1, max: 1, convert: round(scalar.Floor)},
		"CEIL":               {min: 1, max: 1, convert: round(scalar.Ceil)},
		"NEG":                {min: 1, max: 1, convert: negate},
		"SQUARE":             {min: 1, max: 1, convert: square},
		"SQUARED_DIFFERENCE": {min: 2, max: 2, limits: broadcast, convert: squaredDifference},
		"LOGICAL_NOT":        {min: 1, max: 1, convert: logic("logical_not")},
		"LOGICAL_AND":        {min: 2, max: 2, limits: broadcast, convert: logic("logical_and")},
		"LOGICAL_OR":         {min: 2, max: 2, limits: broadcast, convert: logic("logical_or")},
		"SELECT":             {min: 3, max: 3, convert: choose},
		"SELECT_V2":          {min: 3, max: 3, convert: choose},
		"CAST": {min: 1, max: 1, limits: "truth values and positions to float32, float32 to bool",
			convert: cast},

		"LOG_SOFTMAX": {min: 1, max: 1, limits: "along the last axis", convert: plainOp("log_softmax")},
		"ARG_MAX":     {min: 2, max: 2, limits: "a constant axis; positions are i32", convert: arg("argmax")},
		"ARG_MIN":     {min: 2, max: 2, limits: "a constant axis; positions are i32", convert: arg("argmin")},
		"TOPK_V2":     {min: 2, max: 2, limits: "a constant number; positions are i32", parts: topK},
		"SUM":         {min: 2, max: 2, convert: reduce("global_avg_pool")},
		"REDUCE_MIN":  {min: 2, max: 2, convert: reduceMin},
	}
	for _, name := range strings.Fields("MINIMUM MAXIMUM GREATER GREATER_EQUAL LESS LESS_EQUAL EQUAL NOT_EQUAL") {
		op := strings.ToLower(name)
		all[name] = handler{min: 2, max: 2, limits: broadcast,
			convert: func(b *builder) *graph.Value { return b.binary(op) }}
	}
	return all
}

// withAttrs is an operator without options that is an op of ours with attributes.
func withAttrs(op string, attrs any) func(*builder) *graph.Value {
	return func(b *builder) *graph.Value {
		return b.Emit(op, attrs, nil, b.floatInput(0))
	}
}

func negate(b *builder) *graph.Value { return b.Number("mul", b.floatInput(0), -1) }

func square(b *builder) *graph.Value {
	x := b.floatInput(0)
	return b.Pair("mul", x, x)
}

func squaredDifference(b *builder) *graph.Value {
	d := b.binary("sub")
	return b.Pair("mul", d, d)
}

// truths are those of input k, as levels.
func (b *builder) truths(k int) *graph.Value {
	t := b.input(k)
	switch {
	case t == nil || t.typ != typeBool:
		panic(faultf("", "input %d holds no truth values", k))
	case t.data == nil && b.values[b.op.inputs[k]] != nil:
		return b.values[b.op.inputs[k]]
	case t.data == nil || len(t.data) != t.elems || len(t.shape) == 0:
		panic(faultf("", "its truth values %q are no tensor of one byte each", t.name))
	}
	b.take(t.elems)
	v := make([]float32, t.elems)
	for i, bit := range t.data {
		v[i] = float32(bit)
	}
	return b.NonZero(b.Constant(t.shape, v))
}

// logic is op of truth values.
func logic(op string) func(*builder) *graph.Value {
	return func(b *builder) *graph.Value {
		var in []*graph.Value
		for k := range b.op.inputs {
			in = append(in, b.truths(k))
		}
		b.equalizeRanks(in)
		return b.add(op, &graph.NoAttrs{}, nil, in...)
	}
}

// equalizeRanks puts axes of extent 1 in front of those of in that have fewer than others.
func (b *builder) equalizeRanks(in []*graph.Value) {
	rank := 0
	for _, x := range in {
		rank = max(rank, len(x.Shape))
	}
	for k, x := range in {
		in[k] = b.Ranked(x, rank)
	}
}

// choose is SELECT or SELECT_V2. The condition of SELECT may have one truth value for each index of
// the first axis.
func choose(b *builder) *graph.Value {
	c := b.truths(0)
	out := b.file.tensors[b.op.outputs[0]].shape
	if b.op.op == "SELECT" && len(c.Shape) == 1 && len(out) > 1 {
		c = b.reshape(c, append([]int{c.Shape[0]}, slices.Repeat([]int{1}, len(out)-1)...))
	}
	in, weights := []*graph.Value{c}, map[string]*graph.Tensor{}
	for k := 1; k < 3; k++ {
		if t := b.input(k); t != nil && t.elems == 1 && b.isConstant(k) {
			weights[[]string{"", "a", "b"}[k]] = kit.Vector(b.numbers(k, "constant operand"))
			continue
		}
		in = append(in, b.floatInput(k))
	}
	b.equalizeRanks(in)
	return b.add("where", &graph.WhereAttrs{}, weights, in...)
}

func cast(b *builder) *graph.Value {
	from, to := b.input(0), b.file.tensors[b.op.outputs[0]].typ
	failIf(from == nil, "", "has no input")
	if from.typ == typeBool && to == typeF32 {
		return b.Plain(b.truths(0), "dequantize")
	}
	if v := b.values[b.op.inputs[0]]; v != nil && v.Whole && (to == typeI32 || to == typeI64) {
		return v
	}
	x := b.floatInput(0)
	switch {
	case to == typeF32:
		return x
	case to == typeBool:
		return b.NonZero(x)
	}
	panic(faultf("", "converts %s to %s", typeName(from.typ), typeName(to)))
}

// arg is ARG_MAX or ARG_MIN: the axis is brought to the end.
func arg(op string) func(*builder) *graph.Value {
	return func(b *builder) *graph.Value {
		axis := b.ints(1, "axis")
		x := b.floatInput(0)
		rank := len(x.Shape)
		failIf(len(axis) != 1, "", "has axes %v, want one", axis)
		at := axisOf(axis[0], rank)
		perm := append(slices.Delete(kit.Identity(rank), at, at+1), at)
		return b.Emit(op, &graph.ArgAttrs{Drop: true}, nil, b.Transpose(x, perm))
	}
}

// topK is TOPK_V2: values and positions.
func topK(b *builder) func(k int) *graph.Value {
	n := b.ints(1, "number")
	failIf(len(n) != 1 || len(b.op.outputs) != 2,
		"", "has numbers %v and %d outputs, want one and 2", n, len(b.op.outputs))
	x := b.floatInput(0)
	return func(k int) *graph.Value {
		return b.add([]string{"top_k", "top_k_indices"}[k], &graph.TopKAttrs{K: n[0]}, nil, x)
	}
}

// reduceMin is REDUCE_MIN: REDUCE_MAX of the negated input, negated.
func reduceMin(b *builder) *graph.Value {
	return b.Number("mul", b.reduceAxes("max_pool", negate(b)), -1)
}

// arithmetic is ADD, SUB, MUL or DIV of two tensors. One of them may be a constant. kind is the
// kind of its options.
func arithmetic(op string, kind int) func(*builder) *graph.Value {
	return func(b *builder) *graph.Value {
		t := b.builtin(kind)
		if y := b.integerPair(op, t.Int8(0, 0)); y != nil {
			return y
		}
		return b.activation(b.binary(op), t.Int8(0, 0))
	}
}

// binary makes the node. A constant side with one number, or one for each channel, becomes a
// weight. Otherwise the node reads two tensors of one rank.
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
		return b.add(op, &graph.BinaryOpAttrs{Reverse: k == 0 && op != "add" && op != "mul"}, w, b.floatInput(other))
	}
	in := make([]*graph.Value, 2)
	for k := range in {
		in[k] = b.floatInput(k)
	}
	b.equalizeRanks(in)
	return b.add(op, &graph.BinaryOpAttrs{}, nil, in...)
}

// plainOp returns an operator without options that is an op of ours.
func plainOp(op string) func(*builder) *graph.Value { return withAttrs(op, &graph.NoAttrs{}) }

// prelu has slopes for each channel, [C] or [1, 1, C].
func prelu(b *builder) *graph.Value {
	x := b.floatInput(0)
	alpha := b.vector(1, "slope", x.Channels())
	failIf(alpha == nil, "", "has no slopes")
	return b.add("prelu", &graph.PReluAttrs{}, map[string]*graph.Tensor{"alpha": alpha}, x)
}

func leakyRelu(b *builder) *graph.Value {
	t, x := b.unary(optLeakyRelu)
	if y := b.integerTable(0, leak(t.Float32(0, 0))); y != nil {
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

// convertType is QUANTIZE or DEQUANTIZE. bind converts the result to the output's type. Constants
// are folded, also those of half floats.
func convertType(b *builder) *graph.Value {
	out := b.op.outputs[0]
	if b.isConstant(0) && b.file.tensors[out].typ == typeF32 && !b.outputs[out] {
		data := b.numbers(0, "input")
		failIf(len(data) != b.file.tensors[out].elems,
			"", "makes %d elements, the file says shape %v", len(data), b.file.tensors[out].shape)
		b.folded[out] = data
		return nil
	}
	return b.floatInput(0)
}
