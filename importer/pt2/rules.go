package pt2

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/kit"
	"ripc/importer/internal/onnx"
	"ripc/internal/lists"
)

// spelled is an operator of one operand that is one of ONNX.
func spelled(op string, attrs onnx.Attrs) rule {
	return func(n *node) *tensor { return n.b.Op(op, attrs, n.operand("self")) }
}

// arithmetic is an operator of two operands. The second one may have a factor.
func arithmetic(op string) rule {
	return func(n *node) *tensor {
		return n.b.Op(op, nil, n.operand("self"), n.times(n.operand("other"), n.number("alpha", 1)))
	}
}

// times is t times a number.
func (n *node) times(t *tensor, factor float64) *tensor {
	if factor == 1 {
		return t
	}
	return n.b.Op("Mul", nil, t, n.b.filled(nil, factor))
}

func (n *node) round(t *tensor, mode scalar.Rounding) *tensor {
	return n.b.EmitEach("round", &graph.RoundAttrs{Mode: mode}, t)
}

func divide(n *node) *tensor {
	out := n.b.Op("Div", nil, n.operand("self"), n.operand("other"))
	switch mode := n.text("rounding_mode", ""); mode {
	case "floor":
		return n.round(out, scalar.Floor)
	case "trunc":
		return n.round(out, scalar.Trunc)
	case "":
		return out
	default:
		panic(n.fail("use floor, trunc or none", "rounding_mode %q is unknown", mode))
	}
}

func (n *node) clip(t *tensor, lo, hi float64) *tensor {
	return n.b.Op("Clip", nil, t, n.b.filled(nil, lo), n.b.filled(nil, hi))
}

// clamp keeps numbers between bounds. Bounds that are tensors are minima and maxima.
func clamp(n *node) *tensor {
	t, bounds := n.operand("self"), [2]float64{math.Inf(-1), math.Inf(1)}
	for i, name := range []string{"min", "max"} {
		c := n.operand(name)
		if c == nil {
			continue
		}
		if data, _ := c.Numbers(); len(data) == 1 {
			bounds[i] = float64(data[0])
		} else {
			t = n.b.Op([]string{"Max", "Min"}[i], nil, t, c)
		}
	}
	return n.clip(t, bounds[0], bounds[1])
}

// prelu is x for x >= 0, else a slope times x.
func prelu(n *node) *tensor {
	t, slopes := n.operand("self"), n.weight("weight")
	if shape := slopes.Extents(); len(shape) == 1 {
		slopes = n.reshaped(slopes, append(slices.Clone(shape), ones(len(t.Extents())-2)...))
	}
	return n.b.Op("PRelu", nil, t, slopes)
}

// ones are n extents of 1.
func ones(n int) []int { return slices.Repeat([]int{1}, max(0, n)) }

func elu(n *node) *tensor {
	n.failIf(n.number("input_scale", 1) != 1, "", "input_scale is not supported")
	y := n.b.Op("Elu", onnx.Attrs{"alpha": n.float("alpha", 1)}, n.operand("self"))
	return n.times(y, n.number("scale", 1))
}

// fakeQuantize rounds to integers of a scale and gives back the numbers that they stand for.
func fakeQuantize(n *node) *tensor {
	scale, zero := n.number("scale", 1), n.number("zero_point", 0)
	y := n.round(n.b.Op("Mul", nil, n.operand("self"), n.b.filled(nil, float64(1/float32(scale)))), scalar.HalfEven)
	y = n.clip(y, n.number("quant_min", 0)-zero, n.number("quant_max", 0)-zero)
	return n.b.Op("Mul", nil, y, n.b.filled(nil, scale))
}

// reduced is a reduction over axes.
func reduced(op string) rule {
	return func(n *node) *tensor {
		t := n.operand("self")
		return n.reduce(op, t, n.axes("dim", len(t.Extents())), n.flag("keepdim", false))
	}
}

