package refnet

import (
	"math"

	"ripc/graph"
	"ripc/internal/f32"
	"ripc/ir"
)

// refQuantize is the integer that a float becomes.
func refQuantize(a *graph.QuantizeAttrs, out *graph.Value, e float32) int {
	m := float32(int(1)<<a.Bits - 1)
	v := f32.Div(f32.Add(e, -float32(a.Offset)), float32(a.Scale))
	switch {
	case a.Unit && a.Enc == ir.Unipolar:
		v = f32.Mul(min(max(e, 0), 1), m)
	case a.Unit:
		v = f32.Mul(f32.Mul(f32.Add(min(max(e, -1), 1), 1), m), 0.5)
	case a.Range != nil:
		zp := a.Zero + a.Range.Min
		v = f32.Add(v, float32(zp))
		return int(a.Rounding.Eval(min(max(v, float32(a.Range.Min)), float32(a.Range.Max)))) - zp
	case a.Enc == ir.Unipolar:
		v = min(max(v, -float32(a.Zero)), m-float32(a.Zero))
	default:
		v = f32.Mul(f32.Add(min(max(v, -m), m), m), 0.5)
	}
	v = a.Rounding.Eval(v)
	if a.Enc == ir.Unipolar {
		return int(v)
	}
	return 2*int(v) - int(m)
}

// refShiftNorm applies Riptide's formula to the integer sums, which it gets back from the floats.
func refShiftNorm(g *graph.Graph, n *graph.Node, a *graph.ShiftNormAttrs, x, y *Tensor) {
	index := graph.NewIndex(g)
	p := index.Producer(n.Inputs[0])
	for p.Op == "max_pool" {
		p = index.Producer(p.Inputs[0])
	}
	b, ws := (*graph.BinaryAttrs)(nil), p.Weights["w"].Shape
	switch q := p.Attrs.(type) {
	case *graph.Conv2DAttrs:
		b = q.Binary
	case *graph.DenseAttrs:
		b, ws = q.Binary, []int{1, 1, ws[0], ws[1]}
	}
	_, scale := refWeights(p, b, ws, p.Op == "bitserial_conv2d")
	levels := math.Exp2(float64(a.Bits)) - 1
	log2 := func(v float64) int { return int(math.RoundToEven(math.Log2(v))) }
	x.each(func(bb, h, w, c int, e *float32) {
		wb := -log2(scale[c])
		t := wb + log2(math.Sqrt(float64(n.Weights["var"].Data[c])+a.Epsilon))
		s := 1 + (1-math.Exp2(float64(-wb)))/levels
		mean := math.Max(-s, math.Min(s, float64(n.Weights["mean"].Data[c])))
		sum := math.Round(float64(*e) / float64(float32(g.Value(p.Inputs[0]).Scale*scale[c])))
		sum -= math.RoundToEven(mean * levels * math.Exp2(float64(wb)))
		half := wb
		if a.Mode == graph.ShiftExactRound {
			half = t
		}
		if half > 0 {
			sum += math.Exp2(float64(half - 1))
		}
		*y.at(bb, h, w, c) = float32(math.Max(0, math.Min(levels, math.Floor(sum*math.Exp2(float64(-t))))))
	})
}
