package graph

import (
	"math"
	"slices"

	"ripc/graph/scalar"
	"ripc/internal/f32"
)

// Steps are the float steps that n is, none if it is no op on single elements (or b / x), or works
// on levels.
func Steps(g *Graph, n *Node) []scalar.Step {
	if o, err := g.rowFor(n); err == nil && o.steps != nil && !g.Value(n.Inputs[0]).Encoded() {
		return o.steps(g, n)
	}
	return nil
}

func batchNormSteps(n *Node, a *BatchNormAttrs, _ func([]float32) []float32) []scalar.Step {
	s, b := batchNorm(n, a)
	return []scalar.Step{{Kind: scalar.Fma, A: s, B: b}}
}

func preluSteps(n *Node, _ *PReluAttrs, _ func([]float32) []float32) []scalar.Step {
	return []scalar.Step{{Kind: scalar.PRelu, A: n.Weights["alpha"].Data.Floats()}}
}

func clipSteps(_ *Node, a *ClipAttrs, _ func([]float32) []float32) []scalar.Step {
	return []scalar.Step{{Kind: scalar.Clip, Lo: float32(a.Min), Hi: float32(a.Max)}}
}

func hardSigmoidSteps(_ *Node, a *HardSigmoidAttrs, vector func([]float32) []float32) []scalar.Step {
	return []scalar.Step{{Kind: scalar.Mul, A: vector([]float32{float32(a.Alpha)})},
		{Kind: scalar.Add, A: vector([]float32{float32(a.Beta)})}, {Kind: scalar.Clip, Lo: 0, Hi: 1}}
}

func eluSteps(_ *Node, a *EluAttrs, vector func([]float32) []float32) []scalar.Step {
	return []scalar.Step{{Kind: scalar.Elu, A: vector([]float32{float32(a.Alpha)})}}
}

func roundSteps(_ *Node, a *RoundAttrs, _ func([]float32) []float32) []scalar.Step {
	return []scalar.Step{{Kind: scalar.Round, Mode: a.Mode}}
}

// binarySteps is x op b, or b op x; nil where these are no steps, such as b / x, and for two
// tensors. x - b is x + (-b), and b - x is (-x) + b, to the bit.
func binarySteps(n *Node, a *BinaryOpAttrs, vector func(v []float32) []float32) []scalar.Step {
	if len(n.Inputs) != 1 {
		return nil
	}
	switch b := vector(n.Weights["b"].Data.Floats()); {
	case n.Op == "add":
		return []scalar.Step{{Kind: scalar.Add, A: b}}
	case n.Op == "mul":
		return []scalar.Step{{Kind: scalar.Mul, A: b}}
	case n.Op == "sub" && a.Reverse:
		return []scalar.Step{{Kind: scalar.Mul, A: slices.Repeat([]float32{-1}, len(b))}, {Kind: scalar.Add, A: b}}
	case n.Op == "sub":
		return []scalar.Step{{Kind: scalar.Add, A: negate(b)}}
	case n.Op == "div" && !a.Reverse:
		return []scalar.Step{{Kind: scalar.Div, A: b}}
	case n.Op == "minimum" && !a.Reverse:
		return []scalar.Step{{Kind: scalar.Least, A: b}}
	case n.Op == "maximum" && !a.Reverse:
		return []scalar.Step{{Kind: scalar.Most, A: b}}
	}
	return nil
}

// fakeQuantSteps is FakeQuantAttrs' formula.
func fakeQuantSteps(n *Node, a *FakeQuantAttrs, vector func(v []float32) []float32) []scalar.Step {
	scale, zp := vector(n.Weights["scale"].Data.Floats()), []float32(nil)
	if n.Weights["zero_point"] != nil {
		zp = vector(n.Weights["zero_point"].Data.Floats())
	}
	var steps []scalar.Step
	scaled := slices.ContainsFunc(scale, func(v float32) bool { return v != 1 })
	shifted := slices.ContainsFunc(zp, func(v float32) bool { return v != 0 })
	if scaled {
		steps = append(steps, scalar.Step{Kind: scalar.Div, A: scale})
	}
	if shifted {
		steps = append(steps, scalar.Step{Kind: scalar.Add, A: zp})
	}
	steps = append(steps, scalar.Step{Kind: scalar.Clip, Lo: float32(a.Min), Hi: float32(a.Max)},
		scalar.Step{Kind: scalar.Round, Mode: a.Rounding})
	if shifted {
		steps = append(steps, scalar.Step{Kind: scalar.Add, A: negate(zp)})
	}
	if scaled {
		steps = append(steps, scalar.Step{Kind: scalar.Mul, A: scale})
	}
	return steps
}

func negate(v []float32) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = f32.Neg(v[i])
	}
	return out
}

// batchNorm gives y = fma(x, s, b) per channel: s = f32(gamma/sqrt(var+eps)), b = f32(beta -
// mean*s), in float64.
func batchNorm(n *Node, a *BatchNormAttrs) (s, b []float32) {
	gamma, beta := n.Weights["gamma"].Data.Floats(), n.Weights["beta"].Data.Floats()
	mean, vars := n.Weights["mean"].Data.Floats(), n.Weights["var"].Data.Floats()
	s, b = make([]float32, len(gamma)), make([]float32, len(gamma))
	for c := range gamma {
		s[c] = float32(float64(gamma[c]) / math.Sqrt(float64(vars[c])+a.Epsilon))
		b[c] = float32(float64(beta[c]) - float64(mean[c])*float64(s[c]))
	}
	return s, b
}
