package layout

import (
	"fmt"
	"math"
	"math/bits"

	"ripc/graph"
	"ripc/ir"
	"ripc/targets"
)

// Dots is a layer over levels with sums of products of bytes in i32:
//
//	P = sum over the window and channels of (level - Offset) * weight
//
// and Line turns P into the sum. Padding has levels with the same products as in the image.
type Dots struct {
	Line
	Signed bool // the levels' bytes are i8, u8 otherwise
	Offset int  // level minus byte
	// Step is the number of channels of a step: targets.Quad, or 1 if they are not contiguous.
	// Steps is the number of steps for a tap. With Runs, the channels of a row of taps are one run
	// of bytes, and Steps covers the row: no step is wasted on missing channels.
	Step, Steps int
	Runs        bool
	// Band says that each output channel reads a band of Steps input channels around its own
	// number. Channels of other groups have weights of 0; the band begins one group less one
	// channel before. So lanes read neighbours for all groups.
	Band bool
	// Short says that 16 bits hold all sums and partial sums.
	Short bool
	// Groups is the number of the layer's groups that are computed as one, with weights of 0
	// between different groups. It is 1 unless several groups give whole steps and vectors.
	Groups int
	// Weights are [KH, KW, Steps, Out, Step], or [KH, 1, Steps, Out, Step] of Runs: 0 for missing
	// channels, negated in falling channels. Wide weights replace them if neither i8 nor Parts can
	// hold them.
	Weights     func() []int8
	WideWeights func() []int16
	Wide        bool
	Parts       *Parts // the parts that Weights are, or nil
	// Within is the narrowest of the ranges -1 to 1, -3 to 3, and so on up to -127 to 127 that
	// holds all Weights. It is zero if there is none, or if they are unknown. Layers with the same
	// range share code.
	Within   ir.Range
	PadLevel int // the level that positions outside the image hold
}

// WeightParts returns the parts of the weights.
func (d *Dots) WeightParts() *Parts { return d.Parts }

// maxByte is the largest absolute value of a byte of weights, or of a signed one of levels.
const maxByte = 128

// groupsAtOnce returns the Groups of f: the fewest with channels that fill steps and filters that
// fill vectors. A few groups are taken all, with padding in the last vector. Groups of one channel
// and one filter need none of this: neighbours are lanes.
func groupsAtOnce(f *graph.FusedConv, lanes int) int {
	const few = 8 // products with 0 for 8 groups take no longer than single lanes
	if all := f.GroupCount(); all > 1 && lanes > 0 && !f.Depthwise() {
		for n := 1; n <= all; n++ {
			if all%n == 0 && n*f.GroupIn()%targets.Quad == 0 && n*f.GroupOut()%lanes == 0 {
				return n
			}
		}
		if all <= few && all*f.GroupIn()%targets.Quad == 0 {
			return all
		}
	}
	return 1
}

// sumLanes returns the number of i32 sums in a vector of t.
func sumLanes(t targets.Target) int { return t.VectorBits / ir.I32.Bits() }

// bandOf reports whether f is computed as a Band on t. It is for depthwise layers, and for groups
// of few channels and filters with 16-bit sums that only thresholds read. With one row, each block
// of filters would copy the channels around it.
func bandOf(f *graph.FusedConv, x *graph.Value, t targets.Target) bool {
	n := f.GroupIn()
	oh, _ := f.OutSize(x.Shape[1], x.Shape[2])
	return f.Depthwise() || f.GroupCount() > 1 && n == f.GroupOut() && n <= maxBand && oh > 1 && shortDots(f, x, t) &&
		comparesSums(f)
}

// maxBand is the largest number of channels in a group of a Band: four channels fill a step.
const maxBand = 3

// shortDots reports whether 16 bits hold the sums of f as a Band.
func shortDots(f *graph.FusedConv, x *graph.Value, t targets.Target) bool {
	if parts, wide, ok := partsOf(f, x); !ok || wide || parts != nil || f.Ints.Len() == 0 {
		return false
	}
	return f.KH*f.KW*bandSteps(f)*farthestByte(x, t)*min(maxByte, int(widest(farthestOf(f.Ints)))) < math.MaxInt16
}

