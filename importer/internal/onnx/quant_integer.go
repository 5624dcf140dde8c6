package onnx

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/kit"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/f32"
	"ripc/internal/stop"
)

// intWeights are the weights of a layer as the file has them, integers of 8 bits: (integer - zero)
// * scale, scale and zero being one number or one for each output channel.
type intWeights struct {
	ints, scale, zero *array
	bias              *array // integers [O], or nil
}

// intLayer is a layer over levels x with integer weights w.
type intLayer struct {
	x      *graph.Value
	xq, yq *quantParams // yq is nil where the sums stay numbers
	w      *intWeights
	outs   int
	factor float32 // of the product
}

// levelType is the type of levels that q's integers are.
func (q *quantParams) levelType() scalar.LevelType { return q.attrs().LevelType }

// integerLevels returns the levels of t, input i. q, if not nil, are the parameters that the op
// names for that input.
func (n *node) integerLevels(i int, t *tensor, q *quantParams) *graph.Value {
	n.failIf(t.integers == nil, "put QuantizeLinear before it", "its input %q holds no quantized integers", n.Input[i])
	if q != nil {
		n.checkParams(q, t.integers)
	}
	if v := n.b.behind.Of(t.value); v != nil {
		return v
	}
	v := n.b.emit("quantize", t.integers.attrs(), nil, t.value) // exact: each is one of the levels
	n.b.behind.Set(t.value, v)
	return v
}

// selectInputs returns n with its inputs i, in this order; -1 is one that is left out.
func (n *node) selectInputs(inputs ...int) *node {
	m := *n
	m.NodeProto = &pb.NodeProto{Name: n.Name, OpType: n.OpType, Domain: n.Domain, Output: n.Output,
		Attribute: n.Attribute}
	m.in = nil
	for _, i := range inputs {
		if i < 0 || i >= len(n.in) {
			m.in, m.Input = append(m.in, nil), append(m.Input, "")
			continue
		}
		m.in, m.Input = append(m.in, n.in[i]), append(m.Input, n.Input[i])
	}
	return &m
}

// integerType returns the type of the integers of 8 bits that input i holds, which zero points that
// are left out have as well; uint8 where it holds none.
func (n *node) integerType(i int) dtype {
	dt := dtUint8
	switch t := n.input(i); {
	case t == nil:
	case t.konst != nil:
		dt = t.konst.dt
	case t.integers != nil:
		dt = t.integers.dt
	}
	if dt.eightBits() {
		return dt
	}
	return dtUint8
}

// params reads the parameters of 8-bit integers from inputs scale and zero. dt is the type of a
// zero point that is left out.
func (n *node) params(scale, zero int, dt dtype) *quantParams {
	return n.selectInputs(-1, scale, zero).linear(dt)
}

// paramsOfOne are params of x and y of an op of one tensor: inputs 1 and 2, and 3 and 4.
func (n *node) paramsOfOne() (x, y *quantParams) {
	x = n.params(1, 2, n.integerType(0))
	y = n.params(3, 4, n.integerType(0))
	return x, y
}

// integerWeights reads integers of 8 bits, a constant, with their scale and zero point, inputs of
// n. Input bias may be -1.
func (n *node) integerWeights(w, scale, zero, bias int) *intWeights {
	out := &intWeights{}
	for _, in := range []struct {
		at   int
		what string
		to   **array
	}{{w, "weight", &out.ints}, {scale, "scale", &out.scale}, {zero, "zero point", &out.zero},
		{bias, "bias", &out.bias}} {
		if in.at < 0 {
			continue
		}
		*in.to = n.konst(in.at, in.what)
	}
	n.failIf(out.ints == nil || !out.ints.dt.eightBits(), "", "weight %q is no uint8 or int8", n.Input[w])
	if z := out.zero; z != nil {
		n.failIf(z.dt != out.ints.dt,
			"", "zero point %q is %s, want %s as weight %q is", n.Input[zero], z.dt, out.ints.dt, n.Input[w])
	}
	if out.bias != nil {
		n.failIf(out.bias.dt != dtInt32, "", "bias %q is %s, want int32", n.Input[bias], out.bias.dt)
	}
	if out.scale != nil {
		n.checkScales(out.scale)
	}
	return out
}

// element is that of output channel o of a, one number or one for each channel.
func element(a *array, o int) float64 { return a.number(o % a.len()) }

