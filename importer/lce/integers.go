package lce

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/kit"
	"ripc/internal/f32"
	"ripc/internal/lists"
	"ripc/internal/stop"
)

// Operators with inputs, weights and results of 8-bit integers are integer layers. They compute as
// the reference kernels of TFLite do.

// eightBits reports whether a tensor of the file has elements of 8 bits.
func eightBits(t *tensor) bool { return t != nil && (t.typ == typeI8 || t.typ == typeU8) }

// ofIntegers reports whether inputs 0 to n-1 and the result are integers of one type of 8 bits.
func (b *builder) ofIntegers(n int) bool {
	out := &b.file.tensors[b.op.outputs[0]]
	for k := range n {
		if t := b.input(k); t == nil || t.typ != out.typ || b.isConstant(k) {
			return false
		}
	}
	return eightBits(out)
}

// integers are the levels of input k.
func (b *builder) integers(k int) *graph.Value {
	v := b.values[b.op.inputs[k]]
	failIf(v == nil, "", "input %q is made by no operator", b.input(k).name)
	if v.Encoded() {
		return v
	}
	panic(faultf("", "input %q holds no integers", b.input(k).name))
}

// result is the type of the operator's result, and the levels between which a fused activation
// leaves it.
func (b *builder) result(act int) (t scalar.LevelType, low, high int) {
	v := &graph.Value{}
	levelsOf(&b.file.tensors[b.op.outputs[0]], v)
	t = v.LevelType
	level := func(x float64) int { // of a real number, clipped
		return int(max(0, min(float64(t.Zero)+math.Round(float64(float32(x)/float32(t.Scale))), float64(t.Top()))))
	}
	switch low, high = 0, t.Top(); act {
	case 1:
		low = level(0)
	case 2:
		low, high = level(-1), level(1)
	case 3:
		low, high = level(0), level(6)
	default:
		b.activation(nil, act) // fails, but for none
	}
	return t, low, high
}

// intWeights are weights as the file has them: integers less their zero point, and the scale of
// each output channel.
type intWeights struct {
	ints   graph.Numbers
	scales []float32
	alone  bool // the file has one scale
}

// integerWeights reads input k, an 8-bit constant with scales along an axis; nil if it is none.
func (b *builder) integerWeights(k, axis int) *intWeights {
	t := b.input(k)
	if !eightBits(t) || t.data == nil || len(t.scales) == 0 || axis >= len(t.shape) {
		return nil
	}
	outs := t.shape[axis]
	if len(t.scales) != 1 && (len(t.scales) != outs || t.axis != axis) ||
		len(t.zeros) > 1 && len(t.zeros) != len(t.scales) {
		return nil
	}
	b.constant(k, "weights", typeI8, typeU8)
	for o, s := range t.scales {
		failIf(!(s >= 0) || math.IsInf(float64(s), 1),
			"", "its weights %q have the scale %g in place %d, want positive numbers", t.name, s, o)
	}
	for o, z := range t.zeros {
		failIf(!holds(t, z),
			"", "its weights %q have the zero point %d in place %d, which is no %s", t.name, z, o, typeName(t.typ))
	}
	b.take(t.elems + outs)
	inner := 1
	for _, n := range t.shape[axis+1:] {
		inner *= n
	}
	w := &intWeights{ints: graph.NumbersOf(t.data), scales: make([]float32, outs), alone: len(t.scales) == 1}
	if t.typ == typeI8 {
		w.ints = graph.NumbersOf(f32.Int8s(t.data))
	}
	less := func(i int, v float32) int {
		o, zero := i/inner%outs, int64(0)
		if len(t.zeros) > 0 {
			zero = t.zeros[min(o, len(t.zeros)-1)]
		}
		return int(int64(v) - zero)
	}
	if slices.ContainsFunc(t.zeros, func(z int64) bool { return z != 0 }) {
		w.ints = w.ints.Map(less)
	}
	for o := range w.scales {
		w.scales[o] = t.scales[min(o, len(t.scales)-1)]
	}
	return w
}

