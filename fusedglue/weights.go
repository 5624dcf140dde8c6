package fusedglue

import (
	"maps"
	"math"
	"slices"

	"ripc/graph"
	"ripc/internal/f32"
)

// bindIntegers sets f's weights to the integers that n's float weights become.
func bindIntegers(n *graph.Node, f *graph.FusedConv, b *graph.BinaryAttrs, perChannel bool) {
	if b.Offset {
		n = withoutOffset(n)
	}
	f.W = b.Integers()
	w := n.Weights["w"].Data
	switch {
	case b.OneBit():
		f.Ints = w.Sign()
		f.Alpha = weightScale(n, f.Out, b, func() []float64 { return meanSizes(w, f.Out, perChannel) })
	case b.Enc == graph.TernaryWeights:
		f.Ints = ternary(w, f.Out)
		f.Alpha = weightScale(n, f.Out, b, func() []float64 { return ternarySizes(w, f.Ints, f.Out, perChannel) })
	default:
		largest := float64(f.W.Largest())
		f.Alpha = weightScale(n, f.Out, b, func() []float64 { return largestSizes(w, f.Out, largest, perChannel) })
		f.Ints = integers(w, b, f.Alpha)
	}
}

// withoutOffset returns n with the offsets subtracted from its weights.
func withoutOffset(n *graph.Node) *graph.Node {
	w, offset := n.Weights["w"], n.Weights["offset"].Data.Floats()
	rest := make([]float32, w.Data.Len())
	for i, v := range w.Data.All() {
		rest[i] = f32.Sub(v, offset[i%len(offset)])
	}
	m := *n
	m.Weights = maps.Clone(n.Weights)
	m.Weights["w"] = &graph.Tensor{Shape: w.Shape, Data: graph.NumbersOf(rest)}
	return &m
}

// largestSizes returns max|w| / largest per output channel, or over the whole layer.
func largestSizes(w graph.Numbers, outs int, largest float64, perChannel bool) []float64 {
	s := make([]float64, outs)
	for i, v := range w.All() {
		s[i%outs] = math.Max(s[i%outs], math.Abs(float64(v)))
	}
	if !perChannel {
		s = slices.Repeat([]float64{slices.Max(s)}, outs)
	}
	for o := range s {
		s[o] /= largest
	}
	return s
}

// integers returns the integers of w with a scale for each filter; see graph.BinaryAttrs. b is
// neither OneBit nor ternary.
func integers(w graph.Numbers, b *graph.BinaryAttrs, scale []float64) graph.Numbers {
	lo, hi := float64(b.Integers().Min), float64(b.Integers().Max)
	return w.Map(func(i int, v float32) int {
		x := 0.0 // of a filter of zeros
		if s := scale[i%len(scale)]; s != 0 {
			x = math.Max(lo, math.Min(hi, float64(v)/s))
		}
		if b.Enc == graph.BipolarWeights {
			return 2*int(math.RoundToEven((x+hi)/2)) - int(hi)
		}
		return int(math.RoundToEven(x))
	})
}

// ternary returns the integers of w, with a limit of 0.7*mean|w| for each filter.
func ternary(w graph.Numbers, outs int) graph.Numbers {
	abs := make([]float64, outs)
	for i, v := range w.All() {
		abs[i%outs] += math.Abs(float64(v))
	}
	return w.Map(func(i int, v float32) int {
		switch {
		case !(math.Abs(float64(v))*float64(w.Len()/outs) > 0.7*abs[i%outs]):
			return 0
		case v < 0:
			return -1
		}
		return 1
	})
}

// ternarySizes returns mean|w| over the weights with integers other than 0, per output channel or
// over the whole layer.
func ternarySizes(w, ints graph.Numbers, outs int, perChannel bool) []float64 {
	sum, count := make([]float64, outs), make([]float64, outs)
	for i, v := range w.All() {
		if o := i % outs; ints.At(i) != 0 {
			sum[o], count[o] = sum[o]+math.Abs(float64(v)), count[o]+1
		}
	}
	s, c := 0.0, 0.0
	for o := range sum {
		s, c = s+sum[o], c+count[o]
		sum[o] /= math.Max(1, count[o])
	}
	if !perChannel {
		return slices.Repeat([]float64{s / math.Max(1, c)}, outs)
	}
	return sum
}
