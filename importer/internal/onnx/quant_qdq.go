package onnx

import (
	"fmt"
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/kit"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/f32"
	"ripc/internal/human"
	"ripc/internal/stop"
)

// DequantizeLinear, an op and QuantizeLinear in a row describe an op on integers. As in
// onnxruntime, the three become one integer op: a convolution, a product with a matrix, a sum of
// two tensors or a mean. The op itself has been read as a float op before. Prune removes it if
// nothing else reads it.

// linear holds the operands of DequantizeLinear: integers, scales and zero points (nil for 0).
type linear struct{ ints, scale, zero *array }

// scaled is a layer of floats, as which one between DequantizeLinear and QuantizeLinear is read at
// first.
type scaled struct {
	n      *node
	x      *graph.Value // floats
	w      *linear
	ints   *array // w's integers as the layer's op has them, outputs last
	bias   *graph.Tensor
	biasOf *linear // the source of bias, or nil
	factor float32
	emit   func(a *graph.IntegerAttrs, weights map[string]*graph.Tensor, x *graph.Value) *graph.Value
}

// sumsOf remembers that value v, floats, is made by a layer that could be one of integers.
func (b *builder) sumsOf(v *graph.Value, s *scaled) { b.scaled[b.g.Producer(v.Name)] = s }

// constantOf remembers that v, floats, is made of a constant that DequantizeLinear made, with one
// scale for all elements.
func (b *builder) constantOf(v *graph.Value, operands ...*tensor) {
	for _, t := range operands {
		if t.konst == nil || t.konst.from == nil || t.konst.from.scale.len() != 1 {
			continue
		}
		of := t.konst.from
		q := &quantParams{dt: of.ints.dt, scale: float32(of.scale.number(0))}
		if of.zero != nil {
			q.zero = int(of.zero.integer(0))
		}
		p := b.g.Producer(v.Name)
		for p != nil && p.Op == "reshape" {
			p = b.g.Producer(p.Inputs[0])
		}
		if q.dt.eightBits() {
			b.constants[p] = q
		}
	}
}

// operands returns the levels of both operands of p, a sum or a product, or nil. One operand may be
// a constant with at least one element for each channel.
func (b *builder) operands(p *graph.Node) (x, y *graph.Value) {
	values, q := b.g.Graph().Values, b.constants[p]
	var in [2]*graph.Value
	for k, name := range p.Inputs {
		in[k] = b.behind.Of(values[name])
		if c := b.g.Producer(name); in[k] == nil && q != nil && c != nil && c.Op == "constant" {
			in[k] = b.emit("quantize", q.attrs(), nil, values[name])
		}
	}
	w := p.Weights["b"]
	if len(p.Inputs) != 1 || in[0] == nil || q == nil || w == nil || w.Data.Len() < 2 {
		return in[0], in[1]
	}
	shape := append(slices.Repeat([]int{1}, len(in[0].Shape)-1), w.Data.Len())
	c := b.emit("constant", &graph.ConstantAttrs{}, map[string]*graph.Tensor{"value": {Shape: shape, Data: w.Data}})
	in[1] = b.emit("quantize", q.attrs(), nil, c)
	if a, ok := p.Attrs.(*graph.BinaryOpAttrs); ok && a.Reverse {
		in[0], in[1] = in[1], in[0]
	}
	return in[0], in[1]
}

// paramsOf are the parameters of levels of 8 bits.
func paramsOf(t scalar.LevelType) *quantParams {
	q := &quantParams{dt: dtUint8, scale: float32(t.Scale), zero: t.Zero - graph.CallerZero(t)}
	if t.Signed {
		q.dt = dtInt8
	}
	return q
}

// isReadOnce reports whether one node of the file at most reads v.
func (b *builder) isReadOnce(v *graph.Value) bool { return b.counts[v.Name] <= 1 && !b.wanted[v.Name] }