// integerBias adds input k, an integer for each of outs outputs, to the weights of a layer. ok is
// false if the bias has another form.
func (b *builder) integerBias(k, outs int, weights map[string]*graph.Tensor) (ok bool) {
	t := b.input(k)
	if t == nil {
		return true
	}
	if t.typ != typeI32 || t.data == nil || t.elems != outs {
		return false
	}
	b.constant(k, "bias", typeI32)
	bias := make([]int32, outs)
	for o := range bias {
		bias[o] = int32(t.integer(o))
	}
	weights["bias"] = kit.Vector(bias)
	return true
}

// product is the factor from sums of products of x and weights of scale w to levels of type y.
// single says that the two scales are multiplied in f32.
func product(x *graph.Value, w float32, y scalar.LevelType, single bool) graph.FixedPoint {
	p := x.Scale * float64(w)
	if single {
		p = float64(float32(x.Scale) * w)
	}
	return graph.FixedPointOf(p / y.Scale)
}

// integerLayer makes the integer layer of the operator at work. w are the weights in input 1, and
// filters holds them in the order of the op. Input 2 is the bias, act the fused activation. emit
// makes the node. The result is nil if the bias has no integers.
func (b *builder) integerLayer(w *intWeights, filters *graph.Tensor, act int, single bool,
	emit func(x *graph.Value, a *graph.IntegerAttrs, weights map[string]*graph.Tensor) *graph.Value) *graph.Value {
	x := b.integers(0)
	a := &graph.IntegerAttrs{Form: graph.FixedRequantization}
	a.LevelType, a.Low, a.High = b.result(act)
	weights := map[string]*graph.Tensor{"w": filters}
	if !b.integerBias(2, len(w.scales), weights) {
		return nil
	}
	by := lists.Map(w.scales, func(s float32) float64 { return product(x, s, a.LevelType, single).Real() })
	weights["multiplier"] = kit.Vector(by)
	return b.try(func() *graph.Value { return emit(x, a, weights) })
}

// try returns the value that emit makes, nil if emit fails, as it does where sums are too large. A
// remark on the operator says why then.
func (b *builder) try(emit func() *graph.Value) (y *graph.Value) {
	if err := stop.Try(func() { y = emit() }); err != nil {
		b.remark = fmt.Sprintf("not computed in integers: %v", err)
		return nil
	}
	return y
}

// integerConv is a convolution of integers, nil if it is none. The scales of its weights lie along
// an axis of input 1. order returns the weights as [KH, KW, I/groups, O].
func (b *builder) integerConv(a *graph.Conv2DAttrs, axis, act int,
	order func(w graph.Numbers) *graph.Tensor) *graph.Value {
	if !b.ofIntegers(1) {
		return nil
	}
	w := b.integerWeights(1, axis)
	if w == nil {
		return nil
	}
	return b.integerLayer(w, order(w.ints), act, b.input(0).typ == typeU8,
		func(x *graph.Value, i *graph.IntegerAttrs, weights map[string]*graph.Tensor) *graph.Value {
			c := *a
			c.Integer = i
			return b.add("int_conv2d", &c, weights, x)
		})
}

// integerOperands are the levels of inputs 0 and 1, with equal rank. One of them may be a constant.
// Both are nil if they or the result are no integers.
func (b *builder) integerOperands() (x, y *graph.Value) {
	out := &b.file.tensors[b.op.outputs[0]]
	var in [2]*graph.Value
	for k, other := range []int{1, 0} {
		t, o := b.input(k), b.input(other)
		switch {
		case t == nil || o == nil || t.typ != out.typ || o.typ != out.typ || !eightBits(out):
			return nil, nil
		case !b.isConstant(k):
			in[k] = b.integers(k)
		case b.isConstant(other) || len(t.shape) > len(o.shape):
			return nil, nil
		default:
			in[k] = b.constantIntegers(k, len(o.shape))
		}
	}
	if len(in[0].Shape) != len(in[1].Shape) {
		return nil, nil
	}
	return in[0], in[1]
}

