package fusedglue

import (
	"math"
	"sort"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
)

// quantizer is a quantize or threshold node as a function: the level of x in channel o (for
// bipolar_inv, the level that bipolar has), which never falls as x grows.
type quantizer struct {
	bits           int
	enc            ir.EncodingKind
	level          func(o int, x float32) int
	sameInChannels bool // all channels have the same levels
	nan            bool // NaN has the highest level instead of the lowest
	// formula computes level with few operations, independent of the bits; nil if there is none.
	formula *scalar.Quantizer
}

// quantizerOf returns the function of n; ok is false if n is no quantizer.
func quantizerOf(n *graph.Node) (q quantizer, ok bool) {
	switch a := n.Attrs.(type) {
	case *graph.QuantizeAttrs:
		return quantizer{a.Bits, a.Enc, func(_ int, x float32) int { return a.Eval(x) }, true, false, a}, true
	case *graph.ThresholdAttrs:
		t := n.Weights["thresholds"]
		q = quantizer{a.Bits, a.Enc, func(o int, x float32) int {
			return a.Level(t, o, x)
		}, t.Shape[1] == 1, a.NotLess, nil}
		if a.Bits > maxThresholdBits {
			q.formula = formulaOf(a, t)
		}
		return q, true
	}
	return q, false
}

// floatLevels returns, for j = 1..2^bits-1, the smallest f32 with a level of at least j in channel
// o. If none exists it returns NaN, which no comparison reaches.
func floatLevels(q quantizer, o int) []float32 {
	lo, hi := f32.Order(float32(math.Inf(-1))), f32.Order(float32(math.Inf(1)))
	out := make([]float32, 1<<q.bits-1)
	for j := range out {
		n := sort.Search(int(hi-lo)+1, func(i int) bool { return q.level(o, f32.FromOrder(lo+int64(i))) >= j+1 })
		if out[j] = f32.FromOrder(lo + int64(n)); lo+int64(n) > hi {
			out[j] = float32(math.NaN())
		}
	}
	return out
}

// levelRows returns floatLevels for each of outs channels.
func levelRows(q quantizer, outs int) [][]float32 {
	rows := make([][]float32, 1<<q.bits-1)
	for o := range outs {
		for j, l := range floatLevels(q, o) {
			rows[j] = append(rows[j], l)
		}
	}
	return rows
}
