package graph

import (
	"math"
	"slices"

	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
)

// MaxWeightBits is the largest number of bits of weights that a layer over levels keeps as
// integers.
const MaxWeightBits = 8

// FewBitsMost is the largest number of bits of weights and levels that make a network small. No
// advice asks for wider ones.
const FewBitsMost = 4

// FewBits are float weights of few bits: weight i of output channel o is f32(Scale[o] * Ints[i]),
// to the bit. Where Offset is not nil, Offset[o] is added, and a few last bits of the filter's
// largest weight may differ.
type FewBits struct {
	Ints   []int16
	Scale  []float32
	Offset []float32
	// Attrs make exactly these integers and scales of the float weights. Scale is weight "scale"
	// where WeightScale is "tensor".
	Attrs BinaryAttrs
}

// WeightType is the number of bits of the weights of a bitserial layer, and the name of their
// encoding. Ternary ones have 2 bits.
func (b *BinaryAttrs) WeightType() (bits int, enc string) {
	if b.Enc == TernaryWeights {
		return 2, b.Enc.String()
	}
	return max(1, b.Bits), b.Enc.String()
}

// Integers are those that the weights of a bitserial layer may be, each times its scale.
func (b *BinaryAttrs) Integers() Integers {
	m := 1<<max(1, b.Bits) - 1
	switch b.Enc {
	case TernaryWeights:
		return Integers{Min: -1, Max: 1, Step: 1}
	case BipolarWeights:
		return Integers{Min: -m, Max: m, Step: 2}
	}
	return Integers{Min: -b.Zero, Max: m - b.Zero, Step: 1}
}

// Trained reports whether the integers look as training leaves them: a layer with weights of both
// signs. Filters that blur or add up have few values as well, all of one sign.
func (f *FewBits) Trained() bool {
	if f.Offset == nil {
		return slices.Min(f.Ints) < 0 && slices.Max(f.Ints) > 0
	}
	negative, positive := false, false
	for o, v := range f.Offset {
		negative, positive = negative || v < f.Scale[o], positive || v > -f.Scale[o]
	}
	return negative && positive
}

// Summable reports whether 32 bits hold the sums of levels of type t times f's weights, [..., I,
// O]. Layers that multiply bytes add up channels in whole words, and may turn a filter's sign
// around. A weight that is no byte after that takes another form, or twice the weight.
func (f *FewBits) Summable(shape []int, t scalar.LevelType) bool {
	const words = 32
	in := shape[len(shape)-2]
	taps := int64(len(f.Ints) / shape[len(shape)-1] / in)
	most := taps * int64((in+words-1)/words*words) * int64(t.Top()) * (math.MaxInt8 + 1)
	if t.Enc != ir.Unipolar {
		most *= 2
	}
	if slices.Min(f.Ints) < -math.MaxInt8 || slices.Max(f.Ints) > math.MaxInt8 {
		most *= 2
	}
	return most <= math.MaxInt32
}

// Decompose finds the fewest bits that weights w ([..., O]) have. Each output channel has a scale
// of its own. It has an offset, too, where it has two values that would take several bits
// otherwise. few is nil for weights without such a form or with more than MaxWeightBits, and why
// says which.
func Decompose(w *Tensor) (few *FewBits, why Verdict) {
	if few, why = DecomposeFew(w); few != nil || why.Reason == WhyWeightsNaN {
		return few, why
	}
	if nearlyFew(w) != nil {
		return nil, why // signs with roundings lie on a grid as well, which is nobody's wish
	}
	for _, near := range []float64{0, nearly} {
		if few := multiplesOf(w, MaxWeightBits, near); few != nil {
			return few, Verdict{}
		}
	}
	return nil, why
}

// DecomposeFew is Decompose into FewBitsMost bits at most.
func DecomposeFew(w *Tensor) (few *FewBits, why Verdict) {
	for _, v := range w.Data.All() {
		if v-v != 0 {
			return nil, Verdict{Reason: WhyWeightsNaN}
		}
	}
	few = multiplesOf(w, FewBitsMost, 0)
	if few == nil || few.Attrs.Bits > 1 {
		if two := twoValued(w); two != nil {
			return two, Verdict{}
		}
	}
	if few == nil {
		few = multiplesOf(w, FewBitsMost, nearly)
	}
	if few == nil {
		return nil, wideVerdict(w.Data, w.Shape[len(w.Shape)-1])
	}
	return few, Verdict{}
}

