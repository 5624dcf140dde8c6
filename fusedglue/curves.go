package fusedglue

import (
	"context"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// long reports whether some step is so long that the expression of a convolution's results should
// not have it.
func long(steps []scalar.Step) bool { return slices.ContainsFunc(steps, scalar.Step.Long) }

// curves turns the increasing steps between a long one, such as sigmoid, and a quantizer of few
// bits into thresholds, which convolutions take in as they do any quantizer's. Nothing of the curve
// is left to compute.
func curves(ctx context.Context, r *rewriter) error {
	for n := range r.Each(ctx) {
		q, ok := quantizerOf(n)
		if !ok || q.bits > maxThresholdBits {
			continue
		}
		var chain []*graph.Node // from n back to a long step, the last one
		var steps []scalar.Step
		for p := r.only(n); p != nil; p = r.only(p) {
			s, ok := p.Attrs.(*graph.Elementwise)
			if !ok || !scalar.Increasing(s.Steps) {
				break
			}
			chain, steps = append(chain, p), slices.Concat(s.Steps, steps)
			if !long(s.Steps) || !r.alone(n, q.behind(steps)) {
				continue
			}
			q, _ = quantizerOf(n)
			r.SetInputs(n, p.Inputs...)
			for _, c := range chain {
				r.Remove(c)
			}
			chain, steps, p = nil, nil, n
		}
	}
	return nil
}
