package onnx

import (
	"math"

	"ripc/graph/scalar"
)

// op is a row of the table of what is read.
type op struct {
	family   family
	min, max int // inputs
	outputs  int // outputs that may be used; 0 means 1
	attrs    []string
	fold     foldFunc                // how it is computed on constants
	lower    lowerFunc               // what it becomes on tensors that depend on an input; nil: only constants are supported
	parts    func(n *node) []*tensor // lower, for ops of several outputs
	moves    bool                    // leaves 8-bit integers what they are, so that it may stand between QuantizeLinear and DequantizeLinear
	picks    bool                    // its results are elements of its input, or positions of these
	clips    bool                    // takes integers of 8 bits, too, and makes integers of the same meaning
	logic    bool                    // takes truth values
	mixed    bool                    // takes constants in any place; for others, a constant first operand becomes a constant node
	limits   string                  // for the documentation: what is not supported
}

const many = math.MaxInt32

// computes reports whether o may read what depends on an input.
func (o *op) computes() bool { return o.lower != nil || o.parts != nil }

// results are what n, a node of op o, becomes.
func (o *op) results(n *node) []*tensor {
	if o.parts != nil {
		return o.parts(n)
	}
	return []*tensor{o.lower(n)}
}

// table lists every op.
func table() ops {
	t := ops{}
	add := func(name string, o op) { t[key{o.family, name}] = &o }
	arithmetic(add)
	activations(add)
	layers(add)
	shapes(add)
	logicOps(add)
	quantizers(add)
	integers(add)
	lowered(add)
	onConstants(add)
	return t
}

type adder func(name string, o op)

func arithmetic(add adder) {
	binary := func(name, graphOp string, f func(a, b float64) float64, i func(a, b int64) int64) {
		add(name, op{min: 2, max: 2, fold: foldBinary(f, i), lower: lowerBinary(graphOp), mixed: true, limits: "float tensors; constants of any shape"})
	}
	binary("Add", "add", addOf, func(a, b int64) int64 { return a + b })
	binary("Sub", "sub", func(a, b float64) float64 { return a - b }, func(a, b int64) int64 { return a - b })
	binary("Mul", "mul", func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b })
	binary("Div", "div", func(a, b float64) float64 { return a / b }, divide)
	add("Sum", op{min: 1, max: many, fold: foldMany(addOf, nil), lower: lowerSum, mixed: true})
	add("Neg", op{min: 1, max: 1, fold: foldUnary(func(v float64) float64 { return -v }), lower: lowerNeg})
	add("Abs", op{min: 1, max: 1, fold: foldUnary(math.Abs), lower: lowerPlain("abs")})
	add("Max", op{min: 1, max: many, fold: foldMany(math.Max, func(a, b int64) int64 { return max(a, b) }), lower: onIntegers(lowerExtreme(true), extremeOfIntegers(true)), clips: true, mixed: true})
	add("Min", op{min: 1, max: many, fold: foldMany(math.Min, func(a, b int64) int64 { return min(a, b) }), lower: onIntegers(lowerExtreme(false), extremeOfIntegers(false)), clips: true, mixed: true})
	add("Floor", op{min: 1, max: 1, fold: foldUnary(math.Floor), lower: lowerRound(scalar.Floor)})
	add("Ceil", op{min: 1, max: 1, fold: foldUnary(math.Ceil), lower: lowerRound(scalar.Ceil)})
	add("Round", op{min: 1, max: 1, fold: foldUnary(math.RoundToEven), lower: lowerRound(scalar.HalfEven)})
	add("Sign", op{min: 1, max: 1, fold: foldUnary(signOf), lower: lowerPlain("sign")})
}

func signOf(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return v
}