// DecomposeExactly is DecomposeFew for weights that few reproduces to the bit; nil for others.
func DecomposeExactly(w *Tensor) *FewBits {
	few, _ := DecomposeFew(w)
	if few == nil || !few.Exact(w) {
		return nil
	}
	return few
}

// Exact reports whether f reproduces weights t to the bit. With one bit that is one value for each
// integer of a channel, and otherwise the multiples of f's scales.
func (f *FewBits) Exact(t *Tensor) bool {
	outs := len(f.Scale)
	values := make([][2]float32, outs) // of -1 and 1; 0 of none
	for i, v := range t.Data.All() {
		o, q := i%outs, f.Ints[i]
		if !f.Attrs.OneBit() {
			if v != f32.Mul(float32(q), f.Scale[o]) {
				return false
			}
			continue
		}
		known := &values[o][(q+1)/2]
		if *known != 0 && *known != v {
			return false
		}
		*known = v
	}
	return true
}

// nearly is the largest distance, relative to a filter's largest weight, between a weight and the
// multiple of the scale that it stands for. DoReFa-Net's 2*round(3*w)/3 - 1 makes -0.33333331 and
// 0.33333337.
const nearly = 0x1p-22

// twoValued finds weights of at most two values in each output channel; nil if they are none.
func twoValued(w *Tensor) *FewBits {
	outs := w.Shape[len(w.Shape)-1]
	if w.Data.Len() < 3*outs { // two weights have two values whatever they are
		return nil
	}
	f := &FewBits{Scale: make([]float32, outs), Offset: make([]float32, outs)}
	f.Attrs = BinaryAttrs{WeightScale: ScaleTensor, Offset: true}
	for o := range outs {
		lo, hi := w.Data.At(o), w.Data.At(o)
		for i := o; i < w.Data.Len(); i += outs {
			lo, hi = min(lo, w.Data.At(i)), max(hi, w.Data.At(i))
		}
		f.Offset[o], f.Scale[o] = float32((float64(lo)+float64(hi))/2), float32((float64(hi)-float64(lo))/2)
		if lo == hi {
			f.Offset[o], f.Scale[o] = 0, f32.Abs(lo)
		}
		for i := o; i < w.Data.Len(); i += outs {
			v := w.Data.At(i)
			if v != lo && v != hi || v-v != 0 {
				return nil
			}
			real := float64(f.Scale[o])*float64(f.sign(v, o)) + float64(f.Offset[o])
			if math.Abs(real-float64(v)) > 0x1p-22*math.Max(math.Abs(float64(lo)), math.Abs(float64(hi))) {
				return nil
			}
		}
	}
	f.Ints = make([]int16, w.Data.Len())
	for i, v := range w.Data.All() {
		f.Ints[i] = f.sign(v, i%outs)
	}
	return f
}

// sign is the integer of v, a weight of channel o, which has two values.
func (f *FewBits) sign(v float32, o int) int16 {
	if f32.Sub(v, f.Offset[o]) < 0 {
		return -1
	}
	return 1
}

// multiplesOf finds weights of at most the given bits, without offsets; nil where w has more. near
// is the allowed difference from a multiple, relative to the filter's largest weight.
func multiplesOf(w *Tensor, bits int, near float64) *FewBits {
	outs := w.Shape[len(w.Shape)-1]
	few := &FewBits{Scale: make([]float32, outs)}
	if !few.channels(w.Data, 1<<bits-1, 1<<(bits-1), near) {
		return nil
	}
	enc := EncodingOf(NumbersOf(few.Ints))
	few.Attrs.Enc, few.Attrs.Bits, few.Attrs.Zero = enc.Enc, enc.Bits, enc.Zero
	few.Attrs.WeightScale = ScaleTensor
	if !slices.ContainsFunc(few.Scale, func(s float32) bool { return s != 1 }) {
		few.Attrs.WeightScale = ScaleNone
	}
	if few.Attrs.Bits > bits {
		return nil
	}
	return few
}

