package graph

import (
	"math"
	"slices"

	"ripc/graph/scalar"
	"ripc/ir"
)

// The scales that a tensor may have, and the integers of a quantizer: f32 computes with them
// exactly or nearly so.
const (
	MinScale = 1e-18
	MaxScale = 1e18
	maxRange = 1 << 22
)

func (g *Graph) checkRounding(n *Node, mode scalar.Rounding) {
	g.failIf(!mode.Known(), n, "use one of the roundings that package scalar has", "rounding %s", mode)
}

// levels checks the type of a quantizer's result and gives that for input x.
func (g *Graph) levels(n *Node, x *Value, t scalar.LevelType) *Value {
	switch {
	case t.Bits < 1 || t.Bits > 8:
		panic(g.Errorf(n, "use 1 to 8 bits", "bits %d", t.Bits))
	case t.Enc != ir.Unipolar && t.Enc != ir.Bipolar && t.Enc != ir.BipolarInv:
		panic(g.Errorf(n, "use unipolar, bipolar or bipolar_inv", "encoding %s", t.Enc))
	case t.Zero < 0 || t.Zero > t.Top() || t.Zero > 0 && t.Enc != ir.Unipolar:
		panic(g.Errorf(n, "the zero point is one of the levels", "zero point %d with %d bits", t.Zero, t.Bits))
	case t.Signed && (t.Bits != 8 || t.Enc != ir.Unipolar):
		panic(g.Errorf(n, "use 8 bits and encoding affine, or unsigned levels", "signed levels of %d bits, %s",
			t.Bits, t.Enc))
	case !(t.Scale >= MinScale && t.Scale <= MaxScale):
		panic(g.Errorf(n, "", "scale %g: want %g to %g", t.Scale, MinScale, MaxScale))
	case !(math.Abs(t.Offset) <= MaxScale):
		panic(g.Errorf(n, "", "offset %g: want -%g to %g", t.Offset, MaxScale, MaxScale))
	}
	g.needFloat(n, x)
	return &Value{Shape: slices.Clone(x.Shape), Layout: x.Layout, LevelType: t}
}

func inferQuantize(g *Graph, n *Node, x *Value, a *QuantizeAttrs) *Value {
	g.checkRounding(n, a.Rounding)
	out := g.levels(n, x, a.LevelType)
	g.failIf(a.Unit && a.Offset != 0, n, "give the scale", "levels that span the unit range have offset %g", a.Offset)
	if r := a.Range; r != nil {
		switch {
		case a.Unit || a.Enc != ir.Unipolar:
			panic(g.Errorf(n, "use encoding affine and give the scale",
				"a range of integers, but no affine levels with a scale"))
		case r.Min > r.Max || r.Max-r.Min >= 1<<a.Bits || r.Min < -maxRange || r.Max > maxRange:
			panic(g.Errorf(n, "want min <= max, and no more integers than levels",
				"range %d to %d with %d bits", r.Min, r.Max, a.Bits))
		}
	}
	return out
}

func inferThreshold(g *Graph, n *Node, x *Value, a *ThresholdAttrs) *Value {
	out := g.levels(n, x, a.LevelType)
	t, c, most := n.Weights["thresholds"], x.Channels(), 1<<a.Bits-1
	g.failIf(t == nil || len(t.Shape) != 2 || t.Shape[0] < 1 || t.Shape[0] > most || t.Shape[1] != c && t.Shape[1] != 1,
		n, "", "weight \"thresholds\" has shape %v, want [1..%d, %d] or [1..%d, 1]", shapeOf(t), most, c, most)
	row := t.Shape[1]
	for i, v := range t.Data.All() {
		switch {
		case v != v:
			panic(g.Errorf(n, "", "threshold %d of channel %d is NaN", i/row, i%row))
		case i >= row && v < t.Data.At(i-row):
			panic(g.Errorf(n, "sort the thresholds of each channel",
				"thresholds %d and %d of channel %d descend: %g, %g", i/row-1, i/row, i%row, t.Data.At(i-row), v))
		}
	}
	return out
}

func inferShiftNorm(g *Graph, n *Node, x *Value, a *ShiftNormAttrs) *Value {
	g.checkNorm(n, x, a.Epsilon, "mean", "var")
	g.failIf(a.Mode > ShiftExactRound, n, "use riptide or exact_round", "mode %s", a.Mode)
	if !x.Encoded() {
		return g.levels(n, x, a.Levels())
	}
	// Levels are integers as they are; the fault of a type is the same as behind sums.
	return g.levels(n, &Value{Shape: x.Shape, Layout: x.Layout}, a.Levels())
}

func inferBitpack(g *Graph, n *Node, x *Value, a *BitpackAttrs) *Value {
	g.needEncoded(n, x)
	g.failIf(a.Int32 && x.Bits != 1, n, "use u32 words, which have an axis of bit planes",
		"int32 words of %d-bit levels", x.Bits)
	if a.Int32 {
		return x.withView(IntWords)
	}
	return x.withView(Planes)
}

func inferUnpack(g *Graph, n *Node, x *Value, _ *NoAttrs) *Value {
	g.needEncoded(n, x)
	return x.withView(Bytes)
}

// withView is a tensor of x's levels, which the caller sees otherwise.
func (v *Value) withView(as View) *Value {
	out := *v
	out.Shape, out.View = slices.Clone(v.Shape), as
	return &out
}

func (g *Graph) checkFakeQuant(n *Node, x *Value, a *FakeQuantAttrs) {
	g.checkRounding(n, a.Rounding)
	g.failIf(!(a.Min <= a.Max) || math.IsInf(a.Min, 0) || math.IsInf(a.Max, 0), n, "want finite numbers, min <= max",
		"range %g to %g", a.Min, a.Max)
	g.needVector(n, "scale", x.Channels())
	for c, s := range n.Weights["scale"].Data.All() {
		if !(s >= MinScale && s <= MaxScale) {
			panic(g.Errorf(n, "", "scale %g of channel %d: want %g to %g", s, c, MinScale, MaxScale))
		}
	}
	if n.Weights["zero_point"] != nil {
		g.needVector(n, "zero_point", x.Channels())
	}
}