// tensors are the weights of l: w is of l's integers, the last axis being that of the outputs.
func (n *node) tensors(l *intLayer, w *array) map[string]*graph.Tensor {
	for _, a := range []*array{l.w.scale, l.w.zero, l.w.bias} {
		if a != nil && a.len() != l.outs && (a.len() != 1 || a == l.w.bias) {
			panic(n.fail("", "a scale, zero point or bias of shape %v for %d outputs", a.shape, l.outs))
		}
	}
	n.b.mem.take(w.len()+4*l.outs, 4)
	ints, low, high := w.numbers(), 0, 0
	if l.w.zero != nil {
		ints = ints.Map(func(i int, v float32) int { return int(v) - int(element(l.w.zero, i%l.outs)) })
	}
	for _, v := range ints.All() {
		low, high = min(low, int(v)), max(high, int(v))
	}
	n.failIf(high-low > math.MaxUint8,
		"quantize the weights with one zero point for all outputs, or to int8 with zero point 0",
		"its weights have a zero point for each output, and less these they are from %d to %d, want 8 bits", low, high)
	weights := map[string]*graph.Tensor{"w": {Shape: w.shape, Data: ints}}
	if l.w.bias != nil {
		bias := make([]int32, l.outs)
		for o, v := range l.w.bias.i {
			bias[o] = int32(v)
			n.failIf(int64(bias[o]) != v, "", "weight \"bias\": element %d is %v, want integers of 32 bits", o, v)
		}
		weights["bias"] = kit.Vector(bias)
	}
	if l.yq == nil {
		return weights
	}
	by := make([]float32, l.outs)
	for o := range by {
		by[o] = l.product(o) / l.yq.scale
	}
	weights["multiplier"] = kit.Vector(by)
	return weights
}

// product is the factor from a sum of output o to its real value, in onnxruntime's order of
// multiplications.
func (l *intLayer) product(o int) float32 {
	return float32(float32(l.factor*l.xq.scale) * float32(element(l.w.scale, o)))
}

// attrs is the requantization of the sums of l.
func (l *intLayer) attrs() *graph.IntegerAttrs {
	if l.yq == nil {
		return &graph.IntegerAttrs{}
	}
	a := &graph.IntegerAttrs{Form: graph.FloatRequantization, LevelType: l.yq.levelType()}
	a.High = a.Top()
	return a
}

// result is the tensor, like t, that v holds: levels that stand for q's integers, or, without q,
// numbers that are sums of integers.
func (b *builder) result(t *tensor, q *quantParams) *tensor {
	if q == nil {
		t.integers = &quantParams{dt: dtInt32, scale: 1}
		return t
	}
	y := b.pipe(t, "dequantize")
	b.behind.Set(y.value, t.value)
	y.integers = q
	return y
}

// lowerQLinearConv is a convolution of integers. Inputs: x, its scale and zero point, w, its scales
// and zero points, scale and zero point of y, a bias of integers.
func lowerQLinearConv(n *node) *tensor {
	l := n.linearLayer(8)
	return n.selectInputs(0, 3).integerConv(l)
}

// linearLayer reads inputs 1 to 7 of QLinearConv and QLinearMatMul: scale and zero point of x,
// weights, their scales and zero points, scale and zero point of y. bias is the input with the
// bias, or -1.
func (n *node) linearLayer(bias int) *intLayer {
	l := &intLayer{factor: 1}
	l.xq = n.params(1, 2, n.integerType(0))
	l.yq = n.params(6, 7, n.integerType(0))
	l.w = n.integerWeights(3, 4, 5, bias)
	return l
}

// lowerConvInteger is ConvInteger. A Cast to float makes numbers of its sums. Inputs: x, w, zero
// points of both.
func lowerConvInteger(n *node) *tensor {
	l := n.plainLayer()
	return n.selectInputs(0, 1).integerConv(l)
}

// plainLayer reads the weights and both zero points of ConvInteger and MatMulInteger.
func (n *node) plainLayer() *intLayer {
	w := n.integerWeights(1, -1, 3, -1)
	n.sameZero(2)
	return &intLayer{w: w}
}

