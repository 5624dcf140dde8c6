package lce

import (
	"maps"
	"math"
	"ripc/graph"
)

// handler imports one kind of operator.
type handler struct {
	custom   bool
	min, max int // number of inputs
	// becomes and limits are for the documentation.
	becomes, limits string
	// convert makes the nodes of the operator at work and names the value that its output holds, "" for a constant.
	convert func(*builder) *graph.Value
	// parts is convert for operators of several outputs: it gives what makes that of output k.
	parts func(*builder) func(k int) *graph.Value
}

// supported lists the operators that can be imported.
func supported() map[string]handler {
	const fused = "fused activations NONE, RELU, RELU_N1_TO_1, RELU6"
	const constant = "weights and bias are constants (float32, float16, int8 with scales per tensor or channel); "
	const broadcast = "of two tensors, extents of 1 being repeated, or of a tensor and a constant; " + fused
	const static = "the result's shape is that in the file"
	type row = struct {
		custom          bool
		min, max        int
		becomes, limits string
		convert         func(*builder) *graph.Value
	}
	rows := map[string]row{
		opQuantize:   {true, 1, 1, "threshold", "float32, int8 or uint8 input; bit = x < 0", lceQuantize},
		opDequantize: {true, 1, 1, "dequantize", "float32, int8 or uint8 output", lceDequantize},
		opMaxPool:    {true, 1, 1, "max_pool", "", lceMaxPool},
		opBConv: {true, 2, 5, "bitserial_conv2d, then relu, hard_tanh or relu6, mul, add, or threshold",
			"float32, int8, uint8 or bit-packed output; strides, dilations, SAME and VALID, pad_values 0 and 1, groups of whole words; " + fused, bconv},

		"CONV_2D":           {false, 2, 3, "conv2d; int_conv2d", constant + "strides, dilations, groups; " + fused, conv},
		"DEPTHWISE_CONV_2D": {false, 2, 3, "conv2d with groups; int_conv2d", constant + "any multiplier; " + fused, depthwise},
		"FULLY_CONNECTED":   {false, 2, 3, "dense; int_dense, with reshape where needed", constant + fused, fullyConnected},

		"ADD":          {false, 2, 2, "add; int_add", broadcast, arithmetic("add", optAdd)},
		"SUB":          {false, 2, 2, "sub; int_add", broadcast, arithmetic("sub", optSub)},
		"MUL":          {false, 2, 2, "mul; int_mul", broadcast, arithmetic("mul", optMul)},
		"DIV":          {false, 2, 2, "div", broadcast, arithmetic("div", optDiv)},
		"RELU":         {false, 1, 1, "relu; int_map", "", tableOr(1, rectified, simple("relu"))},
		"RELU6":        {false, 1, 1, "relu6; int_map", "", tableOr(3, rectified, simple("relu6"))},
		"RELU_N1_TO_1": {false, 1, 1, "hard_tanh; int_map", "", tableOr(2, rectified, simple("hard_tanh"))},
		"RELU_0_TO_1":  {false, 1, 1, "clip", "", withAttrs("clip", &graph.ClipAttrs{Min: 0, Max: 1})},
		"PRELU":        {false, 2, 2, "prelu", "one constant slope, or one for each channel", prelu},
		"LEAKY_RELU":   {false, 1, 1, "prelu; int_map", "", leakyRelu},
		"SOFTMAX":      {false, 1, 1, "softmax, after mul where beta is not 1", "along the last axis", softmax},

		"MAX_POOL_2D":     {false, 1, 1, "max_pool", fused, pool("max_pool")},
		"AVERAGE_POOL_2D": {false, 1, 1, "avg_pool; int_conv2d", fused, pool("avg_pool")},
		"MEAN":            {false, 2, 2, "global_avg_pool; int_conv2d, behind transpose where the axes are not neighbours", "", reduce("global_avg_pool")},
		"REDUCE_MAX":      {false, 2, 2, "max_pool", "", reduce("max_pool")},

		"CONCATENATION": {false, 1, math.MaxInt16, "concat, between reshapes where the axis is not the last; int_map before it", fused, concat},
		"PAD":           {false, 2, 2, "pad; concat with constants for channels", "constant paddings", pad},
		"PADV2":         {false, 3, 3, "pad; concat with constants for channels", "as PAD, with a constant value", pad},
		"RESHAPE":       {false, 1, 2, "reshape", static + "; bits keep their channels", reshape},
		"SQUEEZE":       {false, 1, 1, "reshape", static, reshape},
		"EXPAND_DIMS":   {false, 2, 2, "reshape", static, reshape},
		"TRANSPOSE":     {false, 2, 2, "transpose", "constant permutation", transpose},
		"SLICE":         {false, 3, 3, "slice", "constant positions", slice},
		"STRIDED_SLICE": {false, 4, 4, "slice, then reshape where axes are dropped", "constant positions", stridedSlice},

		"QUANTIZE":   {false, 1, 1, "quantize; int_map", "to int8 and uint8, one scale a tensor", tableOr(0, requantized, convertType)},
		"DEQUANTIZE": {false, 1, 1, "dequantize; nothing for constants", "of int8 and uint8, and of float16 constants", convertType},
	}
	all := movers()
	maps.Copy(all, elements())
	for name, r := range rows {
		all[name] = handler{r.custom, r.min, r.max, r.becomes, r.limits, r.convert, nil}
	}
	return all
}