// quantizeIntegers returns t as integers of q, computed in integers. It is nil if an op before
// QuantizeLinear has no integer form.
func (n *node) quantizeIntegers(t *tensor, q *quantParams) *tensor {
	b, values := n.b, n.b.g.Graph().Values
	if l := b.behind.Of(t.value); l != nil && l.LevelType == q.levelType() {
		return b.result(t.derive(l), q)
	}
	quantizer, low, high := q.attrs(), 0, q.attrs().Top()
	for v := t.value; b.isReadOnce(v); {
		p := b.g.Producer(v.Name)
		if p == nil {
			return nil
		}
		steps := graph.Steps(b.g.Graph(), p)
		switch {
		case p.Op == "reshape":
		case len(steps) == 1 && (p.Op == "relu" || p.Op == "relu6" || p.Op == "hard_tanh" || p.Op == "clip"):
			low = max(low, quantizer.Eval(steps[0].Eval(0, float32(math.Inf(-1)))))
			high = min(high, quantizer.Eval(steps[0].Eval(0, float32(math.Inf(1)))))
		default:
			made := n.integersOf(p, q)
			if made == nil || low > high {
				return nil
			}
			if low > 0 || high < quantizer.Top() {
				made = b.narrow(made, low, high)
			}
			made = b.emitReshape(made, t.value.Shape)
			return b.result(t.derive(made), q)
		}
		v = values[p.Inputs[0]]
	}
	return nil
}

// narrow clips levels that are made of integers: where they are made, or behind it.
func (b *builder) narrow(v *graph.Value, low, high int) *graph.Value {
	switch a := b.g.Producer(v.Name).Attrs.(type) {
	case *graph.Conv2DAttrs:
		a.Integer.Low, a.Integer.High = low, high
	case *graph.DenseAttrs:
		a.Integer.Low, a.Integer.High = low, high
	case *graph.IntAddAttrs:
		a.Low, a.High = low, high
	case *graph.IntMulAttrs:
		a.Low, a.High = low, high
	default:
		clip := &graph.IntMapAttrs{LevelType: v.LevelType}
		for l := range v.Top() + 1 {
			clip.Table = append(clip.Table, max(low, min(l, high)))
		}
		return b.emit("int_map", clip, nil, v)
	}
	return v
}

// integersOf is the integer form of p, with levels of q; nil if there is none. The integer layer
// takes the name of p.
func (n *node) integersOf(p *graph.Node, q *quantParams) *graph.Value {
	reading := n.b.n
	defer func() { n.b.n = reading }()
	of := &node{NodeProto: &pb.NodeProto{Name: new(p.Name)}, b: n.b, base: p.Output, label: n.label}
	n.b.n = of
	v := n.integersBy(p, q)
	if v != nil {
		if layer, name := of.layer(), p.Name; layer != nil {
			n.b.g.RenameNode(p, layer.Name)
			n.b.g.RenameNode(layer, name)
		}
	}
	return v
}

// integersBy is integersOf. The names of its nodes are those of the node at work.
func (n *node) integersBy(p *graph.Node, q *quantParams) *graph.Value {
	b, values := n.b, n.b.g.Graph().Values
	switch {
	case b.scaled[p] != nil:
		return tryIntegers(p, func() *graph.Value { return b.scaled[p].integers(q) })
	case p.Op == "add" || p.Op == "mul":
		emit := intPair((*builder).intAdd)
		if p.Op == "mul" {
			emit = (*builder).intMul
		}
		x, y := b.operands(p)
		if x == nil || y == nil {
			return nil
		}
		return tryIntegers(p,
			func() *graph.Value { return emit(b, paramsOf(x.LevelType), paramsOf(y.LevelType), q, x, y) })
	case p.Op != "avg_pool" && p.Op != "softmax" && p.Op != "global_avg_pool":
		return nil
	}
	x := b.behind.Of(values[p.Inputs[0]])
	switch {
	case x == nil:
		return nil
	case p.Op == "avg_pool":
		return b.intPool(p.Attrs.(*graph.PoolAttrs), x, q)
	case p.Op == "global_avg_pool":
		return b.emitReshape(b.intMean(x, paramsOf(x.LevelType), q), values[p.Output].Shape)
	}
	a := &graph.IntSoftmaxAttrs{LevelType: q.levelType()}
	if x.Signed != a.Signed || !a.Finite(x.LevelType, x.Channels()) {
		return nil
	}
	return b.emit("int_softmax", a, nil, x)
}

// tryIntegers is the value that emit makes instead of p. If emit fails, p says why, and the value
// is nil.
func tryIntegers(p *graph.Node, emit func() *graph.Value) (v *graph.Value) {
	if err := stop.Try(func() { v = emit() }); err != nil {
		p.Note = fmt.Sprintf("not computed in integers: %v", err)
		return nil
	}
	return v
}

// integers emits the layer on integers, its result being integers of q.
func (s *scaled) integers(q *quantParams) *graph.Value {
	n := s.n
	x := n.b.behind.Of(s.x)
	if x == nil {
		return nil
	}
	w := &intWeights{ints: s.w.ints, scale: s.w.scale, zero: s.w.zero}
	outs := s.ints.shape[len(s.ints.shape)-1]
	l := &intLayer{x: x, xq: paramsOf(x.LevelType), yq: q, w: w, outs: outs, factor: s.factor}
	l.w.bias = s.integerBias(l)
	weights := n.tensors(l, s.ints)
	return s.emit(l.attrs(), weights, x)
}

