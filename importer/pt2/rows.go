package pt2

import (
	"strings"
	"sync"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/onnx"
)

// row is an operator of ATen with all its overloads.
type row struct {
	// takes names the arguments that are read. In-place forms overwrite the first. Those after "?"
	// may be left out.
	takes  string
	lower  func(n *node) []*tensor
	view   bool   // the result may share memory with the operand
	logic  bool   // operands may be truth values
	limits string // the supported part, for the documentation
}

// args lists the arguments.
func (r *row) args() []string { return strings.Fields(strings.ReplaceAll(r.takes, "?", " ")) }

// required lists the arguments that may not be left out.
func (r *row) required() []string {
	first, _, _ := strings.Cut(r.takes, "?")
	return strings.Fields(first)
}

// ignored lists arguments without a meaning here: types of results are checked, and memory is laid
// out anew.
func ignored() []string {
	return []string{"memory_format", "device", "pin_memory", "layout", "non_blocking", "copy", "requires_grad",
		"implicit", "momentum", "cudnn_enabled", "benchmark", "deterministic", "allow_tf32", "dtype",
		"half_to_float", "inplace", "p"}
}

const (
	convArgs = "input weight ?bias stride padding dilation transposed output_padding groups"
	poolArgs = "self kernel_size ?stride padding dilation ceil_mode count_include_pad divisor_override"
	normArgs = "input ?weight bias running_mean running_var training eps"
)

// rule makes the result of an operator of one result.
type rule func(n *node) *tensor

