package layout

import (
	"math"

	"ripc/graph"
	"ripc/internal/enum"
	"ripc/schedule/cost"
	"ripc/targets"
)

// Choice is the algorithm of a layer, and why it was taken.
type Choice struct {
	Algorithm Algorithm
	Why       Why
	// Estimates are what each algorithm that applies costs, in the order of Algorithms; nil unless there are several and something is
	// known of the target.
	Estimates []Estimated
	Unit      string // of the estimates
	// Terms are what the next best algorithm takes more, by what is counted; nil where nothing is.
	Terms map[string]int64
}

// Estimated is what an algorithm costs by estimate.
type Estimated struct {
	Algorithm Algorithm
	Cost      cost.Estimate
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

// Choose takes the cheapest of the algorithms that apply to f, of which there must be one, a layer over x, of shape [B, H, W, C], on target t; the first of
// them on no target (the zero one), and on others of which nothing is known. mean says that f's stage writes the mean over all
// positions in the place of its floats (Means).
func Choose(f *graph.FusedConv, x *graph.Value, t targets.Target, mean bool) Choice {
	apply := Applying(f, x)
	best := Choice{Algorithm: apply[0]}
	if len(apply) == 1 {
		return best
	}
	if best.Unit = t.Sums().Unit; best.Unit == "" {
		best.Why = Usual
		return best
	}
	best.Why = Cheaper
	s, least := Shape(f, x, t), cost.Estimate(math.Inf(1))
	averaging := s
	averaging.Mean, averaging.Filters = true, int64(Words(f.Out)*WordBits)
	for _, a := range apply {
		var c cost.Estimate
		switch {
		case !mean:
			c = a.Cost(t, s)
		case a.Averages():
			c = a.Cost(t, averaging)
		default: // the mean has a stage of its own
			c = a.Cost(t, s) + cost.Mean(t, s)
		}
		best.Estimates = append(best.Estimates, Estimated{a, c})
		if c < least {
			best.Algorithm, least = a, c
		}
	}
	return best
}

// Counting is the algorithm among those that count bits which costs least by c, a choice for f over x; false where none applies.
func (c Choice) Counting(f *graph.FusedConv, x *graph.Value) (Algorithm, bool) {
	least := cost.Estimate(math.Inf(1))
	best, found := Popcount, false
	for _, e := range c.Estimates {
		if e.Algorithm.Counts() && e.Cost < least {
			best, least, found = e.Algorithm, e.Cost, true
		}
	}
	if found {
		return best, true
	}
	for _, a := range Applying(f, x) {
		if a.Counts() {
			return a, true
		}
	}
	return best, false
}

// levels is what it costs to make levels of a sum of f, in comparisons.
func levels(f *graph.FusedConv, t targets.Target) int64 {
	most, n := t.MostCompares(), len(f.Epilogue.Thresholds)
	if f.Epilogue.Shift != nil || n <= t.MostThresholds() && n > most { // so few are searched
		return int64(most)
	}
	return int64(n)
}

// Shape is what f, a layer over x, of shape [B, H, W, C], costs by on target t.
func Shape(f *graph.FusedConv, x *graph.Value, t targets.Target) cost.Layer {
	dots := cutOfDots(f, x, t)
	steps := dots.Steps * f.KH
	if !dots.Runs {
		steps *= f.KW
	}
	oh, ow := f.OutSize(x.Shape[1], x.Shape[2])
	dh, dw := f.Dilation()
	filters := f.Out
	if f.Epilogue.OutBits > 0 { // whole words are written, or a part of one
		filters = Words(f.Out) * Block(f.Out)
	}
	l := cost.Layer{
		Outputs: int64(x.Shape[0]) * int64(oh) * int64(ow), Rows: int64(oh), Cols: int64(ow), Filters: int64(filters),
		SpanRows: int64((f.KH-1)*dh + 1), SpanCols: int64((f.KW-1)*dw + 1), Bordered: int64(min(f.Pad.Left, f.Pad.Right)),
		Taps: int64(f.KH * f.KW), TapRows: int64(f.KH), Channels: int64(f.GroupIn()),
		Words: int64(Words(f.GroupIn())), Steps: int64(steps), ActivationPlanes: int64(x.Bits), WeightPlanes: int64(len(cutOf(f).coefs)), Levels: levels(f, t),
		Inputs: int64(x.Shape[0]) * int64(x.Shape[1]+f.Pad.Top+f.Pad.Bottom) * int64(x.Shape[2]+f.Pad.Left+f.Pad.Right) * int64(x.Shape[3]),
		Groups: int64(f.GroupCount()), Pooled: f.Pool != nil, Strided: f.SW > 1, GroupFilters: int64(f.GroupOut()), BlockFilters: int64(dots.Groups * f.GroupOut()), Direct: f.Depthwise(), Band: dots.Band, ShortDots: dots.Short, ShortLevels: sumsAlone(f),
		Short: t.ShortSums && comparedAlone(f, x), Windowed: windowed(f, x), Bytes: x.Bits >= MinBytes, Narrow: int64(narrowSteps(f, x, t)),
	}
	l.Window, l.Split = windowTable(f, x, t), splitTable(f, x, t)
	if parts, _, _ := partsOf(f, x); parts != nil {
		l.Windows = l.Inputs + l.Outputs*l.Taps*int64(f.GroupCount())
	}
	for _, by := range Algorithms() {
		c := by.counted()
		if c.Window != Dense || c.lacks(f, x) != "" {
			continue
		}
		_, _, n := c.extent(f)
		chosen, pieces := c.rest(f, x) > 0, c.pieces(f)
		if chosen {
			n--
		}
		if OnePixel(f) && c.inParts(f, x, t) {
			pieces = 0
		}
		l.Dense = append(l.Dense, cost.DenseWords{Bits: c.Bits, Words: int64(n), Pieces: int64(pieces), Whole: int64(f.KH * f.KW * c.Whole(f)), Rowwise: c.rowwise(f, t), Chosen: chosen})
	}
	if l.Groups > 1 {
		lanes, merged := lanesOf(f), int64(0)
		if c := PopcountDenseLanes.counted(); c.lacks(f, x) == "" {
			_, _, n := c.extent(f)
			merged = int64(n)
		}
		l.Lanes = cost.LaneWords{Words: int64(lanes.Words), Sources: int64(lanes.Sources), Merged: merged, Pixels: l.Inputs / int64(x.Shape[3])}
	}
	return l
}