func activations(add adder) {
	add("Relu", op{min: 1, max: 1, fold: foldUnary(func(v float64) float64 { return max(v, 0) }), lower: onIntegers(lowerPlain("relu"), reluOfIntegers), clips: true})
	add("LeakyRelu", op{min: 1, max: 1, attrs: []string{"alpha"}, fold: foldLeaky, lower: lowerLeakyRelu})
	add("PRelu", op{min: 2, max: 2, lower: lowerPRelu, limits: "constant slopes"})
	add("Clip", op{min: 1, max: 3, attrs: []string{"min", "max"}, fold: foldClip, lower: onIntegers(lowerClip, clipIntegers), clips: true, limits: "constant bounds"})
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	add("Sigmoid", op{min: 1, max: 1, fold: foldUnary(sigmoid), lower: lowerPlain("sigmoid")})
	add("Tanh", op{min: 1, max: 1, fold: foldUnary(math.Tanh), lower: lowerPlain("tanh")})
	add("HardSigmoid", op{min: 1, max: 1, attrs: []string{"alpha", "beta"}, lower: lowerHardSigmoid})
	add("HardSwish", op{min: 1, max: 1, lower: lowerPlain("hard_swish")})
	add("Swish", op{min: 1, max: 1, attrs: []string{"alpha"}, lower: lowerSwish})
	add("Elu", op{min: 1, max: 1, attrs: []string{"alpha"}, lower: lowerElu(1, 1)})
	add("Selu", op{min: 1, max: 1, attrs: []string{"alpha", "gamma"}, lower: lowerElu(1.67326319217681884765625, 1.05070102214813232421875)})
	add("Celu", op{min: 1, max: 1, attrs: []string{"alpha"}, lower: lowerCelu})
	add("Softsign", op{min: 1, max: 1, lower: lowerSoftsign})
	add("ThresholdedRelu", op{min: 1, max: 1, attrs: []string{"alpha"}, lower: lowerThresholded})
	add("Sqrt", op{min: 1, max: 1, fold: foldUnary(math.Sqrt), lower: lowerPlain("sqrt")})
	add("Exp", op{min: 1, max: 1, fold: foldUnary(math.Exp), lower: lowerPlain("exp")})
	add("Log", op{min: 1, max: 1, fold: foldUnary(math.Log), lower: lowerPlain("log")})
	add("Erf", op{min: 1, max: 1, fold: foldUnary(math.Erf), lower: lowerPlain("erf")})
	add("Reciprocal", op{min: 1, max: 1, fold: foldUnary(func(v float64) float64 { return 1 / v }), lower: lowerReciprocal})
	add("Gelu", op{min: 1, max: 1, attrs: []string{"approximate"}, lower: lowerGelu})
	add("Softplus", op{min: 1, max: 1, lower: lowerSoftplus})
	add("Mish", op{min: 1, max: 1, lower: lowerMish})
	add("Pow", op{min: 2, max: 2, lower: lowerPow, limits: "a constant exponent, a multiple of 0.5 up to 8.5", fold: func(n *node, in []*array) []*array {
		return n.zip(in[0], foldCastTo(n, in[1], in[0].dt), in[0].dt, math.Pow, nil)
	}})
	add("Softmax", op{min: 1, max: 1, attrs: []string{"axis"}, lower: lowerSoftmax("softmax")})
	add("LogSoftmax", op{min: 1, max: 1, attrs: []string{"axis"}, lower: lowerSoftmax("log_softmax")})
	arg := []string{"axis", "keepdims", "select_last_index"}
	add("ArgMax", op{min: 1, max: 1, picks: true, attrs: arg, lower: lowerArg("argmax"), limits: "positions are i32"})
	add("ArgMin", op{min: 1, max: 1, picks: true, attrs: arg, lower: lowerArg("argmin"), limits: "positions are i32"})
	add("TopK", op{min: 1, max: 2, picks: true, outputs: 2, attrs: []string{"axis", "k", "largest", "sorted"}, parts: lowerTopK, limits: "a constant k; positions are i32"})
}

