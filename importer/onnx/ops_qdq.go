package onnx

import (
	"fmt"
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/kit"
	pb "ripc/importer/onnx/internal/onnxpb"
)

// DequantizeLinear, an op and QuantizeLinear in a row are how files say that the op is of integers. onnxruntime makes QLinearConv and its like of
// them, and so does the code here: of convolutions, products with matrices, sums of two tensors and means of images. The ops themselves were
// read as float ones before; what nothing reads of these is removed at the end.

// linear is what DequantizeLinear made an array of: integers, scales and zero points (nil for 0).
type linear struct{ ints, scale, zero *array }

// scaled is a layer of floats, as which one between DequantizeLinear and QuantizeLinear is read at first.
type scaled struct {
	n      *node
	x      *graph.Value // floats
	w      *linear
	ints   *array // w's integers as the layer's op has them, outputs last
	bias   *graph.Tensor
	biasOf *linear // what bias was made of, or nil
	factor float32
	emit   func(a *graph.IntegerAttrs, weights map[string]*graph.Tensor, x *graph.Value) *graph.Value
}

// sumsOf remembers that value v, floats, is made by a layer that could be one of integers.
func (b *builder) sumsOf(v *graph.Value, s *scaled) { b.scaled[b.g.Producer(v.Name)] = s }

// constantOf remembers that v, floats, is made of a constant that DequantizeLinear made, with one scale for all elements.
func (b *builder) constantOf(v *graph.Value, operands ...*tensor) {
	for _, t := range operands {
		if t.konst == nil || t.konst.from == nil || t.konst.from.scale.len() != 1 {
			continue
		}
		of := t.konst.from
		q := &quantParams{dt: of.ints.dt, scale: float32(of.scale.at(0))}
		if of.zero != nil {
			q.zero = int(of.zero.whole(0))
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

// operands are the levels of both operands of p, a sum or a product, of which one may be a constant with an element for each channel, or more; nil if there are none.
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

// alone reports whether one node of the file at most reads v.
func (b *builder) alone(v *graph.Value) bool { return b.counts[v.Name] <= 1 && !b.wanted[v.Name] }

// quantized is t as integers of q, where what comes before QuantizeLinear is made of integers too; nil where it is not.
func (n *node) quantized(t *tensor, q *quantParams) *tensor {
	b, values := n.b, n.b.g.Graph().Values
	if l := b.behind.Of(t.value); l != nil && l.LevelType == q.levelType() {
		return b.result(t.derived(l), q)
	}
	quantizer, low, high := q.attrs(), 0, q.attrs().Top()
	for v := t.value; b.alone(v); {
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
			made = b.reshaped(made, t.value.Shape)
			return b.result(t.derived(made), q)
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

// integersOf is what p makes, as levels of q; nil if p is no op of integers. The layer that makes them is called p from then on.
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

// integersBy is integersOf, whose nodes are called after what is being read.
func (n *node) integersBy(p *graph.Node, q *quantParams) *graph.Value {
	b, values := n.b, n.b.g.Graph().Values
	switch {
	case b.scaled[p] != nil:
		return noted(p, func() *graph.Value { return b.scaled[p].integers(q) })
	case p.Op == "add" || p.Op == "mul":
		emit := intPair((*builder).intAdd)
		if p.Op == "mul" {
			emit = (*builder).intMul
		}
		x, y := b.operands(p)
		if x == nil || y == nil {
			return nil
		}
		return noted(p, func() *graph.Value { return emit(b, paramsOf(x.LevelType), paramsOf(y.LevelType), q, x, y) })
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
		return b.reshaped(b.intMean(x, paramsOf(x.LevelType), q), values[p.Output].Shape)
	}
	a := &graph.IntSoftmaxAttrs{LevelType: q.levelType()}
	if x.Signed != a.Signed || !a.Finite(x.LevelType, x.Channels()) {
		return nil
	}
	return b.emit("int_softmax", a, nil, x)
}

// noted is the value that emit makes instead of p. If emit fails, p says why, and the value is nil.
func noted(p *graph.Node, emit func() *graph.Value) (v *graph.Value) {
	if err := kit.Try(func() { v = emit() }); err != nil {
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
	l := &intLayer{x: x, xq: paramsOf(x.LevelType), yq: q, w: &intWeights{ints: s.w.ints, scale: s.w.scale, zero: s.w.zero}, outs: s.ints.shape[len(s.ints.shape)-1], factor: s.factor}
	l.w.bias = s.integerBias(l)
	weights := n.tensors(l, s.ints)
	return s.emit(l.attrs(), weights, x)
}

// integerBias is the bias of l as integers in units of its products: those of the file, or the nearest ones, as onnxruntime has them.
func (s *scaled) integerBias(l *intLayer) *array {
	if s.bias == nil {
		return nil
	}
	out := s.n.b.mem.newArray(dtInt32, []int{l.outs})
	for o := range l.outs {
		unit := l.xq.scale * float32(element(l.w.scale, o))
		if of := s.biasOf; of != nil && of.ints.dt == dtInt32 && math.Abs(element(of.scale, o)/float64(unit)-1) < 1e-3 {
			if out.i[o] = of.ints.whole(o % of.ints.len()); of.zero != nil {
				out.i[o] -= of.zero.whole(o % of.zero.len())
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

// weightsOf are the integers that a constant input of n was made of: of 8 bits, with one scale or one for each position on an axis; nil
// if it was made of none.
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

// scaledBias is what a constant input of n was made of, nil if it is float in the file.
func (n *node) scaledBias(i int) *linear {
	t := n.input(i)
	if t == nil || t.konst == nil || t.konst.from == nil {
		return nil
	}
	return &linear{t.konst.from.ints, t.konst.from.scale, t.konst.from.zero}
}

// made says what an array of floats was made of, along which axis scales differ.
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