// integerPair is ADD, SUB or MUL of integers; nil if it is none.
func (b *builder) integerPair(op string, act int) *graph.Value {
	x, y := b.integerOperands()
	if op == "div" || x == nil || y == nil {
		return nil
	}
	p := graph.IntPair{Form: graph.FixedRequantization}
	p.LevelType, p.Low, p.High = b.result(act)
	if op == "mul" {
		by := float32(x.Scale) * float32(y.Scale) / float32(p.Scale) // TFLite multiplies and divides in f32
		a := &graph.IntMulAttrs{IntPair: p, By: graph.FixedPointOf(float64(by)).Real()}
		return b.try(func() *graph.Value { return b.add("int_mul", a, nil, x, y) })
	}
	a := &graph.IntAddAttrs{IntPair: p, Sub: op == "sub"}
	twice := 2 * max(x.Scale, y.Scale)
	a.A, a.B = graph.FixedPointOf(x.Scale/twice).Real(), graph.FixedPointOf(y.Scale/twice).Real()
	a.C = graph.FixedPointOf(twice / ((1 << 20) * a.Scale)).Real()
	return b.try(func() *graph.Value { return b.add("int_add", a, nil, x, y) })
}

// integerParts are the operands of CONCATENATION of uint8, as levels of the result. Operands may
// have other scales. The result is nil for other types: TFLite has no such kernel for int8.
func (b *builder) integerParts() []*graph.Value {
	if out := &b.file.tensors[b.op.outputs[0]]; !b.ofIntegers(len(b.op.inputs)) || out.typ != typeU8 {
		return nil
	}
	t, _, _ := b.result(0)
	var parts []*graph.Value
	for k := range b.op.inputs {
		x := b.integers(k)
		if x.LevelType != t {
			x = b.add("int_map", rescale(x.LevelType, t), nil, x)
		}
		parts = append(parts, x)
	}
	return parts
}

// rescale has levels of type x as levels of type y, in f32 as TFLite computes them
// (ConcatenationWithScaling).
func rescale(x, y scalar.LevelType) *graph.IntMapAttrs {
	a := &graph.IntMapAttrs{LevelType: y, Table: make([]int, x.Top()+1)}
	scale := float32(float32(x.Scale) * (1 / float32(y.Scale)))
	bias := float32(-float32(x.Zero) * scale)
	for l := range a.Table {
		v := scalar.HalfAway.Eval(float32(float32(l)*scale) + bias)
		a.Table[l] = max(0, min(int(v)+y.Zero, y.Top()))
	}
	return a
}

// integerPool is AVERAGE_POOL_2D of integers; nil if it is none: without padding a convolution of
// each channel with weights of 1.
func (b *builder) integerPool(p *graph.PoolAttrs, act int) *graph.Value {
	in, out := b.input(0), &b.file.tensors[b.op.outputs[0]]
	if min(p.Strides[0], p.Strides[1]) < 1 || !b.ofIntegers(1) || len(in.shape) != 4 ||
		!slices.Equal(in.scales, out.scales) || !slices.Equal(in.zeros, out.zeros) {
		return nil
	}
	x := b.integers(0)
	count := p.Kernel[0] * p.Kernel[1]
	a := &graph.IntegerAttrs{Form: graph.MeanRequantization, Count: count}
	a.LevelType, a.Low, a.High = b.result(act)
	if p.Pad.Mode != graph.PadValid { // windows at borders have fewer pixels
		for d := range 2 {
			if before, after := graph.SamePadding(x.Shape[1+d], p.Kernel[d], p.Strides[d]); before+after > 0 {
				return b.paddedPool(p, x, act)
			}
		}
	}
	zero := float32(count * (x.Zero - graph.CallerZero(x.LevelType))) // the sum is one of the integers in the file
	weights := map[string]*graph.Tensor{"bias": kit.Vector(slices.Repeat([]float32{zero}, x.Channels()))}
	return b.eachChannel(x, p.Kernel, p.Strides, a, weights)
}

// paddedPool is integerPool for windows that lie partly in the padding. It takes the mean of the
// integers in f32 and rounds it as TFLite does. Halves among the quotients are exact in f32, and no
// other quotient becomes a half. The result holds the real numbers of the result's levels.
func (b *builder) paddedPool(p *graph.PoolAttrs, x *graph.Value, act int) *graph.Value {
	if p.Kernel[0]*p.Kernel[1] > maxExactWindow {
		return nil
	}
	return b.onIntegers(x, act, func(y *graph.Value) *graph.Value { return b.add("avg_pool", p, nil, y) })
}