func layers(add adder) {
	window := []string{"auto_pad", "dilations", "kernel_shape", "pads", "strides"}
	add("Conv", op{min: 2, max: 3, attrs: append([]string{"group"}, window...), lower: lowerConv, limits: "one or two spatial axes; constant weights"})
	add("ConvTranspose", op{min: 2, max: 3, attrs: append([]string{"group", "output_padding", "output_shape"}, window...), lower: lowerConvTranspose, limits: "one or two spatial axes; constant weights"})
	add("Gemm", op{min: 2, max: 3, attrs: []string{"alpha", "beta", "transA", "transB"}, lower: lowerGemm})
	add("MatMul", op{min: 2, max: 2, lower: overWindows(lowerMatMul), mixed: true, limits: "up to two axes of batches"})
	add("BatchNormalization", op{min: 5, max: 5, attrs: []string{"epsilon", "momentum", "spatial", "training_mode"}, lower: lowerBatchNorm, limits: "constant statistics"})
	rows := []string{"axis", "epsilon", "stash_type"}
	add("LayerNormalization", op{min: 2, max: 3, attrs: rows, lower: lowerLayerNorm, limits: "inference only"})
	add("RMSNormalization", op{min: 2, max: 2, attrs: rows, lower: lowerRMSNorm})
	add("InstanceNormalization", op{min: 3, max: 3, attrs: []string{"epsilon"}, lower: lowerInstanceNorm})
	add("GroupNormalization", op{min: 3, max: 3, attrs: []string{"epsilon", "num_groups", "stash_type"}, lower: lowerGroupNorm})
	add("LpNormalization", op{min: 1, max: 1, attrs: []string{"axis", "p"}, lower: lowerLpNorm})
	add("MeanVarianceNormalization", op{min: 1, max: 1, attrs: []string{"axes"}, lower: lowerMeanVariance})
	add("Einsum", op{min: 1, max: many, attrs: []string{"equation"}, lower: lowerEinsum, mixed: true, limits: "each label once in an operand"})
	add("MaxPool", op{min: 1, max: 1, attrs: append([]string{"ceil_mode", "storage_order"}, window...), lower: lowerPool("max_pool"), moves: true, limits: "one or two spatial axes; no dilations; no Indices"})
	add("AveragePool", op{min: 1, max: 1, attrs: append([]string{"ceil_mode", "count_include_pad"}, window...), lower: lowerPool("avg_pool"), limits: "one or two spatial axes; no dilations"})
	add("GlobalAveragePool", op{min: 1, max: 1, lower: lowerGlobalPool(true)})
	add("GlobalMaxPool", op{min: 1, max: 1, lower: lowerGlobalPool(false)})
	reduce := []string{"axes", "keepdims", "noop_with_empty_axes"}
	add("ReduceMean", op{min: 1, max: 2, attrs: reduce, fold: foldReduce(0, addOf, true), lower: lowerReduce(true)})
	add("ReduceMax", op{min: 1, max: 2, attrs: reduce, fold: foldReduce(math.Inf(-1), math.Max, false), lower: lowerReduce(false)})
	add("ReduceMin", op{min: 1, max: 2, attrs: reduce, fold: foldReduce(math.Inf(1), math.Min, false), lower: lowerReduceMin})
	norm := func(name string, f lowerFunc) {
		add(name, op{min: 1, max: 2, attrs: reduce, lower: f})
	}
	norm("ReduceL1", lowerNorm((*builder).absolute))
	norm("ReduceL2", lowerNorm((*builder).squared, "sqrt"))
	norm("ReduceSumSquare", lowerNorm((*builder).squared))
	norm("ReduceLogSum", lowerNorm((*builder).unchanged, "log"))
	add("ReduceSum", op{min: 1, max: 2, attrs: reduce, fold: foldReduce(0, addOf, false), lower: lowerReduceSum})
}