func (n *node) reduce(op string, t *tensor, axes []int, keep bool) *tensor {
	return n.b.Op(op, onnx.Attrs{"keepdims": truth(keep)}, t, n.b.Integers(axes...))
}

// truth is 1 for true.
func truth(v bool) int {
	if v {
		return 1
	}
	return 0
}

// extreme is the greatest or the least of elements: of two tensors, or along axes.
func extreme(op string) rule {
	return func(n *node) *tensor {
		if n.has("other") {
			return arithmetic(op)(n)
		}
		return reduced("Reduce" + op)(n)
	}
}

// arg is argmax or argmin along an axis.
func arg(op string) rule {
	return func(n *node) *tensor {
		n.failIf(!n.has("dim"), "give an axis (dim)", "looks for a position among all elements")
		attrs := onnx.Attrs{"axis": n.integer("dim", 0), "keepdims": truth(n.flag("keepdim", false))}
		return n.b.Op(op, attrs, n.operand("self"))
	}
}

// The types of a Cast, as ONNX numbers them.
const castFloat, castBool = 1, 9

// truths returns an operand as truth values.
func (n *node) truths(name string) *tensor {
	t := n.operand(name)
	if t.IsTruth() {
		return t
	}
	return n.b.Op("Cast", onnx.Attrs{"to": castBool}, t)
}

// equal compares two tensors of numbers or of truth values.
func equal(n *node) *tensor {
	x, y := n.operand("self"), n.operand("other")
	if x.IsTruth() || y.IsTruth() {
		x, y = n.truths("self"), n.truths("other")
	}
	return n.b.Op("Equal", nil, x, y)
}

// logic is an operator of truth values.
func logic(op string) rule {
	return func(n *node) *tensor {
		in := []*tensor{n.truths("self")}
		if n.has("other") {
			in = append(in, n.truths("other"))
		}
		return n.b.Op(op, nil, in...)
	}
}

// where takes elements of one operand or the other.
func where(n *node) *tensor {
	yes, no := n.operand("self"), n.operand("other")
	n.failIf(yes.IsTruth() || no.IsTruth(),
		"use torch.logical_and and torch.logical_or", "chooses between truth values")
	return n.b.Op("Where", nil, n.truths("condition"), yes, no)
}

// convert is a conversion to another type. Those to float and bool are read.
func convert(n *node) *tensor {
	t, to := n.operand("self"), dtype(n.integer("dtype", 0))
	if n.has("other") && n.operand("other").IsTruth() {
		to = dtBool
	}
	switch to {
	case 0: // to a device, or to a layout in memory
		return n.b.Op("Identity", nil, t)
	case dtBool:
		return n.truths("self")
	case dtFloat:
		return n.b.Op("Cast", onnx.Attrs{"to": castFloat}, t)
	}
	if _, constant := t.Numbers(); constant && !to.float() {
		return n.round(n.b.Op("Cast", onnx.Attrs{"to": castFloat}, t), scalar.Trunc)
	}
	panic(n.fail("keep float32 in the network",
		"a conversion to %v of a tensor that depends on an input is not supported", to))
}

// spatialAxes is the number of spatial axes of an image.
func (n *node) spatialAxes(t *tensor) int {
	axes := len(t.Extents()) - 2
	n.failIf(axes < 1 || axes > 2,
		"only images [N, C, H, W] and sequences [N, C, L] are supported", "its input has shape %v", t.Extents())
	return axes
}

// window reads strides, padding and dilations of a kernel.
func (n *node) window(axes int, stride ...int) onnx.Attrs {
	attrs := onnx.Attrs{"strides": n.spatial("stride", axes, stride...), "dilations": n.spatial("dilation", axes, 1)}
	switch n.text("padding", "") {
	case "same":
		attrs["auto_pad"] = "SAME_UPPER"
	case "":
		attrs["pads"] = slices.Repeat(n.spatial("padding", axes, 0), 2)
	}
	return attrs
}

