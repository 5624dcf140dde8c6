package onnx

import (
	"math"
	"strconv"
	"strings"

	"ripc/graph/scalar"
	"ripc/internal/stop"
)

// op is a row of the table of operators.
type op struct {
	family   family
	min, max int // number of inputs
	outputs  int // number of outputs that may be used; 0 means 1
	attrs    []string
	fold     foldFunc                // computes the results of constants
	lower    lowerFunc               // makes graph nodes; nil if the operator may only read constants
	parts    func(n *node) []*tensor // replaces lower for operators of several outputs
	moves    bool                    // the results of 8-bit integers are 8-bit integers with the same scale
	picks    bool                    // the results are elements of the input, or positions of elements
	clips    bool                    // lower also takes 8-bit integers, and keeps their scale
	logic    bool                    // lower takes truth values
	mixed    bool                    // lower takes a constant as input 0; else a constant node stands for it
	limits   string                  // for the documentation: the forms that are read
}

const many = math.MaxInt32

// computes reports whether o may read tensors that depend on an input.
func (o *op) computes() bool { return o.lower != nil || o.parts != nil }

// results returns the outputs of n, a node of op o.
func (o *op) results(n *node) []*tensor {
	if o.parts != nil {
		return o.parts(n)
	}
	return []*tensor{o.lower(n)}
}

// table lists every op.
func table() ops {
	t := ops{}
	for _, list := range []func(adder){
		arithmetic, activations, layers, shapes, logicOps, quantizers, integers, hardwareForms, onConstants} {
		list(t.add)
	}
	return t
}

// adder adds a row. Its signature is NAME(MIN..MAX) ATTRIBUTE ...: the number of inputs, and the
// attributes that are read. MAX is left out if there is no limit, and a single number is both
// limits.
type adder func(signature string, o op)

func (t ops) add(signature string, o op) {
	words := strings.Fields(signature)
	name, inputs, _ := strings.Cut(strings.TrimSuffix(words[0], ")"), "(")
	least, most, between := strings.Cut(inputs, "..")
	o.min = stop.Must(strconv.Atoi(least))
	switch o.max = o.min; {
	case most != "":
		o.max = stop.Must(strconv.Atoi(most))
	case between:
		o.max = many
	}
	o.attrs = words[1:]
	t[key{o.family, name}] = &o
}