func shapes(add adder) {
	reshape := func(name string, least, most int, attrs []string, rule func(n *node, old []int) []int) {
		fold, lower := reshaping(rule)
		add(name, op{min: least, max: most, attrs: attrs, fold: fold, lower: lower, moves: true})
	}
	reshape("Reshape", 2, 2, []string{"allowzero"}, (*node).shapeFor)
	t := []string{"axes"}
	reshape("Flatten", 1, 1, []string{"axis"}, (*node).flatShape)
	reshape("Squeeze", 1, 2, t, (*node).squeezed)
	reshape("Unsqueeze", 1, 2, t, (*node).unsqueezed)
	add("Transpose", op{min: 1, max: 1, attrs: []string{"perm"}, fold: foldTranspose, lower: lowerTranspose, moves: true})
	add("Identity", op{min: 1, max: 1, fold: foldIdentity, lower: lowerIdentity, moves: true, logic: true})
	add("Dropout", op{min: 1, max: 3, attrs: []string{"ratio", "seed"}, fold: foldIdentity, lower: lowerIdentity, moves: true, limits: "inference only"})
	add("Concat", op{min: 1, max: many, attrs: []string{"axis"}, fold: foldConcat, lower: lowerConcat, mixed: true, moves: true})
	add("Slice", op{min: 1, max: 5, attrs: []string{"axes", "ends", "starts"}, fold: foldSlice, lower: lowerSlice, moves: true, limits: "constant bounds"})
	add("Split", op{min: 1, max: 2, outputs: many, attrs: []string{"axis", "num_outputs", "split"}, fold: foldSplit, parts: lowerSplit, moves: true, limits: "constant sizes"})
	add("Gather", op{min: 2, max: 2, attrs: []string{"axis"}, fold: foldGather, lower: lowerGather, moves: true, limits: "constant indices"})
	add("Pad", op{min: 1, max: 4, attrs: []string{"mode", "pads", "value"}, fold: foldPad, lower: lowerPad, moves: true, limits: "modes constant, edge, reflect and wrap; constant pads"})
	add("DepthToSpace", op{min: 1, max: 1, attrs: []string{"blocksize", "mode"}, lower: lowerBlock("depth_to_space"), moves: true})
	add("SpaceToDepth", op{min: 1, max: 1, attrs: []string{"blocksize", "mode"}, lower: lowerBlock("space_to_depth"), moves: true})
	resize := []string{"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value", "keep_aspect_ratio_policy", "mode", "nearest_mode"}
	add("Resize", op{min: 1, max: 4, attrs: resize, lower: lowerResize, moves: true, limits: "modes nearest and linear; all coordinate modes but tf_crop_and_resize; no antialias where the image becomes smaller"})
	add("Upsample", op{min: 1, max: 2, attrs: []string{"mode", "scales"}, lower: lowerResize, moves: true, limits: "as Resize"})
	add("Expand", op{min: 2, max: 2, fold: foldExpand, lower: lowerExpand, moves: true, limits: "a constant shape"})
	add("Tile", op{min: 2, max: 2, fold: foldTile, lower: lowerTile, moves: true, limits: "constant repeats"})
	add("Shape", op{min: 1, max: 1, attrs: []string{"end", "start"}, lower: shapeOf, mixed: true, moves: true, logic: true})
	add("Size", op{min: 1, max: 1, lower: sizeOf, mixed: true, moves: true, logic: true})
	add("Cast", op{min: 1, max: 1, attrs: []string{"round_mode", "saturate", "to"}, fold: foldCast, lower: lowerCast, moves: true, logic: true, limits: "to float and to bool"})
}

