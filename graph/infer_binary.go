package graph

import (
	"math"

	"ripc/graph/scalar"
	"ripc/internal/human"
)

func inferBinaryOp(g *Graph, n *Node, in []*Value, a *BinaryOpAttrs, f scalar.Function) *Value {
	b := n.Weights["b"]
	g.failIf(len(in) != 2 && (len(in) != 1 || b == nil), n, "give a second input or a weight \"b\"",
		"has %s, want 2, or 1 and a weight", human.Count(len(in), "input"))
	g.failIf(len(in) == 2 && (b != nil || a.Reverse), n, "",
		"has 2 inputs: a weight \"b\", or its order, is for one input")
	switch {
	case len(in) == 2 && in[0].Encoded() && in[1].Encoded() && (f == scalar.Plus || f == scalar.Minus):
		return g.sumOfLevels(n, in, f == scalar.Minus)
	case len(in) == 1 && in[0].Encoded() && (f == scalar.Times || f == scalar.Over && !a.Reverse):
		return g.scaleLevels(n, in[0], f == scalar.Over)
	case len(in) == 1 && in[0].Encoded() && (f == scalar.Plus || f == scalar.Minus && !a.Reverse):
		return g.shiftLevels(n, in[0], f == scalar.Minus)
	}
	out := g.inferFunction(n, in, f)
	if len(in) == 1 {
		g.needVector(n, "b", in[0].Channels())
	}
	return out
}

// OfLevels reports whether n is an op of two tensors, or of one and a number, that computes with
// levels in integers.
func OfLevels(g *Graph, n *Node) bool {
	_, binary := n.Attrs.(*BinaryOpAttrs)
	return binary && g.Value(n.Inputs[0]).Encoded()
}

// sumOfLevels is the type of the levels that those of two tensors add up to, or that their
// difference has.
func (g *Graph) sumOfLevels(n *Node, in []*Value, minus bool) *Value {
	shape := g.broadcastShape(n, in)
	x, y := in[0], in[1]
	s, fault := scalar.SumOf(x.LevelType, y.LevelType, minus)
	switch {
	case fault == scalar.SumScales:
		panic(g.Errorf(n, "quantize both with scales that differ by a power of two, or put dequantize "+
			"nodes before it",
			"inputs %q and %q hold levels of scales %g and %g, which add up to no levels", x.Name, y.Name, x.Scale,
			y.Scale))
	case fault == scalar.SumTooWide:
		panic(g.Errorf(n, "use fewer bits, or put dequantize nodes before it",
			"the levels of inputs %q and %q add up to levels of %d bits, want at most %d",
			x.Name, y.Name, s.Type.Bits, scalar.MaxLevelBits))
	case fault != scalar.SumExact || !(s.Type.Scale >= MinScale && s.Type.Scale <= MaxScale):
		panic(g.Errorf(n, "", "inputs %q and %q hold levels of scales %g and %g: want %g to %g",
			x.Name, y.Name, x.Scale, y.Scale, MinScale, MaxScale))
	}
	return &Value{Shape: shape, Layout: x.Layout, LevelType: s.Type}
}

// shiftLevels is x, levels, plus a number, or minus one: the same levels with another offset or
// zero point.
func (g *Graph) shiftLevels(n *Node, x *Value, minus bool) *Value {
	v := g.levelOperand(n, x, "one number may be added to levels, which changes their offset",
		func(v float64) bool { return v-v == 0 })
	if minus {
		v = -v
	}
	out := x.reshaped(x.Shape)
	out.Layout, out.LevelType = x.Layout, x.Plus(v)
	g.failIf(!(math.Abs(out.Offset) <= MaxScale), n, "", "offset %g: want -%g to %g", out.Offset, MaxScale, MaxScale)
	return out
}

// scaleLevels is x, levels, times a number above 0, or divided by it: the same levels with another
// scale.
func (g *Graph) scaleLevels(n *Node, x *Value, divided bool) *Value {
	f := g.levelOperand(n, x, "levels may be multiplied by one number above 0, which changes their scale",
		func(v float64) bool { return v > 0 })
	if divided {
		f = 1 / f
	}
	out := x.reshaped(x.Shape)
	out.Layout, out.LevelType = x.Layout, x.Times(f)
	g.failIf(!(out.Scale >= MinScale && out.Scale <= MaxScale), n, "", "scale %g: want %g to %g", out.Scale, MinScale,
		MaxScale)
	return out
}

// levelOperand returns the value of weight "b", which must be one allowed number for all channels
// of levels x. rule says so in the error's help.
func (g *Graph) levelOperand(n *Node, x *Value, rule string, allows func(v float64) bool) float64 {
	g.needVector(n, "b", x.Channels())
	b := n.Weights["b"].Data
	v := float64(b.At(0))
	g.failIf(!allows(v) || b.Mixed(), n, rule+"; for all else put a dequantize node before it",
		"input %q holds %d-bit %s levels, want f32", x.Name, x.Bits, x.Enc)
	return v
}
