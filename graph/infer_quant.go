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

func (g *Graph) checkRounding(n *Node, mode scalar.Rounding) error {
	if !mode.Known() {
		return g.Errorf(n, "use one of the roundings that package scalar has", "rounding %s", mode)
	}
	return nil
}

// levels checks the type of a quantizer's result and gives that for input x.
func (g *Graph) levels(n *Node, x *Value, t scalar.LevelType) (*Value, error) {
	switch {
	case t.Bits < 1 || t.Bits > 8:
		return nil, g.Errorf(n, "use 1 to 8 bits", "bits %d", t.Bits)
	case t.Enc != ir.Unipolar && t.Enc != ir.Bipolar && t.Enc != ir.BipolarInv:
		return nil, g.Errorf(n, "use unipolar, bipolar or bipolar_inv", "encoding %s", t.Enc)
	case t.Zero < 0 || t.Zero > t.Top() || t.Zero > 0 && t.Enc != ir.Unipolar:
		return nil, g.Errorf(n, "the zero point is one of the levels", "zero point %d with %d bits", t.Zero, t.Bits)
	case t.Signed && (t.Bits != 8 || t.Enc != ir.Unipolar):
		return nil, g.Errorf(n, "use 8 bits and encoding affine, or unsigned levels", "signed levels of %d bits, %s",
			t.Bits, t.Enc)
	case !(t.Scale >= MinScale && t.Scale <= MaxScale):
		return nil, g.Errorf(n, "", "scale %g: want %g to %g", t.Scale, MinScale, MaxScale)
	case !(math.Abs(t.Offset) <= MaxScale):
		return nil, g.Errorf(n, "", "offset %g: want -%g to %g", t.Offset, MaxScale, MaxScale)
	}
	return &Value{Shape: slices.Clone(x.Shape), Layout: x.Layout, LevelType: t}, g.needFloat(n, x)
}

func inferQuantize(g *Graph, n *Node, x *Value, a *QuantizeAttrs) (*Value, error) {
	if err := g.checkRounding(n, a.Rounding); err != nil {
		return nil, err
	}
	out, err := g.levels(n, x, a.LevelType)
	if err == nil && a.Unit && a.Offset != 0 {
		return nil, g.Errorf(n, "give the scale", "levels that span the unit range have offset %g", a.Offset)
	}
	if r := a.Range; err == nil && r != nil {
		switch {
		case a.Unit || a.Enc != ir.Unipolar:
			return nil, g.Errorf(n, "use encoding affine and give the scale",
				"a range of integers, but no affine levels with a scale")
		case r.Min > r.Max || r.Max-r.Min >= 1<<a.Bits || r.Min < -maxRange || r.Max > maxRange:
			return nil, g.Errorf(n, "want min <= max, and no more integers than levels",
				"range %d to %d with %d bits", r.Min, r.Max, a.Bits)
		}
	}
	return out, err
}

func inferThreshold(g *Graph, n *Node, x *Value, a *ThresholdAttrs) (*Value, error) {
	out, err := g.levels(n, x, a.LevelType)
	if err != nil {
		return nil, err
	}
	t, c, most := n.Weights["thresholds"], x.Channels(), 1<<a.Bits-1
	if t == nil || len(t.Shape) != 2 || t.Shape[0] < 1 || t.Shape[0] > most || t.Shape[1] != c && t.Shape[1] != 1 {
		return nil, g.Errorf(n, "", "weight \"thresholds\" has shape %v, want [1..%d, %d] or [1..%d, 1]", shapeOf(t),
			most, c, most)
	}
	row := t.Shape[1]
	for i, v := range t.Data.All() {
		switch {
		case v != v:
			return nil, g.Errorf(n, "", "threshold %d of channel %d is NaN", i/row, i%row)
		case i >= row && v < t.Data.At(i-row):
			return nil, g.Errorf(n, "sort the thresholds of each channel",
				"thresholds %d and %d of channel %d descend: %g, %g", i/row-1, i/row, i%row, t.Data.At(i-row), v)
		}
	}
	return out, nil
}

func inferShiftNorm(g *Graph, n *Node, x *Value, a *ShiftNormAttrs) (*Value, error) {
	if err := g.checkNorm(n, x, a.Epsilon, "mean", "var"); err != nil {
		return nil, err
	}
	if a.Mode > ShiftExactRound {
		return nil, g.Errorf(n, "use riptide or exact_round", "mode %s", a.Mode)
	}
	if !x.Encoded() {
		return g.levels(n, x, a.Levels())
	}
	// Levels are integers as they are; the fault of a type is the same as behind sums.
	return g.levels(n, &Value{Shape: x.Shape, Layout: x.Layout}, a.Levels())
}

func inferBitpack(g *Graph, n *Node, x *Value, a *BitpackAttrs) (*Value, error) {
	if err := g.needEncoded(n, x); err != nil {
		return nil, err
	}
	if a.Int32 && x.Bits != 1 {
		return nil, g.Errorf(n, "use u32 words, which have an axis of bit planes", "int32 words of %d-bit levels",
			x.Bits)
	}
	if a.Int32 {
		return x.withView(IntWords), nil
	}
	return x.withView(Planes), nil
}

func inferUnpack(g *Graph, n *Node, x *Value, _ *NoAttrs) (*Value, error) {
	return x.withView(Bytes), g.needEncoded(n, x)
}

// withView is a tensor of x's levels, which the caller sees otherwise.
func (v *Value) withView(as View) *Value {
	out := *v
	out.Shape, out.View = slices.Clone(v.Shape), as
	return &out
}

func (g *Graph) checkFakeQuant(n *Node, x *Value, a *FakeQuantAttrs) error {
	if err := g.checkRounding(n, a.Rounding); err != nil {
		return err
	}
	if !(a.Min <= a.Max) || math.IsInf(a.Min, 0) || math.IsInf(a.Max, 0) {
		return g.Errorf(n, "want finite numbers, min <= max", "range %g to %g", a.Min, a.Max)
	}
	if err := g.needVector(n, "scale", x.Channels()); err != nil {
		return err
	}
	for c, s := range n.Weights["scale"].Data.All() {
		if !(s >= MinScale && s <= MaxScale) {
			return g.Errorf(n, "", "scale %g of channel %d: want %g to %g", s, c, MinScale, MaxScale)
		}
	}
	if n.Weights["zero_point"] == nil {
		return nil
	}
	return g.needVector(n, "zero_point", x.Channels())
}
