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
	if b.OneBit() {
		f.Alpha = weightScale(n, f, b, perChannel)
		f.Ints = n.Weights["w"].Data.Sign()
		return
	}
	f.Ints, f.Alpha = integers(n, f.Out, b, perChannel)
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

// integers returns the integers of w and the real value of 1 for each of outs filters, in float64;
// see graph.BinaryAttrs. b is not OneBit.
func integers(n *graph.Node, outs int, b *graph.BinaryAttrs, perChannel bool) (ints graph.Numbers, scale []float64) {
	w := n.Weights["w"].Data
	scale = slices.Repeat([]float64{1}, outs)
	if t := n.Weights["scale"]; b.WeightScale == graph.ScaleTensor {
		for o := range scale {
			scale[o] = float64(t.Data.At(o))
		}
	}
	if b.Enc == graph.TernaryWeights {
		ints = ternary(w, scale, b.WeightScale == graph.ScaleMean || b.WeightScale == graph.ScaleAP2, perChannel)
		if b.WeightScale == graph.ScaleAP2 {
			ap2(scale)
		}
		return ints, scale
	}
	lo, hi := float64(b.Integers().Min), float64(b.Integers().Max)
	if b.WeightScale == graph.ScaleMax || b.WeightScale == graph.ScaleAP2 {
		most := make([]float64, outs)
		for i, v := range w.All() {
			most[i%outs] = math.Max(most[i%outs], math.Abs(float64(v)))
		}
		for o := range scale {
			if v := most[o]; !perChannel {
				scale[o] = slices.Max(most) / math.Max(-lo, hi)
			} else {
				scale[o] = v / math.Max(-lo, hi)
			}
		}
		if b.WeightScale == graph.ScaleAP2 {
			ap2(scale)
		}
	}
	return w.Map(func(i int, v float32) int {
		x := 0.0 // of a filter of zeros
		if s := scale[i%outs]; s != 0 {
			x = math.Max(lo, math.Min(hi, float64(v)/s))
		}
		if b.Enc == graph.BipolarWeights {
			return 2*int(math.RoundToEven((x+hi)/2)) - int(hi)
		}
		return int(math.RoundToEven(x))
	}), scale
}

// ternary returns the integers of w, with a limit of 0.7*mean|w| for each filter. If mean is set,
// it sets the scales to mean|w| over the nonzero weights.
func ternary(w graph.Numbers, scale []float64, mean, perChannel bool) graph.Numbers {
	outs := len(scale)
	abs, sum, count := make([]float64, outs), make([]float64, outs), make([]float64, outs)
	for i, v := range w.All() {
		abs[i%outs] += math.Abs(float64(v))
	}
	isZero := func(o int, v float32) bool { return !(math.Abs(float64(v))*float64(w.Len()/outs) > 0.7*abs[o]) }
	ints := w.Map(func(i int, v float32) int {
		switch {
		case isZero(i%outs, v):
			return 0
		case v < 0:
			return -1
		}
		return 1
	})
	if !mean {
		return ints
	}
	for i, v := range w.All() {
		if o := i % outs; !isZero(o, v) {
			sum[o], count[o] = sum[o]+math.Abs(float64(v)), count[o]+1
		}
	}
	s, c := 0.0, 0.0
	for o := range scale {
		s, c = s+sum[o], c+count[o]
		scale[o] = sum[o] / math.Max(1, count[o])
	}
	if !perChannel {
		for o := range scale {
			scale[o] = s / math.Max(1, c)
		}
	}
	return ints
}
