package layout

import (
	"math"

	"ripc/graph"
	"ripc/ir"
)

// Parts splits weights that i8 does not hold, such as those of uint8 less their zero point. A
// weight of channel o is Factor times its byte, plus Rest[o]. So an accumulator is Factor times the
// sum of products with the bytes, plus Rest[o] times the sum of the window's own bytes
// (Dots.Parts). All filters of a group read the same sum of bytes.
type Parts struct {
	Factor int32
	Rest   []int32 // [Out], so that the bytes of a channel are as small as they can be
}

// storedSigns returns the signs of f's weights as bytes: the integers of x may fall as its levels
// rise.
func storedSigns(f *graph.FusedConv, x *graph.Value) []int {
	sign := signs(f)
	if x.Enc == ir.BipolarInv {
		for o := range sign {
			sign[o] = -sign[o]
		}
	}
	return sign
}

// storedLimits are the least and the largest of each channel's stored weights: of those that there
// are, or of those that there may be.
func storedLimits(f *graph.FusedConv, sign []int) (lows, highs []int) {
	lows, highs = make([]int, f.Out), make([]int, f.Out)
	for o, s := range sign {
		lows[o], highs[o] = min(s*f.W.Min, s*f.W.Max), max(s*f.W.Min, s*f.W.Max)
	}
	for i, w := range f.Ints.All() {
		o := i % f.Out
		v := int(w) * sign[o]
		if i < f.Out {
			lows[o], highs[o] = v, v
		}
		lows[o], highs[o] = min(lows[o], v), max(highs[o], v)
	}
	return lows, highs
}

// isByte reports whether i8 holds lo to hi.
func isByte(lo, hi int) bool { return lo >= math.MinInt8 && hi <= math.MaxInt8 }

// partsOf are the Parts of f's weights, nil where i8 holds them all; ok is false where there are
// none. Weights of products that no instruction takes several of at once have 16 bits if need be,
// and no Parts: a window's sum would take as long as a filter's.
func partsOf(f *graph.FusedConv, x *graph.Value) (p *Parts, wide, ok bool) {
	if isByte(f.W.Min, f.W.Max) && isByte(-f.W.Max, -f.W.Min) {
		return nil, false, true
	}
	sign := storedSigns(f, x)
	lows, highs := storedLimits(f, sign)
	fits, p := true, &Parts{Factor: 1, Rest: make([]int32, f.Out)}
	for o := range lows {
		fits = fits && isByte(lows[o], highs[o])
		if highs[o]-lows[o] > math.MaxUint8 {
			p.Factor = 2
		}
	}
	switch {
	case fits:
		return nil, false, true
	case f.Depthwise():
		return nil, true, true
	}
	for o, lo := range lows {
		steps := (highs[o] - lo) / int(p.Factor)
		if p.Factor > 1 && f.W.Step%2 != 0 || steps > math.MaxUint8 {
			return nil, false, false
		}
		below := (steps + 1) / 2
		p.Rest[o] = int32(lo + below*int(p.Factor))
	}
	return p, false, true
}

// byteOf is the byte of stored weight v of channel o.
func (p *Parts) byteOf(v, o int) int8 {
	if p == nil {
		return int8(v)
	}
	return int8((v - int(p.Rest[o])) / int(p.Factor))
}
