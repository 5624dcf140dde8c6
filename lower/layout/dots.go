package layout

import (
	"fmt"
	"math"
	"math/bits"

	"ripc/graph"
	"ripc/ir"
	"ripc/targets"
)

// Dots is a layer over levels whose products of bytes are added up in i32:
//
//	P = sum over the window and channels of (level - Offset) * weight
//
// of which Line makes the sum. Levels of padding are such that no product of P is another than in the image.
type Dots struct {
	Line
	Signed bool // the levels' bytes are i8, u8 otherwise
	Offset int  // what a level lies above its byte
	// Step is the number of channels of a step, targets.Quad, or 1 where they do not lie together. Steps is how many there are for a tap, or, where
	// Runs is set, for a row of taps, whose channels are one run of bytes: no step is lost on channels that there are not.
	Step, Steps int
	Runs        bool
	// Band says that each output channel reads the channels around that of its number, Steps of them, of which those that are not its group's have weights of 0: as many
	// as its group has, less one, come before. So lanes are neighbours whatever groups there are.
	Band bool
	// Short says that 16 bits hold all sums, and those of parts of a window.
	Short bool
	// Groups is how many of the layer's groups are computed as one, with weights of 0 from the channels of each to the filters of the others: 1 unless that
	// gives whole steps and vectors.
	Groups int
	// Weights are [KH, KW, Steps, Out, Step], [KH, 1, Steps, Out, Step] of Runs; 0 for channels that there are not, negated in falling
	// channels. Wide are they where i8 does not hold them, nor Parts of them.
	Weights     func() []int8
	WideWeights func() []int16
	Wide        bool
	Parts       *Parts // what Weights are of the layer's; nil where they are these
	// Within is the narrowest of a few ranges, of -1 to 1, -3 to 3, and so on up to -127 to 127, that has all Weights; the zero one where they
	// are others, or are not known. Layers share code where it is the same.
	Within   ir.Range
	PadLevel int // the level that positions outside the image hold
}

// WeightParts are the parts that weights are made of.
func (d *Dots) WeightParts() *Parts { return d.Parts }

// maxByte is the largest absolute value of a byte of weights, or of a signed one of levels.
const maxByte = 128

// groupsAtOnce is the Groups of f: the fewest whose channels fill steps, and whose filters fill vectors of so many lanes, or all of a few, so that those of the last vector that are left over are padding. Of groups of one
// channel and one filter neighbours are lanes.
func groupsAtOnce(f *graph.FusedConv, lanes int) int {
	const few = 8 // as many products with 0 take no longer than lanes one by one
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

// sumLanes is how many sums in i32 a vector of t has.
func sumLanes(t targets.Target) int { return t.VectorBits / ir.I32.Bits() }

// bandOf says that f is computed as Dots.Band on t: each channel for itself, or groups of few channels and as many filters whose sums are compared as they are, in 16 bits. Of one row each block of filters would copy
// the channels around it.
func bandOf(f *graph.FusedConv, x *graph.Value, t targets.Target) bool {
	n := f.GroupIn()
	oh, _ := f.OutSize(x.Shape[1], x.Shape[2])
	return f.Depthwise() || f.GroupCount() > 1 && n == f.GroupOut() && n <= maxBand && oh > 1 && shortDots(f, x, t) && sumsAlone(f)
}

// maxBand is how many channels groups of a Band have at most: four channels fill a step.
const maxBand = 3

// shortDots says that 16 bits hold the sums of f as a Band.
func shortDots(f *graph.FusedConv, x *graph.Value, t targets.Target) bool {
	if parts, wide, ok := partsOf(f, x); !ok || wide || parts != nil || f.Ints.Len() == 0 {
		return false
	}
	return f.KH*f.KW*bandSteps(f)*farthestByte(x, t)*min(maxByte, int(widest(farthestOf(f.Ints)))) < math.MaxInt16
}

// sumsAlone says that the sums of f are compared with thresholds as they are, and nothing else is made of them.
func sumsAlone(f *graph.FusedConv) bool {
	return len(f.Epilogue.Thresholds) > 0 && f.Pool == nil && !corrected(f)
}

// farthestByte is how far from 0 the bytes of x's levels are at most that t multiplies.
func farthestByte(x *graph.Value, t targets.Target) int {
	top := min(x.Top(), math.MaxUint8)
	if t.SignedBytes() && top > math.MaxInt8 {
		return maxByte
	}
	return top
}

// bandSteps is how many channels each filter of a Band reads of a pixel.
func bandSteps(f *graph.FusedConv) int { return 2*f.GroupIn() - 1 }

// stepsOf is how the channels of f's windows are cut into steps, so many groups being computed as one.
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

// cutOfDots is how the channels of f's windows are cut on t: Dots of which Band, Short, Groups, Step, Steps and Runs are set.
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

// lacksDots says why f's sums over x are not those of products of bytes.
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

// rangeOf is the Within of weights so far from 0.
func rangeOf(farthest int) ir.Range {
	top := widest(farthest)
	if top > math.MaxInt8 {
		return ir.Range{}
	}
	return ir.Range{From: -top, To: top}
}

// widest is the end of the narrowest of those ranges that has weights so far from 0.
func widest(farthest int) int64 { return int64(1)<<bits.Len(uint(farthest)) - 1 }

// farthestOf is how far from 0 integers are at most, at least 1.
func farthestOf(ints graph.Numbers) int {
	n := 1
	for _, w := range ints.All() {
		n = max(n, int(w), -int(w))
	}
	return n
}

// correction is what P lacks at each class of positions: what f's Border adds, and, unless levels stand for it exactly, what padding
// counts more or less than the level that positions outside the image hold.
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
	for class, outside := range f.Outside(x.Shape[1], x.Shape[2]) {
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
