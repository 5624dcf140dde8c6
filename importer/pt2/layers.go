package pt2

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// image returns a tensor argument as an image NHWC, and the number of its spatial axes in the file.
// [N, C, L] is an image of one row.
func (n *node) image(name string) (x *graph.Value, spatial int) {
	t := n.operand(name)
	if t == nil {
		panic(n.fail("", "argument %q is missing", name))
	}
	switch len(t.Shape) {
	case 4:
		return n.b.StoreView(t.View, kit.ImageAxes()), 2
	case 3:
		row := n.b.Reshaped(t.View, []int{t.Shape[0], t.Shape[1], 1, t.Shape[2]})
		return n.b.StoreView(row, kit.ImageAxes()), 1
	}
	panic(n.fail("only images [N, C, H, W] and sequences [N, C, L] are supported", "its input has shape %v", t.Shape))
}

// result returns an image NHWC as a tensor with the file's number of spatial axes.
func (n *node) result(v *graph.Value, spatial int) *tensor {
	t := kit.ImageView(v)
	if spatial == 1 {
		t = n.b.Reshaped(t, []int{t.Shape[0], t.Shape[1], t.Shape[3]})
	}
	return &tensor{View: t}
}

// window reads strides, padding and dilations of a kernel over an image of a number of spatial
// axes. Without a stride it is def.
func (n *node) window(kernel [2]int, spatial int, def [2]int) *kit.Window {
	w := &kit.Window{Kernel: kernel, Strides: def, Dilations: n.pair("dilation", spatial, 1, 1)}
	if len(n.integers("stride", nil)) > 0 {
		w.Strides = n.pair("stride", spatial, 1, 1)
	}
	switch n.text("padding") {
	case "same":
		for d := range 2 {
			w.Before[d] = (w.Extent(d) - 1) / 2
			w.After[d] = w.Extent(d) - 1 - w.Before[d]
		}
	case "valid":
	default:
		w.Before = n.pair("padding", spatial, 0, 0)
		w.After = w.Before
	}
	if min(kernel[0], kernel[1], w.Strides[0], w.Strides[1], w.Dilations[0], w.Dilations[1]) < 1 {
		panic(n.fail("", "kernel %v, strides %v and dilations %v: want positive numbers",
			kernel, w.Strides, w.Dilations))
	}
	return w
}

// bias adds the argument "bias" to the weights of a layer with a number of outputs.
func (n *node) bias(name string, weights map[string]*graph.Tensor, outputs int) {
	c := n.weight(name)
	if c == nil {
		return
	}
	if !slices.Equal(c.shape, []int{outputs}) {
		panic(n.fail("", "the bias has shape %v, want [%d]", c.shape, outputs))
	}
	weights["b"] = c.tensor()
}

// convolution is a convolution or a transposed one.
func convolution(transposed bool) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		x, spatial := n.image("input")
		w, groups := n.weight("weight"), n.integer("groups", 1)
		if len(w.shape) != 2+spatial {
			panic(n.fail("", "the weight has shape %v, want %d axes", w.shape, 2+spatial))
		}
		kernel := [2]int{1, w.shape[2]}
		if spatial == 2 {
			kernel[0], kernel[1] = w.shape[2], w.shape[3]
		}
		if n.flag("transposed", transposed) {
			return n.transposed(x, w, kernel, groups, spatial)
		}
		channels := x.Channels()
		if groups < 1 || len(w.data) == 0 ||
			w.shape[1] != channels/groups || channels%groups != 0 || w.shape[0]%groups != 0 {
			panic(n.misfit(groups, w, channels))
		}
		win := n.window(kernel, spatial, [2]int{1, 1})
		a := &graph.Conv2DAttrs{Strides: win.Strides, Dilations: win.LayerDilations()}
		if groups > 1 {
			a.Groups = groups
		}
		x = n.fit(x, win, 0)
		a.Pad = win.Padding()
		hwio := n.b.permuted(w.viewed([]int{w.shape[0], w.shape[1], kernel[0], kernel[1]}), []int{2, 3, 1, 0})
		weights := map[string]*graph.Tensor{"w": hwio.tensor()}
		n.bias("bias", weights, w.shape[0])
		return n.result(n.b.emit("conv2d", a, weights, x), spatial)
	})
}

