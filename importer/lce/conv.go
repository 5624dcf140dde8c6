package lce

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	"ripc/importer/lce/internal/flatbuf"
)

// Numbers of the schema's union BuiltinOptions.
const (
	optConv         = 1
	optDepthwise    = 2
	optPool         = 5
	optFull         = 8
	optSoftmax      = 9
	optConcat       = 10
	optAdd          = 11
	optMul          = 21
	optReducer      = 27
	optSub          = 28
	optDiv          = 29
	optStridedSlice = 32
	optLeakyRelu    = 75

	optSpaceToDepth  = 19
	optGather        = 23
	optTransposeConv = 49
	optPack          = 59
	optUnpack        = 64
	optResizeNearest = 74
	optDepthToSpace  = 94
	optBatchMatMul   = 101

	optResizeBilinear = 15
	optMirrorPad      = 77
	optGelu           = 116
)

// builtin gives the operator's options. A file may leave out options with default values.
func (b *builder) builtin(kind int) flatbuf.Table {
	if k := b.op.optionType; k != kind && k != 0 {
		panic(faultf("the file is damaged", "has options of kind %d, want %d", k, kind))
	}
	return b.op.options
}

// unary gives the operator's options and input 0, a tensor of floats.
func (b *builder) unary(kind int) (t flatbuf.Table, x *graph.Value) {
	t = b.builtin(kind)
	x = b.floatInput(0)
	return t, x
}

// window reads padding and strides (width first) of a convolution or a pool from fields 0 to 2.
func window(t flatbuf.Table) (pad graph.Padding, strides [2]int) {
	pad.Mode = padMode(t.Int8(0, 0))
	return pad, [2]int{t.Int32(2, 0), t.Int32(1, 0)}
}

// conv is CONV_2D: filters [O, KH, KW, I/groups].
func conv(b *builder) *graph.Value {
	t := b.builtin(optConv)
	b.requireInputs(2)
	s := b.input(1).shape
	failIf(len(s) != 4, "", "its filter has shape %v, want [O, H, W, I]", s)
	a := b.convAttrs(t, 3, s[3], func(channels int) int { return channels / s[3] })
	y := b.integerConv(a, 0, t.Int8(3, 0), func(w graph.Numbers) *graph.Tensor {
		return &graph.Tensor{Shape: []int{s[1], s[2], s[3], s[0]}, Data: w.Transposed(s[0], s[1]*s[2]*s[3])}
	})
	if y != nil {
		return y
	}
	return b.floatConv(a, b.floatFilters(), t.Int8(3, 0))
}

// floatFilters are input 1, [O, KH, KW, I], as [KH, KW, I, O].
func (b *builder) floatFilters() *graph.Tensor {
	return b.weights(1, "conv", func() *graph.Tensor {
		data := b.constants(1, "filter")
		s := b.input(1).shape
		failIf(len(s) != 4, "", "its filter has shape %v, want [O, H, W, I]", s)
		taps := s[1] * s[2] * s[3]
		b.take(data.Len())
		return &graph.Tensor{Shape: []int{s[1], s[2], s[3], s[0]}, Data: data.Transposed(s[0], taps)}
	})
}

// depthwise is DEPTHWISE_CONV_2D: filters [1, KH, KW, C * multiplier]; output c*multiplier+m reads
// channel c.
func depthwise(b *builder) *graph.Value {
	t := b.builtin(optDepthwise)
	b.requireInputs(2)
	s := b.input(1).shape
	failIf(len(s) != 4 || s[0] != 1, "", "its filter has shape %v, want [1, H, W, C * multiplier]", s)
	a := b.convAttrs(t, 4, 1, func(channels int) int { return channels })
	y := b.integerConv(a, 3, t.Int8(4, 0), func(w graph.Numbers) *graph.Tensor {
		// A copy: the file's memory is freed.
		return &graph.Tensor{Shape: []int{s[1], s[2], 1, s[3]}, Data: w.Transposed(1, w.Len())}
	})
	if y != nil {
		return y
	}
	w := b.weights(1, "depthwise", func() *graph.Tensor {
		return &graph.Tensor{Shape: []int{s[1], s[2], 1, s[3]}, Data: graph.NumbersOf(b.numbers(1, "filter"))}
	})
	return b.floatConv(a, w, t.Int8(4, 0))
}

// convAttrs are the attributes of a convolution of input 0 with filters over channels channels.
// Field act of the options is the activation, and the next two are the dilations.
func (b *builder) convAttrs(t flatbuf.Table, act, channels int, groups func(channels int) int) *graph.Conv2DAttrs {
	a := &graph.Conv2DAttrs{Dilations: [2]int{t.Int32(act+2, 1), t.Int32(act+1, 1)}}
	a.Pad, a.Strides = window(t)
	failIf(!kit.InRange(a.Dilations[:], 1, graph.MaxElems), "", "dilations %v: want positive numbers", a.Dilations)
	c := b.channels(0)
	a.Groups = groups(c)
	failIf(channels < 1 || a.Groups < 1 || c%a.Groups != 0 || c/a.Groups != channels,
		"", "its filter reads %d channels, the input has %d", channels, c)
	if a.Groups == 1 {
		a.Groups = 0
	}
	return a
}

// channels is the last extent of input k, 0 if it has none.
func (b *builder) channels(k int) int {
	shape := b.input(k).shape
	if v := b.values[b.op.inputs[k]]; v != nil {
		shape = v.Shape
	}
	if len(shape) == 0 {
		return 0
	}
	return shape[len(shape)-1]
}

