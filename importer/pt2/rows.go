package pt2

import (
	"strings"
	"sync"

	"ripc/graph"
	"ripc/graph/scalar"
)

// row is an operator of ATen with all its overloads.
type row struct {
	// takes names the arguments that are read. In-place forms overwrite the first. Those after "?"
	// may be left out.
	takes string
	// lower emits the operator.
	lower func(n *node) []*tensor
	// constant computes the operator if all its tensors are constants. If it is nil, the graph that
	// lower emits is evaluated.
	constant func(n *node) []*tensor
	view     bool   // the result may share memory with the operand
	logic    bool   // operands may be truth values
	limits   string // the supported part, for the documentation
}

// args lists the arguments.
func (r *row) args() []string { return strings.Fields(strings.ReplaceAll(r.takes, "?", " ")) }

// required lists the arguments that may not be left out.
func (r *row) required() []string {
	first, _, _ := strings.Cut(r.takes, "?")
	return strings.Fields(first)
}

// keeps reports whether an argument stays constant where the operator is computed on constants.
func (r *row) keeps(name string) bool {
	return (r.takes == convArgs || r.takes == normArgs) && name != "input"
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

// rows lists the operators by name.
var rows = sync.OnceValue(func() map[string]*row {
	t := map[string]*row{}
	add := func(names, takes string, r row) {
		r.takes = takes
		for _, name := range strings.Fields(names) {
			t[name] = &r
		}
	}
	layers := func(names, takes, limits string, lower func(n *node) []*tensor) {
		add(names, takes, row{lower: lower, limits: limits})
	}
	elements := func(names string, lower func(n *node) []*tensor) {
		add(names, "self", row{lower: lower})
	}
	conv := "constant weights; one or two spatial axes"
	layers("conv1d conv2d convolution", convArgs, conv, convolution(false))
	layers("conv_transpose1d conv_transpose2d", convArgs, conv, convolution(true))
	layers("linear", "input weight ?bias", "", one(linear))
	layers("addmm", "self mat1 mat2 ?beta alpha", "beta and alpha 1", one(addmm))
	layers("mm bmm", "self mat2", "", one(matmul))
	layers("matmul", "self other", "matrices, with at most two axes of batches", one(matmul))
	layers("batch_norm _native_batch_norm_legit_no_training", normArgs, "evaluation mode", one(batchNorm))
	layers("layer_norm native_layer_norm", "input normalized_shape ?weight bias eps", "", one(layerNorm))
	layers("max_pool1d max_pool2d max_pool2d_with_indices", poolArgs, "no dilations, no indices", pool("max_pool"))
	layers("avg_pool1d avg_pool2d", poolArgs, "no divisor_override", pool("avg_pool"))
	divides := "sizes that divide the image's"
	averages := "adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d"
	layers(averages, "self output_size", divides, adaptive("avg_pool"))
	layers("adaptive_max_pool1d adaptive_max_pool2d", "self output_size", divides, adaptive("max_pool"))
	sizes := "?input self output_size align_corners scales_h scales_w scale_factors"
	layers("upsample_nearest2d", sizes, "", upsample(nearest))
	layers("_upsample_nearest_exact2d", sizes, "", upsample(nearestExact))
	layers("upsample_bilinear2d", sizes, "", upsample(bilinear))

	layers("add", "self other ?alpha", "", arithmetic("add", false))
	layers("sub subtract", "self other ?alpha", "", arithmetic("sub", false))
	layers("rsub", "self other ?alpha", "", arithmetic("sub", true))
	layers("mul multiply", "self other", "", arithmetic("mul", false))
	layers("div divide true_divide", "self other ?rounding_mode", "", arithmetic("div", false))
	layers("maximum", "self other", "", arithmetic("maximum", false))
	layers("minimum", "self other", "", arithmetic("minimum", false))
	elements("neg", one(func(n *node) *tensor { return n.b.with("mul", n.operand("self"), -1) }))
	elements("abs", unary("abs"))
	elements("sign sgn", unary("sign"))
	elements("sqrt", unary("sqrt"))
	elements("exp", unary("exp"))
	elements("log", unary("log"))
	elements("erf", unary("erf"))
	elements("sigmoid", unary("sigmoid"))
	elements("tanh", unary("tanh"))
	elements("silu", unary("silu"))
	elements("hardswish", unary("hard_swish"))
	elements("relu", unary("relu"))
	elements("relu6", unary("relu6"))
	elements("reciprocal", one(func(n *node) *tensor {
		return n.b.each("div", &graph.BinaryOpAttrs{}, number(1), n.operand("self"))
	}))
	elements("rsqrt", one(func(n *node) *tensor {
		return n.b.each("div", &graph.BinaryOpAttrs{}, number(1), n.b.pipe(n.operand("self"), "sqrt"))
	}))
	elements("square", one(power))
	layers("pow", "self exponent", "0.5 and integers up to 8", one(power))
	elements("hardsigmoid", one(func(n *node) *tensor {
		attrs := &graph.HardSigmoidAttrs{Alpha: float64(float32(1) / 6), Beta: 0.5}
		return n.b.each("hard_sigmoid", attrs, n.operand("self"))
	}))
	layers("hardtanh", "self ?min_val max_val", "", one(func(n *node) *tensor {
		return n.b.clip(n.operand("self"), n.number("min_val", -1), n.number("max_val", 1))
	}))
	layers("clamp clip", "self ?min max", "", clamp("min", "max"))
	layers("clamp_min", "self min", "", clamp("min", "max"))
	layers("clamp_max", "self max", "", clamp("min", "max"))
	layers("leaky_relu", "self ?negative_slope", "", one(func(n *node) *tensor {
		t := n.operand("self")
		return t.derived(n.b.Slope(t.Value, float32(n.number("negative_slope", 0.01))))
	}))
	layers("prelu _prelu_kernel", "self weight", "constant slopes", one(prelu))
	layers("elu", "self ?alpha scale input_scale", "", elu(1, 1))
	elements("selu", elu(1.6732632423543772, 1.0507009873554805))
	layers("gelu", "self ?approximate", "", one(func(n *node) *tensor {
		t := n.operand("self")
		return t.derived(n.b.Gelu(t.Value, n.text("approximate") == "tanh"))
	}))
	layers("softplus", "self ?beta threshold", "beta 1", one(softplus))
	elements("mish", one(func(n *node) *tensor {
		t := n.operand("self")
		return t.derived(n.b.Pair("mul", t.Value, n.b.Plain(n.b.softplus(t.Value), "tanh")))
	}))
	layers("softmax _softmax", "self dim", "", softmax("softmax"))
	layers("log_softmax _log_softmax", "self dim", "", softmax("log_softmax"))
	layers("round", "self ?decimals", "to integers", rounding(scalar.HalfEven))
	elements("floor", rounding(scalar.Floor))
	elements("ceil", rounding(scalar.Ceil))
	elements("trunc fix", rounding(scalar.Trunc))
	quantArgs := "self scale zero_point quant_min quant_max"
	layers("fake_quantize_per_tensor_affine", quantArgs, "constant scales", one(fakeQuantize))
	add("mean", "self ?dim keepdim", row{lower: average(false), constant: constantMean(false)})
	add("sum", "self ?dim keepdim", row{lower: average(true), constant: constantMean(true)})
	layers("amax max", "self ?other dim keepdim", "no indices", extreme(true))
	layers("amin min", "self ?other dim keepdim", "no indices", extreme(false))
	layers("argmax", "self ?dim keepdim", "along one axis; positions are i32", arg("argmax"))
	layers("argmin", "self ?dim keepdim", "along one axis; positions are i32", arg("argmin"))

	comparisons := map[string]string{"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
		"gt": "greater", "ge": "greater_equal"}
	for name, op := range comparisons {
		add(name, "self other", row{lower: compare(op), logic: true})
	}
	add("logical_not bitwise_not", "self", row{lower: logic("logical_not"), logic: true, limits: "truth values"})
	for _, op := range []string{"and", "or", "xor"} {
		add("logical_"+op+" bitwise_"+op+" __"+op+"__", "self other",
			row{lower: logic("logical_" + op), logic: true, limits: "truth values"})
	}
	add("where", "condition self other", row{lower: one(where), logic: true})
	add("to _to_copy type_as", "self ?dtype other",
		row{lower: one(convert), constant: one(convert), logic: true, limits: "to float32 and bool"})

	add("view reshape _unsafe_view _reshape_copy", "self ?size shape", reshaping(sized))
	add("view_as reshape_as", "self other",
		reshaping(func(n *node, _ []int) []int { return n.operand("other").extents() }))
	add("flatten", "self ?start_dim end_dim", reshaping(flattened))
	add("unflatten", "self dim sizes", reshaping(unflattened))
	add("squeeze", "self ?dim", reshaping(squeezed))
	add("unsqueeze", "self dim", reshaping(unsqueezed))
	add("permute", "self dims", permuting(listed))
	add("transpose", "self dim0 dim1", permuting(swapped))
	add("t numpy_T", "self", permuting(swapped))
	add("detach alias contiguous lift_fresh", "self", passing(true))
	add("dropout feature_dropout", "input ?train", passing(true))
	add("clone lift_fresh_copy", "self", passing(false))
	moves := func(names, takes string, lower func(n *node) []*tensor) {
		add(names, takes, row{lower: lower, view: true, logic: true})
	}
	moves("expand", "self size", one(expanded))
	moves("expand_as", "self other", one(expanded))
	moves("repeat", "self repeats", one(tiled))
	moves("slice", "self ?dim start end step", one(sliced))
	moves("select", "self dim index", one(selected))
	moves("split", "self split_size ?dim", parts(equalParts))
	moves("chunk", "self chunks ?dim", parts(equalParts))
	moves("split_with_sizes", "self split_sizes ?dim",
		parts(func(n *node, _ int) []int { return n.integers("split_sizes", nil) }))
	layers("cat concat", "tensors ?dim", "", one(concatenated))
	layers("stack", "tensors ?dim", "", one(stacked))
	layers("pad", "self pad ?mode value", "", one(pad))
	layers("constant_pad_nd", "self pad ?value", "", one(pad))
	layers("pixel_shuffle", "self upscale_factor", "", shuffled("depth_to_space", "upscale_factor"))
	layers("pixel_unshuffle", "self downscale_factor", "", shuffled("space_to_depth", "downscale_factor"))
	for names, def := range map[string]float64{"zeros": 0, "ones": 1, "full": 0, "scalar_tensor": 0} {
		add(names, "?size fill_value s", row{lower: fill(def), constant: fill(def)})
	}
	for names, def := range map[string]float64{"zeros_like": 0, "ones_like": 1, "full_like": 0} {
		add(names, "self ?fill_value", row{lower: fill(def), constant: fill(def), logic: true})
	}
	add("arange", "?start end step", row{lower: one(arange), constant: one(arange)})
	return t
})
