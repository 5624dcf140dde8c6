package lce

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// elements are operators on single elements, and those that networks end with.
func elements() map[string]handler {
	const broadcast = "of two tensors, extents of 1 being repeated, or of a tensor and a constant"
	round := func(mode scalar.Rounding) func(*builder) (string, error) {
		return withAttrs("round", &graph.RoundAttrs{Mode: mode})
	}
	all := map[string]handler{
		"LOGISTIC":           {min: 1, max: 1, becomes: "sigmoid", convert: simple("sigmoid")},
		"TANH":               {min: 1, max: 1, becomes: "tanh", convert: simple("tanh")},
		"HARD_SWISH":         {min: 1, max: 1, becomes: "hard_swish; int_map", convert: tableOr(0, hardSwish, simple("hard_swish"))},
		"ELU":                {min: 1, max: 1, becomes: "elu", convert: withAttrs("elu", &graph.EluAttrs{Alpha: 1})},
		"EXP":                {min: 1, max: 1, becomes: "exp; int_map", convert: tableOr(0, curve(math.Exp), simple("exp"))},
		"LOG":                {min: 1, max: 1, becomes: "log; int_map", convert: tableOr(0, curve(math.Log), simple("log"))},
		"SQRT":               {min: 1, max: 1, becomes: "sqrt; int_map", convert: simple("sqrt")},
		"RSQRT":              {min: 1, max: 1, becomes: "sqrt, div; int_map", convert: tableOr(0, inverseRoot, rsqrt)},
		"GELU":               {min: 1, max: 1, becomes: "mul, erf or tanh, add, mul; int_map", convert: gelu},
		"ABS":                {min: 1, max: 1, becomes: "abs", convert: simple("abs")},
		"SIGN":               {min: 1, max: 1, becomes: "sign", convert: simple("sign")},
		"ROUND":              {min: 1, max: 1, becomes: "round", convert: round(scalar.HalfEven)},
		"FLOOR":              {min: 1, max: 1, becomes: "round", convert: round(scalar.Floor)},
		"CEIL":               {min: 1, max: 1, becomes: "round", convert: round(scalar.Ceil)},
		"NEG":                {min: 1, max: 1, becomes: "mul", convert: func(b *builder) (string, error) { return b.negated(b.float(0)) }},
		"SQUARE":             {min: 1, max: 1, becomes: "mul", convert: square},
		"SQUARED_DIFFERENCE": {min: 2, max: 2, becomes: "sub, mul", limits: broadcast, convert: squaredDifference},
		"LOGICAL_NOT":        {min: 1, max: 1, becomes: "logical_not", convert: logic("logical_not")},
		"LOGICAL_AND":        {min: 2, max: 2, becomes: "logical_and", limits: broadcast, convert: logic("logical_and")},
		"LOGICAL_OR":         {min: 2, max: 2, becomes: "logical_or", limits: broadcast, convert: logic("logical_or")},
		"SELECT":             {min: 3, max: 3, becomes: "where", convert: choose},
		"SELECT_V2":          {min: 3, max: 3, becomes: "where", convert: choose},
		"CAST":               {min: 1, max: 1, becomes: "dequantize, not_equal, or nothing", limits: "truth values and positions to float32, float32 to bool", convert: cast},

		"LOG_SOFTMAX": {min: 1, max: 1, becomes: "log_softmax", limits: "along the last axis", convert: simple("log_softmax")},
		"ARG_MAX":     {min: 2, max: 2, becomes: "argmax", limits: "a constant axis; positions are i32", convert: arg("argmax")},
		"ARG_MIN":     {min: 2, max: 2, becomes: "argmin", limits: "a constant axis; positions are i32", convert: arg("argmin")},
		"TOPK_V2":     {min: 2, max: 2, becomes: "top_k, top_k_indices", limits: "a constant number; positions are i32", parts: topK},
		"SUM":         {min: 2, max: 2, becomes: "global_avg_pool, mul; int_conv2d", convert: reduce("global_avg_pool")},
		"REDUCE_MIN":  {min: 2, max: 2, becomes: "mul, max_pool, mul", convert: least},
	}
	for name, op := range map[string]string{"MINIMUM": "minimum", "MAXIMUM": "maximum", "GREATER": "greater", "GREATER_EQUAL": "greater_equal",
		"LESS": "less", "LESS_EQUAL": "less_equal", "EQUAL": "equal", "NOT_EQUAL": "not_equal"} {
		all[name] = handler{min: 2, max: 2, becomes: op, limits: broadcast, convert: func(b *builder) (string, error) { return b.binary(op) }}
	}
	return all
}

// withAttrs is an operator without options that is an op of ours with attributes.
func withAttrs(op string, attrs any) func(*builder) (string, error) {
	return func(b *builder) (string, error) {
		x, err := b.float(0)
		if err != nil {
			return "", err
		}
		return b.add(op, attrs, nil, x)
	}
}

// negated is -x.
func (b *builder) negated(x string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return b.add("mul", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{-1})}}, x)
}

func square(b *builder) (string, error) {
	x, err := b.float(0)
	if err != nil {
		return "", err
	}
	return b.add("mul", &graph.BinaryOpAttrs{}, nil, x, x)
}

func squaredDifference(b *builder) (string, error) {
	d, err := b.binary("sub")
	if err != nil {
		return "", err
	}
	return b.add("mul", &graph.BinaryOpAttrs{}, nil, d, d)
}