func logicOps(add adder) {
	compare := func(name string, f func(a, b float64) bool, i func(a, b int64) bool) {
		add(name, op{min: 2, max: 2, fold: foldCompare(f, i), lower: lowerCompare(name), mixed: true})
	}
	compare("Greater", func(a, b float64) bool { return a > b }, func(a, b int64) bool { return a > b })
	compare("GreaterOrEqual", func(a, b float64) bool { return a >= b }, func(a, b int64) bool { return a >= b })
	compare("Less", func(a, b float64) bool { return a < b }, func(a, b int64) bool { return a < b })
	compare("LessOrEqual", func(a, b float64) bool { return a <= b }, func(a, b int64) bool { return a <= b })
	add("Not", op{min: 1, max: 1, fold: foldNot, lower: lowerNot, logic: true})
	add("Where", op{min: 3, max: 3, fold: foldWhere, lower: lowerWhere, mixed: true, logic: true})
	bit := func(name, graphOp string, f func(a, b bool) bool) {
		add(name, op{min: 2, max: 2, fold: foldCompare(func(a, b float64) bool { return f(a != 0, b != 0) }, func(a, b int64) bool { return f(a != 0, b != 0) }),
			lower: lowerLogic(graphOp), mixed: true, logic: true})
	}
	bit("And", "logical_and", func(a, b bool) bool { return a && b })
	bit("Or", "logical_or", func(a, b bool) bool { return a || b })
	bit("Xor", "logical_xor", func(a, b bool) bool { return a != b })
	add("Equal", op{min: 2, max: 2, fold: foldCompare(func(a, b float64) bool { return a == b }, func(a, b int64) bool { return a == b }), lower: lowerEqual, mixed: true, logic: true})
}

func quantizers(add adder) {
	for _, name := range []string{"Quant", "IntQuant"} {
		add(name, op{family: qonnx, min: 4, max: 4, attrs: []string{"narrow", "rounding_mode", "signed"}, fold: foldQuant, lower: lowerQuant, limits: "constant parameters"})
	}
	add("BipolarQuant", op{family: qonnx, min: 2, max: 2, fold: foldBipolar, lower: lowerBipolar, limits: "a constant scale"})
	add("MultiThreshold", op{family: qonnx, min: 2, max: 2, attrs: []string{"data_layout", "out_bias", "out_dtype", "out_scale"}, fold: foldMulti, lower: lowerMulti, limits: "at most 255 constant thresholds"})
	add("Trunc", op{family: qonnx, min: 5, max: 6, attrs: []string{"narrow", "rounding_mode", "signed"}, fold: foldTrunc, lower: lowerTrunc, limits: "constant parameters, one number each"})
	linear := []string{"axis", "block_size", "output_dtype", "precision", "saturate"}
	for _, f := range []family{standard, microsoft} {
		add("QuantizeLinear", op{family: f, min: 2, max: 3, attrs: linear, fold: foldLinear(true), lower: lowerQuantizeLinear, limits: "uint8, int8, uint4 or int4, per tensor (per channel on constants)"})
		add("DequantizeLinear", op{family: f, min: 2, max: 3, attrs: linear, fold: foldLinear(false), lower: lowerDequantizeLinear, mixed: true, moves: true, limits: "behind QuantizeLinear or an input, with its parameters"})
	}
}

