package fusedglue

import (
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// bindIntegerLayer turns n, an integer layer, into the fused convolution f with the layer's
// requantization as its epilogue.
func bindIntegerLayer(g *graph.Graph, n *graph.Node, f *graph.FusedConv, a *graph.IntegerAttrs) {
	f.Ints, f.Alpha = n.Weights["w"].Data, slices.Repeat([]float64{1}, f.Out)
	enc := graph.EncodingOf(f.Ints)
	f.W = enc.Integers()
	// by the type in the file, not by the range
	if f.WeightBits, f.WeightEnc = enc.WeightType(); f.WeightBits > graph.FewBitsMost {
		f.WeightBits, f.WeightEnc = graph.IntegerBits, graph.AffineWeights.String()
	}
	f.X = graph.IntegersOf(g.Value(n.Inputs[0]).LevelType)
	if bias := a.Bias(n); bias != nil {
		f.Add = make([]int32, f.Out)
		for o, v := range bias {
			f.Add[o] = int32(v)
		}
	}
	f.Epilogue = requantization(n, f.Out, a)
	n.Op, n.Attrs = "bconv2d", f
}

// requantization returns the epilogue of integer layer n with outs output channels.
func requantization(n *graph.Node, outs int, a *graph.IntegerAttrs) graph.Epilogue {
	e := graph.Epilogue{OutBits: a.Bits, OutEnc: a.Enc}
	switch a.Form {
	case graph.FloatRequantization:
		scale := scalar.Step{Kind: scalar.Mul, A: make([]float32, outs), From: n.Name}
		for o := range scale.A {
			scale.A[o] = float32(a.Multiplier(n, o))
		}
		e.Steps = []scalar.Step{scale}
		if a.Low > 0 || a.High < a.Top() {
			e.Steps = append(e.Steps,
				scalar.Step{Kind: scalar.Clip, Lo: float32(a.Low - a.Zero), Hi: float32(a.High - a.Zero), From: n.Name})
		}
		e.Quantizer = &scalar.Quantizer{LevelType: scalar.LevelType{Bits: a.Bits, Enc: ir.Unipolar, Scale: 1,
			Zero: a.Zero}, Rounding: scalar.HalfEven}
	case graph.FixedRequantization:
		e.Scale = &graph.ScaleSums{Zero: a.Zero, Low: a.Low, High: a.High}
		for o := range outs {
			e.Scale.By = append(e.Scale.By, a.FixedPoint(n, o))
		}
	case graph.MeanRequantization:
		e.Scale = &graph.ScaleSums{Count: a.Count, Zero: graph.CallerZero(a.LevelType), Low: a.Low, High: a.High}
	}
	return e
}
