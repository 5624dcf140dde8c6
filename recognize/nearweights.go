package recognize

import (
	"ripc/graph"
)

// foldWeights replaces weights that are few-bit up to roundings. For example, sign(w) - clip(w) +
// clip(w), of a straight-through estimator, is sign(w) up to roundings. With ExactFloats it keeps
// the weights and notes the nearest few-bit ones.
func foldWeights(r *rewriter, n *graph.Node) {
	if b, ok := binaryAttrs(n); !ok || b != nil || r.nearWeights[n] != nil {
		return
	}
	near := graph.RoundToFewBits(n.Weights["w"])
	if near == nil {
		if few, _ := graph.Decompose(n.Weights["w"]); few != nil && r.options.ExactFloats &&
			!few.Exact(n.Weights["w"]) {
			r.nearWeights[n] = few
		}
		return
	}
	few, _ := graph.Decompose(near)
	r.nearWeights[n] = few
	if !r.options.ExactFloats {
		r.nameRounding(n, few)
		n.Weights = map[string]*graph.Tensor{"w": near, "b": n.Weights["b"]}
		if n.Weights["b"] == nil {
			delete(n.Weights, "b")
		}
	}
}

// fewBits decomposes weights as the options allow: with ExactFloats they must be few-bit exactly.
func (r *rewriter) fewBits(w *graph.Tensor) (*graph.FewBits, graph.Verdict) {
	few, why := graph.Decompose(w)
	if few != nil && r.options.ExactFloats && !few.Exact(w) {
		return nil, graph.Verdict{Reason: graph.WhyRealWeights}
	}
	return few, why
}

// nameRounding notes that n's weights are replaced by few, and differ from them by roundings.
func (r *rewriter) nameRounding(n *graph.Node, few *graph.FewBits) {
	v := weightsRemark(graph.WhyFewFolded, few)
	v.Where, v.Args.Op = n.Name, n.Op
	r.g.Roundings = append(r.g.Roundings, v)
}