// convolution is a convolution or a transposed one.
func convolution(transposed bool) rule {
	return func(n *node) *tensor {
		x, op := n.operand("input"), "Conv"
		axes := n.spatialAxes(x)
		attrs := n.window(axes, 1)
		attrs["group"] = n.integer("groups", 1)
		if n.flag("transposed", transposed) {
			op, attrs["output_padding"] = "ConvTranspose", n.spatial("output_padding", axes, 0)
		}
		return n.b.Op(op, attrs, x, n.weight("weight"), n.weight("bias"))
	}
}

// pool is MaxPool or AveragePool. Without a stride it is the kernel's.
func pool(op string) rule {
	return func(n *node) *tensor {
		x := n.operand("self")
		axes := n.spatialAxes(x)
		kernel := n.spatial("kernel_size", axes, 1)
		attrs := n.window(axes, kernel...)
		attrs["kernel_shape"], attrs["ceil_mode"] = kernel, truth(n.flag("ceil_mode", false))
		n.failIf(n.has("divisor_override"), "", "divisor_override is not supported")
		if op == "AveragePool" {
			attrs["count_include_pad"] = truth(n.flag("count_include_pad", true))
		}
		return n.b.Op(op, attrs, x)
	}
}

// adaptive is a pool with windows that give an image of an asked size, or a reduction to one pixel.
func adaptive(op, reduction string) rule {
	return func(n *node) *tensor {
		x := n.operand("self")
		axes, shape := n.spatialAxes(x), x.Extents()
		size := n.spatial("output_size", axes, 1)
		if slices.Max(size) == 1 {
			return n.reduce(reduction, x, kit.Identity(len(shape))[2:], true)
		}
		kernel := make([]int, axes)
		for d := range size {
			if size[d] < 1 || shape[2+d]%size[d] != 0 {
				panic(n.fail("use a size that divides the image's",
					"an image of %v becomes one of %v, by windows of different extents", shape[2:], size))
			}
			kernel[d] = shape[2+d] / size[d]
		}
		if slices.Max(kernel) == 1 {
			return n.b.Op("Identity", nil, x)
		}
		return n.b.Op(op, onnx.Attrs{"kernel_shape": kernel, "strides": kernel}, x)
	}
}

// linear is input * weight' + bias.
func linear(n *node) *tensor {
	x, w, bias := n.operand("input"), n.operand("weight"), n.operand("bias")
	if len(x.Extents()) == 2 {
		return n.b.Op("Gemm", onnx.Attrs{"transB": 1}, x, w, bias)
	}
	y := n.b.Op("MatMul", nil, x, n.b.Op("Transpose", onnx.Attrs{"perm": []int{1, 0}}, w))
	if bias != nil {
		y = n.b.Op("Add", nil, y, bias)
	}
	return y
}

// addmm is beta * self + alpha * mat1 * mat2.
func addmm(n *node) *tensor {
	return n.b.Op("Gemm", onnx.Attrs{"alpha": n.float("alpha", 1), "beta": n.float("beta", 1)}, n.operand("mat1"),
		n.operand("mat2"), n.operand("self"))
}

// batchNorm takes the statistics of training as constants.
func batchNorm(n *node) *tensor {
	t := n.operand("input")
	n.failIf(n.flag("training", false) || !n.has("running_mean") || !n.has("running_var"),
		"export the network in evaluation mode: net.eval()", "takes statistics of the batch")
	n.failIf(len(t.Extents()) < 2, "", "its input has shape %v, want [N, C, ...]", t.Extents())
	in := []*tensor{t}
	for i, name := range []string{"weight", "bias", "running_mean", "running_var"} {
		c := n.weight(name)
		if c == nil {
			c = n.b.filled(t.Extents()[1:2], float64(1-i))
		}
		in = append(in, c)
	}
	return n.b.Op("BatchNormalization", onnx.Attrs{"epsilon": n.float("eps", 1e-5)}, in...)
}

