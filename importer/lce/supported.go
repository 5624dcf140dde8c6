package lce

import (
	"maps"
	"math"
	"ripc/graph"
)

// handler imports one kind of operator.
type handler struct {
	custom   bool
	min, max int    // number of inputs
	limits   string // for the documentation
	// convert makes the nodes of the operator at work and names the value that its output holds, ""
	// for a constant.
	convert func(*builder) *graph.Value
	// parts replaces convert for operators of several outputs. The function that it returns makes
	// output k.
	parts func(*builder) func(k int) *graph.Value
}

// fused stands for the activations that docs/import-larq.md names.
const fused = "fused activations"

// handlers lists the operators that can be imported.
func handlers() map[string]handler {
	const constant = "constant weights and bias; "
	const broadcast = "of two tensors, extents of 1 being repeated, or of a tensor and a constant; " + fused
	const static = "the result's shape is that in the file"
	type row = struct {
		custom   bool
		min, max int
		limits   string
		convert  func(*builder) *graph.Value
	}
	rows := map[string]row{
		opQuantize:   {true, 1, 1, "float32, int8 or uint8 input; bit = x < 0", lceQuantize},
		opDequantize: {true, 1, 1, "float32, int8 or uint8 output", lceDequantize},
		opMaxPool:    {true, 1, 1, "", lceMaxPool},
		opBConv: {true, 2, 5,
			"float32, int8, uint8 or bit-packed output; strides, dilations, SAME and VALID, " +
				"pad_values 0 and 1, groups of whole words; " + fused, bconv},

		"CONV_2D":           {false, 2, 3, constant + "strides, dilations, groups; " + fused, conv},
		"DEPTHWISE_CONV_2D": {false, 2, 3, constant + "any multiplier; " + fused, depthwise},
		"FULLY_CONNECTED":   {false, 2, 3, constant + fused, fullyConnected},

		"ADD":          {false, 2, 2, broadcast, arithmetic("add", optAdd)},
		"SUB":          {false, 2, 2, broadcast, arithmetic("sub", optSub)},
		"MUL":          {false, 2, 2, broadcast, arithmetic("mul", optMul)},
		"DIV":          {false, 2, 2, broadcast, arithmetic("div", optDiv)},
		"RELU":         {false, 1, 1, "", tableOr(1, rectify, plainOp("relu"))},
		"RELU6":        {false, 1, 1, "", tableOr(3, rectify, plainOp("relu6"))},
		"RELU_N1_TO_1": {false, 1, 1, "", tableOr(2, rectify, plainOp("hard_tanh"))},
		"RELU_0_TO_1":  {false, 1, 1, "", withAttrs("clip", &graph.ClipAttrs{Min: 0, Max: 1})},
		"PRELU":        {false, 2, 2, "one constant slope, or one for each channel", prelu},
		"LEAKY_RELU":   {false, 1, 1, "", leakyRelu},
		"SOFTMAX":      {false, 1, 1, "along the last axis", softmax},

		"MAX_POOL_2D":     {false, 1, 1, fused, pool("max_pool")},
		"AVERAGE_POOL_2D": {false, 1, 1, fused, pool("avg_pool")},
		"MEAN":            {false, 2, 2, "", reduce("global_avg_pool")},
		"REDUCE_MAX":      {false, 2, 2, "", reduce("max_pool")},

		"CONCATENATION": {false, 1, math.MaxInt16, fused, concat},
		"PAD":           {false, 2, 2, "constant paddings", pad},
		"PADV2":         {false, 3, 3, "as PAD, with a constant value", pad},
		"RESHAPE":       {false, 1, 2, static + "; bits keep their channels", reshape},
		"SQUEEZE":       {false, 1, 1, static, reshape},
		"EXPAND_DIMS":   {false, 2, 2, static, reshape},
		"TRANSPOSE":     {false, 2, 2, "constant permutation", transpose},
		"SLICE":         {false, 3, 3, "constant positions", slice},
		"STRIDED_SLICE": {false, 4, 4, "constant positions", stridedSlice},

		"QUANTIZE":   {false, 1, 1, "to int8 and uint8, one scale a tensor", tableOr(0, requantize, convertType)},
		"DEQUANTIZE": {false, 1, 1, "of int8 and uint8, and of float16 constants", convertType},
	}
	all := movers()
	maps.Copy(all, elements())
	for name, r := range rows {
		all[name] = handler{r.custom, r.min, r.max, r.limits, r.convert, nil}
	}
	return all
}

// movers are operators that move elements, and those of transposed convolutions.
func movers() map[string]handler {
	const known = "constant positions"
	const variables = "see [above](#variables-of-streaming-networks)"
	variable := func(*builder) *graph.Value { panic(faultf("the file is damaged", "is none of a variable")) }
	return map[string]handler{
		"DEPTH_TO_SPACE":          {min: 1, max: 1, convert: block("depth_to_space", optDepthToSpace)},
		"SPACE_TO_DEPTH":          {min: 1, max: 1, convert: block("space_to_depth", optSpaceToDepth)},
		"RESIZE_NEAREST_NEIGHBOR": {min: 2, max: 2, limits: "a constant size", convert: resizeNearest},
		"RESIZE_BILINEAR": {min: 2, max: 2, limits: "a constant size; align_corners and half_pixel_centers",
			convert: resizeBilinear},
		"MIRROR_PAD": {min: 2, max: 2, limits: "REFLECT and SYMMETRIC; constant paddings",
			convert: mirrorPad},
		"SPACE_TO_BATCH_ND": {min: 3, max: 3, limits: "one or two spatial axes; constant blocks and paddings",
			convert: spaceToBatch},
		"BATCH_TO_SPACE_ND": {min: 3, max: 3, limits: "one or two spatial axes; constant blocks and crops",
			convert: batchToSpace},
		"DENSIFY":      {min: 1, max: 1, limits: "of constants", convert: densify},
		"TILE":         {min: 2, max: 2, limits: "constant numbers", convert: repeat},
		"BROADCAST_TO": {min: 2, max: 2, limits: "a constant shape", convert: repeat},
		"GATHER":       {min: 2, max: 2, limits: known, convert: gather},
		"BATCH_MATMUL": {min: 2, max: 2, limits: "up to two axes of batches", convert: batchMatMul},
		"PACK":         {min: 1, max: math.MaxInt16, convert: pack},
		"UNPACK":       {min: 1, max: 1, parts: unpack},
		"SPLIT":        {min: 2, max: 2, limits: "a constant axis", parts: split},
		"SPLIT_V":      {min: 3, max: 3, limits: "constant sizes", parts: split},
		"TRANSPOSE_CONV": {min: 3, max: 4, convert: transposeConv, limits: "constant weights and bias; " +
			"strides, SAME and VALID; " + fused},
		"VAR_HANDLE":      {limits: variables, convert: variable},
		"READ_VARIABLE":   {limits: variables, convert: variable},
		"ASSIGN_VARIABLE": {limits: variables, convert: variable},
		"CALL_ONCE":       {limits: "its subgraph assigns constants to variables", convert: variable},
		"SHAPE": {min: 1, max: 1, limits: "numbers that shapes are computed of, as Keras does for open batches; " +
			"with ADD, SUB, MUL, DIV, FLOOR_DIV, MAXIMUM, MINIMUM, CAST, REDUCE_PROD " +
			"and operators of this table that move elements",
			convert: func(*builder) *graph.Value { panic(faultf("", "its result is no list of whole numbers")) }},
	}
}
