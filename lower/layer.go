package lower

import (
	"slices"

	"ripc/graph"
	"ripc/ir"
)

// layerOf describes node n of g. Its reason is why, unless it has one already.
func layerOf(g *graph.Graph, n *graph.Node, why graph.Reason) ir.Layer {
	v := graph.Verdict{Reason: why}
	if n.Verdict.Reason != graph.NoReason {
		v = n.Verdict
	}
	l := ir.Layer{Kind: kindOf(g, n).String(), Part: n.Part.Of, Reason: v.AsReason()}
	if n.Op == "matmul" {
		l.ActivationBits, l.WeightBits, l.WeightEncoding = ir.F32.Bits(), ir.F32.Bits(), ir.F32.String()
	}
	switch n.Attrs.(type) {
	case *graph.ShiftLevels:
		l.Glue = ir.Glue{Form: graph.GlueShift.String(), Bits: g.Value(n.Output).Bits}
	case *graph.LevelThresholds:
		l.Glue = ir.Glue{Form: graph.GlueThresholds.String(), Bits: g.Value(n.Output).Bits}
	}
	f, ok := n.Attrs.(*graph.FusedConv)
	if !ok || !f.Multiplies(n.Op) {
		return l
	}
	l.Weights = int64(f.Products()) * int64(f.Out)
	l.FloatBytes = 4 * n.Part.Count(l.Weights)
	l.ActivationBits, l.WeightBits, l.WeightEncoding = ir.F32.Bits(), ir.F32.Bits(), ir.F32.String()
	if f.Few != nil {
		l.WeightBits, l.WeightEncoding = f.Few.Attrs.WeightType()
	}
	if n.Op == "bconv2d" {
		l.ActivationBits, l.WeightBits, l.WeightEncoding = f.X.Bits(), f.WeightBits, f.WeightEnc
	}
	l.Glue = glueOf(f)
	return l
}

// kindOf returns the kind of n: Bits wherever levels go in or out.
func kindOf(g *graph.Graph, n *graph.Node) graph.Kind {
	f, conv := n.Attrs.(*graph.FusedConv)
	switch {
	case n.Op == "bconv2d" && conv && f.Multiplies(n.Op):
		return graph.Binary
	case n.Op == "fconv2d" || n.Op == "matmul":
		return graph.Float
	}
	encoded := func(t string) bool { return g.Value(t).Encoded() }
	// the copies at the interface make no tensor of the graph
	if slices.ContainsFunc(n.Inputs, encoded) || n.Output != "" && encoded(n.Output) {
		return graph.Bits
	}
	return graph.Glue
}

// glueOf describes the epilogue of f.
func glueOf(f *graph.FusedConv) ir.Glue {
	e := f.Epilogue
	g := ir.Glue{Bits: e.OutBits}
	if f.Pool != nil {
		g.MaxH, g.MaxW = f.Pool.Kernel[0], f.Pool.Kernel[1]
	}
	switch {
	case e.Thresholds != nil:
		g.Form = graph.GlueThresholds.String()
	case e.Shift != nil:
		g.Form = graph.GlueShift.String()
	case e.Scale != nil:
		g.Form = graph.GlueScale.String()
	case len(e.Steps) > 0 || len(e.Joins) > 0 || e.OutBits > 0:
		g.Form, g.PerChannel = graph.GlueSteps.String(), e.LevelRows != nil
		if f.Window != nil {
			g.Steps = append(g.Steps, "mul", "fma")
		}
		g.Steps = append(g.Steps, e.FloatNames()...)
	}
	return g
}
