package fusedglue

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/graph/explain"
	"ripc/graph/scalar"
)

// Strict fails, naming every layer with its reason and cost, where a network stays float although it is meant to be binary:
//   - a convolution or dense layer whose weights have few bits (at most graph.MaxWeightBits, of both signs), or whose input has as
//     few and that stands between bitserial layers, but which is not bitserial;
//   - glue that stayed float between bitserial layers: sums that leave as f32 though levels are made from them later, levels
//     of sums that are no thresholds, or a float step that nothing took in.
//
// Other float convolutions, such as a first and a last layer with real or 8-bit weights, what comes before the first binary
// layer, and what follows the last one (but for levels of few bits that the caller gets), are the model's own wish.
func Strict(g *graph.Graph) error {
	s := strict{Index: graph.NewIndex(g), g: g}
	for _, n := range g.Nodes {
		s.all += s.macs(n)
	}
	var errs []error
	for _, n := range g.Nodes {
		f, conv := n.Attrs.(*graph.FusedConv)
		_, step := n.Attrs.(*graph.Elementwise)
		switch {
		case conv && n.Op == "fconv2d":
			errs = append(errs, s.layer(n, f))
		case conv && f.Epilogue.OutBits > 0 && f.Epilogue.Thresholds == nil && f.Epilogue.Shift == nil:
			errs = append(errs, s.stays(n, "use slopes from 0 up and finite constants", reason(n, "no thresholds equal its glue")))
		case step && s.bitserial(n, s.above), conv && f.Epilogue.OutBits == 0:
			if q := s.laterQuantizer(n); q != nil && (s.g.Value(q.Output).Bits <= graph.MaxWeightBits || s.bitserial(q, s.below)) {
				errs = append(errs, s.stays(n, "see what stands between the two; batch_norm, relu and clip fold, and nothing else may read these tensors",
					fmt.Sprintf("the glue up to %q does not fold to integers: %s", q.Name, s.obstacle(n, q))))
			}
		}
	}
	return errors.Join(errs...)
}

type strict struct {
	*graph.Index
	g   *graph.Graph
	all int64 // MACs of the network
}

// layer is the error of a float convolution that should have been bitserial, nil if it is the model's own wish.
func (s strict) layer(n *graph.Node, f *graph.FusedConv) error {
	few, _ := graph.Decompose(&graph.Tensor{Shape: []int{f.Products(), f.Out}, Data: f.WFloat})
	switch {
	case few != nil && few.Trained():
		return s.stays(n, "quantize its input to at most 8 bits, with one scale",
			reason(n, fmt.Sprintf("its weights are %s, but its input is not quantized", explain.Weights(few.Attrs.WeightType()))))
	case s.fewLevels(n.Inputs[0]) && s.bitserial(n, s.above) && s.bitserial(n, s.below):
		return s.stays(n, fmt.Sprintf("quantize its weights to at most %d bits, with a scale for each output channel", graph.MaxWeightBits),
			reason(n, "its input has few bits, but its weights are real"))
	}
	return nil
}

// reason says why an earlier stage left n or its glue float, or what stands in for it where none has looked.
func reason(n *graph.Node, otherwise string) string {
	if n.Verdict.Reason == graph.NoReason {
		return otherwise
	}
	return explain.Verdict(n.Verdict)
}

// stays is the error that n stays float.
func (s strict) stays(n *graph.Node, help, why string) error {
	y := s.g.Value(n.Output)
	cost := fmt.Sprintf("%d values", y.Elems())
	if m := s.macs(n); m > 0 && n.Op == "fconv2d" {
		cost = fmt.Sprintf("%d MACs, %.1f %% of all", m, 100*float64(m)/float64(s.all))
	}
	return s.g.Errorf(n, help, "stays float: %s (%s)", why, cost)
}

// macs is the number of multiply-accumulates of a convolution or dense layer, 0 of others.
func (s strict) macs(n *graph.Node) int64 {
	f, ok := n.Attrs.(*graph.FusedConv)
	if !ok {
		return 0
	}
	x := s.g.Value(n.Inputs[0])
	pixels := int64(x.Shape[0])
	if len(x.Shape) == 4 {
		oh, ow := f.OutSize(x.Shape[1], x.Shape[2])
		pixels *= int64(oh) * int64(ow)
	}
	return pixels * int64(f.Products()) * int64(f.Out)
}