// truths are those of input k, as levels.
func (b *builder) truths(k int) (string, error) {
	t := b.input(k)
	switch {
	case t == nil || t.typ != typeBool:
		return "", faultf("", "input %d holds no truth values", k)
	case t.data == nil && b.values[b.op.inputs[k]] != nil:
		return b.values[b.op.inputs[k]].Name, nil
	case t.data == nil || len(t.data) != t.elems || len(t.shape) == 0:
		return "", faultf("", "its truth values %q are no tensor of one byte each", t.name)
	}
	if err := b.take(t.elems); err != nil {
		return "", err
	}
	v := make([]float32, t.elems)
	for i, bit := range t.data {
		v[i] = float32(bit)
	}
	c, err := b.add("constant", &graph.ConstantAttrs{}, map[string]*graph.Tensor{"value": {Shape: t.shape, Data: graph.NumbersOf(v)}})
	if err != nil {
		return "", err
	}
	return b.nonzero(c)
}

// nonzero is where x is not 0.
func (b *builder) nonzero(x string) (string, error) {
	return b.add("not_equal", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{0})}}, x)
}

// logic is op of truth values.
func logic(op string) func(*builder) (string, error) {
	return func(b *builder) (string, error) {
		var in []string
		for k := range b.op.inputs {
			x, err := b.truths(k)
			if err != nil {
				return "", err
			}
			in = append(in, x)
		}
		if err := b.ranked(in); err != nil {
			return "", err
		}
		return b.add(op, &graph.NoAttrs{}, nil, in...)
	}
}

// ranked puts axes of extent 1 in front of those of in that have fewer than others.
func (b *builder) ranked(in []string) error {
	rank := 0
	for _, x := range in {
		rank = max(rank, len(b.g.Value(x).Shape))
	}
	for k, x := range in {
		var err error
		if in[k], err = b.reshape(x, slices.Concat(slices.Repeat([]int{1}, rank-len(b.g.Value(x).Shape)), b.g.Value(x).Shape)); err != nil {
			return err
		}
	}
	return nil
}

// choose is SELECT, whose condition may be one for each index of the first axis, or SELECT_V2.
func choose(b *builder) (string, error) {
	c, err := b.truths(0)
	if err != nil {
		return "", err
	}
	out := b.file.tensors[b.op.outputs[0]].shape
	if v := b.g.Value(c); b.op.op == "SELECT" && len(v.Shape) == 1 && len(out) > 1 {
		if c, err = b.reshape(c, append([]int{v.Shape[0]}, slices.Repeat([]int{1}, len(out)-1)...)); err != nil {
			return "", err
		}
	}
	in, weights := []string{c}, map[string]*graph.Tensor{}
	for k := 1; k < 3; k++ {
		if t := b.input(k); t != nil && t.elems == 1 && b.isConstant(k) {
			v, err := b.numbers(k, "constant operand")
			if err != nil {
				return "", err
			}
			weights[[]string{"", "a", "b"}[k]] = &graph.Tensor{Shape: []int{1}, Data: graph.NumbersOf(v)}
			continue
		}
		x, err := b.float(k)
		if err != nil {
			return "", err
		}
		in = append(in, x)
	}
	if err := b.ranked(in); err != nil {
		return "", err
	}
	return b.add("where", &graph.WhereAttrs{}, weights, in...)
}

func cast(b *builder) (string, error) {
	from, to := b.input(0), b.file.tensors[b.op.outputs[0]].typ
	if from == nil {
		return "", faultf("", "has no input")
	}
	if from.typ == typeBool && to == typeF32 {
		x, err := b.truths(0)
		if err != nil {
			return "", err
		}
		return b.add("dequantize", &graph.NoAttrs{}, nil, x)
	}
	if v := b.values[b.op.inputs[0]]; v != nil && v.Whole && (to == typeI32 || to == typeI64) {
		return v.Name, nil
	}
	x, err := b.float(0)
	switch {
	case err != nil || to == typeF32:
		return x, err
	case to == typeBool:
		return b.nonzero(x)
	}
	return "", faultf("", "converts %s to %s", typeName(from.typ), typeName(to))
}

// arg is ARG_MAX or ARG_MIN: the axis is brought to the end.
func arg(op string) func(*builder) (string, error) {
	return func(b *builder) (string, error) {
		axis, err := b.ints(1, "axis")
		if err != nil {
			return "", err
		}
		x, err := b.float(0)
		if err != nil {
			return "", err
		}
		rank := len(b.g.Value(x).Shape)
		if len(axis) != 1 {
			return "", faultf("", "has axes %v, want one", axis)
		}
		at, err := axisOf(axis[0], rank)
		if err != nil {
			return "", err
		}
		if at != rank-1 {
			perm := append(slices.Delete(identity(rank), at, at+1), at)
			if x, err = b.add("transpose", &graph.TransposeAttrs{Perm: perm}, nil, x); err != nil {
				return "", err
			}
		}
		return b.add(op, &graph.ArgAttrs{Drop: true}, nil, x)
	}
}

// identity is 0, 1, ... n-1.
func identity(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// topK is TOPK_V2: values and positions.
func topK(b *builder) (func(k int) (string, error), error) {
	n, err := b.ints(1, "number")
	if err != nil {
		return nil, err
	}
	if len(n) != 1 || len(b.op.outputs) != 2 {
		return nil, faultf("", "has numbers %v and %d outputs, want one and 2", n, len(b.op.outputs))
	}
	x, err := b.float(0)
	if err != nil {
		return nil, err
	}
	return func(k int) (string, error) {
		return b.add([]string{"top_k", "top_k_indices"}[k], &graph.TopKAttrs{K: n[0]}, nil, x)
	}, nil
}

// least is REDUCE_MIN: the greatest of what is negated, negated.
func least(b *builder) (string, error) {
	x, err := b.negated(b.float(0))
	if err != nil {
		return "", err
	}
	return b.negated(b.reduced("max_pool", x))
}
