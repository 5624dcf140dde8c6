package recognize

import (
	"context"

	"ripc/graph"
	"ripc/ir"
)

// bitserial turns every convolution and dense layer that qualifies into a bitserial one. The
// verdicts of the others name the reason.
func bitserial(ctx context.Context, r *rewriter) error {
	r.forget() // layers before a tensor are bitserial now when it is looked at, so that their sums are known
	for n := range r.EachNode(ctx) {
		r.layer(n)
	}
	return nil
}

// layer makes convolution or dense layer n bitserial, or splits it into several bitserial layers.
// Otherwise it records the reason in n's verdict.
func (r *rewriter) layer(n *graph.Node) {
	if n.Op == "matmul" {
		r.judgeProduct(n)
		return
	}
	b, ok := binaryAttrs(n)
	if !ok || b != nil {
		return
	}
	v, why := r.source(n.Inputs[0])
	few, notFew := r.fewBits(n.Weights["w"])
	if v == nil && few != nil || v != nil && few == nil {
		parts := r.partsOf(n, v != nil)
		for _, p := range parts {
			r.layer(p)
		}
		if parts != nil {
			return
		}
	}
	switch near := r.nearWeights[n]; {
	case v == nil:
		if bits, enc, ok := graph.IntendedBits(n.Weights["w"]); ok {
			why.Args.WeightBits, why.Args.Weights = bits, enc
		} else if few != nil && few.Trained() && !fromCaller(why) {
			why.Args.WeightBits, why.Args.Weights = few.Attrs.WeightType()
		}
	case few == nil && near != nil:
		why = weightsRemark(graph.WhyNearlyFew, near)
		why.Args.Bits = v.Bits
	case few == nil:
		why = r.judgeWeights(n, notFew)
		why.Args.Bits = v.Bits
	case few.Offset != nil && n.Op == "conv_transpose2d":
		why = graph.Verdict{Reason: graph.WhyRealWeights, Args: ir.Args{Bits: v.Bits}}
	default:
		why = checkSums(n, v, few)
	}
	if why.Reason != graph.NoReason {
		judge(n, graph.Float, why)
		return
	}
	r.makeBitserial(n, v, few)
}

// judgeProduct records why a product of two computed tensors of levels stays float: bitserial
// layers have constant weights.
func (r *rewriter) judgeProduct(n *graph.Node) {
	x, _ := r.source(n.Inputs[0])
	y, _ := r.source(n.Inputs[1])
	if x != nil && y != nil {
		judge(n, graph.Float, graph.Verdict{Reason: graph.WhyTwoLevels,
			Args: ir.Args{Bits: x.Bits, WeightBits: y.Bits}})
	}
}

// binaryAttrs reports whether n is a convolution or dense layer on floats or levels. b describes
// its weights if n is bitserial already, and is nil otherwise.
func binaryAttrs(n *graph.Node) (b *graph.BinaryAttrs, ok bool) {
	if graph.IntegerOf(n) != nil {
		return nil, false
	}
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		return a.Binary, true
	case *graph.ConvTranspose2DAttrs:
		return a.Binary, true
	case *graph.DenseAttrs:
		return a.Binary, true
	}
	return nil, false
}

// fromCaller reports whether a layer's input is real because the caller's input is. Weights of 5 to
// 8 bits do not ask for levels there.
func fromCaller(why graph.Verdict) bool {
	return why.Reason == graph.WhyInputReal || why.Reason == graph.WhyDeclaredOnly
}

// judge records n's kind and the verdict behind it. The first verdict stays, since later rounds see
// a rewritten graph.
func judge(n *graph.Node, kind graph.Kind, why graph.Verdict) {
	if n.Verdict.Reason == graph.NoReason {
		why.Kind = kind
		n.Verdict = why
	}
}

