package fusedglue

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/internal/f32"
)

// eltwise makes the ops on single elements float steps (op "eltwise", attribute *graph.Elementwise). b / x, whose operands
// are the wrong way round for a step, stays what it is.
func eltwise(r *rewriter) error {
	for _, n := range r.g.Nodes {
		steps := Steps(r.g, n)
		if len(steps) == 0 {
			continue
		}
		for i := range steps {
			steps[i].From = n.Name
		}
		n.Op, n.Attrs = "eltwise", &graph.Elementwise{Steps: steps}
	}
	return nil
}

// Steps are the float steps that n is, none if it is no op on single elements (or b / x).
func Steps(g *graph.Graph, n *graph.Node) []graph.FloatStep {
	vec := func(weight string) []float32 {
		v, c := n.Weights[weight].Data, g.Value(n.Inputs[0]).Channels()
		if len(v) == 1 && c > 1 {
			return slices.Repeat(v, c)
		}
		return v
	}
	switch a := n.Attrs.(type) {
	case *graph.BatchNormAttrs:
		s, b := batchNorm(n, a)
		return []graph.FloatStep{{Kind: "fma", A: s, B: b}}
	case *graph.PReluAttrs:
		return []graph.FloatStep{{Kind: "prelu", A: n.Weights["alpha"].Data}}
	case *graph.ClipAttrs:
		return []graph.FloatStep{{Kind: "clip", Lo: float32(a.Min), Hi: float32(a.Max)}}
	case *graph.RoundAttrs:
		return []graph.FloatStep{{Kind: "round", Mode: a.Mode}}
	case *graph.BinaryOpAttrs:
		if len(n.Inputs) == 1 {
			return binarySteps(n.Op, a.Reverse, vec("b"))
		}
	case *graph.FakeQuantAttrs:
		var zp []float32
		if n.Weights["zero_point"] != nil {
			zp = vec("zero_point")
		}
		return fakeQuantSteps(a, vec("scale"), zp)
	}
	switch n.Op {
	case "relu", "relu6", "hard_tanh", "sign":
		return []graph.FloatStep{{Kind: n.Op}}
	}
	return nil
}

// binarySteps is x op b, or b op x; nil for b / x. x - b is x + (-b), and b - x is (-x) + b, to the bit.
func binarySteps(op string, reverse bool, b []float32) []graph.FloatStep {
	switch {
	case op == "add":
		return []graph.FloatStep{{Kind: "add", A: b}}
	case op == "mul":
		return []graph.FloatStep{{Kind: "mul", A: b}}
	case op == "sub" && reverse:
		return []graph.FloatStep{{Kind: "mul", A: slices.Repeat([]float32{-1}, len(b))}, {Kind: "add", A: b}}
	case op == "sub":
		return []graph.FloatStep{{Kind: "add", A: negated(b)}}
	case op == "div" && !reverse:
		return []graph.FloatStep{{Kind: "div", A: b}}
	}
	return nil
}

// fakeQuantSteps is graph.FakeQuantAttrs' formula; zp is nil where there is none.
func fakeQuantSteps(a *graph.FakeQuantAttrs, scale, zp []float32) []graph.FloatStep {
	var steps []graph.FloatStep
	scaled := slices.ContainsFunc(scale, func(v float32) bool { return v != 1 })
	shifted := slices.ContainsFunc(zp, func(v float32) bool { return v != 0 })
	if scaled {
		steps = append(steps, graph.FloatStep{Kind: "div", A: scale})
	}
	if shifted {
		steps = append(steps, graph.FloatStep{Kind: "add", A: zp})
	}
	steps = append(steps, graph.FloatStep{Kind: "clip", Lo: float32(a.Min), Hi: float32(a.Max)}, graph.FloatStep{Kind: "round", Mode: a.Rounding})
	if shifted {
		steps = append(steps, graph.FloatStep{Kind: "add", A: negated(zp)})
	}
	if scaled {
		steps = append(steps, graph.FloatStep{Kind: "mul", A: scale})
	}
	return steps
}

func negated(v []float32) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = f32.Neg(v[i])
	}
	return out
}

// batchNorm gives y = fma(x, s, b) per channel: s = f32(gamma/sqrt(var+eps)), b = f32(beta - mean*s), in float64.
func batchNorm(n *graph.Node, a *graph.BatchNormAttrs) (s, b []float32) {
	gamma, beta := n.Weights["gamma"].Data, n.Weights["beta"].Data
	mean, vars := n.Weights["mean"].Data, n.Weights["var"].Data
	s, b = make([]float32, len(gamma)), make([]float32, len(gamma))
	for c := range gamma {
		s[c] = float32(float64(gamma[c]) / math.Sqrt(float64(vars[c])+a.Epsilon))
		b[c] = float32(float64(beta[c]) - float64(mean[c])*float64(s[c]))
	}
	return s, b
}

// ApplySteps computes the float steps of channel o, each rounded to f32 with subnormals flushed.
func ApplySteps(steps []graph.FloatStep, o int, x float32) float32 {
	for _, s := range steps {
		switch s.Kind {
		case "mul":
			x = f32.Mul(x, s.A[o])
		case "div":
			x = f32.Div(x, s.A[o])
		case "add":
			x = f32.Add(x, s.A[o])
		case "fma":
			x = f32.Fma(x, s.A[o], s.B[o])
		case "relu":
			x = f32.Max(x, 0)
		case "relu6":
			x = clip(x, 0, 6)
		case "hard_tanh":
			x = clip(x, -1, 1)
		case "clip":
			x = clip(x, s.Lo, s.Hi)
		case "prelu":
			x = f32.Fma(f32.Min(x, 0), s.A[o], f32.Max(x, 0))
		case "round":
			x = f32.Round(s.Mode, x)
		case "sign":
			x = sign(x)
		}
	}
	return x
}

// sign is f32(x > 0) - f32(x < 0).
func sign(x float32) float32 {
	switch x = f32.Flush(x); {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// maxSteps is the number of steps that one layer takes: all of them stand in its innermost loop.
const maxSteps = 64

// mergeSteps joins neighbouring eltwise nodes whose tensor between them nobody else reads.
func mergeSteps(r *rewriter) error {
	for _, n := range slices.Clone(r.g.Nodes) {
		s, ok := n.Attrs.(*graph.Elementwise)
		if !ok {
			continue
		}
		p := r.only(n)
		if p == nil {
			continue
		}
		if e, ok := p.Attrs.(*graph.Elementwise); ok && len(e.Steps)+len(s.Steps) <= maxSteps {
			p.Attrs = &graph.Elementwise{Steps: slices.Concat(e.Steps, s.Steps)}
			r.absorb(p, n)
		}
	}
	return nil
}
