package onnx

import (
	"cmp"
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// readWindow reads the attributes of a kernel over an image of shape [N, C, H, W]. The file has 1
// or 2 spatial axes; a single one is the columns'.
func (n *node) readWindow(kernel [2]int, shape []int, axes int) *kit.Window {
	w := &kit.Window{Kernel: kernel}
	w.Strides = n.pairAttr("strides", axes)
	w.Dilations = n.pairAttr("dilations", axes)
	auto := n.textAttr("auto_pad", "NOTSET")
	pads := n.intsAttr("pads")
	switch auto {
	case "NOTSET", "":
		if pads == nil {
			break
		}
		n.failIf(len(pads) != 2*axes || slices.Min(pads) < 0 || slices.Max(pads) > 1<<20,
			"give the padding before each spatial axis, then the padding after each",
			"pads %v: want %d numbers from 0", pads, 2*axes)
		w.Before, w.After = spatial(pads[:axes], 0), spatial(pads[axes:], 0)
	case "VALID":
	case "SAME_UPPER", "SAME_LOWER":
		for d := range 2 {
			w.Before[d], w.After[d] = graph.SamePadding(shape[2+d], w.Extent(d), w.Strides[d])
			if auto == "SAME_LOWER" {
				w.Before[d], w.After[d] = w.After[d], w.Before[d]
			}
		}
	default:
		panic(n.fail("re-export with explicit pads", "auto_pad %q is unknown", auto))
	}
	return w
}

// ceilWindow makes room for a last window that hangs over the end, as long as it begins inside the
// image or its first padding.
func ceilWindow(w *kit.Window, shape []int) {
	for d := range 2 {
		size, s := shape[2+d], w.Strides[d]
		over := size + w.Before[d] + w.After[d] - w.Extent(d)
		if over < 0 {
			continue
		}
		out := (over+s-1)/s + 1
		if (out-1)*s >= size+w.Before[d] {
			out--
		}
		w.After[d] = max(w.After[d], (out-1)*s+w.Extent(d)-size-w.Before[d])
	}
}

// spatial returns the file's numbers for 1 or 2 spatial axes as a pair for rows and columns. one
// stands for rows that the file does not have.
func spatial(v []int, one int) [2]int {
	if len(v) == 1 {
		return [2]int{one, v[0]}
	}
	return [2]int(v)
}

// image is t as an image, stored NHWC, and the number of its spatial axes in the file: [N, C, L] is
// an image of one row. Tensors of three spatial axes are refused.
func (b *builder) image(t *tensor) (image *tensor, axes int) {
	switch len(t.shape) {
	case 4:
	case 3:
		t = b.store(t, t.last(1))
		t = b.reshape(t, []int{t.shape[0], t.shape[1], 1, t.shape[2]})
		axes = 1
	default:
		panic(b.n.fail("only tensors of one or two spatial axes are supported",
			"input has shape %v, want [N, C, H, W] or [N, C, L]", t.shape))
	}
	image = b.store(t, nhwc())
	return image, cmp.Or(axes, 2)
}

// fromImage is the image t, [N, C, H, W], with 1 or 2 spatial axes.
func (b *builder) fromImage(t *tensor, axes int) *tensor {
	if axes == 2 {
		return t
	}
	return b.reshape(t, []int{t.shape[0], t.shape[1], t.shape[3]})
}

// fit pads the image where the window's padding is as large as the kernel, which conv2d and the
// pools refuse.
func (b *builder) fit(t *tensor, w *kit.Window, value float64) *tensor {
	before, after := w.TakeLargePadding()
	return b.padImage(t, before, after, value)
}

// padImage puts rows and columns around an image stored NHWC.
func (b *builder) padImage(t *tensor, before, after [2]int, value float64) *tensor {
	if before == [2]int{} && after == [2]int{} {
		return t
	}
	v := b.Spatial(t.value, before, after, value)
	shape := []int{t.shape[0], t.shape[1], t.shape[2] + before[0] + after[0], t.shape[3] + before[1] + after[1]}
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers, truth: t.truth}
}