func arithmetic(add adder) {
	binary := func(name, graphOp string, f func(a, b float64) float64, i func(a, b int64) int64) {
		add(name+"(2)", op{fold: foldBinary(f, i), lower: lowerBinary(graphOp), mixed: true,
			limits: "float tensors; constants of any shape"})
	}
	binary("Add", "add", addOf, func(a, b int64) int64 { return a + b })
	binary("Sub", "sub", func(a, b float64) float64 { return a - b }, func(a, b int64) int64 { return a - b })
	binary("Mul", "mul", func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b })
	binary("Div", "div", func(a, b float64) float64 { return a / b }, divide)
	add("Sum(1..)", op{fold: foldMany(addOf, nil), lower: lowerSum, mixed: true})
	add("Neg(1)", op{fold: foldUnary(func(v float64) float64 { return -v }), lower: lowerNeg})
	add("Abs(1)", op{fold: foldUnary(math.Abs), lower: lowerPlain("abs")})
	add("Max(1..)", op{fold: foldMany(math.Max, func(a, b int64) int64 { return max(a, b) }),
		lower: lowerExtreme(true), clips: true, mixed: true})
	add("Min(1..)", op{fold: foldMany(math.Min, func(a, b int64) int64 { return min(a, b) }),
		lower: lowerExtreme(false), clips: true, mixed: true})
	add("Floor(1)", op{fold: foldUnary(math.Floor), lower: lowerRound(scalar.Floor)})
	add("Ceil(1)", op{fold: foldUnary(math.Ceil), lower: lowerRound(scalar.Ceil)})
	add("Round(1)", op{fold: foldUnary(math.RoundToEven), lower: lowerRound(scalar.HalfEven)})
	add("Sign(1)", op{fold: foldUnary(signOf), lower: lowerPlain("sign")})
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
	add("Relu(1)", op{fold: foldUnary(func(v float64) float64 { return max(v, 0) }), lower: lowerRelu, clips: true})
	add("LeakyRelu(1) alpha", op{lower: lowerLeakyRelu})
	add("PRelu(2)", op{lower: lowerPRelu, limits: "constant slopes"})
	add("Clip(1..3) min max", op{fold: foldClip, lower: lowerClip, clips: true, limits: "constant bounds"})
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	add("Sigmoid(1)", op{fold: foldUnary(sigmoid), lower: lowerPlain("sigmoid")})
	add("Tanh(1)", op{fold: foldUnary(math.Tanh), lower: lowerPlain("tanh")})
	add("HardSigmoid(1) alpha beta", op{lower: lowerHardSigmoid})
	add("HardSwish(1)", op{lower: lowerPlain("hard_swish")})
	add("Swish(1) alpha", op{lower: lowerSwish})
	add("Elu(1) alpha", op{lower: lowerElu(1, 1)})
	add("Selu(1) alpha gamma", op{lower: lowerElu(1.67326319217681884765625, 1.05070102214813232421875)})
	add("Celu(1) alpha", op{lower: lowerCelu})
	add("Softsign(1)", op{lower: lowerSoftsign})
	add("ThresholdedRelu(1) alpha", op{lower: lowerThresholded})
	add("Sqrt(1)", op{fold: foldUnary(math.Sqrt), lower: lowerPlain("sqrt")})
	add("Exp(1)", op{fold: foldUnary(math.Exp), lower: lowerPlain("exp")})
	add("Log(1)", op{fold: foldUnary(math.Log), lower: lowerPlain("log")})
	add("Erf(1)", op{fold: foldUnary(math.Erf), lower: lowerPlain("erf")})
	add("Reciprocal(1)", op{fold: foldUnary(func(v float64) float64 { return 1 / v }), lower: lowerReciprocal})
	add("Gelu(1) approximate", op{lower: lowerGelu})
	add("Softplus(1)", op{lower: lowerSoftplus})
	add("Mish(1)", op{lower: lowerMish})
	add("Pow(2)", op{fold: foldPow, lower: lowerPow, limits: "a constant exponent, a multiple of 0.5 up to 8.5"})
	add("Softmax(1) axis", op{lower: lowerSoftmax("softmax")})
	add("LogSoftmax(1) axis", op{lower: lowerSoftmax("log_softmax")})
	const arg = "axis keepdims select_last_index"
	add("ArgMax(1) "+arg, op{picks: true, lower: lowerArg("argmax"), limits: "positions are i32"})
	add("ArgMin(1) "+arg, op{picks: true, lower: lowerArg("argmin"), limits: "positions are i32"})
	add("TopK(1..2) axis k largest sorted", op{picks: true, outputs: 2, parts: lowerTopK,
		limits: "a constant k; positions are i32"})
}