// integerBias is the bias of l as integers in units of its products: those of the file, or the
// nearest ones, as onnxruntime has them.
func (s *scaled) integerBias(l *intLayer) *array {
	if s.bias == nil {
		return nil
	}
	out := s.n.b.mem.newArray(dtInt32, []int{l.outs})
	for o := range l.outs {
		unit := l.xq.scale * float32(element(l.w.scale, o))
		if of := s.biasOf; of != nil && of.ints.dt == dtInt32 && math.Abs(element(of.scale, o)/float64(unit)-1) < 1e-3 {
			if out.i[o] = of.ints.integer(o % of.ints.len()); of.zero != nil {
				out.i[o] -= of.zero.integer(o % of.zero.len())
			}
			continue
		}
		v := math.RoundToEven(float64(s.bias.Data.At(o) / unit))
		if !(math.Abs(v) <= graph.MaxIntegerSum) {
			panic(fmt.Errorf("bias %g is too large beside products of %g", s.bias.Data.At(o), unit))
		}
		out.i[o] = int64(v)
	}
	return out
}

// weightsOf are the integers that a constant input of n was made of: of 8 bits, with one scale or
// one for each position on an axis; nil if it was made of none.
func (n *node) weightsOf(i, outputs int) *linear {
	t := n.input(i)
	if t == nil || t.konst == nil || t.konst.from == nil {
		return nil
	}
	of := t.konst.from
	if !of.ints.dt.eightBits() || of.scale.len() != 1 && (of.axis != outputs || of.scale.len() != t.shape[outputs]) {
		return nil
	}
	return &linear{of.ints.view(t.shape), of.scale, of.zero}
}

// scaledBias returns the integers that a constant input of n was dequantized from, nil if it is
// float in the file.
func (n *node) scaledBias(i int) *linear {
	t := n.input(i)
	if t == nil || t.konst == nil || t.konst.from == nil {
		return nil
	}
	return &linear{t.konst.from.ints, t.konst.from.scale, t.konst.from.zero}
}

// made holds the operands that DequantizeLinear made an array from, and the axis along which scales
// differ.
type made struct {
	linear
	axis int
}

// levels returns the floats that m describes. They are computed when they are read.
func (m *made) levels() *levels {
	l := &levels{ints: m.ints, scale: m.scale.floats(), run: 1}
	if m.zero != nil {
		l.zero = m.zero.floats()
	}
	if len(l.scale) > 1 {
		l.run = strides(m.ints.shape)[m.axis]
	}
	return l
}

// Functions of one number, and concatenations of several scales, are tables from levels to levels
// where DequantizeLinear and QuantizeLinear stand around them: onnxruntime has tables of them, too.

// intMap emits the table of function real from levels x to levels of q, or returns x if the table
// is the identity.
func (b *builder) intMap(x *graph.Value, q *quantParams, real func(v float32) float32) *graph.Value {
	a := graph.IntMapOf(x.LevelType, q.attrs(), real)
	if a.LevelType == x.LevelType && slices.Equal(a.Table, kit.Identity(len(a.Table))) {
		return x
	}
	return b.emit("int_map", a, nil, x)
}

// mapLevels returns t as integers of q, where float steps, or none, make it of levels or of a
// concatenation of levels; nil where they do not.
func (n *node) mapLevels(t *tensor, q *quantParams) *tensor {
	b := n.b
	v, real := b.behind.UndoSteps(t.value,
		func(v *graph.Value, p *graph.Node) bool { return b.isReadOnce(v) && p.Op != "concat" })
	made := b.behind.Of(v)
	if made != nil {
		made = b.intMap(made, q, real)
	} else if p := b.g.Producer(v.Name); p != nil && p.Op == "concat" && b.isReadOnce(v) {
		made = b.concatOf(p, q, real)
	}
	if made == nil {
		return nil
	}
	return b.result(t.derive(b.emitReshape(made, t.value.Shape)), q)
}

