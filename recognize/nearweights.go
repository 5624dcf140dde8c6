package recognize

import (
	"context"
	"ripc/graph"
)

// foldWeights takes weights that have few bits but for roundings for those, if that is asked for, and otherwise notes what they
// nearly are: as sign(w) - clip(w) + clip(w), a straight-through estimator, nearly is sign(w).
func foldWeights(ctx context.Context, r *rewriter) error {
	for n := range r.Each(ctx) {
		if b, ok := binaryAttrs(n); !ok || b != nil || r.nearly[n] != nil {
			continue
		}
		near := graph.Nearly(n.Weights["w"])
		if near == nil {
			continue
		}
		few, _ := graph.Decompose(near)
		r.nearly[n] = few
		if r.options.FoldSTE {
			n.Weights = map[string]*graph.Tensor{"w": near, "b": n.Weights["b"]}
			if n.Weights["b"] == nil {
				delete(n.Weights, "b")
			}
		}
	}
	return nil
}
