package layout

import (
	"ripc/graph"
	"ripc/internal/enum"
	"ripc/schedule/cost"
	"ripc/targets"
)

// Choice is the algorithm of a layer, and why it was taken.
type Choice struct {
	Algorithm Algorithm
	Why       Why
	// Cost is the estimate for the algorithm, Other that for the one that was not taken; both 0 unless there were two.
	Cost, Other cost.Estimate
	Unit        string // of both
}

// Why is why an algorithm was taken.
type Why uint8

const (
	Only    Why = iota // no other gives the layer's sums
	Usual              // nothing is known of the target's costs
	Cheaper            // by estimate, on the target
	Asked              // by the caller
)

func whyNames() []string { return []string{"only", "usual", "cheaper", "asked"} }

// String is the reason's code in descriptions and .ripir text.
func (w Why) String() string { return enum.Name(whyNames(), w) }

// ParseWhy is the inverse of Why.String.
func ParseWhy(text string) (Why, error) {
	return enum.Parse[Why]("reason for an algorithm", whyNames(), text)
}

// Applies reports whether an algorithm gives exactly the sums of f, a layer over x.
func Applies(f *graph.FusedConv, x *graph.Value, by Algorithm) bool {
	switch by {
	case Popcount:
		return x.Encoded()
	case Float:
		return !x.Encoded() || Exact(f)
	}
	return false
}

// Choose takes the cheapest of the algorithms that apply to f, a layer over x, of shape [B, H, W, C], on target t. What
// layers over levels are by default, on no target (the zero one), is Popcount.
func Choose(f *graph.FusedConv, x *graph.Value, t targets.Target) Choice {
	switch {
	case !x.Encoded():
		return Choice{Algorithm: Float}
	case !Exact(f):
		return Choice{Algorithm: Popcount}
	}
	if t.Sums() == (targets.SumCosts{}) {
		return Choice{Algorithm: Popcount, Why: Usual}
	}
	s := shapeOf(f, x, t)
	counts, sums := cost.Popcount(t, s), cost.Float(t, s)
	unit := t.Sums().Unit
	if sums < counts {
		return Choice{Float, Cheaper, sums, counts, unit}
	}
	return Choice{Popcount, Cheaper, counts, sums, unit}
}

// levels is what it costs to make levels of a sum of f, in comparisons.
func levels(f *graph.FusedConv, t targets.Target) int64 {
	if f.Epilogue.Shift != nil {
		return int64(t.ShiftCompares())
	}
	return int64(len(f.Epilogue.Thresholds))
}

// shapeOf is what f costs by.
func shapeOf(f *graph.FusedConv, x *graph.Value, t targets.Target) cost.Layer {
	oh, ow := f.OutSize(x.Shape[1], x.Shape[2])
	filters := f.Out
	if f.Epilogue.OutBits > 0 { // whole words are written
		filters = Words(f.Out) * WordBits
	}
	return cost.Layer{
		Outputs: int64(x.Shape[0]) * int64(oh) * int64(ow), Rows: int64(oh), Cols: int64(ow), Filters: int64(filters),
		Taps: int64(f.KH * f.KW), TapRows: int64(f.KH), Channels: int64(f.GroupIn()),
		Words: int64(groupWords(f)), ActivationPlanes: int64(x.Bits), WeightPlanes: int64(len(cutOf(f).coefs)), Levels: levels(f, t),
		Inputs:  int64(x.Shape[0]) * int64(x.Shape[1]+f.Pad.Top+f.Pad.Bottom) * int64(x.Shape[2]+f.Pad.Left+f.Pad.Right) * int64(x.Shape[3]),
		Grouped: f.GroupCount() > 1,
	}
}