// ofImage is the tensor of an NHWC value.
func ofImage(v *graph.Value) *tensor {
	return &tensor{shape: []int{v.Shape[0], v.Shape[3], v.Shape[1], v.Shape[2]}, value: v, perm: nhwc()}
}

// filters reads the weight of a convolution over the image in input 0, and how many rows and
// columns it has.
func (n *node) filters() (x *tensor, axes int, w *array, kernel [2]int) {
	w = n.konst(1, "weight")
	x, axes = n.b.image(n.in[0])
	n.failIf(len(w.shape) != 2+axes,
		"", "weight has shape %v, want as many axes as the input %v", w.shape, n.in[0].shape)
	if given := n.intsAttr("kernel_shape"); given != nil && !slices.Equal(given, w.shape[2:]) {
		panic(n.fail("", "kernel_shape %v, but the weight has shape %v", given, w.shape))
	}
	return x, axes, w, spatial(w.shape[2:], 1)
}

// withBias adds input 2, if there is one, to the weights of a layer with outs outputs.
func (n *node) withBias(weights map[string]*graph.Tensor, outs int) {
	bias := n.konst(2, "bias")
	if bias == nil {
		return
	}
	n.failIf(!slices.Equal(bias.shape, []int{outs}), "", "bias has shape %v, want [%d]", bias.shape, outs)
	weights["b"] = &graph.Tensor{Shape: bias.shape, Data: graph.NumbersOf(slices.Clone(bias.floats()))}
}

// convolution reads the image in input 0, the attributes, and the weights in input 1 as [KH, KW,
// I/groups, O]. axes is the number of spatial axes in the file.
func (n *node) convolution() (x *tensor, a *graph.Conv2DAttrs, hwio *array, axes int) {
	b := n.b
	x, axes, w, kernel := n.filters()
	w = w.view([]int{w.shape[0], w.shape[1], kernel[0], kernel[1]})
	win := n.readWindow(kernel, x.shape, axes)
	groups := n.intAttr("group", 1)
	if groups < 1 || min(kernel[0], kernel[1], w.shape[0], w.shape[1]) < 1 || groups > x.shape[1] ||
		w.shape[1]*groups != x.shape[1] {
		panic(n.fail("", "%d groups of weight %v do not fit the %d channels of the input", groups, w.shape, x.shape[1]))
	}
	hwio = b.mem.permute(w, []int{2, 3, 1, 0})
	x = b.fit(x, win, 0)
	a = &graph.Conv2DAttrs{Strides: win.Strides, Pad: win.Padding(), Dilations: win.LayerDilations()}
	if groups > 1 {
		a.Groups = groups
	}
	return x, a, hwio, axes
}

// lowerConv makes conv2d with weights [KH, KW, I/groups, O].
func lowerConv(n *node) *tensor {
	b := n.b
	x, a, hwio, axes := n.convolution()
	weights := map[string]*graph.Tensor{"w": {Shape: hwio.shape, Data: hwio.numbers()}}
	n.withBias(weights, hwio.shape[3])
	v := b.emit("conv2d", a, weights, x.value)
	if w := n.weightsOf(1, 0); w != nil {
		b.sumsOf(v, &scaled{n: n, x: x.value, w: w, ints: hwio.levels.ints, bias: weights["b"], biasOf: n.scaledBias(2),
			factor: 1,
			emit: func(i *graph.IntegerAttrs, weights map[string]*graph.Tensor, x *graph.Value) *graph.Value {
				c := *a
				c.Integer = i
				return b.emit("int_conv2d", &c, weights, x)
			}})
	}
	return b.fromImage(ofImage(v), axes)
}

