package layout

import (
	"ripc/graph"
	"ripc/internal/enum"
)

// Choice is the algorithm of a layer, and why it was taken.
type Choice struct {
	Algorithm Algorithm
	Why       Why
	// Estimates are the costs of the algorithms that apply, in the order of Algorithms;
	// nil where no model of the target compared them.
	Estimates []Estimated
	Unit      string // of the estimates
	// Terms is the extra cost of the next best algorithm by kind, or nil.
	Terms map[string]int64
}

// Estimated is the cost of an algorithm: of its best schedule that was measured, else predicted.
type Estimated struct {
	Algorithm Algorithm
	Cost      float64
	Measured  bool
}

// Why is why an algorithm was taken.
type Why uint8

const (
	Only    Why = iota // no other gives the layer's sums
	Usual              // the target has no model, and the algorithm is the first that applies, or counts fewer words
	Cheaper            // by the target's model
	Asked              // by the caller
)

var whys = enum.Of[Why]("reason for an algorithm", "only", "usual", "cheaper", "asked")

// String is the reason's code in descriptions and .ripir text.
func (w Why) String() string { return whys.Name(w) }

// ParseWhy is the inverse of Why.String.
func ParseWhy(text string) (Why, error) { return whys.Parse(text) }

// Choose takes the first of the algorithms that apply to f, a layer over x of shape [B, H, W, C].
// There must be one.
func Choose(f *graph.FusedConv, x *graph.Value) Choice {
	apply := Applying(f, x)
	if len(apply) == 1 {
		return Choice{Algorithm: apply[0], Why: Only}
	}
	return Choice{Algorithm: apply[0], Why: Usual}
}
