package recognize

import (
	"slices"

	"ripc/graph"
	"ripc/internal/f32"
)

// foldScales folds a per-channel scale between levels and a layer into the layer's weights, if
// these are few-bit afterwards. That happens in depthwise layers, with one input channel per
// filter, and if the weights undo the scale.
func foldScales(r *rewriter, n *graph.Node) {
	if b, ok := binaryAttrs(n); !ok || b != nil || n.Op == "conv_transpose2d" {
		return
	}
	p := r.Producer(n.Inputs[0])
	for _, view := range r.viewsBefore(n) {
		p = r.Producer(view.Inputs[0])
	}
	if p == nil || len(p.Inputs) != 1 || p.Op != "mul" && p.Op != "div" || !p.Weights["b"].Data.Mixed() {
		return
	}
	if a, ok := p.Attrs.(*graph.BinaryOpAttrs); !ok || a.Reverse {
		return
	}
	if v, _ := r.source(p.Inputs[0]); v == nil {
		return
	}
	w := scaleWeights(n, p)
	if few, _ := r.fewBits(w); few == nil {
		return
	}
	weights := map[string]*graph.Tensor{"w": w}
	if b := n.Weights["b"]; b != nil {
		weights["b"] = b
	}
	n.Weights = weights
	r.bypass(n, p)
}

// viewsBefore returns the nodes before n that only reshape rows of channels, the nearest first.
func (r *rewriter) viewsBefore(n *graph.Node) []*graph.Node {
	var views []*graph.Node
	for p := r.Producer(n.Inputs[0]); p != nil; p = r.Producer(p.Inputs[0]) {
		_, reshape := p.Attrs.(*graph.ReshapeAttrs)
		if !reshape && p.Op != "flatten" || r.g.Value(p.Output).Channels()%r.g.Value(p.Inputs[0]).Channels() != 0 {
			break
		}
		views = append(views, p)
	}
	return views
}

// scaleWeights returns the weights of n times the scales of p, a mul or div before it.
func scaleWeights(n, p *graph.Node) *graph.Tensor {
	w, b := n.Weights["w"], p.Weights["b"].Data.Floats()
	in, outs := w.Shape[len(w.Shape)-2], w.Shape[len(w.Shape)-1]
	groups := 1
	if a, ok := n.Attrs.(*graph.Conv2DAttrs); ok {
		groups = a.GroupCount()
	}
	out := make([]float32, w.Data.Len())
	for i, v := range w.Data.All() {
		o, c := i%outs, i/outs%in
		s := b[(o/(outs/groups)*in+c)%len(b)]
		if out[i] = f32.Mul(v, s); p.Op == "div" {
			out[i] = f32.Div(v, s)
		}
	}
	return &graph.Tensor{Shape: w.Shape, Data: graph.NumbersOf(out)}
}

// bypass lets n read the input of p, which stands before n and its views.
func (r *rewriter) bypass(n, p *graph.Node) {
	r.changed = true
	in := p.Inputs[0]
	views := r.viewsBefore(n)
	for _, view := range slices.Backward(views) {
		m := *view
		m.Inputs = []string{in}
		in = r.TensorName(view.Output + ".unscaled")
		r.insert(view, &m, in)
	}
	r.SetInputs(n, in)
}