// misfit is the error of weights for another number of input channels.
func (n *node) misfit(groups int, w *constant, channels int) error {
	return n.fail("", "%d groups of weight %v do not fit the %d channels of the input", groups, w.shape, channels)
}

// transposed emits a transposed convolution of weights [I, O/groups, KH, KW].
func (n *node) transposed(x *graph.Value, w *constant, kernel [2]int, groups, spatial int) *tensor {
	if groups < 1 || len(w.data) == 0 || w.shape[0] != x.Channels() || w.shape[0]%groups != 0 {
		panic(n.misfit(groups, w, x.Channels()))
	}
	in, out := w.shape[0]/groups, w.shape[1]
	hwio := n.b.permuted(w.viewed([]int{groups, in, out, kernel[0], kernel[1]}), []int{3, 4, 1, 0, 2})
	win := n.window(kernel, spatial, [2]int{1, 1})
	a := &graph.ConvTranspose2DAttrs{Strides: win.Strides, Pad: win.Padding(), Dilations: win.LayerDilations(),
		OutputPad: n.pair("output_padding", spatial, 0, 0)}
	if groups > 1 {
		a.Groups = groups
	}
	weights := map[string]*graph.Tensor{"w": hwio.viewed([]int{kernel[0], kernel[1], in, groups * out}).tensor()}
	n.bias("bias", weights, groups*out)
	return n.result(n.b.emit("conv_transpose2d", a, weights, x), spatial)
}

// fit pads the image where the padding of a window is as large as its kernel, which layers refuse.
func (n *node) fit(x *graph.Value, w *kit.Window, value float64) *graph.Value {
	before, after := w.TakeLargePadding()
	return n.b.Spatial(x, before, after, value)
}

// pool is max_pool or avg_pool.
func pool(op string) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		x, spatial := n.image("self")
		kernel := n.pair("kernel_size", spatial, 1, 1)
		w := n.window(kernel, spatial, kernel)
		switch {
		case w.Dilations != [2]int{1, 1}:
			panic(n.fail("", "dilations of a pool are not supported"))
		case n.has("divisor_override"):
			panic(n.fail("", "divisor_override is not supported"))
		case 2*w.Before[0] > kernel[0] || 2*w.Before[1] > kernel[1]:
			panic(n.fail("", "padding %v is more than half of kernel %v", w.Before, kernel))
		}
		padded := w.After
		if n.flag("ceil_mode", false) { // the last window may reach over the end
			for d := range 2 {
				size := x.Shape[1+d] + w.Before[d]
				steps := (size + w.After[d] - kernel[d] + w.Strides[d] - 1) / w.Strides[d]
				if steps*w.Strides[d] >= size {
					steps--
				}
				w.After[d] = max(w.After[d], steps*w.Strides[d]+kernel[d]-size)
			}
		}
		if op == "avg_pool" && n.flag("count_include_pad", true) { // zeros that count are part of the image
			x = n.b.Spatial(x, w.Before, padded, 0)
			w.Before, w.After = [2]int{}, [2]int{w.After[0] - padded[0], w.After[1] - padded[1]}
		}
		attrs := &graph.PoolAttrs{Kernel: kernel, Strides: w.Strides, Pad: w.Padding()}
		return n.result(n.b.emit(op, attrs, nil, x), spatial)
	})
}

// adaptive is a pool with windows that give an image of an asked size.
func adaptive(op string) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		t := n.operand("self")
		x, spatial := n.image("self")
		size := n.pair("output_size", spatial, 1, 1)
		if size == [2]int{1, 1} {
			return n.b.reduce(t, kit.Identity(len(t.Shape))[2:], true, op == "avg_pool")
		}
		var kernel [2]int
		for d := range 2 {
			if size[d] < 1 || x.Shape[1+d]%size[d] != 0 {
				panic(n.fail("use a size that divides the image's",
					"an image of %v becomes one of %v, by windows of different extents", x.Shape[1:3], size))
			}
			kernel[d] = x.Shape[1+d] / size[d]
		}
		if kernel == [2]int{1, 1} {
			return t
		}
		attrs := &graph.PoolAttrs{Kernel: kernel, Strides: kernel, Pad: graph.Padding{Mode: graph.PadExplicit}}
		return n.result(n.b.emit(op, attrs, nil, x), spatial)
	})
}

