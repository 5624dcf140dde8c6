package lce

import "math"

// handler imports one kind of operator.
type handler struct {
	custom   bool
	min, max int // number of inputs
	// becomes and limits are for the documentation.
	becomes, limits string
	// convert makes the nodes of the operator at work and names the value that its output holds, "" for a constant.
	convert func(*builder) (string, error)
}

// supported lists the operators that can be imported.
func supported() map[string]handler {
	const fused = "fused activations NONE, RELU, RELU_N1_TO_1, RELU6"
	const constant = "weights and bias are constants (float32, float16, int8 with scales per tensor or channel); "
	const broadcast = "of two tensors, extents of 1 being repeated, or of a tensor and a constant; " + fused
	const static = "the result's shape is that in the file"
	return map[string]handler{
		opQuantize:   {true, 1, 1, "threshold", "float32, int8 or uint8 input; bit = x < 0", lceQuantize},
		opDequantize: {true, 1, 1, "dequantize", "float32, int8 or uint8 output", lceDequantize},
		opMaxPool:    {true, 1, 1, "max_pool", "", lceMaxPool},
		opBConv: {true, 2, 5, "bitserial_conv2d, then relu, hard_tanh or relu6, mul, add, or threshold",
			"float32, int8, uint8 or bit-packed output; strides, dilations, SAME and VALID, pad_values 0 and 1, groups of whole words; " + fused, bconv},

		"CONV_2D":           {false, 2, 3, "conv2d", constant + "strides, dilations, groups; " + fused, conv},
		"DEPTHWISE_CONV_2D": {false, 2, 3, "conv2d with groups", constant + "any multiplier; " + fused, depthwise},
		"FULLY_CONNECTED":   {false, 2, 3, "dense, with reshape where needed", constant + fused, fullyConnected},

		"ADD":          {false, 2, 2, "add", broadcast, arithmetic("add", optAdd)},
		"SUB":          {false, 2, 2, "sub", broadcast, arithmetic("sub", optSub)},
		"MUL":          {false, 2, 2, "mul", broadcast, arithmetic("mul", optMul)},
		"DIV":          {false, 2, 2, "div", broadcast, arithmetic("div", optDiv)},
		"RELU":         {false, 1, 1, "relu", "", simple("relu")},
		"RELU6":        {false, 1, 1, "relu6", "", simple("relu6")},
		"RELU_N1_TO_1": {false, 1, 1, "hard_tanh", "", simple("hard_tanh")},
		"RELU_0_TO_1":  {false, 1, 1, "clip", "", relu01},
		"PRELU":        {false, 2, 2, "prelu", "one constant slope, or one for each channel", prelu},
		"LEAKY_RELU":   {false, 1, 1, "prelu", "", leakyRelu},
		"SOFTMAX":      {false, 1, 1, "softmax, after mul where beta is not 1", "along the last axis", softmax},

		"MAX_POOL_2D":     {false, 1, 1, "max_pool", fused, pool("max_pool")},
		"AVERAGE_POOL_2D": {false, 1, 1, "avg_pool", fused, pool("avg_pool")},
		"MEAN":            {false, 2, 2, "global_avg_pool", "over rows and columns of an image, with and without keep_dims", mean},

		"CONCATENATION": {false, 1, math.MaxInt16, "concat, between transpose where the axis is not the last", fused, concat},
		"PAD":           {false, 2, 2, "pad; concat with constants for channels", "rows, columns and channels of images, by constants", pad},
		"PADV2":         {false, 3, 3, "pad; concat with constants for channels", "as PAD, with a constant value", pad},
		"RESHAPE":       {false, 1, 2, "reshape", static + "; bits keep their channels", reshape},
		"SQUEEZE":       {false, 1, 1, "reshape", static, reshape},
		"EXPAND_DIMS":   {false, 2, 2, "reshape", static, reshape},
		"TRANSPOSE":     {false, 2, 2, "transpose", "constant permutation", transpose},
		"SLICE":         {false, 3, 3, "slice", "constant positions", slice},
		"STRIDED_SLICE": {false, 4, 4, "slice, then reshape where axes are dropped", "constant positions, positive strides; no ellipsis, no new axes", stridedSlice},

		"QUANTIZE":   {false, 1, 1, "quantize; of int8, dequantize before it", "to int8 and uint8, one scale a tensor", convertType},
		"DEQUANTIZE": {false, 1, 1, "dequantize; nothing for constants", "of int8 and uint8, and of float16 constants", convertType},
	}
}
