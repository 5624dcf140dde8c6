package fusedglue

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
)

// quantizersAlone turns few-bit quantizers that no convolution fused into thresholds on their f32
// input, together with the increasing steps before them. Comparisons cost less than division and
// rounding, but for many levels it is the other way round.
func quantizersAlone(r *rewriter, n *graph.Node) {
	q, ok := quantizerOf(n)
	if !ok {
		return
	}
	if q.bits > maxThresholdBits {
		if a, ok := n.Attrs.(*graph.ThresholdAttrs); ok && q.formula != nil && q.formula.LevelType == a.LevelType {
			n.Op, n.Attrs, n.Weights = "quantize", q.formula, nil
		}
		return
	}
	if _, isQuantize := n.Attrs.(*graph.QuantizeAttrs); isQuantize {
		r.replaceByThreshold(n, q)
	}
	for p := r.soleProducer(n); p != nil; p = r.soleProducer(n) {
		s, ok := p.Attrs.(*graph.Elementwise)
		if !ok || !scalar.Increasing(s.Steps) || !r.replaceByThreshold(n, q.compose(s.Steps)) {
			break
		}
		q, _ = quantizerOf(n)
		r.SetInputs(n, p.Inputs...)
		r.Remove(p)
	}
}

// compose returns the quantizer that applies steps and then q.
func (q quantizer) compose(steps []scalar.Step) quantizer {
	level := q.level
	q.level = func(o int, x float32) int { return level(o, scalar.EvalSteps(steps, o, x)) }
	q.sameInChannels = q.sameInChannels && !slices.ContainsFunc(steps, func(s scalar.Step) bool {
		return len(s.Vectors()) > 0
	})
	return q
}

// replaceByThreshold turns n, a quantize or threshold, into the threshold node that equals q. It
// reports whether it could.
func (r *rewriter) replaceByThreshold(n *graph.Node, q quantizer) bool {
	channels := r.g.Value(n.Inputs[0]).Channels()
	if q.sameInChannels {
		channels = 1
	}
	top := q.level(0, float32(math.Inf(1)))
	thresholds := make([]float32, top*channels)
	for o := range channels {
		unordered := 0
		if q.nan {
			unordered = top
		}
		if top == 0 || q.level(o, float32(math.Inf(1))) != top || q.level(o, float32(math.NaN())) != unordered {
			return false
		}
		for j, x := range floatLevels(q, o)[:top] {
			thresholds[j*channels+o] = f32.Flush(x)
		}
	}
	y := r.g.Value(n.Output)
	a := &graph.ThresholdAttrs{LevelType: y.LevelType, NotLess: q.nan}
	n.Op, n.Attrs, n.Weights = "threshold", a,
		map[string]*graph.Tensor{"thresholds": {Shape: []int{top, channels}, Data: graph.NumbersOf(thresholds)}}
	return true
}
