package fusedglue

import (
	"math"
	"slices"

	"ripc/graph"
)

// intWeights are the weights of a bitserial layer as sums of planes of +-1.
type intWeights struct {
	planes [][]bool // [plane][KH*KW*In/Groups*Out]: true is +1
	coefs  []int32  // nil: one plane
	scale  []float64
}

// weightsOf turns n's float weights into planes. Ternary and affine weights are doubled, and the scale halved, so that
// planes of +-1 add up to them: 2*(p - m) = sign(p) + sign(not m), 2*(level - zero) = sum 2^j*sign(bit j) + 2^Bits-1 - 2*zero.
func weightsOf(n *graph.Node, f *graph.FusedConv, b *graph.BinaryAttrs, perChannel bool) *intWeights {
	data := n.Weights["w"].Data
	if b.OneBit() {
		w := &intWeights{scale: weightScale(n, f, b, perChannel)}
		w.plane(len(data), func(i int) bool { return data[i] >= 0 })
		w.coefs = nil
		return w
	}
	ints, scale := integers(n, f.Out, b, perChannel)
	w := &intWeights{scale: scale}
	if b.Enc == graph.TernaryWeights {
		w.plane(len(data), func(i int) bool { return ints[i] > 0 })
		w.plane(len(data), func(i int) bool { return ints[i] >= 0 })
		w.coefs = []int32{1, 1}
	} else {
		m := 1<<b.Bits - 1
		for j := range b.Bits {
			w.plane(len(data), func(i int) bool {
				if b.Enc == graph.BipolarWeights {
					return (ints[i]+m)/2>>j&1 == 1
				}
				return (ints[i]+b.Zero)>>j&1 == 1
			})
		}
		if rest := m - 2*b.Zero; b.Enc == graph.AffineWeights && rest != 0 {
			w.plane(len(data), func(int) bool { return rest > 0 })
			w.coefs[b.Bits] = int32(max(rest, -rest))
		}
	}
	if b.Enc != graph.BipolarWeights {
		for o := range w.scale {
			w.scale[o] /= 2
		}
	}
	return w
}

// plane adds a plane of factor 2^(planes before it).
func (w *intWeights) plane(n int, plus func(i int) bool) {
	p := make([]bool, n)
	for i := range p {
		p[i] = plus(i)
	}
	w.coefs = append(w.coefs, 1<<len(w.planes))
	w.planes = append(w.planes, p)
}

// integers gives the integers that w becomes and the real value of 1 for each of outs filters, in float64; see
// graph.BinaryAttrs. Enc is not "".
func integers(n *graph.Node, outs int, b *graph.BinaryAttrs, perChannel bool) (ints []int, scale []float64) {
	w := n.Weights["w"].Data
	ints, scale = make([]int, len(w)), make([]float64, outs)
	for o := range scale {
		scale[o] = 1
	}
	if t := n.Weights["scale"]; b.WeightScale == graph.ScaleTensor {
		for o := range scale {
			scale[o] = float64(t.Data[o])
		}
	}
	if b.Enc == graph.TernaryWeights {
		ternary(w, ints, scale, b.WeightScale == graph.ScaleMean, perChannel)
		return ints, scale
	}
	m := float64(int(1)<<b.Bits - 1)
	lo, hi := -m, m
	if b.Enc == graph.AffineWeights {
		lo, hi = -float64(b.Zero), m-float64(b.Zero)
	}
	if b.WeightScale == graph.ScaleMax {
		most := make([]float64, outs)
		for i, v := range w {
			most[i%outs] = math.Max(most[i%outs], math.Abs(float64(v)))
		}
		for o := range scale {
			if v := most[o]; !perChannel {
				scale[o] = slices.Max(most) / math.Max(-lo, hi)
			} else {
				scale[o] = v / math.Max(-lo, hi)
			}
			if scale[o] == 0 {
				scale[o] = 1
			}
		}
	}
	for i, v := range w {
		x := math.Max(lo, math.Min(hi, float64(v)/scale[i%outs]))
		if ints[i] = int(math.RoundToEven(x)); b.Enc == graph.BipolarWeights {
			ints[i] = 2*int(math.RoundToEven((x+m)/2)) - int(m)
		}
	}
	return ints, scale
}

// ternary sets the integers from 0.7*mean|w| of each filter and, if mean is set, the scales to mean|w| of what is not 0.
func ternary(w []float32, ints []int, scale []float64, mean, perChannel bool) {
	outs := len(scale)
	abs, sum, count := make([]float64, outs), make([]float64, outs), make([]float64, outs)
	for i, v := range w {
		abs[i%outs] += math.Abs(float64(v))
	}
	for i, v := range w {
		o := i % outs
		if math.Abs(float64(v))*float64(len(w)/outs) > 0.7*abs[o] {
			if ints[i] = 1; v < 0 {
				ints[i] = -1
			}
			sum[o], count[o] = sum[o]+math.Abs(float64(v)), count[o]+1
		}
	}
	if !mean {
		return
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
}

// pack makes f's WBits: each filter has the words that its group touches.
func (w *intWeights) pack(f *graph.FusedConv, inverted bool) []uint32 {
	words, planes, in := f.GroupWords(), len(w.planes), f.GroupIn()
	out := make([]uint32, f.KH*f.KW*words*planes*f.Out)
	for j, plane := range w.planes {
		for i, plus := range plane {
			if plus == inverted {
				continue
			}
			o, c, tap := i%f.Out, i/f.Out%in, i/f.Out/in
			bit := o/f.GroupOut()*in + c - f.FirstWord(o)*graph.WordBits
			out[((tap*words+bit/graph.WordBits)*planes+j)*f.Out+o] |= 1 << (bit % graph.WordBits)
		}
	}
	return out
}