// comparesSums reports whether sums of f go to thresholds unchanged and nowhere else.
func comparesSums(f *graph.FusedConv) bool {
	return len(f.Epilogue.Thresholds) > 0 && f.Pool == nil && !corrected(f)
}

// farthestByte returns the largest absolute value of the bytes of x's levels that t multiplies.
func farthestByte(x *graph.Value, t targets.Target) int {
	top := min(x.Top(), math.MaxUint8)
	if t.SignedBytes() && top > math.MaxInt8 {
		return maxByte
	}
	return top
}

// bandSteps returns the number of channels of a pixel that each filter of a Band reads.
func bandSteps(f *graph.FusedConv) int { return 2*f.GroupIn() - 1 }

// stepsOf cuts the channels of f's windows into steps, where `groups` groups are computed as one.
func stepsOf(f *graph.FusedConv, groups int, band bool) (step, steps int, runs bool) {
	_, dw := f.Dilation()
	switch n := groups * f.GroupIn(); {
	case band:
		return 1, bandSteps(f), false
	case n%targets.Quad == 0:
		return targets.Quad, n / targets.Quad, false
	case f.GroupCount() > groups:
		return 1, n, false
	case dw > 1:
		return targets.Quad, ceilDiv(n, targets.Quad), false
	default:
		return targets.Quad, ceilDiv(f.KW*n, targets.Quad), true
	}
}

// cutOfDots returns Dots with the cut of f's windows on t: Band, Short, Groups, Step, Steps and
// Runs.
func cutOfDots(f *graph.FusedConv, x *graph.Value, t targets.Target) Dots {
	d := Dots{Band: bandOf(f, x, t), Groups: 1}
	if d.Band {
		d.Short = shortDots(f, x, t)
	} else {
		d.Groups = groupsAtOnce(f, sumLanes(t))
	}
	d.Step, d.Steps, d.Runs = stepsOf(f, d.Groups, d.Band)
	return d
}

// lacksDots returns why products of bytes do not give f's sums over x.
func lacksDots(f *graph.FusedConv, x *graph.Value) string {
	if !x.Encoded() {
		return realNumbers
	}
	parts, wide, ok := partsOf(f, x)
	if !ok {
		return fmt.Sprintf("its weights are from %d to %d, and a byte has %d values", f.W.Min, f.W.Max, math.MaxUint8+1)
	}
	step, steps, _ := stepsOf(f, 1, false)
	products := int64(f.KH) * int64(f.KW) * int64(steps*step)
	most := products * int64(x.Top()) * maxByte
	if parts != nil || wide {
		most *= 2 // weights, and each of their parts, are that much larger at most
	}
	if x.Enc != ir.Unipolar {
		most *= 2 // see Correction
	}
	if most > math.MaxInt32 {
		return fmt.Sprintf("sums of %d products of bytes could pass i32", products)
	}
	return ""
}

