package refnet

import (
	"cmp"
	"math"

	"ripc/graph"
	"ripc/internal/f32"
)

// Node computes one layer of the graph as imported.
func Node(g *graph.Graph, n *graph.Node, vals map[string]*Tensor) *Tensor {
	out := g.Value(n.Output)
	if _, ok := n.Attrs.(*graph.ConstantAttrs); ok {
		return &Tensor{shape: out.Shape, F: n.Weights["value"].Data}
	}
	v := g.Value(n.Inputs[0])
	x, y := vals[n.Inputs[0]], New(g.Value(n.Output))
	y.loose = x.loose
	each := func(f func(c int, x float32) float32) {
		x.each(func(b, h, w, c int, e *float32) { *y.at(b, h, w, c) = f(c, *e) })
	}
	weight := func(key string) []float32 { return n.Weights[key].Data }
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		refConv(n, v, x, y, a, n.Weights["w"].Shape, true)
	case *graph.DenseAttrs:
		w := n.Weights["w"].Shape
		refConv(n, v, x, y, &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Binary: a.Binary}, []int{1, 1, w[0], w[1]}, false)
	case *graph.PoolAttrs:
		refPool(n.Op, x, y, a)
	case *graph.BatchNormAttrs:
		each(func(c int, e float32) float32 {
			s := float32(float64(weight("gamma")[c]) / math.Sqrt(float64(weight("var")[c])+a.Epsilon))
			return f32.Fma(e, s, float32(float64(weight("beta")[c])-float64(weight("mean")[c])*float64(s)))
		})
	case *graph.PReluAttrs:
		each(func(c int, e float32) float32 {
			if e < 0 {
				return f32.Mul(e, weight("alpha")[c])
			}
			return e
		})
	case *graph.ClipAttrs:
		each(func(_ int, e float32) float32 { return min(max(e, float32(a.Min)), float32(a.Max)) })
	case *graph.RoundAttrs:
		each(func(_ int, e float32) float32 { return a.Mode.Eval(e) })
	case *graph.FakeQuantAttrs:
		each(func(c int, e float32) float32 { return refFakeQuant(a, n.Weights, c, e) })
	case *graph.QuantizeAttrs:
		each(func(_ int, e float32) float32 { return float32(refQuantize(a, out, e)) })
	case *graph.ShiftNormAttrs:
		refShiftNorm(g, n, a, x, y)
	case *graph.BinaryOpAttrs:
		refBinary(n, a, vals, y)
	case *graph.ThresholdAttrs:
		each(func(c int, e float32) float32 { return float32(refThreshold(a, n.Weights["thresholds"], out, c, e)) })
	case *graph.TransposeAttrs:
		for i := range y.F {
			p, q := position(i, y.shape), make([]int, len(y.shape))
			for d := range p {
				q[a.Perm[d]] = p[d]
			}
			y.F[i] = x.F[index(q, x.shape)]
		}
	case *graph.SpatialPadAttrs:
		y.each(func(b, h, w, c int, e *float32) {
			if p := x.inside(b, h-a.Pad.Top, w-a.Pad.Left, c); p != nil {
				*e = *p
			} else if *e = float32(a.Value); v.Encoded() {
				*e = float32(math.Round(a.Value / v.Scale))
			}
		})
	case *graph.SliceAttrs:
		for i := range y.F {
			p := position(i, y.shape)
			for d := range p {
				p[d] = a.Begin[d] + p[d]*a.Stride[d]
			}
			y.F[i] = x.F[index(p, x.shape)]
		}
	case *graph.BitpackAttrs, *graph.ReshapeAttrs:
		copy(y.F, x.F)
	case *graph.ConcatAttrs:
		off := 0
		for _, name := range n.Inputs {
			z := vals[name]
			z.each(func(b, h, w, c int, e *float32) { *y.at(b, h, w, off+c) = *e })
			off += z.shape[len(z.shape)-1]
		}
	default:
		refPlain(n.Op, v, x, y, each)
	}
	return y
}

// refPlain computes the ops that have no attributes.
func refPlain(op string, v *graph.Value, x, y *Tensor, each func(func(int, float32) float32)) {
	switch op {
	case "relu":
		each(func(_ int, e float32) float32 { return max(e, 0) })
	case "sign":
		each(func(_ int, e float32) float32 { return float32(cmp.Compare(e, 0)) })
	case "relu6":
		each(func(_ int, e float32) float32 { return min(max(e, 0), 6) })
	case "hard_tanh":
		each(func(_ int, e float32) float32 { return min(max(e, -1), 1) })
	case "dequantize":
		each(func(_ int, e float32) float32 { return f32.Mul(e, float32(v.Scale)) })
	case "flatten", "unpack":
		copy(y.F, x.F)
	case "global_avg_pool":
		x.each(func(b, h, w, c int, e *float32) { y.F[b*y.shape[1]+c] = f32.Add(y.F[b*y.shape[1]+c], *e) })
		for i := range y.F {
			y.F[i] = f32.Div(y.F[i], float32(x.shape[1]*x.shape[2]))
		}
	case "softmax":
		c := x.shape[len(x.shape)-1]
		for i := 0; i < len(x.F); i += c {
			top, sum := x.F[i], 0.0
			for _, e := range x.F[i : i+c] {
				top = max(top, e)
			}
			for _, e := range x.F[i : i+c] {
				sum += math.Exp(float64(e) - float64(top))
			}
			for j, e := range x.F[i : i+c] {
				y.F[i+j] = float32(math.Exp(float64(e)-float64(top)) / sum)
			}
		}
		y.loose = true
	default:
		panic("BUG: no reference for " + op)
	}
}

func refPool(op string, x, y *Tensor, a *graph.PoolAttrs) {
	y.each(func(b, h, w, c int, e *float32) {
		n, best := 0, float32(math.Inf(-1))
		for i := range a.Kernel[0] {
			for j := range a.Kernel[1] {
				if p := x.inside(b, h*a.Strides[0]+i-a.Pad.Top, w*a.Strides[1]+j-a.Pad.Left, c); p != nil {
					n++
					*e, best = f32.Add(*e, *p), max(best, *p)
				}
			}
		}
		if *e = f32.Div(*e, float32(n)); op == "max_pool" {
			*e = best
		}
	})
}
