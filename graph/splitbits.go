package graph

import (
	"math"
	"slices"
)

// WeightPart is one of the weights of few bits that add up to other weights, or, where Minus is
// set, are subtracted.
type WeightPart struct {
	W     *Tensor
	Minus bool
}

// Limits of sums of weights of few bits.
const (
	maxWeightParts  = 3 // parts in all; each costs a layer
	weightsPerValue = 3 // weights of a filter for each of its values: fewer are chance
	leastGap        = 0x1p-16
)

// SplitWeights gives weights of 1 bit that add up to w ([..., O]), which has not few bits itself. A
// filter has {-a, 0, b}, as trained ternary weights have them, or {-a-b, -a+b, a-b, a+b}, as sums
// of two binary bases. nil if w is no such sum. The parts differ from w by rounding where exact is
// false.
func SplitWeights(w *Tensor) (parts []WeightPart, exact bool) {
	outs := w.Shape[len(w.Shape)-1]
	if w.Data.Len() < 8*outs {
		return nil, false
	}
	s := &splitter{w: w, outs: outs, exact: true}
	for o := range outs {
		if !s.addChannel(o) {
			return nil, false
		}
	}
	if len(s.bases) > 0 && (len(s.plus) > 0 || len(s.minus) > 0) {
		return nil, false
	}
	for _, t := range append(s.bases, s.plus...) {
		parts = append(parts, WeightPart{W: &Tensor{Shape: w.Shape, Data: NumbersOf(t)}})
	}
	for _, t := range s.minus {
		parts = append(parts, WeightPart{W: &Tensor{Shape: w.Shape, Data: NumbersOf(t)}, Minus: true})
	}
	if len(parts) < 2 || len(parts) > maxWeightParts {
		return nil, false
	}
	for _, p := range parts {
		if few, _ := DecomposeFew(p.W); few == nil || few.Offset != nil {
			return nil, false
		}
	}
	return parts, s.exact
}

// splitter collects the parts of weights, filter by filter.
type splitter struct {
	w           *Tensor
	outs        int
	plus, minus [][]float32 // of values 0 and a scale
	bases       [][]float32 // of values -a and a
	exact       bool
}

// addChannel adds filter o; false if its weights are no sum of few parts.
func (s *splitter) addChannel(o int) bool {
	var values []float32
	for i := o; i < s.w.Data.Len(); i += s.outs {
		values = append(values, s.w.Data.At(i)+0)
	}
	count := len(values)
	slices.Sort(values)
	centers, within := clusters(values, count/weightsPerValue)
	if centers == nil {
		return false
	}
	if slices.ContainsFunc(centers, func(c float64) bool { return math.Abs(c) <= within }) {
		return s.addMasks(o, centers, within)
	}
	return s.addSigns(o, centers, within)
}

// clusters are the different values of weights in order, and how far weights may be from them; nil
// if there are more than most.
func clusters(values []float32, most int) (centers []float64, within float64) {
	largest := max(-values[0], values[len(values)-1])
	for _, near := range append([]nearness{{}}, nearnesses(largest)...) {
		centers = centersOf(values, near.within, min(most, 1<<maxWeightParts))
		apart := centers != nil
		for i := 1; apart && i < len(centers); i++ {
			apart = centers[i]-centers[i-1] > max(near.apart*near.within, leastGap*float64(largest))
		}
		if apart {
			return centers, near.within
		}
	}
	return nil, 0
}

// addMasks adds filter o, with values around 0: scales of the positive weights, and of the negative
// ones.
func (s *splitter) addMasks(o int, centers []float64, within float64) bool {
	for sign, parts := range map[float64]*[][]float32{1: &s.plus, -1: &s.minus} {
		var sizes []float64
		for _, c := range centers {
			if sign*c > within {
				sizes = append(sizes, sign*c)
			}
		}
		slices.Sort(sizes)
		scales := subsetScales(sizes, within)
		if len(scales) > maxWeightParts {
			return false
		}
		for len(*parts) < len(scales) {
			*parts = append(*parts, make([]float32, s.w.Data.Len()))
		}
		for i := o; i < s.w.Data.Len(); i += s.outs {
			v := sign * float64(s.w.Data.At(i))
			bits, rest := subset(v, scales, within)
			if v <= within {
				bits, rest = 0, max(0, v)
			}
			s.exact = s.exact && (rest == 0 || v < 0)
			for k, a := range scales {
				if bits>>k&1 == 1 {
					(*parts)[k][i] = float32(a)
				}
			}
		}
	}
	return true
}

// addSigns adds filter o of the four sums of +-a and +-b.
func (s *splitter) addSigns(o int, centers []float64, within float64) bool {
	if len(centers) != 4 || math.Abs(centers[0]+centers[3]) > 4*within+nearly*centers[3] ||
		math.Abs(centers[1]+centers[2]) > 4*within+nearly*centers[3] {
		return false
	}
	a, b := float32((centers[3]+centers[2])/2), float32((centers[3]-centers[2])/2)
	for len(s.bases) < 2 {
		s.bases = append(s.bases, make([]float32, s.w.Data.Len()))
	}
	for i := o; i < s.w.Data.Len(); i += s.outs {
		v := s.w.Data.At(i)
		x, y := a, b
		if v < 0 {
			x = -a
		}
		if v < x {
			y = -b
		}
		s.bases[0][i], s.bases[1][i] = x, y
		s.exact = s.exact && float64(x)+float64(y) == float64(v)
	}
	return true
}

// subsetScales finds few numbers that have each of sizes, ascending and positive, as a sum of some.
// It adds the least size that is no such sum until there is none.
func subsetScales(sizes []float64, within float64) []float64 {
	var scales []float64
	for _, v := range sizes {
		if _, rest := subset(v, scales, within); rest > max(2*within, nearly*v) {
			scales = append(scales, v)
		}
	}
	return scales
}

// subset finds the sum of some scales that is nearest to v: the set as bits, and the distance from
// v.
func subset(v float64, scales []float64, within float64) (bits int, rest float64) {
	rest = math.Abs(v)
	for set := range 1 << len(scales) {
		sum := 0.0
		for k, a := range scales {
			if set>>k&1 == 1 {
				sum += a
			}
		}
		if d := math.Abs(v - sum); d < rest {
			bits, rest = set, d
		}
	}
	return bits, rest
}

// BinaryBasis finds scales such that each of values, which ascend from 0, is a sum of some of them,
// up to a distance. sums[i] has bit j set where scale j is part of value i. If no fewer are found,
// there is one scale a value: the step from the value before.
func BinaryBasis(values []float64, within float64) (scales []float64, sums []int) {
	if scales = subsetScales(values[1:], within); len(scales) < len(values)-1 {
		for _, v := range values {
			bits, _ := subset(v, scales, within)
			sums = append(sums, bits)
		}
		return scales, sums
	}
	return Thermometer(values)
}

// Thermometer is BinaryBasis of one scale a value: the steps from one to the next.
func Thermometer(values []float64) (scales []float64, sums []int) {
	sums = []int{0}
	for i := range values[1:] {
		scales, sums = append(scales, values[i+1]-values[i]), append(sums, 1<<(i+1)-1)
	}
	return scales, sums
}
