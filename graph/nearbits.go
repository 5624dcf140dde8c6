package graph

import (
	"math"
	"slices"

	"ripc/internal/f32"
)

// nearness says when weights count as the same but for rounding.
type nearness struct {
	within float64 // the largest difference
	zeros  bool    // whether a filter of weights that differ so from 0 counts as one of zeros
	apart  float64 // how many times farther than that different weights are, so that none is near by chance
}

// nearnesses lists the tolerances to try for the weights of a filter, given the largest weight.
// Straight-through estimators add and subtract weights (sign(w) - w + w). That rounds numbers up to
// |w| + 1 twice, whatever the result is. |w| is up to 1 if it is clipped, and may be 100 otherwise.
// The larger the roundings, the farther apart the results must be.
func nearnesses(largest float32) []nearness {
	return []nearness{{max(0x1p-22, 0x1p-20*float64(largest)), true, 64}, {0x1p-19, false, 1024},
		{0x1p-17, false, 1024}}
}

// RoundToFewBits gives the weights of few bits ([..., O]) that w are but for rounding: in each
// output channel they are small integers times one scale, or two values, up to nearnesses. nil
// where w are none, or have few bits as they are.
func RoundToFewBits(w *Tensor) *Tensor {
	if few, why := DecomposeFew(w); few != nil || why.Reason == WhyWeightsNaN {
		return nil
	}
	return nearlyFew(w)
}

// nearlyFew is Nearly of weights that have not few bits as they are.
func nearlyFew(w *Tensor) *Tensor {
	outs := w.Shape[len(w.Shape)-1]
	if !roundChannel(w.filter(0).Data.Floats(), 0, 1) { // real weights end here, before they are copied
		return nil
	}
	data := slices.Clone(w.Data.Floats())
	for o := range outs {
		if !roundChannel(data, o, outs) {
			return nil
		}
	}
	near := &Tensor{Shape: w.Shape, Data: NumbersOf(data)}
	if few, _ := DecomposeFew(near); few == nil {
		return nil
	}
	return near
}

// filter is a copy of the weights of output channel o, [..., 1].
func (t *Tensor) filter(o int) *Tensor {
	n := len(t.Shape)
	outs := t.Shape[n-1]
	var data []float32
	for i := o; i < t.Data.Len(); i += outs {
		data = append(data, t.Data.At(i))
	}
	return &Tensor{Shape: append(append([]int{}, t.Shape[:n-1]...), 1), Data: NumbersOf(data)}
}

// roundChannel rounds the weights of channel o of w ([..., outs]) to few values.
func roundChannel(w []float32, o, outs int) bool {
	var values []float32
	for i := o; i < len(w); i += outs {
		values = append(values, w[i]+0)
	}
	slices.Sort(values)
	return slices.ContainsFunc(nearnesses(max(-values[0], values[len(values)-1])), func(near nearness) bool {
		return roundTo(w, values, near, o, outs)
	})
}

// roundTo is roundChannel for values, those of channel o in order, of a nearness.
func roundTo(w, values []float32, near nearness, o, outs int) bool {
	within := near.within
	centers := centersOf(values, within, 1<<FewBitsMost)
	if centers == nil {
		return false
	}
	to := multiplesNear(centers, near)
	if to == nil && len(centers) == 2 && centers[1]-centers[0] > near.apart*within {
		to = centers
	}
	if to == nil {
		return false
	}
	for i := o; i < len(w); i += outs {
		for k, c := range centers {
			if math.Abs(float64(w[i])-c) <= 2*within {
				w[i] = float32(to[k])
				break
			}
		}
	}
	return true
}

// centersOf are the means of values, which are in order, that lie within a distance of each other;
// nil if there are more than most.
func centersOf(values []float32, within float64, most int) []float64 {
	var centers []float64
	for i := 0; i < len(values); {
		first, sum := i, 0.0
		for ; i < len(values) && float64(values[i])-float64(values[first]) <= 2*within; i++ {
			sum += float64(values[i])
		}
		if centers = append(centers, sum/float64(i-first)); len(centers) > most {
			return nil
		}
	}
	return centers
}

// multiplesNear gives the multiples of one scale that the centers nearly are; nil if there are
// none.
func multiplesNear(centers []float64, near nearness) []float64 {
	within := near.within
	least := 0.0
	for _, c := range centers {
		if v := math.Abs(c); v > within && (least == 0 || v < least) {
			least = v
		}
	}
	if least == 0 && !near.zeros {
		return nil
	}
	if least == 0 {
		return make([]float64, len(centers))
	}
	for k := 1; k <= 1<<(FewBitsMost-1) && least/float64(k) > near.apart*within; k++ {
		sum, squares := 0.0, 0.0
		for _, c := range centers {
			q := math.RoundToEven(c * float64(k) / least)
			sum, squares = sum+q*c, squares+q*q
		}
		scale := float32(sum / squares)
		to := make([]float64, len(centers))
		fits := true
		for i, c := range centers {
			q := math.RoundToEven(c * float64(k) / least)
			to[i] = float64(f32.Mul(scale, float32(q)))
			fits = fits && math.Abs(q) < 1<<FewBitsMost && math.Abs(to[i]-c) <= within
		}
		if fits {
			return to
		}
	}
	return nil
}
