package layout

import (
	"math"
	"slices"

	"ripc/graph"
)

// MaxExact bounds sums of integers in f32: up to it, all integers are f32 values, so that adding
// them up in any order rounds nowhere (24 bits of significand).
const MaxExact = 1 << 24

// Exact reports whether f32 holds each sum and partial sum of f exactly, in any order: they stay
// within the sum of the weights' absolute values times the largest input.
func Exact(f *graph.FusedConv) bool { return LargestSum(f) <= MaxExact }

// LargestSum bounds the absolute values of f's sums, and of all parts of them.
func LargestSum(f *graph.FusedConv) int64 {
	sums, border := make([]int64, f.Out), make([]int64, f.Out)
	for i, w := range f.Ints.All() {
		sums[i%f.Out] += int64(max(w, -w)) * int64(f.X.Largest())
	}
	for i, v := range f.Epilogue.Border {
		border[i%f.Out] = max(border[i%f.Out], int64(v), -int64(v))
	}
	for o, v := range border {
		sums[o] += v
	}
	return slices.Max(sums)
}

// FloatSums is a layer with f32 sums: a chain of fma in the order kh, kw, channel, starting from
// the bias. Packed levels count as their integers, and their sums are exact.
type FloatSums struct {
	whole
	Weights func() []float32 // [KH, KW, In/Groups, Out]; negated in falling channels
	Packed  *Packed
	Bias    []float32 // [Out] or nil
	Add     []int32   // [Out] or nil: addends of integer sums
	Pad     float32   // the value of positions outside the image
	// Rows and Cols are the border classes. Border [Rows.Count(), Cols.Count(), Out], or nil, is
	// added to the sums of each class.
	Rows, Cols graph.Classes
	Border     []float32
	// Thresholds [2^OutBits-1][Out]: level >= j iff the sum >= Thresholds[j-1][o]; infinite where
	// all sums reach them, or none.
	Thresholds [][]float32
}

func newFloatSums(f *graph.FusedConv, x *graph.Value) *FloatSums {
	if !x.Encoded() {
		s := &FloatSums{Weights: func() []float32 { return f.WFloat }, Bias: f.Bias}
		if f.Few != nil {
			s.Packed = newPacked(f)
		}
		return s
	}
	s, sign := &FloatSums{Pad: float32(f.PadValue), Add: f.Add}, signs(f)
	s.Weights = func() []float32 {
		all := make([]float32, f.Ints.Len())
		for i, w := range f.Ints.All() {
			all[i] = float32(int(w) * sign[i%f.Out])
		}
		return all
	}
	lows, highs := make([]int64, f.Out), make([]int64, f.Out)
	for i, v := range f.Epilogue.Border {
		o := i % f.Out
		v *= int32(sign[o])
		lows[o], highs[o] = min(lows[o], int64(v)), max(highs[o], int64(v))
		s.Border = append(s.Border, float32(v))
	}
	s.Rows, s.Cols = f.Borders(x.Shape[1], x.Shape[2])
	for _, row := range f.Epilogue.Thresholds {
		out := make([]float32, len(row))
		for o, v := range row {
			lo, hi := f.Sums(o)
			if sign[o] < 0 {
				lo, hi = -hi, -lo
			}
			lo, hi = lo+lows[o], hi+highs[o]
			switch {
			case int64(v) > hi:
				out[o] = float32(math.Inf(1))
			case int64(v) <= lo:
				out[o] = float32(math.Inf(-1))
			default:
				out[o] = float32(v)
			}
		}
		s.Thresholds = append(s.Thresholds, out)
	}
	return s
}
