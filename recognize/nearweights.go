package recognize

import (
	"context"
	"ripc/graph"
)

// foldWeights takes weights that have few bits but for roundings for those, and with ExactFloats
// notes only what they nearly are: as sign(w) - clip(w) + clip(w), a straight-through estimator,
// nearly is sign(w).
func foldWeights(ctx context.Context, r *rewriter) error {
	for n := range r.Each(ctx) {
		if b, ok := binaryAttrs(n); !ok || b != nil || r.nearly[n] != nil {
			continue
		}
		near := graph.Nearly(n.Weights["w"])
		if near == nil {
			if few, _ := graph.Decompose(n.Weights["w"]); few != nil && r.options.ExactFloats && !few.Exact(n.Weights["w"]) {
				r.nearly[n] = few
			}
			continue
		}
		few, _ := graph.Decompose(near)
		r.nearly[n] = few
		if !r.options.ExactFloats {
			r.nameRounding(n, few)
			n.Weights = map[string]*graph.Tensor{"w": near, "b": n.Weights["b"]}
			if n.Weights["b"] == nil {
				delete(n.Weights, "b")
			}
		}
	}
	return nil
}

// fewBits is graph.Decompose as the options allow it: with ExactFloats weights must be few bits as
// they are.
func (r *rewriter) fewBits(w *graph.Tensor) (*graph.FewBits, graph.Verdict) {
	few, why := graph.Decompose(w)
	if few != nil && r.options.ExactFloats && !few.Exact(w) {
		return nil, graph.Verdict{Reason: graph.WhyRealWeights}
	}
	return few, why
}

// nameRounding notes that the weights of n are taken for few, from which they differ by rounding.
func (r *rewriter) nameRounding(n *graph.Node, few *graph.FewBits) {
	v := weightsRemark(graph.WhyFewFolded, few)
	v.Where, v.Args.Op = n.Name, n.Op
	r.g.Roundings = append(r.g.Roundings, v)
}