// linear is input * weight' + bias.
func linear(n *node) *tensor {
	w := n.operand("weight")
	if w.konst != nil {
		w = &tensor{konst: n.transposedMatrix(w.konst)}
	} else {
		w = &tensor{View: w.Permuted([]int{1, 0})}
	}
	return n.multiplied(n.operand("input"), w, n.operand("bias"))
}

// transposedMatrix returns a constant matrix with its axes exchanged.
func (n *node) transposedMatrix(c *constant) *constant {
	if len(c.shape) != 2 {
		panic(n.fail("", "has a matrix of shape %v", c.shape))
	}
	return n.b.permuted(c, []int{1, 0})
}

// addmm is beta * self + alpha * mat1 * mat2.
func addmm(n *node) *tensor {
	if n.number("alpha", 1) != 1 || n.number("beta", 1) != 1 {
		panic(n.fail("", "factors alpha and beta are not supported"))
	}
	return n.multiplied(n.operand("mat1"), n.operand("mat2"), n.operand("self"))
}

// matmul is the product of two tensors.
func matmul(n *node) *tensor {
	y := n.operand("mat2")
	if n.has("other") {
		y = n.operand("other")
	}
	return n.multiplied(n.operand("self"), y, nil)
}

// multiplied is x * w + bias: a dense layer if w is a constant matrix.
func (n *node) multiplied(x, w, bias *tensor) *tensor {
	b := n.b
	if w.konst == nil || len(w.konst.shape) != 2 || x.konst != nil {
		y := n.product(x, w)
		if bias != nil {
			y = b.binary("add", y, bias)
		}
		return y
	}
	k, out := w.konst.shape[0], w.konst.shape[1]
	if len(x.Shape) < 1 || x.Shape[len(x.Shape)-1] != k || len(w.konst.data) == 0 {
		panic(n.fail("", "a tensor of shape %v times a matrix of shape %v", x.Shape, w.konst.shape))
	}
	weights := map[string]*graph.Tensor{}
	late := bias != nil && (bias.konst == nil || !slices.Equal(bias.konst.shape, []int{out}))
	if bias != nil && !late {
		weights["b"] = bias.konst.tensor()
	}
	dense := func(rows *graph.Value) *graph.Value { return b.emit("dense", &graph.DenseAttrs{}, weights, rows) }
	last := len(x.Shape) - 1
	var y *tensor
	if rows, columns := b.Columns(x.View); rows != nil { // memory holds the columns of a row in an order of its own
		weights["w"] = (&constant{w.konst.shape, kit.PermuteRows(w.konst.data, columns)}).tensor()
		y = &tensor{View: b.Reshaped(kit.ViewOf(dense(rows)), append(slices.Clone(x.Shape[:last]), out))}
	} else {
		weights["w"] = w.konst.tensor()
		axes := x.AxisLast(last)
		y = &tensor{View: kit.ViewIn(b.Rows(b.StoreView(x.View, axes), dense), axes)}
	}
	if late {
		y = b.binary("add", y, bias)
	}
	return y
}

// product is the product of two tensors. One may be constant.
func (n *node) product(x, y *tensor) *tensor {
	rank := max(len(x.extents()), len(y.extents()))
	if min(len(x.extents()), len(y.extents())) < 2 || rank > 4 {
		panic(n.fail("reshape them to matrices with at most two axes of batches",
			"a product of tensors of shapes %v and %v", x.extents(), y.extents()))
	}
	left, right := n.b.materialized(n.b.ranked(x, rank)), n.b.materialized(n.b.ranked(y, rank))
	return &tensor{View: kit.ViewOf(n.b.emit("matmul", &graph.NoAttrs{}, nil, left, right))}
}

// batchNorm takes the statistics of training as constants.
func batchNorm(n *node) *tensor {
	b, t := n.b, n.operand("input")
	if n.flag("training", false) || n.operand("running_mean") == nil || n.operand("running_var") == nil {
		panic(n.fail("export the network in evaluation mode: net.eval()", "takes statistics of the batch"))
	}
	if len(t.Shape) < 2 {
		panic(n.fail("", "its input has shape %v, want [N, C, ...]", t.Shape))
	}
	channels, in := t.Shape[1], []*tensor{t}
	for i, name := range []string{"weight", "bias", "running_mean", "running_var"} {
		c := n.weight(name)
		if c == nil {
			c = b.filled([]int{channels}, float64(1-i)).konst
		}
		if !slices.Equal(c.shape, []int{channels}) {
			panic(n.fail("", "%s has shape %v, want [%d]", name, c.shape, channels))
		}
		in = append(in, &tensor{konst: c.viewed(append([]int{channels}, slices.Repeat([]int{1}, len(t.Shape)-2)...))})
	}
	return b.each("batch_norm", &graph.BatchNormAttrs{Epsilon: float64(float32(n.number("eps", 1e-5)))}, in...)
}