// floatConv makes a convolution of input 0 with w, input 2 being the bias, and act the activation.
func (b *builder) floatConv(a *graph.Conv2DAttrs, w *graph.Tensor, act int) *graph.Value {
	x := b.floatInput(0)
	return b.activation(b.add("conv2d", a, b.withBias(w, 2), x), act)
}

// fullyConnected is FULLY_CONNECTED: weights [O, I]; the input is taken as rows of I numbers.
func fullyConnected(b *builder) *graph.Value {
	t := b.builtin(optFull)
	b.requireInputs(2)
	if f := t.Int8(1, 0); f != 0 {
		panic(faultf("", "weights_format %d, want 0 (DEFAULT)", f))
	}
	s := b.input(1).shape
	failIf(len(s) != 2 || s[1] < 1, "", "its weights have shape %v, want [O, I]", s)
	if y := b.integerProduct(s, t.Int8(0, 0)); y != nil {
		return y
	}
	w := b.weights(1, "full", func() *graph.Tensor {
		data := b.constants(1, "weights")
		b.take(data.Len())
		return &graph.Tensor{Shape: []int{s[1], s[0]}, Data: data.Transposed(s[0], s[1])}
	})
	x := b.floatInput(0)
	n := elems(x.Shape)
	failIf(n%w.Shape[0] != 0, "", "its weights read %d numbers, the input has shape %v", w.Shape[0], x.Shape)
	x = b.reshape(x, []int{n / w.Shape[0], w.Shape[0]})
	return b.likeOutput(b.activation(b.add("dense", &graph.DenseAttrs{}, b.withBias(w, 2), x), t.Int8(0, 0)))
}

// reshape makes a node unless x has that shape already.
func (b *builder) reshape(x *graph.Value, shape []int) *graph.Value {
	shape = b.sizes.Batch().Reshape(x.Shape, shape)
	if slices.Equal(x.Shape, shape) {
		return x
	}
	if got := x.Shape; elems(got) != elems(shape) {
		panic(faultf("", "shape %v has other elements than the input's %v", shape, got))
	}
	return b.add("reshape", &graph.ReshapeAttrs{Shape: slices.Clone(shape)}, nil, x)
}

// likeOutput gives y the shape that the file says, which has the same elements.
func (b *builder) likeOutput(y *graph.Value) *graph.Value {
	return b.reshape(y, b.outputShape(y.Shape))
}

// activation appends the schema's ActivationFunctionType.
func (b *builder) activation(y *graph.Value, act int) *graph.Value {
	switch act {
	case 0:
		return y
	case 1:
		return b.add("relu", &graph.NoAttrs{}, nil, y)
	case 2:
		return b.add("hard_tanh", &graph.NoAttrs{}, nil, y)
	case 3:
		return b.add("relu6", &graph.NoAttrs{}, nil, y)
	}
	name := fmt.Sprint(act)
	if act == 4 {
		name = "TANH"
	} else if act == 5 {
		name = "SIGN_BIT"
	}
	panic(faultf("NONE, RELU, RELU_N1_TO_1 and RELU6 are supported", "fused activation %s is not supported", name))
}

// pool is MAX_POOL_2D or AVERAGE_POOL_2D, which counts only positions inside the image.
func pool(op string) func(*builder) *graph.Value {
	return func(b *builder) *graph.Value {
		t := b.builtin(optPool)
		a := &graph.PoolAttrs{Kernel: [2]int{t.Int32(4, 0), t.Int32(3, 0)}}
		a.Pad, a.Strides = window(t)
		if op == "avg_pool" {
			if y := b.integerPool(a, t.Int8(5, 0)); y != nil {
				return y
			}
		}
		return b.activation(b.add(op, a, nil, b.floatInput(0)), t.Int8(5, 0))
	}
}

// reduce is MEAN, SUM or REDUCE_MAX over any axes, such as the rows and columns of an image or the
// steps of a sequence: a pool over an image that has them as rows.
func reduce(op string) func(*builder) *graph.Value {
	return func(b *builder) *graph.Value { return b.reduceAxes(op, b.floatInput(0)) }
}

// reduceAxes returns x, which takes the place of input 0, reduced by op over the operator's axes.
// Sums are means times the number of elements.
func (b *builder) reduceAxes(op string, x *graph.Value) *graph.Value {
	b.builtin(optReducer)
	axes := b.ints(1, "axes")
	for i, a := range axes {
		axes[i] = axisOf(a, len(x.Shape))
	}
	slices.Sort(axes)
	if axes = slices.Compact(axes); len(axes) == 0 {
		return b.likeOutput(x)
	}
	perm, from := groupAxes(axes, len(x.Shape))
	sum := b.op.op == "SUM"
	if op == "global_avg_pool" {
		if y := b.integerMean(perm, from, len(axes), sum); y != nil {
			return b.likeOutput(y)
		}
	}
	count := graph.Elems(x.Shape)
	x = b.Reduce(b.Transpose(x, perm), from, len(axes), op == "global_avg_pool")
	if sum {
		x = b.Number("mul", x, float32(count/graph.Elems(x.Shape)))
	}
	return b.likeOutput(x) // with keep_dims, axes of extent 1 are left
}

// groupAxes returns an order of the axes of a tensor that makes some axes neighbours, the first of
// them at from. axes is sorted. The axes behind the last of them stay at the end.
func groupAxes(axes []int, rank int) (perm []int, from int) {
	last := axes[len(axes)-1]
	for d := range last {
		if !slices.Contains(axes, d) {
			perm = append(perm, d)
		}
	}
	from = len(perm)
	perm = append(perm, axes...)
	for d := last + 1; d < rank; d++ {
		perm = append(perm, d)
	}
	return perm, from
}