// sameZero checks that input i, a zero point that is 0 if it is left out, is that of the integers
// of input 0.
func (n *node) sameZero(i int) {
	zero := n.scalarOf(i, "zero point", 0)
	if t := n.input(i); t != nil && t.konst.dt != n.integerType(0) {
		panic(n.fail("", "zero point %q is %s, want %s as its input %q is", n.Input[i], t.konst.dt, n.integerType(0),
			n.Input[0]))
	}
	if q := n.in[0].integers; q != nil {
		n.failIf(int(zero) != q.zero, "use the parameters of the quantizer",
			"zero point %g is not that which its input was quantized with, %d", zero, q.zero)
	}
}

// integerConv is the convolution l of input 0 of n with the weights that are input 1.
func (n *node) integerConv(l *intLayer) *tensor {
	x, a, hwio, axes := n.convolution()
	x.integers = n.in[0].integers
	l.x = n.integerLevels(0, x, l.xq)
	l.outs = hwio.shape[3]
	weights := n.tensors(l, hwio)
	a.Integer = l.attrs()
	return n.b.imageResult(n.b.emit("int_conv2d", a, weights, l.x), l.yq, axes)
}

// imageResult is result of an image v with 1 or 2 spatial axes.
func (b *builder) imageResult(v *graph.Value, q *quantParams, axes int) *tensor {
	y := b.result(ofImage(v), q)
	integers := y.integers
	y = b.fromImage(y, axes)
	y.integers = integers
	return y
}

// lowerQLinearMatMul multiplies by a constant matrix. Inputs: a, its scale and zero point, b, its
// scales and zero points, scale and zero point of y.
func lowerQLinearMatMul(n *node) *tensor {
	l := n.linearLayer(-1)
	return n.selectInputs(0, 3).integerProduct(l, l.w.ints)
}

// lowerMatMulInteger is MatMulInteger; see lowerConvInteger.
func lowerMatMulInteger(n *node) *tensor {
	l := n.plainLayer()
	return n.selectInputs(0, 1).integerProduct(l, l.w.ints)
}

// lowerQGemm is alpha*A*B + C. Inputs: A, its scale and zero point, B, its scales and zero points,
// C, scale and zero point of Y. C holds integers. Without a scale of Y the result is float.
func lowerQGemm(n *node) *tensor {
	l := &intLayer{}
	alpha := n.floatAttr("alpha", 1)
	var trans [2]int
	for i, name := range []string{"transA", "transB"} {
		trans[i] = n.intAttr(name, 0)
	}
	l.factor = alpha
	n.failIf(trans[0] != 0 || !(alpha > 0), "", "transA %d, alpha %g: want 0, and a number above 0", trans[0], alpha)
	l.xq = n.params(1, 2, n.integerType(0))
	switch {
	case n.input(7) != nil:
		l.yq = n.params(7, 8, n.integerType(0))
	case n.input(8) != nil:
		panic(n.fail("give both, or none for floats", "has a zero point of Y, %q, and no scale", n.Input[8]))
	}
	l.w = n.integerWeights(3, 4, 5, 6)
	w := l.w.ints
	n.failIf(len(w.shape) != 2, "", "B has shape %v, want a matrix", w.shape)
	if trans[1] != 0 {
		w = n.b.mem.permute(w, []int{1, 0})
	}
	y := n.selectInputs(0, 3).integerProduct(l, w)
	if l.yq != nil {
		return y
	}
	scale := &array{dt: dtFloat, shape: []int{l.outs}, f: make([]float32, l.outs)}
	for o := range scale.f {
		scale.f[o] = l.product(o)
	}
	return n.b.withConstant("mul", y.derive(y.value), scale)
}

// integerProduct is l with a matrix w [K, N], applied to the last axis of input 0.
func (n *node) integerProduct(l *intLayer, w *array) *tensor {
	b, t := n.b, n.in[0]
	if len(w.shape) > 2 && graph.Elems(w.shape[:len(w.shape)-2]) == 1 {
		w = w.view(w.shape[len(w.shape)-2:])
	}
	n.failIf(len(w.shape) != 2 || len(t.shape) < 1 || t.shape[len(t.shape)-1] != w.shape[0] || w.len() == 0,
		"", "a tensor of shape %v times one of shape %v", t.shape, w.shape)
	rank := len(t.shape)
	q := t.integers
	flat := t.flat
	if flat == nil {
		t = b.store(t, t.last(rank-1))
	}
	t.integers = q
	l.x = n.integerLevels(0, t, l.xq)
	if flat != nil {
		w = b.mem.rows(w, flat)
	}
	l.outs = w.shape[1]
	v := b.Rows(l.x, func(rows *graph.Value) *graph.Value {
		return b.emit("int_dense", &graph.DenseAttrs{Integer: l.attrs()}, n.tensors(l, w), rows)
	})
	return b.result(&tensor{shape: append(slices.Clone(t.shape[:rank-1]), l.outs), value: v, perm: t.perm}, l.yq)
}

