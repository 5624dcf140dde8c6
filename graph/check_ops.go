package graph

// opInfo is what the nodes of one op have.
type opInfo struct {
	attrs   any // of the type
	weights []string
}

// opOf describes an op of the layer graph as importers make it; ok is false for any other.
func opOf(op string) (o opInfo, ok bool) {
	switch op {
	case "conv2d":
		return opInfo{&Conv2DAttrs{}, []string{"w", "b"}}, true
	case "bitserial_conv2d":
		return opInfo{&Conv2DAttrs{}, []string{"w", "scale"}}, true
	case "dense":
		return opInfo{&DenseAttrs{}, []string{"w", "b"}}, true
	case "bitserial_dense":
		return opInfo{&DenseAttrs{}, []string{"w", "scale"}}, true
	case "batch_norm":
		return opInfo{&BatchNormAttrs{}, []string{"gamma", "beta", "mean", "var"}}, true
	case "shift_norm":
		return opInfo{&ShiftNormAttrs{}, []string{"mean", "var"}}, true
	case "prelu":
		return opInfo{&PReluAttrs{}, []string{"alpha"}}, true
	case "add", "sub", "mul", "div":
		return opInfo{&BinaryOpAttrs{}, []string{"b"}}, true
	case "max_pool", "avg_pool":
		return opInfo{&PoolAttrs{}, nil}, true
	case "concat":
		return opInfo{&ConcatAttrs{}, nil}, true
	case "pad":
		return opInfo{&SpatialPadAttrs{}, nil}, true
	case "slice":
		return opInfo{&SliceAttrs{}, nil}, true
	case "reshape":
		return opInfo{&ReshapeAttrs{}, nil}, true
	case "transpose":
		return opInfo{&TransposeAttrs{}, nil}, true
	case "constant":
		return opInfo{&ConstantAttrs{}, []string{"value"}}, true
	case "clip":
		return opInfo{&ClipAttrs{}, nil}, true
	case "round":
		return opInfo{&RoundAttrs{}, nil}, true
	case "quantize":
		return opInfo{&QuantizeAttrs{}, nil}, true
	case "threshold":
		return opInfo{&ThresholdAttrs{}, []string{"thresholds"}}, true
	case "fake_quant":
		return opInfo{&FakeQuantAttrs{}, []string{"scale", "zero_point"}}, true
	case "relu", "relu6", "hard_tanh", "sign", "global_avg_pool", "softmax", "flatten", "bitpack", "unpack", "dequantize":
		return opInfo{&NoAttrs{}, nil}, true
	}
	return opInfo{}, false
}