// rows lists the operators by name.
var rows = sync.OnceValue(func() map[string]*row {
	t := map[string]*row{}
	each := func(names, takes string, r row) {
		r.takes = takes
		for _, name := range strings.Fields(names) {
			t[name] = &r
		}
	}
	add := func(names, takes string, f rule, r row) {
		r.lower = func(n *node) []*tensor { return []*tensor{f(n)} }
		each(names, takes, r)
	}
	layers := func(names, takes, limits string, f rule) { add(names, takes, f, row{limits: limits}) }
	elements := func(names string, f rule) { layers(names, "self", "", f) }

	conv := "constant weights; one or two spatial axes"
	layers("conv1d conv2d convolution", convArgs, conv, convolution(false))
	layers("conv_transpose1d conv_transpose2d", convArgs, conv, convolution(true))
	layers("linear", "input weight ?bias", "", linear)
	layers("addmm", "self mat1 mat2 ?beta alpha", "", addmm)
	layers("mm bmm", "self mat2", "",
		func(n *node) *tensor { return n.b.Op("MatMul", nil, n.operand("self"), n.operand("mat2")) })
	layers("matmul", "self other", "matrices, with at most two axes of batches", arithmetic("MatMul"))
	layers("batch_norm _native_batch_norm_legit_no_training", normArgs, "evaluation mode", batchNorm)
	layers("layer_norm native_layer_norm", "input normalized_shape ?weight bias eps", "", layerNorm)
	layers("max_pool1d max_pool2d max_pool2d_with_indices", poolArgs, "no dilations, no indices", pool("MaxPool"))
	layers("avg_pool1d avg_pool2d", poolArgs, "no divisor_override", pool("AveragePool"))
	divides := "sizes that divide the image's"
	averages := "adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d"
	layers(averages, "self output_size", divides, adaptive("AveragePool", "ReduceMean"))
	layers("adaptive_max_pool1d adaptive_max_pool2d", "self output_size", divides, adaptive("MaxPool", "ReduceMax"))
	sizes := "?input self output_size align_corners scales_h scales_w scale_factors"
	layers("upsample_nearest2d", sizes, "", upsample(nearest(0)))
	layers("_upsample_nearest_exact2d", sizes, "", upsample(nearest(0.5)))
	layers("upsample_bilinear2d", sizes, "", upsample(bilinear))

	layers("add", "self other ?alpha", "", arithmetic("Add"))
	layers("sub subtract", "self other ?alpha", "", arithmetic("Sub"))
	layers("rsub", "self other ?alpha", "", func(n *node) *tensor {
		return n.b.Op("Sub", nil, n.operand("other"), n.times(n.operand("self"), n.number("alpha", 1)))
	})
	layers("mul multiply", "self other", "", arithmetic("Mul"))
	layers("div divide true_divide", "self other ?rounding_mode", "", divide)
	layers("maximum", "self other", "", arithmetic("Max"))
	layers("minimum", "self other", "", arithmetic("Min"))
	for _, names := range []string{"abs", "sign sgn", "sqrt", "exp", "log", "erf", "sigmoid", "tanh", "silu",
		"hard_swish hardswish", "relu", "relu6"} {
		op, _, _ := strings.Cut(names, " ")
		elements(strings.TrimPrefix(names, "hard_swish "),
			func(n *node) *tensor { return n.b.EmitEach(op, &graph.NoAttrs{}, n.operand("self")) })
	}
	elements("neg", spelled("Neg", nil))
	elements("reciprocal", spelled("Reciprocal", nil))
	elements("rsqrt", func(n *node) *tensor {
		return n.b.Op("Reciprocal", nil, n.b.Op("Sqrt", nil, n.operand("self")))
	})
	elements("square", func(n *node) *tensor { return n.b.Op("Mul", nil, n.operand("self"), n.operand("self")) })
	layers("pow", "self exponent", "multiples of 0.5 up to 8.5",
		func(n *node) *tensor { return n.b.Op("Pow", nil, n.operand("self"), n.operand("exponent")) })
	elements("hardsigmoid", spelled("HardSigmoid", onnx.Attrs{"alpha": float32(1) / 6, "beta": float32(0.5)}))
	layers("hardtanh", "self ?min_val max_val", "", func(n *node) *tensor {
		return n.clip(n.operand("self"), n.number("min_val", -1), n.number("max_val", 1))
	})
	layers("clamp clip", "self ?min max", "", clamp)
	layers("clamp_min", "self min", "", clamp)
	layers("clamp_max", "self max", "", clamp)
	layers("leaky_relu", "self ?negative_slope", "", func(n *node) *tensor {
		return n.b.Op("LeakyRelu", onnx.Attrs{"alpha": n.float("negative_slope", 0.01)}, n.operand("self"))
	})
	layers("prelu _prelu_kernel", "self weight", "constant slopes", prelu)
	layers("elu", "self ?alpha scale input_scale", "", elu)
	elements("selu", spelled("Selu", nil))
	layers("gelu", "self ?approximate", "", func(n *node) *tensor {
		return n.b.Op("Gelu", onnx.Attrs{"approximate": n.text("approximate", "none")}, n.operand("self"))
	})
	layers("softplus", "self ?beta threshold", "beta 1", func(n *node) *tensor {
		n.failIf(n.number("beta", 1) != 1, "", "beta is not supported")
		return n.b.Op("Softplus", nil, n.operand("self"))
	})
	elements("mish", spelled("Mish", nil))
	along := func(op string) rule {
		return func(n *node) *tensor { return n.b.Op(op, onnx.Attrs{"axis": n.integer("dim", -1)}, n.operand("self")) }
	}
	layers("softmax _softmax", "self dim", "", along("Softmax"))
	layers("log_softmax _log_softmax", "self dim", "", along("LogSoftmax"))
	rounding := func(names, takes, limits string, mode scalar.Rounding) {
		layers(names, takes, limits, func(n *node) *tensor {
			n.failIf(n.integer("decimals", 0) != 0, "", "rounds to decimals")
			return n.round(n.operand("self"), mode)
		})
	}
	rounding("round", "self ?decimals", "to integers", scalar.HalfEven)
	rounding("floor", "self", "", scalar.Floor)
	rounding("ceil", "self", "", scalar.Ceil)
	rounding("trunc fix", "self", "", scalar.Trunc)
	quantArgs := "self scale zero_point quant_min quant_max"
	layers("fake_quantize_per_tensor_affine", quantArgs, "constant scales", fakeQuantize)
	layers("mean", "self ?dim keepdim", "", reduced("ReduceMean"))
	layers("sum", "self ?dim keepdim", "", reduced("ReduceSum"))
	layers("amax max", "self ?other dim keepdim", "no indices", extreme("Max"))
	layers("amin min", "self ?other dim keepdim", "no indices", extreme("Min"))
	layers("argmax", "self ?dim keepdim", "along one axis; positions are i32", arg("ArgMax"))
	layers("argmin", "self ?dim keepdim", "along one axis; positions are i32", arg("ArgMin"))

	orders := map[string]string{"lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}
	for name, op := range orders {
		layers(name, "self other", "", arithmetic(op))
	}
	add("eq", "self other", equal, row{logic: true})
	add("ne", "self other", func(n *node) *tensor { return n.b.Op("Not", nil, equal(n)) }, row{logic: true})
	add("logical_not bitwise_not", "self", logic("Not"), row{logic: true, limits: "truth values"})
	for name, op := range map[string]string{"and": "And", "or": "Or", "xor": "Xor"} {
		add("logical_"+name+" bitwise_"+name+" __"+name+"__", "self other", logic(op),
			row{logic: true, limits: "truth values"})
	}
	add("where", "condition self other", where, row{logic: true})
	add("to _to_copy type_as", "self ?dtype other", convert, row{logic: true, limits: "to float32 and bool"})

	views := func(names, takes string, f rule) { add(names, takes, f, row{view: true, logic: true}) }
	views("view reshape _unsafe_view _reshape_copy", "self ?size shape", reshaping(func(n *node, _ []int) []int {
		return n.integers("size", n.integers("shape", nil))
	}))
	views("view_as reshape_as", "self other",
		reshaping(func(n *node, _ []int) []int { return n.operand("other").Extents() }))
	views("flatten", "self ?start_dim end_dim", reshaping(flattened))
	views("unflatten", "self dim sizes", reshaping(unflattened))
	views("squeeze", "self ?dim", reshaping(squeezed))
	views("unsqueeze", "self dim", func(n *node) *tensor { return n.unsqueezed(n.operand("self")) })
	views("permute", "self dims", permuting(listed))
	views("transpose", "self dim0 dim1", permuting(swapped))
	views("t numpy_T", "self", permuting(swapped))
	views("detach alias contiguous lift_fresh", "self", same)
	views("dropout feature_dropout", "input ?train", same)
	add("clone lift_fresh_copy", "self", same, row{logic: true})
	views("expand", "self size", expanded)
	views("expand_as", "self other", expanded)
	views("repeat", "self repeats", tiled)
	views("slice", "self ?dim start end step", sliced)
	views("select", "self dim index", selected)
	parts := func(names, takes string) { each(names, takes, row{lower: parts, view: true, logic: true}) }
	parts("split", "self split_size ?dim")
	parts("chunk", "self chunks ?dim")
	parts("split_with_sizes", "self split_sizes ?dim")
	layers("cat concat", "tensors ?dim", "", func(n *node) *tensor { return n.concat(n.tensors["tensors"]) })
	layers("stack", "tensors ?dim", "", stacked)
	layers("pad", "self pad ?mode value", "", pad)
	layers("constant_pad_nd", "self pad ?value", "", pad)
	layers("pixel_shuffle", "self upscale_factor", "", shuffled("DepthToSpace", "upscale_factor"))
	layers("pixel_unshuffle", "self downscale_factor", "", shuffled("SpaceToDepth", "downscale_factor"))
	for name, def := range map[string]float64{"zeros": 0, "ones": 1, "full": 0} {
		layers(name, "?size fill_value", "", fill(def))
		add(name+"_like", "self ?fill_value", fill(def), row{logic: true})
	}
	layers("scalar_tensor", "?s", "", fill(0))
	layers("arange", "?start end step", "", arange)
	return t
})
