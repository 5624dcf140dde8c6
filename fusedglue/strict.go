package fusedglue

import (
	"math/bits"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// Strict finds every layer of a network that stays float although the network is meant to be
// binary. A layer is a convolution or dense layer that is not bitserial:
//   - Its weights have few bits: at most graph.FewBitsMost, of both signs.
//   - Its input has as few bits, and it stands between bitserial layers.
//   - Its weights have up to 8 bits, it stands behind a bitserial layer, and it is not the last
//     layer.
//   - It reads levels, its weights have up to 8 bits, and 32 bits may not hold its sums.
//
// Float glue between bitserial layers counts, too: sums that leave as f32 though levels are made
// from them later, levels of sums that are no thresholds, and float steps that no layer fused.
//
// Other float layers are intended by the model: a first and a last layer with real or 8-bit
// weights, and all glue before the first or behind the last binary layer. Few-bit levels among the
// network's outputs are not.
func Strict(g *graph.Graph) []graph.Stay {
	s := &strict{Index: graph.NewIndex(g), g: g}
	for _, n := range g.Nodes {
		s.totalMACs += s.macs(n)
	}
	for _, n := range g.Nodes {
		f, conv := n.Attrs.(*graph.FusedConv)
		_, step := n.Attrs.(*graph.Elementwise)
		switch {
		case conv && n.Op == "fconv2d":
			s.layer(n, f)
		case conv && inTile(f):
		case conv && f.Window != nil && f.Epilogue.OutBits > 0, n.Op == "window_sum": // intended by the model
		case conv && f.Epilogue.OutBits > 0 && f.Epilogue.Thresholds == nil && f.Epilogue.Shift == nil &&
			f.Epilogue.Scale == nil:
			s.addStay(n, graph.LackThresholds, verdict(n, graph.Verdict{Reason: graph.WhyNoThresholds}), "")
		case step && s.reachesBitserial(n, s.above), conv && f.Epilogue.OutBits == 0:
			if q := s.laterQuantizer(n); q != nil &&
				(s.g.Value(q.Output).Bits <= graph.FewBitsMost || s.reachesBitserial(q, s.readersOf)) {
				s.addStay(n, graph.LackFolding, s.obstacle(n, q), q.Name)
			}
		}
	}
	return s.found
}

// inTile reports whether f makes levels from floats that are inherent in the model and never leave
// its tile. Such floats are sums with other tensors, or have more levels than become thresholds.
func inTile(f *graph.FusedConv) bool {
	return f.Epilogue.OutBits > 0 && (len(f.Epilogue.Joins) > 0 || f.Epilogue.Quantizer != nil)
}

type strict struct {
	*graph.Index
	g         *graph.Graph
	totalMACs int64 // MACs of the network
	found     []graph.Stay
}

// layer decides about a float convolution: should it have been bitserial, or did the model intend
// floats?
func (s *strict) layer(n *graph.Node, f *graph.FusedConv) {
	if n.Verdict.Reason == graph.WhyAccumulator {
		s.addStay(n, graph.LackRoom, n.Verdict, "")
		return
	}
	taps := f.KH * f.KW
	if bits, enc, ok := graph.IntendedBits(&graph.Tensor{Shape: []int{taps, f.Products() / taps, f.Out},
		Data: graph.NumbersOf(f.WFloat)}); ok {
		why := graph.Verdict{Reason: graph.WhyFloatInput}
		why.Args.WeightBits, why.Args.Weights = bits, enc
		s.addStay(n, graph.LackLevels, verdict(n, why), "")
		return
	}
	if why := n.Verdict; why.Args.WeightBits > graph.FewBitsMost && why.Args.Bits == 0 &&
		s.reachesBitserial(n, s.above) && s.layerBelow(n) {
		s.addStay(n, graph.LackLevels, why, "")
		return
	}
	if b := s.levelBits(n.Inputs[0]); b > 0 && b <= graph.FewBitsMost && s.reachesBitserial(n, s.above) &&
		s.reachesBitserial(n, s.readersOf) {
		s.addStay(n, graph.LackWeights, verdict(n, graph.Verdict{Reason: graph.WhyRealWeights, Args: ir.Args{Bits: b}}),
			"")
	}
}

// verdict returns the reason an earlier stage recorded for n, or otherwise if there is none.
func verdict(n *graph.Node, otherwise graph.Verdict) graph.Verdict {
	if n.Verdict.Reason == graph.NoReason {
		return otherwise
	}
	return n.Verdict
}

// addStay records that n stays float.
func (s *strict) addStay(n *graph.Node, lacks graph.Lack, why graph.Verdict, upTo string) {
	stay := graph.Stay{Node: n, Lacks: lacks, Verdict: why, UpTo: upTo,
		Values: int64(s.g.Value(n.Output).Elems()), AllMACs: s.totalMACs}
	if n.Op == "fconv2d" {
		stay.MACs = s.macs(n)
	}
	s.found = append(s.found, stay)
}

// macs returns the multiply-accumulates of a convolution or dense layer, 0 for other nodes.
func (s *strict) macs(n *graph.Node) int64 {
	f, ok := n.Attrs.(*graph.FusedConv)
	if !ok || !f.Multiplies(n.Op) {
		return 0
	}
	x := s.g.Value(n.Inputs[0])
	pixels := int64(x.Shape[0])
	if len(x.Shape) == 4 {
		oh, ow := f.OutSize(x.Shape[1], x.Shape[2])
		pixels *= int64(oh) * int64(ow)
	}
	return n.Part.Count(pixels * int64(f.Products()) * int64(f.Out))
}

// levelBits returns the number of bits of the quantizer that made the values of f32 tensor t, 0 if
// none did.
func (s *strict) levelBits(t string) int {
	n := s.Producer(t)
	if n == nil {
		return 0
	}
	switch a := n.Attrs.(type) {
	case *graph.Elementwise:
		return stepBits(a.Steps)
	case *graph.FusedConv:
		return stepBits(a.Epilogue.Floats())
	}
	switch {
	case n.Op == "dequantize":
		return s.g.Value(n.Inputs[0]).Bits
	case n.Moves():
		most := 0
		for _, in := range n.Inputs {
			b := s.levelBits(in)
			if b == 0 {
				return 0
			}
			most = max(most, b)
		}
		return most
	}
	return 0
}

// stepBits returns the number of bits of the quantizer that steps end in, 0 if they end in none.
func stepBits(steps []scalar.Step) int {
	i := len(steps) - 1
	for i >= 0 && (steps[i].Kind == scalar.Mul || steps[i].Kind == scalar.Add) {
		i--
	}
	switch {
	case i >= 0 && steps[i].Kind == scalar.Sign:
		return 1
	case i > 0 && steps[i].Kind == scalar.Round && steps[i-1].Kind == scalar.Clip &&
		steps[i-1].Hi-steps[i-1].Lo < 1<<graph.FewBitsMost:
		return max(1, bits.Len(uint(steps[i-1].Hi-steps[i-1].Lo)))
	}
	return 0
}

// reachesBitserial reports whether a path along next leads from n to a bitserial layer.
func (s *strict) reachesBitserial(n *graph.Node, next func(n *graph.Node) []*graph.Node) bool {
	return reach(n, func(_, m *graph.Node) (found, on bool) { return m.Op == "bconv2d", true }, next) != nil
}

// layerBelow reports whether a convolution or dense layer is reached from n: n is not the last one.
func (s *strict) layerBelow(n *graph.Node) bool {
	return reach(n, func(_, m *graph.Node) (found, on bool) { return s.macs(m) > 0, true }, s.readersOf) != nil
}

// laterQuantizer returns a quantizer that is reached from n through float glue.
func (s *strict) laterQuantizer(n *graph.Node) *graph.Node {
	return reach(n, func(from, m *graph.Node) (found, on bool) {
		switch a := m.Attrs.(type) {
		case *graph.QuantizeAttrs, *graph.ThresholdAttrs:
			return true, false
		case *graph.FusedConv:
			return a.Epilogue.OutBits > 0 && m.Inputs[0] == from.Output, false // a join of its sums ends there
		case *graph.ShiftLevels:
			return false, false // integers all the way
		}
		return false, true
	}, s.readersOf)
}

// obstacle returns the reason why quantizer q, which is reached from n, does not fold into n.
func (s *strict) obstacle(n, q *graph.Node) graph.Verdict {
	readers := s.readersOf(n)
	if s.g.IsOutput(n.Output) {
		return graph.Verdict{Reason: graph.WhyCallerReads}
	}
	c := readers[len(readers)-1]
	switch bits := s.g.Value(q.Output).Bits; {
	case len(readers) > 1:
		return graph.Verdict{Reason: graph.WhyManyRead, Where: c.Name,
			Args: ir.Args{Op: c.Op, Count: int64(len(readers))}}
	case c != q:
		return graph.Verdict{Reason: graph.WhyStandsBetween, Where: c.Name, Args: ir.Args{Op: c.Op}}
	case bits > maxThresholdBits:
		return graph.Verdict{Reason: graph.WhyWideThresholds, Args: ir.Args{Bits: bits, Most: maxThresholdBits}}
	}
	return graph.Verdict{Reason: graph.WhyNoConvolution}
}

// reach returns the first node after n along next that visit accepts. visit's on reports whether to
// continue behind the node.
func reach(n *graph.Node, visit func(from, m *graph.Node) (found, on bool),
	next func(*graph.Node) []*graph.Node) *graph.Node {
	seen := map[*graph.Node]bool{}
	var from func(n *graph.Node) *graph.Node
	from = func(n *graph.Node) *graph.Node {
		for _, m := range next(n) {
			if seen[m] {
				continue
			}
			seen[m] = true
			found, on := visit(n, m)
			if found {
				return m
			}
			if on {
				if q := from(m); q != nil {
					return q
				}
			}
		}
		return nil
	}
	return from(n)
}

func (s *strict) above(n *graph.Node) []*graph.Node {
	var out []*graph.Node
	for _, in := range n.Inputs {
		if p := s.Producer(in); p != nil {
			out = append(out, p)
		}
	}
	return out
}

func (s *strict) readersOf(n *graph.Node) []*graph.Node {
	return s.Consumers(n.Output)
}
