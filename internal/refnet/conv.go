package refnet

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/internal/f32"
	"ripc/ir"
)

// refConv is a convolution. Binary ones sum integers exactly and multiply by the scales once.
func refConv(n *graph.Node, v *graph.Value, x, y *Tensor, a *graph.Conv2DAttrs, ws []int) {
	w := n.Weights["w"].Data.Floats()
	var scale []float64
	var integers []int
	if a.Binary != nil {
		integers, scale = Weights(n, a.Binary, ws)
	}
	offset := make([]float32, ws[3])
	if a.Binary != nil && a.Binary.Offset {
		offset = n.Weights["offset"].Data.Floats()
	}
	var bias []float32
	if b := n.Weights["b"]; b != nil {
		bias = b.Data.Floats()
	}
	dil, groups := a.Dilation(), a.GroupCount()
	perGroup := ws[3] / groups
	outside := 0
	if v.Enc != ir.Unipolar && a.Binary != nil && a.Binary.PadValue == graph.PadOnes {
		outside = 1<<v.Bits - 1
	}
	y.each(func(b, oh, ow, o int, e *float32) {
		sum, weights, inputs, taps := 0, 0, 0, 0
		if bias != nil {
			*e = bias[o]
		}
		for i := range ws[0] {
			for j := range ws[1] {
				for c := range ws[2] {
					p := x.atOrNil(b, oh*a.Strides[0]+i*dil[0]-a.Pad.Top,
						ow*a.Strides[1]+j*dil[1]-a.Pad.Left, o/perGroup*ws[2]+c)
					k := ((i*ws[1]+j)*ws[2]+c)*ws[3] + o
					switch {
					case a.Binary != nil && p != nil:
						sum, weights = sum+int(*p)*integers[k], weights+integers[k]
						inputs, taps = inputs+int(*p), taps+1
					case a.Binary != nil && outside != 0:
						sum, weights = sum+outside*integers[k], weights+integers[k]
						inputs, taps = inputs+outside, taps+1
					case p != nil:
						*e = f32.Fma(*p, w[k], *e)
					}
				}
			}
		}
		if a.Binary != nil {
			*e = f32.Mul(float32(sum), float32(v.Scale*scale[o]))
			if a.Binary.Offset {
				*e = f32.Fma(float32(inputs), float32(v.Scale*float64(offset[o])), *e)
			}
			if v.Offset != 0 {
				all := float64(scale[o]*float64(weights)) + float64(float64(offset[o])*float64(taps))
				*e = f32.Add(*e, float32(v.Offset*all))
			}
		}
	})
}

// Weights returns the integers of n's weights, and the real value of 1 for each output channel. ws
// is the shape of the weights, [KH, KW, In, Out]. The channels of a dense layer share their scale.
func Weights(n *graph.Node, b *graph.BinaryAttrs, ws []int) (integers []int, scale []float64) {
	_, isDense := n.Attrs.(*graph.DenseAttrs)
	outs, perChannel := ws[3], !isDense
	w := n.Weights["w"].Data.Floats()
	if b.Offset {
		w = slices.Clone(w)
		for i := range w {
			w[i] = f32.Sub(w[i], n.Weights["offset"].Data.At(i%outs))
		}
	}
	integers, scale = make([]int, len(w)), make([]float64, outs)
	if !b.OneBit() {
		refIntegers(n, w, b, outs, perChannel, integers, scale)
		return integers, scale
	}
	for i, f := range w {
		if integers[i] = 1; f < 0 {
			integers[i] = -1
		}
	}
	for i, f := range w {
		scale[i%outs] += math.Abs(float64(f))
	}
	for o := range scale {
		switch b.WeightScale {
		case graph.ScaleTensor:
			scale[o] = float64(n.Weights["scale"].Data.At(o))
		case graph.ScaleNone:
			scale[o] = 1
		case graph.ScaleMean, graph.ScaleAP2:
			scale[o] /= float64(len(w) / outs)
		}
	}
	if (b.WeightScale == graph.ScaleMean || b.WeightScale == graph.ScaleAP2) && !perChannel {
		all := 0.0
		for _, s := range scale {
			all += s
		}
		for o := range scale {
			scale[o] = all / float64(outs)
		}
	}
	if b.WeightScale == graph.ScaleAP2 {
		for o := range scale {
			scale[o] = nearestPower(scale[o])
		}
	}
	return integers, scale
}

// refIntegers finds the integers of ternary and few-bit weights by trying all of them: the nearest,
// on a tie the one that rounding half to even takes.
func refIntegers(n *graph.Node, w []float32, b *graph.BinaryAttrs, outs int, perChannel bool, integers []int,
	scale []float64) {
	abs := func(i int) float64 { return math.Abs(float64(w[i])) }
	for o := range outs {
		of := func(i int) bool { return i%outs == o }
		all := func(i int) bool { return of(i) || !perChannel }
		lo, hi, step := -b.Zero, 1<<b.Bits-1-b.Zero, 1
		if b.Enc == graph.BipolarWeights {
			lo, hi, step = -(1<<b.Bits - 1), 1<<b.Bits-1, 2
		}
		most, sum, count, total := 0.0, 0.0, 0.0, make([]float64, outs)
		for i := range w {
			total[i%outs] += abs(i)
		}
		large := func(i int) bool { return abs(i)*float64(len(w)/outs) > 0.7*total[i%outs] }
		for i := range w {
			if all(i) {
				most = max(most, abs(i))
				if large(i) {
					sum, count = sum+abs(i), count+1
				}
			}
		}
		switch scale[o] = 1; b.WeightScale {
		case graph.ScaleTensor:
			scale[o] = float64(n.Weights["scale"].Data.At(o))
		case graph.ScaleMean:
			scale[o] = sum / max(1, count)
		case graph.ScaleMax:
			scale[o] = most / float64(max(-lo, hi))
		case graph.ScaleAP2:
			if scale[o] = nearestPower(most / float64(max(-lo, hi))); b.Enc == graph.TernaryWeights {
				scale[o] = nearestPower(sum / max(1, count))
			}
		}
		for i := range w {
			quotient := 0.0
			if scale[o] != 0 {
				quotient = float64(w[i]) / scale[o]
			}
			switch {
			case !of(i):
			case b.Enc != graph.TernaryWeights:
				best := lo
				for k := lo; k <= hi; k += step {
					d, old := math.Abs(quotient-float64(k)), math.Abs(quotient-float64(best))
					if even := (k-lo)/step%2 == 0; d < old || d == old && (step == 1 && k%2 == 0 || step == 2 && even) {
						best = k
					}
				}
				integers[i] = best
			case w[i] > 0 && large(i):
				integers[i] = 1
			case w[i] < 0 && large(i):
				integers[i] = -1
			}
		}
	}
}