// movers are operators that move elements, and those of transposed convolutions.
func movers() map[string]handler {
	const known = "constant positions"
	const variables = "see [above](#variables-of-streaming-networks)"
	variable := func(*builder) *graph.Value { panic(faultf("the file is damaged", "is none of a variable")) }
	return map[string]handler{
		"DEPTH_TO_SPACE":          {min: 1, max: 1, becomes: "depth_to_space", convert: block("depth_to_space", optDepthToSpace)},
		"SPACE_TO_DEPTH":          {min: 1, max: 1, becomes: "space_to_depth", convert: block("space_to_depth", optSpaceToDepth)},
		"RESIZE_NEAREST_NEIGHBOR": {min: 2, max: 2, becomes: "resize; slice; gather", limits: "a constant size", convert: resizeNearest},
		"RESIZE_BILINEAR":         {min: 2, max: 2, becomes: "interpolate", limits: "a constant size; align_corners and half_pixel_centers", convert: resizeBilinear},
		"MIRROR_PAD":              {min: 2, max: 2, becomes: "gather", limits: "REFLECT and SYMMETRIC; constant paddings", convert: mirrorPad},
		"SPACE_TO_BATCH_ND":       {min: 3, max: 3, becomes: "pad, reshape, transpose", limits: "one or two spatial axes; constant blocks and paddings", convert: spaceToBatch},
		"BATCH_TO_SPACE_ND":       {min: 3, max: 3, becomes: "reshape, transpose, slice", limits: "one or two spatial axes; constant blocks and crops", convert: batchToSpace},
		"DENSIFY":                 {min: 1, max: 1, becomes: "nothing", limits: "of constants", convert: densify},
		"TILE":                    {min: 2, max: 2, becomes: "resize, between reshapes", limits: "constant numbers", convert: repeat},
		"BROADCAST_TO":            {min: 2, max: 2, becomes: "resize, between reshapes", limits: "a constant shape", convert: repeat},
		"GATHER":                  {min: 2, max: 2, becomes: "slice, concat; gather", limits: known, convert: gather},
		"BATCH_MATMUL":            {min: 2, max: 2, becomes: "matmul; dense", limits: "up to two axes of batches", convert: batchMatMul},
		"PACK":                    {min: 1, max: math.MaxInt16, becomes: "reshape, concat", convert: pack},
		"UNPACK":                  {min: 1, max: 1, becomes: "slice, reshape", parts: unpack},
		"SPLIT":                   {min: 2, max: 2, becomes: "slice", limits: "a constant axis", parts: split},
		"SPLIT_V":                 {min: 3, max: 3, becomes: "slice", limits: "constant sizes", parts: split},
		"TRANSPOSE_CONV": {min: 3, max: 4, becomes: "conv_transpose2d", limits: "weights and bias are constants; strides, SAME and VALID; fused activations NONE, RELU, RELU_N1_TO_1, RELU6",
			convert: transposeConv},
		"VAR_HANDLE":      {becomes: "nothing", limits: variables, convert: variable},
		"READ_VARIABLE":   {becomes: "an input", limits: variables, convert: variable},
		"ASSIGN_VARIABLE": {becomes: "an output", limits: variables, convert: variable},
		"CALL_ONCE":       {becomes: "nothing", limits: "its subgraph assigns constants to variables", convert: variable},
		"SHAPE": {min: 1, max: 1, becomes: "nothing", limits: "numbers that shapes are computed of, as Keras does for open batches; with ADD, SUB, MUL, DIV, FLOOR_DIV, MAXIMUM, MINIMUM, CAST, REDUCE_PROD and operators of this table that move elements",
			convert: func(*builder) *graph.Value { panic(faultf("", "its result is no list of whole numbers")) }},
	}
}