// fewLevels reports whether f32 tensor t holds the values of a quantizer of at most graph.MaxWeightBits bits.
func (s strict) fewLevels(t string) bool {
	n := s.Producer(t)
	if n == nil {
		return false
	}
	switch a := n.Attrs.(type) {
	case *graph.Elementwise:
		return fewSteps(a.Steps)
	case *graph.FusedConv:
		return fewSteps(a.Epilogue.Steps)
	case *graph.PoolAttrs, *graph.SpatialPadAttrs, *graph.SliceAttrs, *graph.ReshapeAttrs, *graph.TransposeAttrs, *graph.ConcatAttrs:
		return n.Op != "avg_pool" && !slices.ContainsFunc(n.Inputs, func(in string) bool { return !s.fewLevels(in) })
	}
	switch n.Op {
	case "dequantize":
		return s.g.Value(n.Inputs[0]).Bits <= graph.MaxWeightBits
	case "flatten":
		return s.fewLevels(n.Inputs[0])
	}
	return false
}

// fewSteps reports whether steps end in those of a quantizer with few levels.
func fewSteps(steps []scalar.Step) bool {
	i := len(steps) - 1
	for i >= 0 && (steps[i].Kind == scalar.Mul || steps[i].Kind == scalar.Add) {
		i--
	}
	return i >= 0 && (steps[i].Kind == scalar.Sign || i > 0 && steps[i].Kind == scalar.Round && steps[i-1].Kind == scalar.Clip && steps[i-1].Hi-steps[i-1].Lo < 1<<graph.MaxWeightBits)
}

// bitserial reports whether a bitserial layer is reached from n, next giving a node's neighbours.
func (s strict) bitserial(n *graph.Node, next func(n *graph.Node) []*graph.Node) bool {
	return reach(n, func(m *graph.Node) (found, on bool) { return m.Op == "bconv2d", true }, next) != nil
}

// laterQuantizer finds a quantizer that is reached from n through float glue.
func (s strict) laterQuantizer(n *graph.Node) *graph.Node {
	return reach(n, func(m *graph.Node) (found, on bool) {
		switch a := m.Attrs.(type) {
		case *graph.QuantizeAttrs, *graph.ThresholdAttrs:
			return true, false
		case *graph.FusedConv:
			return a.Epilogue.OutBits > 0, false
		}
		return false, true
	}, s.below)
}

// obstacle says what keeps the quantizer q, which is reached from n, from folding into n.
func (s strict) obstacle(n, q *graph.Node) string {
	readers := s.below(n)
	if s.g.IsOutput(n.Output) {
		return "the caller reads what is between"
	}
	if len(readers) > 1 {
		var names []string
		for _, c := range readers {
			names = append(names, fmt.Sprintf("%q", c.Name))
		}
		return strings.Join(names, " and ") + " read what is between"
	}
	c := readers[0]
	if c != q {
		return fmt.Sprintf("%s %q stands between", c.Op, c.Name)
	}
	if bits := s.g.Value(q.Output).Bits; bits > maxThresholdBits {
		return fmt.Sprintf("levels of %d bits, where at most %d become thresholds", bits, maxThresholdBits)
	}
	return "it comes directly behind no convolution"
}

// reach finds the first node from n on, n left out, that visit has found; on says whether what lies behind one counts too.
func reach(n *graph.Node, visit func(*graph.Node) (found, on bool), next func(*graph.Node) []*graph.Node) *graph.Node {
	seen := map[*graph.Node]bool{}
	var from func(n *graph.Node) *graph.Node
	from = func(n *graph.Node) *graph.Node {
		for _, m := range next(n) {
			if seen[m] {
				continue
			}
			seen[m] = true
			found, on := visit(m)
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

func (s strict) above(n *graph.Node) []*graph.Node {
	var out []*graph.Node
	for _, in := range n.Inputs {
		if p := s.Producer(in); p != nil {
			out = append(out, p)
		}
	}
	return out
}

func (s strict) below(n *graph.Node) []*graph.Node {
	return s.Consumers(n.Output)
}
