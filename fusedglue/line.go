package fusedglue

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
)

// affineEpilogue replaces f's float steps and the quantizer q behind them by an affine map per
// channel, rounded down and clipped: clip(floor(fma(f32(sum), A, B)), 0, top). It is meant for
// quantizers of more levels than thresholds pay for. The map must equal q(steps(f32(sum))) for
// every possible sum of the channel. That happens if q's thresholds are evenly spaced. The steps
// must not be turning. If a channel has no such map, affineEpilogue changes nothing and returns
// false. from names q's node.
//
// Both functions are monotone in the same direction: the steps by the contract of thresholdsOf; the
// affine map because a rounded fma and the conversion to f32 keep the order. So the two are equal
// if they agree on both sides of each of q's steps.
func affineEpilogue(f *graph.FusedConv, q quantizer, from string) bool {
	top := 0
	for o := range f.Out {
		top = max(top, q.level(o, float32(math.Inf(1))))
	}
	falling := fallingChannels(f)
	fma := scalar.Step{Kind: scalar.Fma, A: make([]float32, classes(f)*f.Out), B: make([]float32, classes(f)*f.Out),
		From: from}
	clip := &scalar.Quantizer{LevelType: scalar.LevelType{Bits: q.bits, Scale: 1}, Rounding: scalar.Floor,
		Range: &scalar.Range{Max: top}}
	for i := range fma.A {
		sign := int64(1)
		lo, hi := f.Sums(i % f.Out)
		if falling != nil && falling[i%f.Out] {
			sign, lo, hi = -1, -hi, -lo
		}
		level := func(sum int64) int {
			return q.level(i, scalar.EvalSteps(f.Epilogue.Steps, i, float32(sign*sum)))
		}
		a, b, ok := stairsOf(level, lo, hi, top).affineMap(clip)
		if !ok {
			return false
		}
		fma.A[i], fma.B[i] = float32(sign)*a, b
	}
	f.Epilogue = graph.Epilogue{OutBits: q.bits, OutEnc: q.enc, Steps: []scalar.Step{fma}, Quantizer: clip}
	return true
}

// stairs is a function of the integers lo..hi that starts at 0 and never falls. It is at least j+1
// from first[j] on; first ascends, and hi+1 is never reached.
type stairs struct {
	lo, hi int64
	first  []int64
}

// stairsOf returns level on the integers lo..hi as stairs. top is its largest value.
func stairsOf(level func(int64) int, lo, hi int64, top int) stairs {
	s := stairs{lo: lo, hi: hi, first: make([]int64, top)}
	least, most := level(lo), level(hi)
	for j := range s.first {
		if s.first[j] = lo; j >= least {
			s.first[j] = hi + 1
		}
	}
	var between func(a, b int64, at, to int)
	between = func(a, b int64, at, to int) { // levels at and to belong to a and b
		switch mid := a + (b-a)/2; {
		case at >= to:
		case mid == a:
			for j := at; j < to; j++ {
				s.first[j] = b
			}
		default:
			l := level(mid)
			between(a, mid, at, l)
			between(mid, b, l, to)
		}
	}
	between(lo, hi, least, most)
	return s
}

// leastSlope keeps the affine maps of constants increasing, so that later passes may rely on that.
// Over all sums such a map rises by less than an f32 shows beside a half.
const leastSlope = 0x1p-60

// affineMap returns a and b of an affine map that quantizer clip rounds to s.
func (s stairs) affineMap(clip *scalar.Quantizer) (a, b float32, ok bool) {
	// The range of valid b is a concave function of the slope a, so its maximum is found by
	// trisection. A single step is at most as high as all steps together.
	lo, hi := leastSlope, float64(len(s.first))+1
	for range 100 {
		l, h := lo+(hi-lo)/3, hi-(hi-lo)/3
		if s.room(l) < s.room(h) {
			lo = l
		} else {
			hi = h
		}
	}
	// Close to the maximum, few f32 numbers fit if there are many steps.
	best := f32.Order(float32(lo))
	for i := range int64(17) {
		by := (i + 1) / 2
		if i%2 == 0 {
			by = -by
		}
		a := f32.FromOrder(best + by)
		low, high := s.bounds(float64(a))
		if !(low < high) || a <= 0 {
			continue
		}
		for _, part := range []float64{0.5, 0.25, 0.75, 0} {
			if b := float32(low + part*(high-low)); s.matches(clip, a, b) {
				return a, b, true
			}
		}
	}
	return 0, 0, false
}

// room returns the size of the range of valid b for slope a.
func (s stairs) room(a float64) float64 {
	low, high := s.bounds(a)
	return high - low
}

// bounds returns the range low <= b < high for which a*x + b is at least j+1 from first[j] on, and
// less before. If all or no integers reach all steps, only one bound exists, and the other is set
// beside it.
func (s stairs) bounds(a float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	for j, x := range s.first {
		if x <= s.hi {
			low = max(low, float64(j+1)-a*float64(x))
		}
		if x > s.lo {
			high = min(high, float64(j+1)-a*float64(x-1))
		}
	}
	if math.IsInf(low, -1) {
		low = high - 1
	}
	if math.IsInf(high, 1) {
		high = low + 1
	}
	return low, high
}

// matches reports whether clip rounds the affine map to s, in f32 arithmetic.
func (s stairs) matches(clip *scalar.Quantizer, a, b float32) bool {
	level := func(x int64) int { return clip.Eval(f32.Fma(float32(x), a, b)) }
	for j, x := range s.first {
		if x <= s.hi && level(x) <= j || x > s.lo && level(x-1) > j {
			return false
		}
	}
	return true
}

// isEven reports whether t's thresholds may be evenly spaced in each channel, up to their rounding
// to integers or f32, so that affineEpilogue is worth a try.
func isEven(t *graph.Tensor) bool {
	rows, columns := t.Shape[0], t.Shape[1]
	for o := range columns {
		first, last := float64(t.Data.At(o)), float64(t.Data.At((rows-1)*columns+o))
		gap, slack := (last-first)/float64(max(1, rows-1)), 1.0
		if slices.ContainsFunc(t.Data.Floats(), func(v float32) bool { return float64(v) != math.Floor(float64(v)) }) {
			slack = 0
		}
		for j := range rows {
			d := float64(t.Data.At(j*columns+o)) - first - float64(j)*gap
			if !(math.Abs(d) <= slack+math.Abs(gap)/8) {
				return false
			}
		}
	}
	return true
}
