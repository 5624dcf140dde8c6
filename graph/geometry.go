package graph

import (
	"slices"

	"ripc/graph/scalar"
)

// Integers is a set of integers at even distances: Min, Min+Step, ..., Max.
type Integers struct{ Min, Max, Step int }

// Bits is the number of bits that tell the integers apart; 0 for the empty Integers{}.
func (s Integers) Bits() int {
	n := 0
	for s.Step > 0 && s.Min+s.Step<<n <= s.Max {
		n++
	}
	return n
}

// Largest is the largest absolute value.
func (s Integers) Largest() int { return max(s.Max, -s.Min) }

// Has reports whether v is one of them.
func (s Integers) Has(v int) bool { return v >= s.Min && v <= s.Max && (v-s.Min)%s.Step == 0 }

// IntegersOf are those that levels of type t stand for; their real values have t.Offset besides.
func IntegersOf(t scalar.LevelType) Integers {
	lo, hi := t.Range()
	return Integers{Min: lo, Max: hi, Step: (hi - lo) / t.Top()}
}

// Dilation is the distance of the taps, resolved.
func (a *FusedConv) Dilation() (dh, dw int) { return max(1, a.DH), max(1, a.DW) }

// GroupCount is the number of groups, resolved.
func (a *FusedConv) GroupCount() int { return max(1, a.Groups) }

// OutSize is the number of output rows and columns for an input of h by w.
func (a *FusedConv) OutSize(h, w int) (oh, ow int) {
	dh, dw := a.Dilation()
	return (h+a.Pad.Top+a.Pad.Bottom-(a.KH-1)*dh-1)/a.SH + 1, (w+a.Pad.Left+a.Pad.Right-(a.KW-1)*dw-1)/a.SW + 1
}

// EachPosition reports whether an output depends on the input at its own position alone.
func (a *FusedConv) EachPosition() bool {
	return a.KH*a.KW == 1 && a.SH*a.SW == 1 && !a.Pad.Any() && a.Pool == nil
}

// GroupIn is the number of input channels of one group.
func (a *FusedConv) GroupIn() int { return a.In / a.GroupCount() }

// GroupOut is the number of output channels of one group.
func (a *FusedConv) GroupOut() int { return a.Out / a.GroupCount() }

// Depthwise reports whether each of several output channels reads the input channel of its number,
// and no other.
func (a *FusedConv) Depthwise() bool {
	return a.GroupCount() > 1 && a.GroupIn() == 1 && a.GroupOut() == 1
}

// Products is the number of products in one output.
func (a *FusedConv) Products() int { return a.KH * a.KW * a.GroupIn() }

// FewerProducts is the help for layers with sums that are too large.
const FewerProducts = "cut it into layers over parts of its input, and add these"

// MaxSpan is the largest distance between the smallest and the largest sum of a layer's output
// channel. Glue adds at most as much again, so all stays inside i32. It is half of that where sums
// are corrected at the borders of pictures besides.
func MaxSpan(corrected bool) int64 {
	if corrected {
		return 1<<29 - 1
	}
	return 1<<30 - 1
}

// Corrected reports whether sums over levels t are corrected where positions outside the image
// count as v: v is no level, or lacks their offset.
func Corrected(t scalar.LevelType, v int) bool { return t.Offset != 0 || !IntegersOf(t).Has(v) }

// Span is the largest distance between the smallest and the largest sum of an output channel, for
// levels x and weights ints ([..., outs]).
func Span(ints Numbers, outs int, x Integers) int64 {
	spans := make([]int64, outs)
	for i, w := range ints.All() {
		spans[i%outs] += int64(max(w, -w)) * int64(x.Max-x.Min)
	}
	return slices.Max(spans)
}

// SumBound bounds a's sums in the units of any count of words, those at the pictures' borders
// included. Levels count from 0 there. Weights that are not odd integers come doubled. So do sums
// that exact zeros, which are no levels, are taken out of (bconv2d).
func (a *FusedConv) SumBound() int64 {
	bound := int64(a.Products()) * int64(a.X.Max-a.X.Min) / int64(a.X.Step) * int64(a.W.Largest()) * 2 / int64(a.W.Step)
	if a.Pad.Any() && !a.X.Has(a.PadValue) {
		bound *= 2
	}
	most := int64(0)
	for _, v := range a.Epilogue.Border {
		most = max(most, int64(v), -int64(v))
	}
	return bound + 2*most
}

// Sums are the smallest and the largest sum of output channel o, with Add (bconv2d).
func (a *FusedConv) Sums(o int) (lo, hi int64) {
	var buf [piece]float32
	for i, n := 0, a.Ints.Len()/a.Out; i < n; i += piece {
		weights := buf[:min(piece, n-i)]
		a.Ints.column(i*a.Out+o, a.Out, weights)
		for _, w := range weights {
			p, q := int64(w)*int64(a.X.Min), int64(w)*int64(a.X.Max)
			lo, hi = lo+min(p, q), hi+max(p, q)
		}
	}
	if a.Add != nil {
		lo, hi = lo+int64(a.Add[o]), hi+int64(a.Add[o])
	}
	return lo, hi
}

// Multiplies reports whether a, with this op, multiplies its input by weights of the model. Sums of
// windows (window_sum) do not. Neither do means of integers, which importers make convolutions of
// each channel with weights of 1.
func (a *FusedConv) Multiplies(op string) bool {
	if op == "window_sum" {
		return false
	}
	eachChannel := a.GroupCount() == a.In && a.Out == a.In
	return op != "bconv2d" || !eachChannel || a.Ints.Mixed() || a.Ints.Len() > 0 && a.Ints.At(0) != 1
}

// GCD is the greatest common divisor of magnitudes, the Step of integers that are multiples of
// both; that of 0 and a is a.
func GCD(a, b int64) int64 {
	a, b = max(a, -a), max(b, -b)
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