// concatOf emits the concatenation p of levels of q, after function real on each operand; nil if an
// operand has no levels.
func (b *builder) concatOf(p *graph.Node, q *quantParams, real func(v float32) float32) *graph.Value {
	in := make([]*graph.Value, len(p.Inputs))
	for i, name := range p.Inputs {
		if in[i] = b.behind.Of(b.g.Graph().Value(name)); in[i] == nil {
			return nil
		}
	}
	for i, x := range in {
		in[i] = b.intMap(x, q, real)
	}
	return b.emit("concat", p.Attrs, nil, in...)
}

// lowerQLinearConcat joins tensors of integers. Inputs: scale and zero point of y, and of each
// tensor itself, its scale and its zero point.
func lowerQLinearConcat(n *node) *tensor {
	n.failIf(len(n.in)%3 != 2,
		"", "has %s, want scale and zero point, and three for each tensor", human.Count(len(n.in), "input"))
	yq := n.params(0, 1, n.integerType(2))
	var at []int
	for i := 2; i < len(n.in); i += 3 {
		at = append(at, i)
	}
	like := n.firstComputed(at...)
	var parts []*tensor
	for _, i := range at {
		t := n.mapInput(i, yq, like, func(v float32) float32 { return v })
		parts = append(parts, t)
	}
	y := n.b.concat(parts, n.concatAxis(parts[0]))
	return n.b.result(y.derive(y.value), yq)
}

// lowerQLinearLeakyRelu is LeakyRelu of integers. Inputs: x, its scale and zero point, those of y.
func lowerQLinearLeakyRelu(n *node) *tensor {
	alpha := n.floatAttr("alpha", 0.01)
	return n.mapOnlyInput(func(v float32) float32 {
		if v >= 0 {
			return v
		}
		return f32.Mul(alpha, v)
	})
}

// lowerQLinearSigmoid is Sigmoid of integers, with inputs as QLinearLeakyRelu has them.
func lowerQLinearSigmoid(n *node) *tensor {
	return n.mapOnlyInput(func(v float32) float32 { return scalar.Step{Kind: scalar.Sigmoid}.Eval(0, v) })
}

// mapOnlyInput applies function real to the integers in input 0. Inputs 1 and 2 are the scale and
// zero point of x, 3 and 4 those of y.
func (n *node) mapOnlyInput(real func(v float32) float32) *tensor {
	yq := n.params(3, 4, n.integerType(0))
	return n.b.result(n.mapInput(0, yq, n.in[0], real), yq)
}

// mapInput returns the levels of yq that a function makes of the integers that are input i, behind
// which stand their scale and zero point; constants are stored as like is.
func (n *node) mapInput(i int, yq *quantParams, like *tensor, real func(v float32) float32) *tensor {
	t := n.integers(i, n.params(i+1, i+2, n.integerType(i)), like)
	t.value = n.b.intMap(t.value, yq, real)
	return t
}

// firstComputed is the first of inputs at that is no constant.
func (n *node) firstComputed(at ...int) *tensor {
	for _, i := range at {
		if t := n.in[i]; t != nil && t.konst == nil {
			return t
		}
	}
	panic(n.fail("", "all its operands are constants, which is not supported"))
}

// integers are the levels of parameters q that are input i, as a tensor; a constant is stored as
// like is.
func (n *node) integers(i int, q *quantParams, like *tensor) *tensor {
	t := n.in[i]
	switch {
	case t == nil:
		panic(n.fail("", "an input is left out"))
	case t.konst != nil:
		return n.constantIntegers(i, q, like)
	}
	v := n.integerLevels(i, t, q)
	return &tensor{shape: t.shape, value: v, perm: t.perm, flat: t.flat}
}

// real returns the real numbers of integers c with parameters q.
func (b *budget) real(c *array, q *quantParams) *array {
	out := b.newArray(dtFloat, c.shape)
	for k := range out.f {
		out.f[k] = float32(int(c.integer(k))-q.zero) * q.scale
	}
	return out
}

// constantIntegers returns the levels of a constant input i: a quantize of its real numbers, which
// is exact. like decides how the constant is stored.
func (n *node) constantIntegers(i int, q *quantParams, like *tensor) *tensor {
	c := n.in[i].konst
	n.failIf(c.dt != q.dt, "", "its input %q is a constant %s, want %s as its zero point is", n.Input[i], c.dt, q.dt)
	real := n.b.mem.real(c, q)
	t := &tensor{shape: c.shape}
	if rank := len(like.shape); rank >= len(c.shape) {
		t.shape = append(slices.Repeat([]int{1}, rank-len(c.shape)), c.shape...)
		if like.flat == nil {
			t.perm = like.perm
		}
	}
	t.value = n.b.emit("quantize", q.attrs(), nil, n.b.constantLike(t, real))
	return t
}