func layers(add adder) {
	const window = "auto_pad dilations kernel_shape pads strides"
	add("Conv(2..3) group "+window, op{lower: lowerConv, limits: "one or two spatial axes; constant weights"})
	add("ConvTranspose(2..3) group output_padding output_shape "+window, op{lower: lowerConvTranspose,
		limits: "one or two spatial axes; constant weights"})
	add("Gemm(2..3) alpha beta transA transB", op{lower: lowerGemm})
	add("MatMul(2)", op{lower: overWindows(lowerMatMul), mixed: true, limits: "up to two axes of batches"})
	add("BatchNormalization(5) epsilon momentum spatial training_mode", op{lower: lowerBatchNorm,
		limits: "constant statistics"})
	const rows = "axis epsilon stash_type"
	add("LayerNormalization(2..3) "+rows, op{lower: lowerLayerNorm, limits: "inference only"})
	add("RMSNormalization(2) "+rows, op{lower: lowerRMSNorm})
	add("InstanceNormalization(3) epsilon", op{lower: lowerInstanceNorm})
	add("GroupNormalization(3) epsilon num_groups stash_type", op{lower: lowerGroupNorm})
	add("LpNormalization(1) axis p", op{lower: lowerLpNorm})
	add("MeanVarianceNormalization(1) axes", op{lower: lowerMeanVariance})
	add("Einsum(1..) equation", op{lower: lowerEinsum, mixed: true, limits: "each label once in an operand"})
	add("MaxPool(1) ceil_mode storage_order "+window, op{lower: lowerPool("max_pool"), moves: true,
		limits: "one or two spatial axes; no dilations; no Indices"})
	add("AveragePool(1) ceil_mode count_include_pad "+window, op{lower: lowerPool("avg_pool"),
		limits: "one or two spatial axes; no dilations"})
	add("GlobalAveragePool(1)", op{lower: lowerGlobalPool(true)})
	add("GlobalMaxPool(1)", op{lower: lowerGlobalPool(false)})
	const reduce = "axes keepdims noop_with_empty_axes"
	add("ReduceMean(1..2) "+reduce, op{fold: foldReduce(0, addOf, true), lower: lowerReduce(true)})
	add("ReduceMax(1..2) "+reduce, op{fold: foldReduce(math.Inf(-1), math.Max, false), lower: lowerReduce(false)})
	add("ReduceMin(1..2) "+reduce, op{fold: foldReduce(math.Inf(1), math.Min, false), lower: lowerReduceMin})
	add("ReduceL1(1..2) "+reduce, op{lower: lowerNorm((*builder).abs)})
	add("ReduceL2(1..2) "+reduce, op{lower: lowerNorm((*builder).square, "sqrt")})
	add("ReduceSumSquare(1..2) "+reduce, op{lower: lowerNorm((*builder).square)})
	add("ReduceLogSum(1..2) "+reduce, op{lower: lowerNorm((*builder).identity, "log")})
	add("ReduceSum(1..2) "+reduce, op{fold: foldReduce(0, addOf, false), lower: lowerReduceSum})
}

func shapes(add adder) {
	reshape := func(signature string, rule func(n *node, old []int) []int) {
		add(signature, op{moves: true,
			fold:  func(n *node, in []*array) []*array { return arrays(in[0].view(rule(n, in[0].shape))) },
			lower: func(n *node) *tensor { return n.b.reshape(n.in[0], rule(n, n.in[0].shape)) }})
	}
	reshape("Reshape(2) allowzero", (*node).shapeFor)
	reshape("Flatten(1) axis", (*node).flatShape)
	reshape("Squeeze(1..2) axes", (*node).squeezedShape)
	reshape("Unsqueeze(1..2) axes", (*node).unsqueezedShape)
	add("Transpose(1) perm", op{fold: foldTranspose, lower: lowerTranspose, moves: true})
	add("Identity(1)", op{fold: foldIdentity, lower: lowerIdentity, moves: true, logic: true})
	add("Dropout(1..3) ratio seed", op{fold: foldIdentity, lower: lowerIdentity, moves: true, limits: "inference only"})
	add("Concat(1..) axis", op{fold: foldConcat, lower: lowerConcat, mixed: true, moves: true})
	add("Slice(1..5) axes ends starts", op{fold: foldSlice, lower: lowerSlice, moves: true, limits: "constant bounds"})
	add("Split(1..2) axis num_outputs split", op{outputs: many, fold: foldSplit, parts: lowerSplit, moves: true,
		limits: "constant sizes"})
	add("Gather(2) axis", op{fold: foldGather, lower: lowerGather, moves: true, limits: "constant indices"})
	add("Pad(1..4) mode pads value", op{fold: foldPad, lower: lowerPad, moves: true,
		limits: "modes constant, edge, reflect and wrap; constant pads"})
	add("DepthToSpace(1) blocksize mode", op{lower: lowerBlock("depth_to_space"), moves: true})
	add("SpaceToDepth(1) blocksize mode", op{lower: lowerBlock("space_to_depth"), moves: true})
	const resize = "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value " +
		"keep_aspect_ratio_policy mode nearest_mode"
	add("Resize(1..4) "+resize, op{lower: lowerResize, moves: true,
		limits: "modes nearest and linear; all coordinate modes but tf_crop_and_resize; " +
			"no antialias where the image becomes smaller"})
	add("Upsample(1..2) mode scales", op{lower: lowerResize, moves: true, limits: "as Resize"})
	add("Expand(2)", op{fold: foldExpand, lower: lowerExpand, moves: true, limits: "a constant shape"})
	add("Tile(2)", op{fold: foldTile, lower: lowerTile, moves: true, limits: "constant repeats"})
	add("Shape(1) end start", op{lower: shapeOf, mixed: true, moves: true, logic: true})
	add("Size(1)", op{lower: sizeOf, mixed: true, moves: true, logic: true})
	add("Cast(1) round_mode saturate to", op{fold: foldCast, lower: lowerCast, moves: true, logic: true,
		limits: "to float and to bool"})
}