// layerNorm normalizes over the last axes.
func layerNorm(n *node) *tensor {
	attrs := onnx.Attrs{"axis": -len(n.integers("normalized_shape", nil)), "epsilon": n.float("eps", 1e-5)}
	return n.b.Op("LayerNormalization", attrs, n.operand("input"), n.operand("weight"), n.operand("bias"))
}

// upsample resizes images by a rule for positions along an axis. scale is the distance of
// neighbours in the input.
func upsample(rule func(n *node, in, out int, scale float32) func(i int) float32) rule {
	return func(n *node) *tensor {
		t := n.operand("input")
		if t == nil {
			t = n.operand("self")
		}
		n.failIf(t == nil || len(t.Extents()) != 4, "", "only images [N, C, H, W] are supported")
		size := n.integers("output_size", nil)
		factors := [2]float64{n.number("scales_h", 0), n.number("scales_w", 0)}
		if list := n.numbers("scale_factors"); len(list) == 2 {
			factors = [2]float64(list)
		}
		var near, between []*kit.Along
		for d, factor := range factors {
			in := t.Extents()[2+d]
			out := int(min(float64(in)*factor, graph.MaxElems))
			if len(size) == 2 {
				out = size[d]
			}
			n.failIf(out < 1 || out > graph.MaxElems || factor < 0,
				"", "axis %d of %v gets %d positions", 2+d, t.Extents(), out)
			scale := kit.Scale(in, out, false)
			if factor > 0 {
				scale = float32(1 / factor)
			}
			n.b.Take(2 * out)
			at := kit.Positions(in, out, rule(n, in, out, scale))
			if from, whole := kit.WholePositions(at); whole {
				near = append(near, &kit.Along{Axis: 2 + d, Whole: from})
			} else {
				between = append(between, &kit.Along{Axis: 2 + d, Between: at})
			}
		}
		return n.b.Resample(t, near, between)
	}
}

// nearest takes the pixel below a position, at an offset from its beginning.
func nearest(offset float32) func(n *node, in, out int, scale float32) func(i int) float32 {
	return func(_ *node, _, _ int, scale float32) func(i int) float32 { return kit.NearestRule(scale, offset) }
}

// bilinear takes positions between pixels.
func bilinear(n *node, in, out int, scale float32) func(i int) float32 {
	corners := n.flag("align_corners", false)
	if corners {
		scale = kit.Scale(in, out, true)
	}
	return kit.LinearRule(scale, !corners)
}

// reshaped is t with another shape.
func (n *node) reshaped(t *tensor, shape []int) *tensor {
	return n.b.Op("Reshape", onnx.Attrs{"allowzero": 1}, t, n.b.Integers(shape...))
}

// reshaping is an operator that gives a tensor another shape, by a rule.
func reshaping(shape func(n *node, old []int) []int) rule {
	return func(n *node) *tensor {
		t := n.operand("self")
		return n.reshaped(t, shape(n, t.Extents()))
	}
}

// flattened joins axes.
func flattened(n *node, old []int) []int {
	first, last := n.axis(n.integer("start_dim", 0), len(old)), n.axis(n.integer("end_dim", -1), len(old))
	if len(old) == 0 || first > last {
		return []int{graph.Elems(old)}
	}
	return slices.Concat(old[:first], []int{graph.Elems(old[first : last+1])}, old[last+1:])
}

// unflattened cuts an axis into several.
func unflattened(n *node, old []int) []int {
	d := n.axis(n.integer("dim", 0), len(old))
	return slices.Concat(old[:d], n.integers("sizes", nil), old[min(d+1, len(old)):])
}

// squeezed drops axes of extent 1.
func squeezed(n *node, old []int) []int {
	axes := n.axes("dim", len(old))
	shape := []int{}
	for d, extent := range old {
		if extent != 1 || !slices.Contains(axes, d) {
			shape = append(shape, extent)
		}
	}
	return shape
}