// newDots lays f out for t.
func newDots(f *graph.FusedConv, x *graph.Value, t targets.Target) *Dots {
	cut := cutOfDots(f, x, t)
	d := &cut
	d.Line = Line{Rising: true, Mul: 1, Base: make([]int32, f.Out), least: math.MinInt32 + 1, most: math.MaxInt32 - 1}
	d.Signed = t.SignedBytes() // bytes of levels are i8
	if d.Signed && x.Top() > math.MaxInt8 {
		d.Offset = maxByte
	}
	sign := storedSigns(f, x)
	parts, wide, _ := partsOf(f, x)
	d.Parts = parts
	sums := make([]int32, f.Out)
	cols := f.KW
	if d.Runs {
		cols = 1
	}
	each := func(yield func(at, v, o int)) {
		for i, w := range f.Ints.All() {
			o, c, kw, kh := i%f.Out, i/f.Out%f.GroupIn(), i/f.Out/f.GroupIn()%f.KW, i/f.Out/f.GroupIn()/f.KW
			c += o / f.GroupOut() % d.Groups * f.GroupIn()
			if d.Band { // from the first channel that the filter reads on
				c += f.GroupIn() - 1 - o%f.GroupIn()
			}
			if d.Runs {
				kw, c = 0, kw*f.GroupIn()+c
			}
			yield((((kh*cols+kw)*d.Steps+c/d.Step)*f.Out+o)*d.Step+c%d.Step, int(w)*sign[o], o)
		}
	}
	n, far, o := f.KH*cols*d.Steps*d.Step*f.Out, 1, 0
	for _, w := range f.Ints.All() {
		v := int(w) * sign[o]
		sums[o] += int32(v)
		if !wide {
			b := int(d.Parts.byteOf(v, o))
			far = max(far, b, -b)
		}
		if o++; o == f.Out {
			o = 0
		}
	}
	if d.Wide = wide && f.Ints.Len() > 0; !wide && f.Ints.Len() > 0 {
		d.Within = rangeOf(far)
	}
	d.Weights = func() []int8 {
		all := make([]int8, n)
		each(func(at, v, o int) { all[at] = d.Parts.byteOf(v, o) })
		return all
	}
	d.WideWeights = func() []int16 {
		all := make([]int16, n)
		each(func(at, v, _ int) { all[at] = int16(v) })
		return all
	}
	// The integer of level b + Offset, times the weight's sign, is b less first, or twice that.
	first := int32(x.Zero - d.Offset)
	if x.Enc != ir.Unipolar {
		first = int32(x.Top() - 2*d.Offset)
	}
	for o := range d.Base {
		d.Base[o] = -first * sums[o]
	}
	for o, v := range f.Add {
		d.Base[o] += v
	}
	exact := true
	if f.Pad.Any() {
		d.PadLevel, exact = levelOf(f.PadValue, x)
	}
	if !exact || f.Epilogue.Border != nil {
		d.Padding = d.correction(f, x, exact)
	}
	if x.Enc != ir.Unipolar && d.Padding == nil {
		d.Mul = 2
	}
	for _, row := range f.Epilogue.Thresholds {
		d.Thresholds = append(d.Thresholds, d.limits(row))
	}
	return d
}

// rangeOf returns the Within of weights up to `farthest` from 0.
func rangeOf(farthest int) ir.Range {
	top := widest(farthest)
	if top > math.MaxInt8 {
		return ir.Range{}
	}
	return ir.Range{From: -top, To: top}
}

// widest returns the end of the narrowest such range.
func widest(farthest int) int64 { return int64(1)<<bits.Len(uint(farthest)) - 1 }

// farthestOf returns the largest absolute value of integers, at least 1.
func farthestOf(ints graph.Numbers) int {
	n := 1
	for _, w := range ints.All() {
		n = max(n, int(w), -int(w))
	}
	return n
}

// correction returns the correction of P for each border class: f's Border and, unless a level
// stands for the padding exactly, the difference between the padding and the level of positions
// outside the image.
func (d *Dots) correction(f *graph.FusedConv, x *graph.Value, exact bool) *Correction {
	k := &Correction{Twice: x.Enc != ir.Unipolar}
	k.Rows, k.Cols = f.Borders(x.Shape[1], x.Shape[2])
	falling := signs(f)
	more := int32(f.PadValue - x.Integer(d.PadLevel))
	taps := make([]int32, f.KH*f.KW*f.Out) // sums of the weights of each
	if !exact {
		at, channel, tap := 0, 0, 0
		for _, w := range f.Ints.All() {
			taps[tap+at] += int32(w)
			if at++; at == f.Out {
				if at, channel = 0, channel+1; channel == f.GroupIn() {
					channel, tap = 0, tap+f.Out
				}
			}
		}
	}
	for class, outside := range f.OutsideTaps(x.Shape[1], x.Shape[2]) {
		row := make([]int32, f.Out)
		for o := range row {
			if f.Epilogue.Border != nil {
				row[o] -= f.Epilogue.Border[class*f.Out+o] * int32(falling[o])
			}
		}
		for i, sum := range taps {
			if o := i % f.Out; outside[i/f.Out] {
				row[o] -= more * sum * int32(falling[o])
			}
		}
		k.Sums = append(k.Sums, row...)
	}
	return k
}