// integers are ops on integers of 8 bits.
func integers(add adder) {
	window := []string{"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}
	const two = "uint8 or int8; constant parameters, one scale for each tensor"
	const linear = "uint8 or int8; constant weights and parameters, one scale for each tensor, or for each output channel of the weights"
	add("QLinearConv", op{min: 8, max: 9, attrs: window, lower: lowerQLinearConv, moves: true, limits: linear + "; one or two spatial axes"})
	add("QLinearMatMul", op{min: 8, max: 8, lower: lowerQLinearMatMul, moves: true, limits: linear})
	add("ConvInteger", op{min: 2, max: 4, attrs: window, lower: lowerConvInteger, moves: true, limits: "constant weights; a Cast to float behind it"})
	add("MatMulInteger", op{min: 2, max: 4, lower: lowerMatMulInteger, moves: true, limits: "a constant matrix on the right; a Cast to float behind it"})
	add("QGemm", op{family: microsoft, min: 6, max: 9, attrs: []string{"alpha", "transA", "transB"}, lower: lowerQGemm, moves: true, limits: linear})
	add("QLinearAdd", op{family: microsoft, min: 7, max: 8, lower: lowerQLinearAdd, mixed: true, moves: true, limits: two})
	add("QLinearMul", op{family: microsoft, min: 7, max: 8, lower: lowerQLinearMul, mixed: true, moves: true, limits: two})
	add("QLinearAveragePool", op{family: microsoft, min: 4, max: 5, attrs: []string{"auto_pad", "ceil_mode", "channels_last", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"}, lower: lowerQLinearAveragePool, moves: true, limits: two + "; channels_last 0"})
	add("QLinearConcat", op{family: microsoft, min: 5, max: many, attrs: []string{"axis"}, lower: lowerQLinearConcat, mixed: true, moves: true, limits: two})
	add("QLinearLeakyRelu", op{family: microsoft, min: 4, max: 5, attrs: []string{"alpha"}, lower: lowerQLinearLeakyRelu, moves: true, limits: two})
	add("QLinearSigmoid", op{family: microsoft, min: 4, max: 5, lower: lowerQLinearSigmoid, moves: true, limits: two})
	add("QLinearSoftmax", op{family: microsoft, min: 4, max: 5, attrs: []string{"axis", "opset"}, lower: lowerQLinearSoftmax, moves: true, limits: two})
	add("QLinearGlobalAveragePool", op{family: microsoft, min: 4, max: 5, attrs: []string{"channels_last"}, lower: lowerQLinearGlobalAveragePool, moves: true, limits: "channels_last 0"})
}

// lowered are the forms that networks have on their way to FINN's hardware.
func lowered(add adder) {
	window := []string{"auto_pad", "dilations", "kernel_shape", "pads", "strides"}
	pool := append([]string{"ceil_mode", "storage_order"}, window...)
	add("Conv", op{family: channelsLast, min: 2, max: 3, attrs: append([]string{"group"}, window...), lower: onChannelsLast(lowerConv, true), limits: "constant weights [O, ..., I]"})
	add("MaxPool", op{family: channelsLast, min: 1, max: 1, attrs: pool, lower: onChannelsLast(lowerPool("max_pool"), false), moves: true, limits: "no dilations; no Indices"})
	add("BatchNormalization", op{family: channelsLast, min: 5, max: 5, attrs: []string{"epsilon", "momentum", "spatial", "training_mode"}, lower: onChannelsLast(lowerBatchNorm, false), limits: "constant statistics"})
	add("MaxPoolNHWC", op{family: qonnx, min: 1, max: 1, attrs: pool, lower: onChannelsLast(lowerPool("max_pool"), false), moves: true, limits: "no dilations"})
	add("Im2Col", op{family: qonnx, min: 1, max: 1, attrs: []string{"depthwise", "dilations", "input_shape", "kernel_size", "pad_amount", "pad_value", "stride"}, lower: lowerIm2Col})
	add("XnorPopcountMatMul", op{family: qonnx, min: 2, max: 2, lower: lowerXnorPopcount, limits: "a constant matrix on the right; bits are 0 and 1"})
}

// onConstants are ops that exporters compute shapes and weights with.
func onConstants(add adder) {
	add("Mod", op{min: 2, max: 2, attrs: []string{"fmod"}, fold: foldMod})
	add("Constant", op{max: 0, attrs: []string{"value", "value_float", "value_floats", "value_int", "value_ints", "value_string", "value_strings", "sparse_value"}, fold: foldConstant})
	add("ConstantOfShape", op{min: 1, max: 1, attrs: []string{"value"}, fold: foldFill})
	add("Range", op{min: 3, max: 3, attrs: []string{"stash_type"}, fold: foldRange})
	add("ReduceProd", op{min: 1, max: 2, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}, fold: foldReduce(1, func(a, v float64) float64 { return a * v }, false)})
}

// foldCastTo is a as another type.
func foldCastTo(n *node, a *array, to dtype) *array {
	out := n.b.mem.newArray(to, a.shape)
	for k := range out.len() {
		out.set(k, a.at(k))
	}
	return out
}
