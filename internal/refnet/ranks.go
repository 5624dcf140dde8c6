package refnet

import (
	"math"
	"slices"
	"sync"

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

// repeated is the element of x, repeated along its axes of extent 1, that has index i in a tensor
// of the shape.
func (x *Tensor) repeated(i int, shape []int) float32 {
	p := position(i, shape)
	for d := range p {
		p[d] %= x.shape[d]
	}
	return x.F[index(p, x.shape)]
}

// refFunction computes y of its operands, inputs and weights; smaller operands are repeated. Truth
// values are 1 and 0.
func refFunction(n *graph.Node, vals map[string]*Tensor, y *Tensor) {
	var sides []*Tensor
	for _, in := range n.Inputs {
		sides = append(sides, vals[in])
	}
	at := map[string]int{"a": 1, "b": 2} // where's
	for _, key := range []string{"a", "b"} {
		w := n.Weights[key]
		if w == nil {
			continue
		}
		shape := make([]int, len(y.shape))
		for d := range shape {
			shape[d] = 1
		}
		shape[len(shape)-1] = w.Data.Len()
		side := &Tensor{shape: shape, F: w.Data.Floats()}
		if n.Op == "where" {
			sides = slices.Insert(sides, min(at[key], len(sides)), side)
		} else if sides = append(sides, side); n.Attrs.(*graph.BinaryOpAttrs).Reverse {
			slices.Reverse(sides)
		}
	}
	f := functions()[n.Op]
	for i := range y.F {
		var v []float32
		for _, x := range sides {
			v = append(v, x.repeated(i, y.shape))
		}
		y.F[i] = f(v)
	}
	for _, x := range sides {
		y.Loose = y.Loose || x.Loose
	}
}

// refLevels computes add and sub of levels in real numbers, divided by the result's scale: an
// integer. mul and div change the scale alone.
func refLevels(g *graph.Graph, n *graph.Node, vals map[string]*Tensor, out *graph.Value, y *Tensor) {
	if len(n.Inputs) == 1 { // with a number
		x, v, b := vals[n.Inputs[0]], g.Value(n.Inputs[0]), float64(n.Weights["b"].Data.At(0))
		for i, e := range x.F {
			real := v.Scale*float64(e) + v.Offset
			switch n.Op {
			case "add":
				real += b
			case "sub":
				real -= b
			case "mul":
				real *= b
			case "div":
				real /= b
			}
			y.F[i] = float32(math.Round((real - out.Offset) / out.Scale))
		}
		return
	}
	for i := range y.F {
		real, sign := 0.0, 1.0
		for _, in := range n.Inputs {
			v := g.Value(in)
			real += sign * (v.Scale*float64(vals[in].repeated(i, y.shape)) + v.Offset)
			if n.Op == "sub" {
				sign = -1
			}
		}
		y.F[i] = float32(math.Round((real - out.Offset) / out.Scale))
	}
}

// functions has the ops on single elements of several tensors.
var functions = sync.OnceValue(func() map[string]func(v []float32) float32 {
	truth := func(is func(v []float32) bool) func(v []float32) float32 {
		return func(v []float32) float32 {
			if is(v) {
				return 1
			}
			return 0
		}
	}
	return map[string]func(v []float32) float32{
		"add":           func(v []float32) float32 { return f32.Add(v[0], v[1]) },
		"sub":           func(v []float32) float32 { return f32.Sub(v[0], v[1]) },
		"mul":           func(v []float32) float32 { return f32.Mul(v[0], v[1]) },
		"div":           func(v []float32) float32 { return f32.Div(v[0], v[1]) },
		"minimum":       func(v []float32) float32 { return min(v[0], v[1]) },
		"maximum":       func(v []float32) float32 { return max(v[0], v[1]) },
		"greater":       truth(func(v []float32) bool { return v[0] > v[1] }),
		"greater_equal": truth(func(v []float32) bool { return v[0] >= v[1] }),
		"less":          truth(func(v []float32) bool { return v[0] < v[1] }),
		"less_equal":    truth(func(v []float32) bool { return v[0] <= v[1] }),
		"equal":         truth(func(v []float32) bool { return v[0] == v[1] }),
		"not_equal":     truth(func(v []float32) bool { return v[0] != v[1] }),
		"logical_not":   truth(func(v []float32) bool { return v[0] == 0 }),
		"logical_and":   truth(func(v []float32) bool { return v[0]*v[1] == 1 }),
		"logical_or":    truth(func(v []float32) bool { return v[0]+v[1] > 0 }),
		"logical_xor":   truth(func(v []float32) bool { return v[0]+v[1] == 1 }),
		"where": func(v []float32) float32 {
			if v[0] == 1 {
				return v[1]
			}
			return v[2]
		},
	}
})

// refThreshold is the integer that a float of channel c becomes.
func refThreshold(a *graph.ThresholdAttrs, t *graph.Tensor, out *graph.Value, c int, e float32) int {
	count := 0
	for j := range t.Shape[0] {
		if v := t.Data.At(j*t.Shape[1] + c%t.Shape[1]); e >= v || a.NotLess && !(e < v) {
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
			return t.Data.At(c % t.Data.Len())
		}
		return 0
	}
	v := f32.Add(f32.Div(e, one("scale")), one("zero_point"))
	v = a.Rounding.Eval(min(max(v, float32(a.Min)), float32(a.Max)))
	return f32.Mul(f32.Sub(v, one("zero_point")), one("scale"))
}
