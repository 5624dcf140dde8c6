package graph

import (
	"math"
	"slices"

	"ripc/graph/scalar"
	"ripc/internal/f32"
)

// Steps are the float steps that n is, none if it is no op on single elements (or b / x).
func Steps(g *Graph, n *Node) []scalar.Step {
	vec := func(weight string) []float32 {
		v, c := n.Weights[weight].Data, g.Value(n.Inputs[0]).Channels()
		if len(v) == 1 && c > 1 {
			return slices.Repeat(v, c)
		}
		return v
	}
	switch a := n.Attrs.(type) {
	case *BatchNormAttrs:
		s, b := batchNorm(n, a)
		return []scalar.Step{{Kind: scalar.Fma, A: s, B: b}}
	case *PReluAttrs:
		return []scalar.Step{{Kind: scalar.PRelu, A: n.Weights["alpha"].Data}}
	case *ClipAttrs:
		return []scalar.Step{{Kind: scalar.Clip, Lo: float32(a.Min), Hi: float32(a.Max)}}
	case *RoundAttrs:
		return []scalar.Step{{Kind: scalar.Round, Mode: a.Mode}}
	case *BinaryOpAttrs:
		if len(n.Inputs) == 1 {
			return binarySteps(n.Op, a.Reverse, vec("b"))
		}
	case *FakeQuantAttrs:
		var zp []float32
		if n.Weights["zero_point"] != nil {
			zp = vec("zero_point")
		}
		return fakeQuantSteps(a, vec("scale"), zp)
	}
	if kind, ok := map[string]scalar.Kind{"relu": scalar.Relu, "relu6": scalar.Relu6, "hard_tanh": scalar.HardTanh, "sign": scalar.Sign}[n.Op]; ok {
		return []scalar.Step{{Kind: kind}}
	}
	return nil
}

// binarySteps is x op b, or b op x; nil for b / x. x - b is x + (-b), and b - x is (-x) + b, to the bit.
func binarySteps(op string, reverse bool, b []float32) []scalar.Step {
	switch {
	case op == "add":
		return []scalar.Step{{Kind: scalar.Add, A: b}}
	case op == "mul":
		return []scalar.Step{{Kind: scalar.Mul, A: b}}
	case op == "sub" && reverse:
		return []scalar.Step{{Kind: scalar.Mul, A: slices.Repeat([]float32{-1}, len(b))}, {Kind: scalar.Add, A: b}}
	case op == "sub":
		return []scalar.Step{{Kind: scalar.Add, A: negated(b)}}
	case op == "div" && !reverse:
		return []scalar.Step{{Kind: scalar.Div, A: b}}
	}
	return nil
}

// fakeQuantSteps is FakeQuantAttrs' formula; zp is nil where there is none.
func fakeQuantSteps(a *FakeQuantAttrs, scale, zp []float32) []scalar.Step {
	var steps []scalar.Step
	scaled := slices.ContainsFunc(scale, func(v float32) bool { return v != 1 })
	shifted := slices.ContainsFunc(zp, func(v float32) bool { return v != 0 })
	if scaled {
		steps = append(steps, scalar.Step{Kind: scalar.Div, A: scale})
	}
	if shifted {
		steps = append(steps, scalar.Step{Kind: scalar.Add, A: zp})
	}
	steps = append(steps, scalar.Step{Kind: scalar.Clip, Lo: float32(a.Min), Hi: float32(a.Max)}, scalar.Step{Kind: scalar.Round, Mode: a.Rounding})
	if shifted {
		steps = append(steps, scalar.Step{Kind: scalar.Add, A: negated(zp)})
	}
	if scaled {
		steps = append(steps, scalar.Step{Kind: scalar.Mul, A: scale})
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
func batchNorm(n *Node, a *BatchNormAttrs) (s, b []float32) {
	gamma, beta := n.Weights["gamma"].Data, n.Weights["beta"].Data
	mean, vars := n.Weights["mean"].Data, n.Weights["var"].Data
	s, b = make([]float32, len(gamma)), make([]float32, len(gamma))
	for c := range gamma {
		s[c] = float32(float64(gamma[c]) / math.Sqrt(float64(vars[c])+a.Epsilon))
		b[c] = float32(float64(beta[c]) - float64(mean[c])*float64(s[c]))
	}
	return s, b
}