func logicOps(add adder) {
	compare := func(name string, f func(a, b float64) bool, i func(a, b int64) bool) {
		add(name+"(2)", op{fold: foldCompare(f, i), lower: lowerCompare(name), mixed: true})
	}
	compare("Greater", func(a, b float64) bool { return a > b }, func(a, b int64) bool { return a > b })
	compare("GreaterOrEqual", func(a, b float64) bool { return a >= b }, func(a, b int64) bool { return a >= b })
	compare("Less", func(a, b float64) bool { return a < b }, func(a, b int64) bool { return a < b })
	compare("LessOrEqual", func(a, b float64) bool { return a <= b }, func(a, b int64) bool { return a <= b })
	add("Not(1)", op{fold: foldNot, lower: lowerNot, logic: true})
	add("Where(3)", op{fold: foldWhere, lower: lowerWhere, mixed: true, logic: true})
	bit := func(name, graphOp string, f func(a, b bool) bool) {
		add(name+"(2)", op{fold: foldCompare(
			func(a, b float64) bool { return f(a != 0, b != 0) }, func(a, b int64) bool { return f(a != 0, b != 0) }),
			lower: lowerLogic(graphOp), mixed: true, logic: true})
	}
	bit("And", "logical_and", func(a, b bool) bool { return a && b })
	bit("Or", "logical_or", func(a, b bool) bool { return a || b })
	bit("Xor", "logical_xor", func(a, b bool) bool { return a != b })
	add("Equal(2)", op{lower: lowerEqual, mixed: true, logic: true,
		fold: foldCompare(func(a, b float64) bool { return a == b }, func(a, b int64) bool { return a == b })})
}

func quantizers(add adder) {
	for _, name := range []string{"Quant", "IntQuant"} {
		add(name+"(4) narrow rounding_mode signed", op{family: qonnx, fold: foldQuant, lower: lowerQuant,
			limits: "constant parameters"})
	}
	add("BipolarQuant(2)", op{family: qonnx, fold: foldBipolar, lower: lowerBipolar, limits: "a constant scale"})
	add("MultiThreshold(2) data_layout out_bias out_dtype out_scale", op{family: qonnx,
		lower: lowerMulti, limits: "at most 255 constant thresholds"})
	add("Trunc(5..6) narrow rounding_mode signed", op{family: qonnx, lower: lowerTrunc,
		limits: "constant parameters, one number each"})
	const linear = "axis block_size output_dtype precision saturate"
	for _, f := range []family{standard, microsoft} {
		add("QuantizeLinear(2..3) "+linear, op{family: f, fold: foldLinear(true), lower: lowerQuantizeLinear,
			limits: "uint8, int8, uint4 or int4, per tensor (per channel on constants)"})
		add("DequantizeLinear(2..3) "+linear, op{family: f, fold: foldLinear(false),
			lower: lowerDequantizeLinear, mixed: true, moves: true,
			limits: "behind QuantizeLinear or an input, with its parameters"})
	}
}

