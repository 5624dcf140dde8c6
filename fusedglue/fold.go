package fusedglue

import (
	"math"
	"slices"

	"ripc/ir/graph"
)

// eltwise makes batch_norm and relu float steps (op "eltwise", attribute *graph.Elementwise).
func eltwise(r *rewriter) error {
	set := func(n *graph.Node, s graph.FloatStep) {
		s.From = n.Name
		n.Op, n.Attrs = "eltwise", &graph.Elementwise{Steps: []graph.FloatStep{s}}
	}
	for _, n := range r.g.Nodes {
		switch a := n.Attrs.(type) {
		case *graph.BatchNormAttrs:
			s, b := BatchNorm(n, a)
			set(n, graph.FloatStep{Kind: "fma", A: s, B: b})
		case *graph.PReluAttrs:
			set(n, graph.FloatStep{Kind: "prelu", A: n.Weights["alpha"].Data})
		default:
			if n.Op == "relu" || n.Op == "relu6" || n.Op == "hard_tanh" {
				set(n, graph.FloatStep{Kind: n.Op})
			}
		}
	}
	return nil
}

// BatchNorm gives y = fma(x, s, b) per channel: s = f32(gamma/sqrt(var+eps)), b = f32(beta - mean*s), in float64.
func BatchNorm(n *graph.Node, a *graph.BatchNormAttrs) (s, b []float32) {
	gamma, beta := n.Weights["gamma"].Data, n.Weights["beta"].Data
	mean, vars := n.Weights["mean"].Data, n.Weights["var"].Data
	s, b = make([]float32, len(gamma)), make([]float32, len(gamma))
	for c := range gamma {
		s[c] = float32(float64(gamma[c]) / math.Sqrt(float64(vars[c])+a.Epsilon))
		b[c] = float32(float64(beta[c]) - float64(mean[c])*float64(s[c]))
	}
	return s, b
}

func foldSteps(r *rewriter) error {
	for _, n := range slices.Clone(r.g.Nodes) {
		s, ok := n.Attrs.(*graph.Elementwise)
		if !ok {
			continue
		}
		p := r.only(n)
		if f := open(p); f != nil {
			f.Epilogue.Steps = append(slices.Clone(f.Epilogue.Steps), s.Steps...)
			r.absorb(p, n)
		}
	}
	return nil
}

// poolAfter swaps max_pool with an increasing step or quantizer behind it: the maximum commutes with increasing maps.
func poolAfter(r *rewriter) error {
	for changed := true; changed; {
		changed = false
		for i, n := range r.g.Nodes {
			p := r.only1(n)
			if p == nil || p.Op != "max_pool" || r.g.Value(p.Inputs[0]).Encoded() || !increasing(n) {
				continue
			}
			// x -> p -> t -> n -> y   becomes   x -> n -> t -> p -> y; t takes the type of y and the shape of x.
			x, t, y := r.g.Value(p.Inputs[0]), r.g.Value(p.Outputs[0]), r.g.Value(n.Outputs[0])
			shape := slices.Clone(x.Shape)
			name := t.Name
			*t = *y
			t.Name, t.Shape, t.Packed = name, shape, false
			n.Inputs, n.Outputs, p.Inputs, p.Outputs = p.Inputs, p.Outputs, n.Inputs, n.Outputs
			j := slices.Index(r.g.Nodes, p)
			r.g.Nodes[i], r.g.Nodes[j] = p, n
			changed = true
			break
		}
	}
	return nil
}

// only1 is only for nodes with one input.
func (r *rewriter) only1(n *graph.Node) *graph.Node {
	if len(n.Inputs) != 1 {
		return nil
	}
	return r.only(n)
}

// increasing reports whether n is a map that preserves order in every channel.
func increasing(n *graph.Node) bool {
	switch a := n.Attrs.(type) {
	case *graph.Elementwise:
		return !slices.ContainsFunc(a.Steps, func(s graph.FloatStep) bool {
			return slices.ContainsFunc(s.A, func(v float32) bool { return !(v > 0) })
		})
	case *graph.QuantizeAttrs, *graph.ShiftNormAttrs:
		return true
	}
	return false
}

// maxThresholdBits is the number of output bits up to which a quantizer becomes thresholds: 2^bits-1 compares a channel.
const maxThresholdBits = 3

func foldQuantize(r *rewriter) error {
	for _, n := range slices.Clone(r.g.Nodes) {
		switch a := n.Attrs.(type) {
		case *graph.ShiftNormAttrs:
			p := r.only(n)
			f := open(p)
			if f == nil || p.Op != "bconv2d" || len(f.Epilogue.Steps) != 1 {
				return r.g.Errorf(n, "put it directly behind bitserial_conv2d or bitserial_dense, or behind their max_pool",
					"shift_norm works on the integers of one bitserial layer, but its input %q is made otherwise or used elsewhere too", n.Inputs[0])
			}
			if err := foldShiftNorm(r.g, p, n, f, a); err != nil {
				return err
			}
			r.absorb(p, n)
		case *graph.QuantizeAttrs:
			p := r.only(n)
			f := open(p)
			if f == nil || a.Bits > maxThresholdBits {
				continue
			}
			if p.Op == "bconv2d" && monotone(f.Epilogue.Steps) {
				thresholdsOf(f, r.g.Value(p.Inputs[0]).Enc, a)
			} else {
				f.Epilogue.Levels, f.Epilogue.OutBits, f.Epilogue.OutEnc = floatLevels(a), a.Bits, a.Enc
			}
			r.absorb(p, n)
		}
	}
	return nil
}

func foldPool(r *rewriter) error {
	for _, n := range slices.Clone(r.g.Nodes) {
		a, ok := n.Attrs.(*graph.PoolAttrs)
		if !ok || n.Op != "max_pool" || a.Kernel != a.Strides || a.Pad.Top+a.Pad.Bottom+a.Pad.Left+a.Pad.Right > 0 {
			continue
		}
		p := r.only(n)
		if p == nil || p.Op != "bconv2d" {
			continue
		}
		f := p.Attrs.(*graph.FusedConv)
		e := f.Epilogue
		if f.Pool != nil || e.Thresholds == nil && e.Shift == nil {
			continue
		}
		f.Pool = a
		r.absorb(p, n)
	}
	return nil
}