// lowerConvTranspose makes conv_transpose2d of weights [I, O/groups, KH, KW].
func lowerConvTranspose(n *node) *tensor {
	b := n.b
	x, axes, w, kernel := n.filters()
	groups := n.intAttr("group", 1)
	if groups < 1 || min(kernel[0], kernel[1], w.shape[0], w.shape[1]) < 1 || w.shape[0] != x.shape[1] ||
		w.shape[0]%groups != 0 {
		panic(n.fail("", "%d groups of weight %v do not fit the %d channels of the input", groups, w.shape, x.shape[1]))
	}
	in, out := w.shape[0]/groups, w.shape[1]
	hwio := b.mem.permute(w.view([]int{groups, in, out, kernel[0], kernel[1]}), []int{3, 4, 1, 0, 2})
	shape := []int{kernel[0], kernel[1], in, groups * out}
	weights := map[string]*graph.Tensor{"w": {Shape: shape, Data: hwio.numbers()}}
	n.withBias(weights, groups*out)
	a := n.transposedWindow(kernel, x.shape, axes)
	if groups > 1 {
		a.Groups = groups
	}
	return b.fromImage(ofImage(b.emit("conv_transpose2d", a, weights, x.value)), axes)
}

// transposedWindow reads strides, dilations and padding of a transposed convolution of an image of
// shape [N, C, H, W]. Padding cuts off rows and columns of the result.
func (n *node) transposedWindow(kernel [2]int, shape []int, axes int) *graph.ConvTranspose2DAttrs {
	auto := n.textAttr("auto_pad", "NOTSET")
	if auto == "SAME_UPPER" || auto == "SAME_LOWER" {
		delete(n.attrs, "pads") // as they are found here
		n.attrs["auto_pad"] = nil
	}
	w := n.readWindow(kernel, shape, axes)
	var lists [2][]int
	for i, name := range []string{"output_padding", "output_shape"} {
		v := n.intsAttr(name)
		if name == "output_shape" && len(v) == 2+axes { // some write all of the shape
			v = v[2:]
		}
		n.failIf(v != nil && (len(v) != axes || slices.Min(v) < 0 || slices.Max(v) > graph.MaxElems),
			"", "attribute %q is %v, want a number for each of %d spatial axes", name, v, axes)
		lists[i] = v
	}
	a := &graph.ConvTranspose2DAttrs{Strides: w.Strides, Pad: w.Padding(), Dilations: w.LayerDilations()}
	if lists[0] != nil {
		a.OutputPad = spatial(lists[0], 0)
	}
	want := [2]int{shape[2] * w.Strides[0], shape[3] * w.Strides[1]}
	switch {
	case lists[1] != nil:
		want = spatial(lists[1], shape[2])
	case auto != "SAME_UPPER" && auto != "SAME_LOWER":
		return a
	}
	for d := range 2 {
		total := (shape[2+d]-1)*w.Strides[d] + w.Extent(d) + a.OutputPad[d] - want[d]
		if total < 0 {
			a.OutputPad[d], total = a.OutputPad[d]-total, 0
		}
		w.Before[d], w.After[d] = total-total/2, total/2
		if auto == "SAME_UPPER" {
			w.Before[d], w.After[d] = w.After[d], w.Before[d]
		}
	}
	a.Pad = w.Padding()
	return a
}

// lowerPool makes max_pool and avg_pool.
func lowerPool(op string) func(n *node) *tensor {
	return func(n *node) *tensor {
		return n.pool(op, false,
			func(a *graph.PoolAttrs, x *graph.Value) *graph.Value { return n.b.emit(op, a, nil, x) })
	}
}