// rows are the rows of a matrix in the order in which the columns of a tensor are stored.
func (b *budget) rows(w *array, by *flattened) *array {
	columns := b.columns(by)
	out := b.newArray(w.dt, w.shape)
	n := w.shape[1]
	for j, k := range columns {
		for o := range n {
			out.copyFrom(j*n+o, w, k*n+o)
		}
	}
	return out
}

// lowerQLinearGlobalAveragePool takes the mean of an image. Inputs: x, its scale and zero point,
// those of y.
func lowerQLinearGlobalAveragePool(n *node) *tensor {
	xq, yq := n.paramsOfOne()
	if last := n.intAttr("channels_last", 0); last != 0 {
		panic(n.fail("", "channels_last is not supported"))
	}
	x, axes := n.b.image(n.in[0])
	x.integers = n.in[0].integers
	return n.b.imageResult(n.b.intMean(n.integerLevels(0, x, xq), xq, yq), yq, axes)
}

// intMean emits the mean of an image of levels x.
func (b *builder) intMean(x *graph.Value, xq, yq *quantParams) *graph.Value {
	h, w := x.Shape[1], x.Shape[2]
	b.mem.take(h*w*x.Channels(), 4)
	weights := map[string]*graph.Tensor{"multiplier": kit.One(xq.scale / float32(yq.scale*float32(h*w)))}
	return b.EachChannel(x, [2]int{h, w}, [2]int{1, 1}, (&intLayer{yq: yq}).attrs(), weights)
}

func lowerQLinearAdd(n *node) *tensor { return n.linearPair((*builder).intAdd) }

func lowerQLinearMul(n *node) *tensor { return n.linearPair((*builder).intMul) }

// intPair emits an op on levels x and y of parameters p and q. The result has parameters r.
type intPair func(b *builder, p, q, r *quantParams, x, y *graph.Value) *graph.Value

// linearPair makes integers of those of two tensors. Inputs: a, its scale and zero point, b, its
// own, scale and zero point of y.
func (n *node) linearPair(emit intPair) *tensor {
	var q [3]*quantParams
	for k := range q {
		q[k] = n.params([]int{1, 4, 6}[k], []int{2, 5, 7}[k], n.integerType([]int{0, 3, 0}[k]))
	}
	like := n.firstComputed(0, 3)
	var levels [2]*tensor
	for k, i := range []int{0, 3} {
		levels[k] = n.integers(i, q[k], like)
	}
	shape := stop.Must(broadcastShape(levels[0].shape, levels[1].shape))
	full, _ := n.b.alignOperands(levels[:], shape)
	v := emit(n.b, q[0], q[1], q[2], levels[0].value, levels[1].value)
	return n.b.result(&tensor{shape: shape, value: v, perm: full.perm, flat: full.flat}, q[2])
}

// intAdd is the intPair of a sum. As onnxruntime does, it adds up the constant terms first.
func (b *builder) intAdd(p, q, r *quantParams, x, y *graph.Value) *graph.Value {
	one, two := p.scale/r.scale, q.scale/r.scale
	rest := float32(r.zero) - f32.Fma(one, float32(p.zero), f32.Mul(two, float32(q.zero)))
	return b.emit("int_add", &graph.IntAddAttrs{IntPair: pairOf(r), A: float64(one), B: float64(two), C: float64(rest)},
		nil, x, y)
}

// intMul is the intPair of a product.
func (b *builder) intMul(p, q, r *quantParams, x, y *graph.Value) *graph.Value {
	return b.emit("int_mul", &graph.IntMulAttrs{IntPair: pairOf(r), By: float64(f32.Mul(p.scale, q.scale) / r.scale)},
		nil, x, y)
}

// pairOf are all levels of parameters r.
func pairOf(r *quantParams) graph.IntPair {
	t := r.levelType()
	return graph.IntPair{Form: graph.FloatRequantization, LevelType: t, High: t.Top()}
}
