package kit

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
)

// Comparison compares f32 numbers x with limits, one or one for each channel.
type Comparison struct {
	X      *graph.Value
	Limits []float32
	// The comparison holds where x < limit does not hold (NotLess), else where x >= limit. Negated
	// turns it around. Without a NaN, the two forms are one.
	NotLess, Negated bool
}

// ComparisonOf returns the comparison that made truth values v; ok is false if none with constants
// made them. g holds v.
func ComparisonOf(g *graph.Builder, v *graph.Value) (c Comparison, ok bool) {
	p := g.Producer(v.Name)
	for p != nil && p.Op == "logical_not" {
		c.Negated = !c.Negated
		p = g.Producer(p.Inputs[0])
	}
	if p == nil || p.Weights["b"] == nil || !slices.Contains([]string{"greater", "greater_equal", "less", "less_equal"},
		p.Op) {
		return c, false
	}
	op := p.Op
	if p.Attrs.(*graph.BinaryOpAttrs).Reverse {
		op = map[string]string{"greater": "less", "greater_equal": "less_equal", "less": "greater",
			"less_equal": "greater_equal"}[op]
	}
	if op == "less" || op == "less_equal" {
		c.NotLess, c.Negated = true, !c.Negated
	}
	c.X = g.Graph().Value(p.Inputs[0])
	for _, limit := range p.Weights["b"].Data.Floats() {
		limit = f32.Flush(limit) + 0 // -0 becomes 0
		after := op == "greater" || op == "less_equal"
		if limit != limit || after && math.IsInf(float64(limit), 1) {
			return c, false
		}
		if after {
			limit = nextNormal(limit)
		}
		c.Limits = append(c.Limits, limit)
	}
	return c, true
}

// nextNormal returns the least number above v that is zero or normal.
func nextNormal(v float32) float32 {
	next := f32.FromOrder(f32.Order(v) + 1)
	switch {
	case f32.Flush(next) != 0 || next == 0:
		return next
	case next > 0:
		return 0x1p-126
	}
	return 0
}

// Choose emits yes where c holds and no elsewhere, two finite numbers, as a threshold. ok is false
// if no levels are exactly these numbers.
func (k *Kit) Choose(c Comparison, yes, no float32) (out *graph.Value, ok bool) {
	low, high := no, yes
	if c.Negated {
		low, high = yes, no
	}
	x, limits, notLess := c.X, c.Limits, c.NotLess
	if high < low && !slices.ContainsFunc(limits, func(v float32) bool { return math.IsInf(float64(v), 0) }) {
		// Levels rise with their numbers: those of -x do, from the next number after -limit on.
		x, limits, notLess = k.Number("mul", x, -1), slices.Clone(limits), !notLess
		for i, v := range limits {
			limits[i] = nextNormal(-v)
		}
		low, high = high, low
	}
	a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Unipolar, Scale: float64(high - low)},
		NotLess: notLess}
	switch {
	case high == -low && high > 0:
		a.Enc, a.Scale = ir.Bipolar, float64(high)
		return k.threshold(x, limits, a), true
	case high > low && (high-low)+low == high:
		out = k.threshold(x, limits, a)
		if low != 0 {
			out = k.Number("add", out, low)
		}
		return out, true
	}
	return nil, false
}

// threshold emits the level of x, dequantized.
func (k *Kit) threshold(x *graph.Value, limits []float32, a *graph.ThresholdAttrs) *graph.Value {
	w := &graph.Tensor{Shape: []int{1, len(limits)}, Data: graph.NumbersOf(limits)}
	return k.Plain(k.Each("threshold", a, map[string]*graph.Tensor{"thresholds": w}, x), "dequantize")
}