// EncodingOf is the encoding of the fewest bits that has integers: no bits at all are +1 and -1
// (OneBit).
func EncodingOf(integers Numbers) BinaryAttrs {
	var a BinaryAttrs
	lo, hi, even := 0, 0, false
	for _, v := range integers.All() {
		q := int(v)
		lo, hi, even = min(lo, q), max(hi, q), even || q&1 == 0
	}
	switch most := max(hi, -lo); {
	case most <= 1 && !even:
	case most == 1 && lo == 0: // a plane of ternary weights would be empty
		a.Enc, a.Bits = AffineWeights, 1
	case most <= 1:
		a.Enc, a.Bits = TernaryWeights, 1
	case !even:
		a.Enc, a.Bits = BipolarWeights, bitsFor(most)
	default:
		a.Enc, a.Bits = AffineWeights, bitsFor(hi-lo)
		a.Zero = min(max(-lo, 1<<(a.Bits-1)), 1<<a.Bits-1-hi) // two's complement where it can be
	}
	return a
}

// bitsFor is the number of bits that m needs.
func bitsFor(m int) int {
	n := 1
	for m > 1<<n-1 {
		n++
	}
	return n
}

// channels finds the scales and the integers of all channels, as findScale does; false if one has
// none. Memory for integers is allocated after the first channel fits, because most real weights
// fail there.
func (f *FewBits) channels(w Numbers, limit, divisors int, near float64) bool {
	outs := len(f.Scale)
	filter := make([]float32, w.Len()/outs)
	for o := range outs {
		w.column(o, outs, filter)
		if f.findScale(filter, o, limit, divisors, near) < 0 {
			return false
		}
		if f.Ints == nil {
			f.Ints = make([]int16, w.Len())
			f.multiples(filter, o, limit, f.Scale[o], math.Inf(1))
		}
	}
	return true
}

// findScale finds the largest scale that makes all weights of channel o multiples by at most limit.
// It returns the largest of these multiples, or -1. The smallest weight is 1 to divisors times the
// scale. Its neighbours are tried as well, since it may have been rounded.
func (f *FewBits) findScale(filter []float32, o, limit, divisors int, near float64) int {
	least, largest := float32(0), float32(0)
	for _, v := range filter {
		largest = max(largest, f32.Abs(v))
	}
	for _, v := range filter {
		if v := f32.Abs(f32.Flush(v)); float64(v) > near*float64(largest) && (least == 0 || v < least) {
			least = v
		}
	}
	if least == 0 {
		f.Scale[o] = 1
		return 0
	}
	for k := 1; k <= divisors; k++ {
		around := f32.Order(f32.Div(least, float32(k)))
		if near > 0 { // the largest weight knows the scale best
			steps := math.RoundToEven(float64(largest) / float64(least) * float64(k))
			s := float32(float64(largest) / steps)
			if m := f.multiples(filter, o, limit, s, near*float64(largest)); m >= 0 {
				f.Scale[o] = s
				return m
			}
			continue
		}
		for _, ulps := range []int64{0, 1, -1, 2, -2} {
			s := f32.FromOrder(around + ulps)
			if m := f.multiples(filter, o, limit, s, 0); m >= 0 {
				f.Scale[o] = s
				return m
			}
		}
	}
	return -1
}

// multiples sets the integers of channel o for scale s, once f.Ints is allocated. It returns the
// largest magnitude, or -1 if some weight differs from its multiple by more than within.
func (f *FewBits) multiples(filter []float32, o, limit int, s float32, within float64) int {
	if f32.Flush(s) <= 0 {
		return -1
	}
	most := 0
	for i, v := range filter {
		v = f32.Flush(v)
		q := math.RoundToEven(float64(v) / float64(s))
		if math.Abs(q) > float64(limit) || math.Abs(float64(f32.Mul(s, float32(q)))-float64(v)) > within {
			return -1
		}
		if f.Ints != nil {
			f.Ints[i*len(f.Scale)+o] = int16(q)
		}
		most = max(most, max(int(q), -int(q)))
	}
	return most
}

// wideVerdict is the verdict on weights that have more than MaxWeightBits bits.
func wideVerdict(w Numbers, outs int) Verdict {
	f := &FewBits{Scale: make([]float32, outs)}
	if !f.channels(w, 1<<12-1, 32, 0) {
		return Verdict{Reason: WhyRealWeights}
	}
	bits := bitsFor(int(max(0, slices.Max(f.Ints))) - int(min(0, slices.Min(f.Ints))))
	return Verdict{Reason: WhyWideWeights, Args: ir.Args{WeightBits: max(bits, MaxWeightBits+1), Most: MaxWeightBits}}
}