// integers are ops on integers of 8 bits.
func integers(add adder) {
	const window = "auto_pad dilations group kernel_shape pads strides"
	const two = "uint8 or int8; constant parameters, one scale for each tensor"
	const linear = "uint8 or int8; constant weights and parameters, one scale for each tensor, " +
		"or for each output channel of the weights"
	add("QLinearConv(8..9) "+window, op{lower: lowerQLinearConv, moves: true,
		limits: linear + "; one or two spatial axes"})
	add("QLinearMatMul(8)", op{lower: lowerQLinearMatMul, moves: true, limits: linear})
	add("ConvInteger(2..4) "+window, op{lower: lowerConvInteger, moves: true,
		limits: "constant weights; a Cast to float behind it"})
	add("MatMulInteger(2..4)", op{lower: lowerMatMulInteger, moves: true,
		limits: "a constant matrix on the right; a Cast to float behind it"})
	add("QGemm(6..9) alpha transA transB", op{family: microsoft, lower: lowerQGemm, moves: true, limits: linear})
	add("QLinearAdd(7..8)", op{family: microsoft, lower: lowerQLinearAdd, mixed: true, moves: true, limits: two})
	add("QLinearMul(7..8)", op{family: microsoft, lower: lowerQLinearMul, mixed: true, moves: true, limits: two})
	add("QLinearAveragePool(4..5) auto_pad ceil_mode channels_last count_include_pad dilations kernel_shape pads "+
		"strides", op{family: microsoft, lower: lowerQLinearAveragePool, moves: true,
		limits: two + "; channels_last 0"})
	add("QLinearConcat(5..) axis", op{family: microsoft, lower: lowerQLinearConcat, mixed: true, moves: true,
		limits: two})
	add("QLinearLeakyRelu(4..5) alpha", op{family: microsoft, lower: lowerQLinearLeakyRelu, moves: true, limits: two})
	add("QLinearSigmoid(4..5)", op{family: microsoft, lower: lowerQLinearSigmoid, moves: true, limits: two})
	add("QLinearSoftmax(4..5) axis opset", op{family: microsoft, lower: lowerQLinearSoftmax, moves: true, limits: two})
	add("QLinearGlobalAveragePool(4..5) channels_last", op{family: microsoft,
		lower: lowerQLinearGlobalAveragePool, moves: true, limits: "channels_last 0"})
}

// hardwareForms are the forms that networks have on their way to FINN's hardware.
func hardwareForms(add adder) {
	const window = "auto_pad dilations kernel_shape pads strides"
	const pool = "ceil_mode storage_order " + window
	add("Conv(2..3) group "+window, op{family: channelsLast, lower: onChannelsLast(lowerConv, true),
		limits: "constant weights [O, ..., I]"})
	add("MaxPool(1) "+pool, op{family: channelsLast, lower: onChannelsLast(lowerPool("max_pool"), false), moves: true,
		limits: "no dilations; no Indices"})
	add("BatchNormalization(5) epsilon momentum spatial training_mode", op{family: channelsLast,
		lower: onChannelsLast(lowerBatchNorm, false), limits: "constant statistics"})
	add("MaxPoolNHWC(1) "+pool, op{family: qonnx, lower: onChannelsLast(lowerPool("max_pool"), false), moves: true,
		limits: "no dilations"})
	add("Im2Col(1) depthwise dilations input_shape kernel_size pad_amount pad_value stride",
		op{family: qonnx, lower: lowerIm2Col})
	add("XnorPopcountMatMul(2)", op{family: qonnx, lower: lowerXnorPopcount,
		limits: "a constant matrix on the right; bits are 0 and 1"})
}

// onConstants are ops that exporters compute shapes and weights with.
func onConstants(add adder) {
	add("Mod(2) fmod", op{fold: foldMod})
	add("Constant(0) value value_float value_floats value_int value_ints value_string value_strings sparse_value",
		op{fold: foldConstant})
	add("ConstantOfShape(1) value", op{fold: foldFill})
	add("Range(3) stash_type", op{fold: foldRange})
	add("ReduceProd(1..2) axes keepdims noop_with_empty_axes",
		op{fold: foldReduce(1, func(a, v float64) float64 { return a * v }, false)})
}