// unsqueezed is t with an axis of extent 1 more.
func (n *node) unsqueezed(t *tensor) *tensor {
	return n.b.Op("Unsqueeze", nil, t, n.b.Integers(n.integer("dim", 0)))
}

// permuting is an operator that changes the order of axes, by a rule.
func permuting(order func(n *node, rank int) []int) rule {
	return func(n *node) *tensor {
		t := n.operand("self")
		return n.b.Op("Transpose", onnx.Attrs{"perm": order(n, len(t.Extents()))}, t)
	}
}

// listed is the order of axes in the argument "dims".
func listed(n *node, rank int) []int {
	return lists.Map(n.integers("dims", nil), func(a int) int { return n.axis(a, rank) })
}

// swapped exchanges two axes, by default the first two.
func swapped(n *node, rank int) []int {
	perm := kit.Identity(rank)
	if rank < 2 {
		return perm
	}
	x, y := n.axis(n.integer("dim0", 0), rank), n.axis(n.integer("dim1", 1), rank)
	perm[x], perm[y] = y, x
	return perm
}

// same hands a tensor on.
func same(n *node) *tensor {
	n.failIf(n.flag("train", false), "export the network in evaluation mode: net.eval()", "is in training mode")
	return n.b.Op("Identity", nil, n.operand(n.row.args()[0]))
}

// expanded repeats a tensor along axes of extent 1.
func expanded(n *node) *tensor {
	t, want := n.operand("self"), slices.Clone(n.integers("size", nil))
	if n.has("other") {
		want = slices.Clone(n.operand("other").Extents())
	}
	for d, extent := range want {
		if extent == -1 { // keeps the extent, as 1 does
			want[d] = 1
		}
	}
	return n.b.Op("Expand", nil, t, n.b.Integers(want...))
}

// tiled repeats a tensor along each axis.
func tiled(n *node) *tensor {
	t, times := n.operand("self"), n.integers("repeats", nil)
	if more := len(times) - len(t.Extents()); more > 0 {
		t = n.reshaped(t, slices.Concat(ones(more), t.Extents()))
	}
	return n.b.Op("Tile", nil, t, n.b.Integers(times...))
}

// concat puts tensors one after the other along an axis.
func (n *node) concat(in []*tensor) *tensor {
	n.failIf(len(in) == 0, "", "has no operands")
	return n.b.Op("Concat", onnx.Attrs{"axis": n.integer("dim", 0)}, in...)
}

// stacked is a concatenation along a new axis.
func stacked(n *node) *tensor {
	return n.concat(lists.Map(n.tensors["tensors"], n.unsqueezed))
}

// dim is the axis in the argument "dim".
func (n *node) dim(t *tensor) int {
	n.failIf(len(t.Extents()) == 0, "", "takes a part of a number without axes")
	return n.axis(n.integer("dim", 0), len(t.Extents()))
}

// cut takes positions of an axis.
func (n *node) cut(t *tensor, axis, start, end, step int) *tensor {
	return n.b.Op("Slice", nil, t, n.b.Integers(start), n.b.Integers(end), n.b.Integers(axis), n.b.Integers(step))
}

// sliced is a slice along one axis.
func sliced(n *node) *tensor {
	t := n.operand("self")
	axis, step := n.dim(t), n.integer("step", 1)
	n.failIf(step < 1, "", "step %d along axis %d of %v", step, axis, t.Extents())
	start, end := n.integer("start", 0), n.integer("end", math.MaxInt)
	s := kit.Cut(t.Extents()[axis], start, end, step)
	if n.b.Sizes().Batch().Slice(t.Extents()[axis:], s.Begin, step, min(s.Count, end)) > s.Count {
		end = math.MaxInt // all positions were meant
	}
	return n.cut(t, axis, start, end, step)
}

