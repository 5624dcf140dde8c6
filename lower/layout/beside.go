package layout

import (
	"ripc/graph"
	"ripc/ir"
)

// Beside describes levels that a layer writes beside its floats, for a quantizer of floats that
// have other readers too. Steps, if not nil, come first; then Formula, or else Threshold and
// Thresholds, makes the levels.
type Beside struct {
	Steps      *graph.Elementwise
	Formula    *graph.QuantizeAttrs
	Threshold  *graph.ThresholdAttrs
	Thresholds *graph.Tensor // [count, Out] or [count, 1]
	// Total, if not 0, is how many words the planes have that the levels are a part of, from word
	// Offset on.
	Offset, Total int
}

// maxBeside is the number of thresholds that a float is compared with at most where others read it
// as well: each is a comparison in the innermost loop of the layer.
const maxBeside = 7

// BesideOf returns the levels that n makes of the output of f, a layer of floats; ok is false if n
// must be its own stage. Blocks of channels are words of the levels. So the channels fill words, or
// are a part of one as a vector.
func BesideOf(f *graph.FusedConv, n *graph.Node) (b Beside, ok bool) {
	part := f.Out < WordBits && f.Out&(f.Out-1) == 0
	if f.Epilogue.OutBits > 0 || f.Pool != nil || f.Out%WordBits != 0 && !part {
		return b, false
	}
	switch a := n.Attrs.(type) {
	case *graph.QuantizeAttrs:
		return Beside{Formula: a}, true
	case *graph.ThresholdAttrs:
		t := n.Weights["thresholds"]
		return Beside{Threshold: a, Thresholds: t}, t.Shape[0] == 1<<a.Bits-1 && t.Shape[0] <= maxBeside
	}
	return b, false
}

// Levels are the bits and the encoding of the levels.
func (b Beside) Levels() (bits int, enc ir.EncodingKind) {
	if b.Formula != nil {
		return b.Formula.Bits, b.Formula.Enc
	}
	return b.Threshold.Bits, b.Threshold.Enc
}
