package fusedglue

import (
	"context"
	"math/bits"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// explainFloatSums adds a verdict to bitserial layers with f32 sums that stay inside the network.
func explainFloatSums(ctx context.Context, r *rewriter) error {
	s := &strict{Index: graph.NewIndex(r.g), g: r.g}
	for n := range r.EachNode(ctx) {
		f, ok := n.Attrs.(*graph.FusedConv)
		if ok && n.Op == "bconv2d" && f.Epilogue.OutBits == 0 && !r.g.IsOutput(n.Output) &&
			n.Verdict.Reason == graph.NoReason {
			n.Verdict = s.leaveReason(n, f)
			n.Verdict.Kind = graph.Binary
		}
	}
	return nil
}

// leaveReason returns the reason why the sums of n leave as f32.
func (s *strict) leaveReason(n *graph.Node, f *graph.FusedConv) graph.Verdict {
	if b := roundBits(f.Epilogue.Floats()); b > 0 {
		return graph.Verdict{Reason: graph.WhyUnreadLevels, Args: ir.Args{Bits: b}}
	}
	readers := s.readersOf(n)
	q := reach(n, func(_, m *graph.Node) (found, on bool) {
		_, quantizes := quantizerOf(m)
		_, conv := m.Attrs.(*graph.FusedConv)
		return quantizes, !conv
	}, s.readersOf)
	if len(readers) == 0 {
		return graph.Verdict{Reason: graph.WhySumsLeave}
	}
	c := readers[len(readers)-1]
	_, conv := c.Attrs.(*graph.FusedConv)
	switch why := (graph.Verdict{Where: c.Name, Args: ir.Args{Op: c.Op}}); {
	case len(readers) == 1 && conv && c.Inputs[0] != n.Output:
		why.Reason = graph.WhySumsJoined
		return why
	case q == nil:
		return graph.Verdict{Reason: graph.WhySumsLeave}
	case len(readers) > 1:
		why.Reason, why.Args.Count = graph.WhySumsShared, int64(len(readers))
		return why
	case c != q:
		why.Reason = graph.WhySumsStopped
		if falls, channel := s.fallingStep(c); falls != "" {
			return graph.Verdict{Reason: graph.WhyPoolFalls, Where: falls, Args: ir.Args{Channel: channel}}
		}
		return why
	default:
		why.Reason, why.Args.Bits, why.Args.Most = graph.WhySumsWide, s.g.Value(q.Output).Bits, maxThresholdBits
		return why
	}
}

// fallingStep returns the step with a negative factor in a channel that keeps max_pool n from
// fusing: in that channel the largest sum becomes the smallest value. It returns "" if n is no
// max_pool or has no such step directly behind it.
func (s *strict) fallingStep(n *graph.Node) (step string, channel int) {
	readers := s.readersOf(n)
	if n.Op != "max_pool" || len(readers) != 1 {
		return "", 0
	}
	if e, ok := readers[0].Attrs.(*graph.Elementwise); ok {
		for _, st := range e.Steps {
			if o := slices.IndexFunc(st.A, func(a float32) bool { return a < 0 }); st.Turns() && o >= 0 {
				return st.From, o
			}
		}
	}
	return "", 0
}

// roundBits returns the number of bits of the integers to which steps round last, before they
// become real numbers. It returns 0 if the steps do not round.
func roundBits(steps []scalar.Step) int {
	i := len(steps) - 1
	for i >= 0 && (steps[i].Kind == scalar.Mul || steps[i].Kind == scalar.Add) {
		i--
	}
	if i < 1 || steps[i].Kind != scalar.Round || steps[i-1].Kind != scalar.Clip {
		return 0
	}
	if span := steps[i-1].Hi - steps[i-1].Lo; span >= 1 && span < 1<<8 {
		return bits.Len(uint(span))
	}
	return 0
}
