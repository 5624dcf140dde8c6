package refnet

import (
	"math"

	"ripc/graph"
	"ripc/internal/f32"
	"ripc/ir"
)

// position is index i of a tensor as a position on each axis, and index its inverse.
func position(i int, shape []int) []int {
	p := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		p[d], i = i%shape[d], i/shape[d]
	}
	return p
}

func index(p, shape []int) int {
	i := 0
	for d := range p {
		i = i*shape[d] + p[d]
	}
	return i
}

// refBinary computes y, of two tensors or of one and the weight b; what is smaller than y is repeated.
func refBinary(n *graph.Node, a *graph.BinaryOpAttrs, vals map[string]*Tensor, y *Tensor) {
	sides := []*Tensor{vals[n.Inputs[0]]}
	if b := n.Weights["b"]; b != nil {
		shape := make([]int, len(y.shape))
		for d := range shape {
			shape[d] = 1
		}
		shape[len(shape)-1] = len(b.Data)
		sides = append(sides, &Tensor{shape: shape, F: b.Data})
	} else {
		sides = append(sides, vals[n.Inputs[1]])
	}
	if a.Reverse {
		sides[0], sides[1] = sides[1], sides[0]
	}
	for i := range y.F {
		var v [2]float32
		for k, x := range sides {
			p := position(i, y.shape)
			for d := range p {
				p[d] %= x.shape[d]
			}
			v[k] = x.F[index(p, x.shape)]
		}
		y.F[i] = map[string]func(a, b float32) float32{"add": f32.Add, "sub": f32.Sub, "mul": f32.Mul, "div": f32.Div}[n.Op](v[0], v[1])
	}
	y.loose = sides[0].loose || sides[1].loose
}

// refLevels computes add and sub of levels in real numbers, whose quotient by the result's scale is an integer. mul and div
// change the scale alone.
func refLevels(g *graph.Graph, n *graph.Node, vals map[string]*Tensor, out *graph.Value, y *Tensor) {
	if len(n.Inputs) == 1 {
		copy(y.F, vals[n.Inputs[0]].F)
		return
	}
	for i := range y.F {
		real, sign := 0.0, 1.0
		for _, in := range n.Inputs {
			x, p := vals[in], position(i, y.shape)
			for d := range p {
				p[d] %= x.shape[d]
			}
			v := g.Value(in)
			real += sign * (v.Scale*float64(x.F[index(p, x.shape)]) + v.Offset)
			if n.Op == "sub" {
				sign = -1
			}
		}
		y.F[i] = float32(math.Round((real - out.Offset) / out.Scale))
	}
}

// refThreshold is the integer that a float of channel c becomes.
func refThreshold(a *graph.ThresholdAttrs, t *graph.Tensor, out *graph.Value, c int, e float32) int {
	count := 0
	for j := range t.Shape[0] {
		if v := t.Data[j*t.Shape[1]+c%t.Shape[1]]; e >= v || a.NotLess && !(e < v) {
			count++
		}
	}
	if a.Enc == ir.BipolarInv {
		count = 1<<a.Bits - 1 - count
	}
	return IntegerOf(out, count)
}

// refFakeQuant rounds to the real values of a quantizer's integers.
func refFakeQuant(a *graph.FakeQuantAttrs, weights map[string]*graph.Tensor, c int, e float32) float32 {
	one := func(key string) float32 {
		if t := weights[key]; t != nil {
			return t.Data[c%len(t.Data)]
		}
		return 0
	}
	v := f32.Add(f32.Div(e, one("scale")), one("zero_point"))
	v = a.Rounding.Eval(min(max(v, float32(a.Min)), float32(a.Max)))
	return f32.Mul(f32.Sub(v, one("zero_point")), one("scale"))
}