// onIntegers lets f compute means of the integers of levels x in f32. It rounds them half away from
// zero, as integers of the file, and clips them to the range of the fused activation. It returns
// the real numbers of levels of x's type, or nil if x is too large.
func (b *builder) onIntegers(x *graph.Value, act int, f func(y *graph.Value) *graph.Value) *graph.Value {
	a, low, high := b.result(act)
	y := b.eachChannel(x, [2]int{1, 1}, [2]int{1, 1}, &graph.IntegerAttrs{}, map[string]*graph.Tensor{})
	if y == nil {
		return nil
	}
	y = f(y)
	zero := graph.CallerZero(a)
	shift := float32(a.Zero - zero) // the file's integers minus those
	y = b.add("round", &graph.RoundAttrs{Mode: scalar.HalfAway}, nil, b.Number("add", y, shift))
	y = b.add("clip", &graph.ClipAttrs{Min: float64(low - zero), Max: float64(high - zero)}, nil, y)
	return b.Number("mul", b.Number("sub", y, shift), float32(a.Scale))
}

// maxExactWindow is the largest window with exact means. Quotient and shift are below 2^8 and
// rounded by up to 2^-17 each, and the numbers nearest to a half are 2^-15 away from it.
const maxExactWindow = 1 << 14

// eachChannel adds up the windows of each channel of x.
func (b *builder) eachChannel(x *graph.Value, kernel, strides [2]int, a *graph.IntegerAttrs,
	weights map[string]*graph.Tensor) *graph.Value {
	c, taps := x.Channels(), kernel[0]*kernel[1]
	failIf(taps < 1 || taps > graph.MaxWeights/c, "", "kernel %v", kernel)
	b.take(taps * c)
	return b.try(func() *graph.Value { return b.EachChannel(x, kernel, strides, a, weights) })
}

// integerMean is the mean, or the sum, of integers over count axes, from axis first on, of input 0
// with its axes in the order perm; nil if it is none of integers.
func (b *builder) integerMean(perm []int, first, count int, sum bool) *graph.Value {
	if !b.ofIntegers(1) {
		return nil
	}
	x := b.integers(0)
	a := &graph.IntegerAttrs{Form: graph.FixedRequantization}
	a.LevelType, a.Low, a.High = b.result(0)
	levels := b.Transpose(x, perm)
	image := kit.ImageOf(levels.Shape, first, count)
	levels = b.reshape(levels, image)
	weights := map[string]*graph.Tensor{}
	if sum { // TFLite multiplies sums in f32
		a.Form = graph.FloatRequantization
		weights["multiplier"] = kit.One(float32(x.Scale) / float32(a.Scale))
	} else {
		by := graph.FixedPointOf(x.Scale / a.Scale)
		// TFLite divides the multiplier's integer by the number of elements, shifted as far to the
		// left as it goes.
		elements := int64(image[1] * image[2])
		shift := min(bits.Len64(uint64(elements))-1, 32, 31+by.Shift)
		if shift < 0 {
			return nil
		}
		by = graph.FixedPoint{Multiplier: int32(int64(by.Multiplier) << shift / elements), Shift: by.Shift - shift}
		a.Coarse = by.Multiplier < 1<<30
		weights["multiplier"] = kit.Vector([]float64{by.Real()})
	}
	y := b.eachChannel(levels, [2]int{image[1], image[2]}, [2]int{1, 1}, a, weights)
	if y == nil {
		return nil
	}
	return b.reshape(y, []int{image[0], image[3]})
}

// integerProduct is FULLY_CONNECTED of integers, with weights of shape [O, I]; nil if it is none.
func (b *builder) integerProduct(s []int, act int) *graph.Value {
	if !b.ofIntegers(1) {
		return nil
	}
	w := b.integerWeights(1, 0)
	if w == nil {
		return nil
	}
	y := b.integerLayer(w, &graph.Tensor{Shape: []int{s[1], s[0]}, Data: w.ints.Transposed(s[0], s[1])}, act, w.alone,
		func(x *graph.Value, i *graph.IntegerAttrs, weights map[string]*graph.Tensor) *graph.Value {
			n := elems(x.Shape)
			failIf(n%s[1] != 0, "", "its weights read %d numbers, the input has shape %v", s[1], x.Shape)
			x = b.reshape(x, []int{n / s[1], s[1]})
			return b.add("int_dense", &graph.DenseAttrs{Integer: i}, weights, x)
		})
	if y == nil {
		return nil
	}
	return b.likeOutput(y)
}