// pool reads max_pool or avg_pool of input 0, and emit makes the node. If over is set, means over
// zeros also count the positions that ceil_mode adds behind the image. ONNX does not count them,
// onnxruntime's QLinearAveragePool does.
func (n *node) pool(op string, over bool, emit func(a *graph.PoolAttrs, x *graph.Value) *graph.Value) *tensor {
	b := n.b
	x, axes := b.image(n.in[0])
	padded := n.in[0].margin // the image has these rows and columns in the file, and not here
	n.failIf(!n.has("kernel_shape"), "", "attribute \"kernel_shape\" is missing")
	w := n.readWindow(n.pairAttr("kernel_shape", axes), x.shape, axes)
	n.failIf(w.Dilations != [2]int{1, 1}, "", "dilations %v of a pool are not supported", w.Dilations)
	ceil := n.intAttr("ceil_mode", 0)
	after := w.After
	if ceil != 0 {
		ceilWindow(w, x.shape)
	}
	if padded != nil {
		x = &tensor{shape: ofImage(x.value).shape, value: x.value, perm: x.perm, integers: x.integers}
		for d := range 2 {
			w.Before[d] += padded.before[d]
			w.After[d] += padded.after[d]
		}
	}
	fill := math.Inf(-1)
	if op == "avg_pool" {
		count := n.intAttr("count_include_pad", 0)
		if count != 0 { // zeros that count are part of the image
			if over {
				after = w.After
			}
			x = b.padImage(x, w.Before, after, 0)
			w.Before, w.After = [2]int{}, [2]int{w.After[0] - after[0], w.After[1] - after[1]}
		}
	}
	for d := range 2 {
		n.pixelsInAll(w, d, x.shape[2+d], axes)
	}
	x = b.fit(x, w, fill)
	y := ofImage(emit(&graph.PoolAttrs{Kernel: w.Kernel, Strides: w.Strides, Pad: w.Padding()}, x.value))
	y.integers = x.integers
	return b.fromImage(y, axes)
}

// pixelsInAll fails if a window along spatial axis d lies in the padding alone. The image has count
// pixels there. Padding behind the last window is removed if it is as long as the kernel.
func (n *node) pixelsInAll(w *kit.Window, d, count, axes int) {
	kernel, stride := w.Kernel[d], w.Strides[d]
	last := (count + w.Before[d] + w.After[d] - kernel) / stride
	empty := func(i int) {
		from, along := i*stride-w.Before[d], []string{"rows", "columns"}[d]
		if axes == 1 {
			along = "positions"
		}
		panic(n.fail("pad by less than the kernel's extent",
			"window %d of %d along the %s lies in the padding alone, from %d to %d of 0 to %d",
			i, last+1, along, from, from+kernel-1, count-1))
	}
	switch {
	case w.Before[d] >= kernel:
		empty(0)
		return
	case last*stride-w.Before[d] >= count:
		empty(last)
		return
	case w.After[d] < kernel:
		return
	}
	w.After[d] = min(w.After[d], max(0, last*stride-w.Before[d]+kernel-count))
}

// lowerQLinearAveragePool takes means of windows. Inputs: x, its scale and zero point, those of y.
func lowerQLinearAveragePool(n *node) *tensor {
	xq, yq := n.paramsOfOne()
	n.integerLevels(0, n.in[0], xq)
	if v := n.intAttr("channels_last", 0); v != 0 {
		panic(n.fail("channels_last 0 is", "channels_last is not supported"))
	}
	y := n.selectInputs(0).pool("avg_pool", true, func(a *graph.PoolAttrs, x *graph.Value) *graph.Value {
		x = n.b.behind.Of(x)
		n.failIf(x == nil, "put DequantizeLinear before AveragePool, and QuantizeLinear behind it",
			"its windows cannot be read as integers")
		return n.b.intPool(a, x, yq)
	})
	return n.b.result(y, yq)
}

// intPool emits means of windows of levels x, as levels of q.
func (b *builder) intPool(a *graph.PoolAttrs, x *graph.Value, q *quantParams) *graph.Value {
	return b.emit("int_avg_pool", &graph.IntPoolAttrs{PoolAttrs: *a, LevelType: q.levelType()}, nil, x)
}
