package fusedglue

import (
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// hasLong reports whether a step is too long for the expression of a convolution's results.
func hasLong(steps []scalar.Step) bool { return slices.ContainsFunc(steps, scalar.Step.Long) }

// curves turns a long step, such as sigmoid, the increasing steps behind it and a few-bit quantizer
// into thresholds. Convolutions fuse these as they fuse any quantizer's. The curve itself is no
// longer computed.
func curves(r *rewriter, n *graph.Node) {
	q, ok := quantizerOf(n)
	if !ok || q.bits > maxThresholdBits {
		return
	}
	var chain []*graph.Node // from n back to a long step, the last one
	var steps []scalar.Step
	for p := r.soleProducer(n); p != nil; p = r.soleProducer(p) {
		s, ok := p.Attrs.(*graph.Elementwise)
		if !ok || !scalar.Increasing(s.Steps) {
			break
		}
		chain, steps = append(chain, p), slices.Concat(s.Steps, steps)
		if !hasLong(s.Steps) || !r.replaceByThreshold(n, q.compose(steps)) {
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