// judgeWeights refines why, the verdict on weights of n that do not decompose into few-bit
// integers. It detects weights that decompose per input channel.
func (r *rewriter) judgeWeights(n *graph.Node, why graph.Verdict) graph.Verdict {
	w := n.Weights["w"]
	in, outs := w.Shape[len(w.Shape)-2], w.Shape[len(w.Shape)-1]
	if in < 2 || w.Data.Len() < 2*in {
		return why
	}
	data := make([]float32, w.Data.Len())
	for i, v := range w.Data.All() {
		o, c, tap := i%outs, i/outs%in, i/outs/in
		data[(tap*outs+o)*in+c] = v
	}
	if few, _ := graph.Decompose(&graph.Tensor{Shape: []int{len(data) / in, in},
		Data: graph.NumbersOf(data)}); few != nil {
		why = graph.Verdict{Reason: graph.WhyInputScales}
		why.Args.WeightBits, why.Args.Weights = few.Attrs.WeightType()
	}
	return why
}

// checkSums returns the reason why layer n over levels v has no exact sums, or no reason. Costs are
// no concern here: the target chooses an algorithm later.
func checkSums(n *graph.Node, v *graph.Value, few *graph.FewBits) graph.Verdict {
	w := n.Weights["w"]
	products := w.Data.Len() / w.Shape[len(w.Shape)-1]
	x := graph.IntegersOf(v.LevelType)
	corrected := graph.Corrected(v.LevelType, 0)
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		corrected = corrected && a.Pad.Any()
	case *graph.DenseAttrs:
		corrected = false
	}
	if graph.Span(graph.NumbersOf(few.Ints), w.Shape[len(w.Shape)-1], x) <= graph.MaxSpan(corrected) &&
		few.Summable(w.Shape, v.LevelType) {
		return graph.Verdict{}
	}
	args := ir.Args{Bits: v.Bits, Count: int64(products)}
	args.WeightBits, args.Weights = few.Attrs.WeightType()
	return graph.Verdict{Reason: graph.WhyAccumulator, Args: args}
}

// makeBitserial turns n into a bitserial layer over the levels v with weights few.
func (r *rewriter) makeBitserial(n *graph.Node, v *graph.Value, few *graph.FewBits) {
	l := r.sink(n.Inputs[0])
	r.changed = true
	if !few.Exact(n.Weights["w"]) {
		r.nameRounding(n, few)
	}
	b := few.Attrs
	b.PadValue = graph.PadZeros // as in the float layer, whatever the encoding
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		c := *a
		c.Binary, n.Op, n.Attrs = &b, "bitserial_conv2d", &c
	case *graph.ConvTranspose2DAttrs:
		c := *a
		c.Binary, n.Op, n.Attrs = &b, "bitserial_conv_transpose2d", &c
	case *graph.DenseAttrs:
		n.Op, n.Attrs = "bitserial_dense", &graph.DenseAttrs{Binary: &b}
	}
	bias := n.Weights["b"]
	r.SetInputs(n, l)
	n.Weights = map[string]*graph.Tensor{"w": n.Weights["w"]}
	if b.WeightScale == graph.ScaleTensor {
		n.Weights["scale"] = &graph.Tensor{Shape: []int{len(few.Scale)}, Data: graph.NumbersOf(few.Scale)}
	}
	if b.Offset {
		n.Weights["offset"] = &graph.Tensor{Shape: []int{len(few.Offset)}, Data: graph.NumbersOf(few.Offset)}
	}
	n.Verdict = graph.Verdict{}
	out := n.Output
	if bias != nil {
		r.SetOutput(n, r.TensorName(out+".sums"))
	}
	if r.retype(n); bias == nil {
		return
	}
	r.insert(n, withConstant(n.Name+".bias", "add", n.Output, bias), out)
}

// weightsRemark returns a verdict that names the type of few-bit weights.
func weightsRemark(why graph.Reason, few *graph.FewBits) graph.Verdict {
	v := graph.Verdict{Reason: why}
	v.Args.WeightBits, v.Args.Weights = few.Attrs.WeightType()
	return v
}