// layerNorm normalizes over the last axes.
func layerNorm(n *node) *tensor {
	b, t := n.b, n.operand("input")
	axes := kit.Identity(len(t.Shape))[max(0, len(t.Shape)-len(n.integers("normalized_shape", nil))):]
	y := b.binary("sub", t, b.reduce(t, axes, true, true))
	variance := b.reduce(b.binary("mul", y, y), axes, true, true)
	root := b.pipe(b.with("add", variance, n.number("eps", 1e-5)), "sqrt")
	y = b.binary("mul", y, b.each("div", &graph.BinaryOpAttrs{}, number(1), root))
	for i, name := range []string{"weight", "bias"} {
		if c := n.operand(name); c != nil {
			y = b.binary([]string{"mul", "add"}[i], y, c)
		}
	}
	return y
}

// upsample resizes images.
func upsample(position func(i int, s scaling) float64) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		name := "input"
		if !n.has(name) {
			name = "self"
		}
		x, spatial := n.image(name)
		if spatial != 2 {
			panic(n.fail("", "only images [N, C, H, W] are supported"))
		}
		size := n.integers("output_size", nil)
		factors := [2]float64{n.number("scales_h", 0), n.number("scales_w", 0)}
		if a := n.args["scale_factors"]; a != nil && len(a.Floats) == 2 {
			factors = [2]float64{float64(a.Floats[0]), float64(a.Floats[1])}
		}
		factor, spans := [2]int{1, 1}, kit.WholeSpans(x.Shape)
		var along [2]*kit.Along
		for d := range 2 {
			s := scaling{in: x.Shape[1+d], corners: n.flag("align_corners", false), factor: factors[d]}
			if s.out = int(min(float64(s.in)*s.factor, graph.MaxElems)); len(size) == 2 {
				s.out = size[d]
			}
			if s.out < 1 || s.out > graph.MaxElems || s.factor < 0 {
				panic(n.fail("", "axis %d of %v gets %d positions", 1+d, x.Shape, s.out))
			}
			n.b.take(2 * s.out)
			at := make([]float32, s.out)
			for i := range at {
				at[i] = float32(min(max(0, position(i, s)), float64(s.in-1)))
			}
			from, whole := kit.WholePositions(at)
			if !whole {
				along[d] = kit.AlongAxis(1+d, s.in, at)
				continue
			}
			times, cut, listed := kit.Sample(s.in, from)
			switch {
			case listed:
				along[d] = kit.AlongPixels(1+d, s.in, from)
			case times > 1:
				factor[d] = times
			default:
				spans[1+d] = cut
			}
		}
		if x = n.b.Cut(x, spans); factor != [2]int{1, 1} {
			x = n.b.emit("resize", &graph.ResizeAttrs{Factor: factor}, nil, x)
		}
		return n.result(n.b.AtPixels(x, along[0], along[1]), spatial)
	})
}

// scaling is the change of an axis by upsample. factor is 0 if the program does not say it.
type scaling struct {
	in, out int
	corners bool
	factor  float64
}

// step is the distance of neighbours of the result in the input, in f32.
func (s scaling) step() float64 {
	if s.factor > 0 {
		return float64(float32(1 / s.factor))
	}
	return float64(float32(s.in) / float32(s.out))
}

// nearest is the position that position i of the result takes.
func nearest(i int, s scaling) float64 { return math.Floor(float64(float32(i) * float32(s.step()))) }

// nearestExact is nearest by the centers of pixels.
func nearestExact(i int, s scaling) float64 {
	return math.Floor(float64(float32((float64(i) + 0.5) * s.step())))
}

// bilinear is the position in the input, between pixels, of position i of the result.
func bilinear(i int, s scaling) float64 {
	switch {
	case s.corners && s.out > 1:
		return float64(float32(i) * (float32(s.in-1) / float32(s.out-1)))
	case s.corners:
		return 0
	}
	return float64(float32(s.step())*(float32(i)+0.5) - 0.5)
}
