package graph

import (
	"math"
	"slices"

	"ripc/ir"
)

// Roundings are the modes of QuantizeAttrs.Rounding; "" counts as the first.
func Roundings() []string {
	return []string{"half_even", "half_up", "half_down", "half_away", "floor", "ceil", "trunc", "away"}
}

// The scales that a tensor may have, and the integers of a quantizer: f32 computes with them exactly or nearly so.
const (
	MinScale = 1e-18
	MaxScale = 1e18
	maxRange = 1 << 22
)

func (g *Graph) checkRounding(n *Node, mode string) error {
	if mode != "" && !slices.Contains(Roundings(), mode) {
		return g.Errorf(n, "use half_even, half_up, half_down, half_away, floor, ceil, trunc or away", "rounding %q", mode)
	}
	return nil
}

// levels checks the description of a quantizer's result and gives it for input x.
func (g *Graph) levels(n *Node, x *Value, bits int, enc ir.EncodingKind, scale float64, zero int, signed bool) (*Value, error) {
	switch {
	case bits < 1 || bits > 8:
		return nil, g.Errorf(n, "use 1 to 8 bits", "bits %d", bits)
	case enc != ir.Unipolar && enc != ir.Bipolar && enc != ir.BipolarInv:
		return nil, g.Errorf(n, "use unipolar, bipolar or bipolar_inv", "encoding %s", enc)
	case zero < 0 || zero >= 1<<bits || zero > 0 && enc != ir.Unipolar:
		return nil, g.Errorf(n, "the zero point is one of the levels", "zero point %d with %d bits", zero, bits)
	case signed && (bits != 8 || enc != ir.Unipolar):
		return nil, g.Errorf(n, "use 8 bits and encoding affine, or unsigned levels", "signed levels of %d bits, %s", bits, enc)
	case !(scale >= MinScale && scale <= MaxScale):
		return nil, g.Errorf(n, "", "scale %g: want %g to %g", scale, MinScale, MaxScale)
	}
	out := &Value{DType: ir.U8, Shape: append([]int(nil), x.Shape...), Layout: x.Layout, Enc: enc, Bits: bits, Scale: scale, Zero: zero}
	if signed {
		out.DType = ir.I8
	}
	return out, g.needFloat(n, x)
}

func inferQuantize(g *Graph, n *Node, x *Value, a *QuantizeAttrs) (*Value, error) {
	if err := g.checkRounding(n, a.Rounding); err != nil {
		return nil, err
	}
	out, err := g.levels(n, x, a.Bits, a.Enc, a.Scale, a.Zero, a.Signed)
	if r := a.Range; err == nil && r != nil {
		switch {
		case a.Unit || a.Enc != ir.Unipolar:
			return nil, g.Errorf(n, "use encoding affine and give the scale", "a range of integers, but no affine levels with a scale")
		case r.Min > r.Max || r.Max-r.Min >= 1<<a.Bits || r.Min < -maxRange || r.Max > maxRange:
			return nil, g.Errorf(n, "want min <= max, and no more integers than levels", "range %d to %d with %d bits", r.Min, r.Max, a.Bits)
		}
	}
	return out, err
}

func inferThreshold(g *Graph, n *Node, x *Value, a *ThresholdAttrs) (*Value, error) {
	out, err := g.levels(n, x, a.Bits, a.Enc, a.Scale, a.Zero, a.Signed)
	if err != nil {
		return nil, err
	}
	t, c, most := n.Weights["thresholds"], x.Channels(), 1<<a.Bits-1
	if t == nil || len(t.Shape) != 2 || t.Shape[0] < 1 || t.Shape[0] > most || t.Shape[1] != c && t.Shape[1] != 1 {
		return nil, g.Errorf(n, "", "weight \"thresholds\" has shape %v, want [1..%d, %d] or [1..%d, 1]", shapeOf(t), most, c, most)
	}
	row := t.Shape[1]
	for i, v := range t.Data {
		switch {
		case v != v:
			return nil, g.Errorf(n, "", "threshold %d of channel %d is NaN", i/row, i%row)
		case i >= row && v < t.Data[i-row]:
			return nil, g.Errorf(n, "sort the thresholds of each channel", "thresholds %d and %d of channel %d descend: %g, %g", i/row-1, i/row, i%row, t.Data[i-row], v)
		}
	}
	return out, nil
}

func inferShiftNorm(g *Graph, n *Node, x *Value, a *ShiftNormAttrs) (*Value, error) {
	if err := g.checkNorm(n, x, a.Epsilon, "mean", "var"); err != nil {
		return nil, err
	}
	if a.Mode != "riptide" && a.Mode != "exact_round" {
		return nil, g.Errorf(n, "use riptide or exact_round", "mode %q", a.Mode)
	}
	return g.levels(n, x, a.Bits, ir.Unipolar, 1/float64(int(1)<<min(max(a.Bits, 1), 8)-1), 0, false)
}

// inferPacking is for bitpack and unpack: only what the caller sees of the levels changes.
func inferPacking(g *Graph, n *Node, x *Value, int32Words bool) (*Value, error) {
	if err := g.needEncoded(n, x); err != nil {
		return nil, err
	}
	out := *x
	out.Shape = append([]int(nil), x.Shape...)
	if out.DType == ir.I32 {
		out.DType = ir.U8
	}
	out.Packed = n.Op == "bitpack"
	if int32Words {
		if out.DType = ir.I32; x.Bits != 1 || n.Op != "bitpack" {
			return nil, g.Errorf(n, "use u32 words, which have an axis of bit planes", "int32 words of %d-bit levels", x.Bits)
		}
	}
	return &out, nil
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
	for c, s := range n.Weights["scale"].Data {
		if !(s >= MinScale && s <= MaxScale) {
			return g.Errorf(n, "", "scale %g of channel %d: want %g to %g", s, c, MinScale, MaxScale)
		}
	}
	if n.Weights["zero_point"] == nil {
		return nil
	}
	return g.needVector(n, "zero_point", x.Channels())
}