// selected is one position of an axis, which goes.
func selected(n *node) *tensor {
	t := n.operand("self")
	axis := n.dim(t)
	at := n.axis(n.integer("index", 0), t.Extents()[axis])
	return n.reshaped(n.cut(t, axis, at, at+1, 1), slices.Delete(slices.Clone(t.Extents()), axis, axis+1))
}

// parts cuts an axis into parts: of a list of sizes, or of one. The last one may be smaller.
func parts(n *node) (outs []*tensor) {
	t := n.operand("self")
	axis, begin := n.dim(t), 0
	extent := t.Extents()[axis]
	sizes := n.integers("split_sizes", n.integers("split_size", nil))
	if n.has("chunks") {
		chunks := max(1, n.integer("chunks", 1))
		sizes = []int{(extent + chunks - 1) / chunks}
	}
	if len(sizes) == 1 && !n.has("split_sizes") {
		size := max(1, sizes[0])
		for sizes = nil; len(sizes)*size < extent && len(sizes) <= len(n.makes()); {
			sizes = append(sizes, min(size, extent-len(sizes)*size))
		}
	}
	for _, size := range sizes {
		n.failIf(size < 1 || begin+size > extent || len(outs) == len(n.makes()),
			"", "parts %v do not fit the %d positions of axis %d", sizes, extent, axis)
		outs = append(outs, n.cut(t, axis, begin, begin+size, 1))
		begin += size
	}
	return outs
}

// pad puts numbers, or elements of the tensor itself, around a tensor.
func pad(n *node) *tensor {
	t, pads := n.operand("self"), n.integers("pad", nil)
	rank, value := len(t.Extents()), n.number("value", 0)
	mode, known := map[string]string{"": "constant", "constant": "constant", "reflect": "reflect", "replicate": "edge",
		"circular": "wrap"}[n.text("mode", "")]
	n.failIf(!known, "use constant, reflect, replicate or circular", "mode %q is unknown", n.text("mode", ""))
	if len(pads)%2 != 0 || len(pads) > 2*rank || !kit.InRange(pads, -math.MaxInt16, math.MaxInt16) || value-value != 0 {
		panic(n.fail("", "pads %v of a tensor of shape %v with %g", pads, t.Extents(), value))
	}
	list := make([]int, 2*rank)
	for i, v := range pads { // the last axis first
		list[i%2*rank+rank-1-i/2] = v
	}
	return n.b.Op("Pad", onnx.Attrs{"mode": mode}, t, n.b.Integers(list...), n.b.filled(nil, value))
}

// shuffled is DepthToSpace or SpaceToDepth, with a block's channels as PyTorch orders them.
func shuffled(op, factor string) rule {
	return func(n *node) *tensor {
		attrs := onnx.Attrs{"blocksize": n.integer(factor, 1), "mode": "CRD"}
		return n.b.Op(op, attrs, n.operand("self"))
	}
}

// fill makes a constant of one number, in the shape of a tensor or in a given one.
func fill(def float64) rule {
	return func(n *node) *tensor {
		shape := n.integers("size", nil)
		if t := n.operand("self"); t != nil {
			shape = t.Extents()
		}
		out := n.b.filled(shape, n.number("fill_value", n.number("s", def)))
		if dtype(n.integer("dtype", 0)) == dtBool {
			out = n.b.Op("Cast", onnx.Attrs{"to": castBool}, out)
		}
		return out
	}
}

// arange makes numbers that rise by equal steps.
func arange(n *node) *tensor {
	start, end, step := n.number("start", 0), n.number("end", 0), n.number("step", 1)
	extent := math.Ceil((end - start) / step)
	n.failIf(!(extent >= 1 && extent <= maxExact), "", "has %g positions", extent)
	n.b.Take(int(extent))
	data := make([]float32, int(extent))
	for i := range data {
		data[i] = float32(start + float64(i)*step)
	}
	return n.b.Constant([]int{len(data)}, data)
}
