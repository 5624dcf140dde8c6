package layout

import (
	"math/bits"
	"slices"

	"ripc/graph"
	"ripc/ir"
)

// Counts is a layer over packed levels whose weights are packed as well. The raw count of an output is
//
//	P = sum over planes n of the input and m of the weights of 2^n * Coefs[m] * popcount(x_n ^ w_m)
//
// of which Line makes the sum. Where Ones is set, bits are counted that are 1 in both, popcount(x_n & w_m).
type Counts struct {
	Line
	Planes int     // of the input
	Coefs  []int32 // factors of the planes of the weights; see cut
	Ones   bool
	Words  int // of a pixel that the channels of one group touch, at most
	// Weights are [KH, KW, Words, len(Coefs), Out]; inverted where the input's bits are, negated in falling channels.
	Weights []uint32
	// Mask [Words, Out] has a 1 for each bit of a pixel's words that belongs to the output's group; nil where words hold
	// channels of one group only.
	Mask []uint32
	// PadLevel is the level that positions outside the image hold.
	PadLevel int
}

// Line says what the sum of an output is, given P, what is added up for it: ((Base - Mul*P) >> Half) + Add, where P is corrected
// before by Padding, if there is one.
type Line struct {
	// Rising says that P rises with the sum, which is Base + Mul*P then.
	Rising    bool
	Padding   *Correction
	Base      []int32 // [Out]
	Mul, Half int32
	Add       []int32 // [Out] or nil: what is added to sums where Base does not have it
	// Thresholds [2^OutBits-1][Out]: level >= j iff P <= Thresholds[j-1][o], which is less than all P where P never is; where P is
	// Rising, iff P >= that, which is more than all P where P never is.
	Thresholds  [][]int32
	least, most int32 // P is none of less or more
}

// Correction is what the classes of positions differ in: P becomes P - Sums[row class of h][column class of w][o], or, where
// Twice is set, 2*P less that. So positions outside the image count as 0 where no level does, and the layer's Border is added.
type Correction struct {
	Rows, Cols graph.Classes
	Twice      bool
	Sums       []int32 // [Rows.Count(), Cols.Count(), Out]
}

func newCounts(f *graph.FusedConv, x *graph.Value) *Counts {
	by, sign := cutOf(f), signs(f)
	c := &Counts{Planes: x.Bits, Words: groupWords(f), Coefs: by.coefs, Ones: by.ones, Line: Line{Rising: by.ones && x.Enc != ir.BipolarInv}}
	planes := make([][]bool, len(by.coefs))
	for j := range planes {
		planes[j] = make([]bool, len(f.Ints))
		for i, w := range f.Ints {
			if by.ones {
				planes[j][i] = by.bit(j, int(w)*sign[i%f.Out])
			} else {
				planes[j][i] = by.bit(j, int(w)) != (sign[i%f.Out] < 0)
			}
		}
	}
	c.pack(f, planes, x.Enc == ir.BipolarInv && !c.Ones)
	if f.GroupCount() > 1 && f.GroupIn()%WordBits != 0 && !c.Ones {
		c.mask(f)
	}
	if f.Pad.Any() {
		level, ok := levelOf(f.PadValue, x)
		if c.PadLevel = level; !ok && c.Ones {
			c.Padding = c.complementCorrection(f, x)
		} else if !ok {
			c.Padding = c.correction(f, x)
		}
	}
	if f.Epilogue.Border != nil && c.Padding == nil {
		rows, cols := f.Borders(x.Shape[1], x.Shape[2])
		c.Padding = &Correction{Rows: rows, Cols: cols, Twice: x.Enc != ir.Unipolar, Sums: make([]int32, len(f.Epilogue.Border))}
	}
	c.solve(f, x)
	if c.Add = f.Add; c.Half == 0 {
		for o, v := range f.Add { // sums wrap as they are added up, and fit in the end
			c.Base[o] += v
		}
		c.Add = nil
	}
	for i, v := range f.Epilogue.Border {
		if v *= int32(sign[i%f.Out]) << c.Half; c.Rising {
			v = -v
		}
		c.Padding.Sums[i] += v
	}
	c.least, c.most = 0, int32(f.SumBound())
	if c.Ones {
		c.least = -c.most
	}
	if c.Padding != nil && (c.Ones || f.Epilogue.Border != nil) {
		c.least, c.most = c.least-max(0, slices.Max(c.Padding.Sums)), c.most-min(0, slices.Min(c.Padding.Sums))
	}
	for _, row := range f.Epilogue.Thresholds {
		c.Thresholds = append(c.Thresholds, c.limits(row))
	}
	return c
}

// levelOf is the level that stands for integer v, and whether there is one.
func levelOf(v int, x *graph.Value) (int, bool) {
	for level := range x.Top() + 1 {
		if x.Integer(level) == v {
			return level, true
		}
	}
	return 0, false
}

// pack makes c's Weights: each filter has the words that its group touches.
func (c *Counts) pack(f *graph.FusedConv, planes [][]bool, inverted bool) {
	if len(f.Ints) == 0 {
		return
	}
	in := f.GroupIn()
	c.Weights = make([]uint32, f.KH*f.KW*c.Words*len(planes)*f.Out)
	for j, plane := range planes {
		for i, plus := range plane {
			if plus == inverted {
				continue
			}
			o, ch, tap := i%f.Out, i/f.Out%in, i/f.Out/in
			bit := o/f.GroupOut()*in + ch - firstWord(f, o)*WordBits
			c.Weights[((tap*c.Words+bit/WordBits)*len(planes)+j)*f.Out+o] |= 1 << (bit % WordBits)
		}
	}
}

// firstWord is the first of the words of a pixel that hold the channels of output o's group.
func firstWord(f *graph.FusedConv, o int) int { return o / f.GroupOut() * f.GroupIn() / WordBits }

// groupWords is the most words of a pixel that the channels of one group touch.
func groupWords(f *graph.FusedConv) int {
	n, most := f.GroupIn(), 0
	for g := range f.GroupCount() {
		most = max(most, ((g+1)*n-1)/WordBits-g*n/WordBits+1)
	}
	return most
}

func (c *Counts) mask(f *graph.FusedConv) {
	c.Mask = make([]uint32, c.Words*f.Out)
	for i := range c.Mask {
		q, o := i/f.Out, i%f.Out
		g := o / f.GroupOut()
		for b := range WordBits {
			if ch := (firstWord(f, o)+q)*WordBits + b; ch >= g*f.GroupIn() && ch < (g+1)*f.GroupIn() {
				c.Mask[i] |= 1 << b
			}
		}
	}
}

// ones is the number of 1 bits of plane j of filter o in words from to to-1.
func (c *Counts) ones(j, o, outs, from, to int) int32 {
	if c.Weights == nil {
		return 0
	}
	var n int32
	for q := from; q < to; q++ {
		n += int32(bits.OnesCount32(c.Weights[(q*len(c.Coefs)+j)*outs+o]))
	}
	return n
}

// solve sets Base, Mul and Half, for the planes' sums, which are twice f's sums where f's weights are doubled.
func (c *Counts) solve(f *graph.FusedConv, x *graph.Value) {
	m, zero := int32(1)<<c.Planes-1, int32(x.Zero)
	c.Base, c.Mul = make([]int32, f.Out), 1
	if x.Enc != ir.Unipolar && c.Padding == nil {
		c.Mul = 2
	}
	for o := range c.Base {
		for j, coef := range c.Coefs {
			if c.Ones { // the integer is the level less zero, twice the level less m, or m less that
				switch n := coef * c.ones(j, o, f.Out, 0, f.KH*f.KW*c.Words); x.Enc {
				case ir.Unipolar:
					c.Base[o] -= zero * n
				case ir.Bipolar:
					c.Base[o] -= m * n
				default:
					c.Base[o] += m * n
				}
				continue
			}
			if x.Enc != ir.Unipolar {
				c.Base[o] += coef * m * int32(f.Products())
				continue
			}
			c.Base[o] += coef * ((m-2*zero)*c.ones(j, o, f.Out, 0, f.KH*f.KW*c.Words) + zero*int32(f.Products()))
		}
	}
	if c.Ones {
		return
	}
	if c.Half = 2 - int32(f.W.Step); c.Half == 1 && c.Mul == 2 { // Base is even where 2*P is: halve both
		c.Mul, c.Half = 1, 0
		for o := range c.Base {
			c.Base[o] /= 2
		}
	}
}

// limits are the P up to which sums reach the thresholds t [Out], or from which on where P is Rising.
func (c *Line) limits(t []int32) []int32 {
	out := make([]int32, len(t))
	for o, v := range t {
		p := floorDiv(int64(c.Base[o])-int64(v)<<c.Half, int64(c.Mul))
		if c.Rising {
			out[o] = int32(max(int64(c.least), min(int64(c.most)+1, -p)))
		} else {
			out[o] = int32(max(int64(c.least)-1, min(int64(c.most), p)))
		}
	}
	return out
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// correction finds what padding, as 0 bits, adds to each border class: a padded tap of 0 bits counts -m (bipolar, times
// the weight) where it should count 0. Weights are as stored, so that bipolar_inv is the same sum.
func (c *Counts) correction(f *graph.FusedConv, x *graph.Value) *Correction {
	taps := make([]int32, f.KH*f.KW*f.Out)
	for i := range taps {
		tap, o := i/f.Out, i%f.Out
		for j, coef := range c.Coefs {
			taps[i] += coef * (2*c.ones(j, o, f.Out, tap*c.Words, (tap+1)*c.Words) - int32(f.GroupIn()))
		}
	}
	return c.outside(f, x, taps)
}

// complementCorrection is correction for counts of ones: a padded tap of level 0 counts as the lowest integer, or, inverted,
// as the highest.
func (c *Counts) complementCorrection(f *graph.FusedConv, x *graph.Value) *Correction {
	taps := make([]int32, f.KH*f.KW*f.Out)
	for i := range taps {
		for j, coef := range c.Coefs {
			taps[i] -= coef * c.ones(j, i%f.Out, f.Out, i/f.Out*c.Words, (i/f.Out+1)*c.Words)
		}
	}
	return c.outside(f, x, taps)
}

// outside adds up, for each class of positions, what taps [KH*KW, Out] outside the image count for the highest level.
func (c *Counts) outside(f *graph.FusedConv, x *graph.Value, taps []int32) *Correction {
	k := &Correction{Twice: true}
	k.Rows, k.Cols = f.Borders(x.Shape[1], x.Shape[2])
	m := int32(1)<<c.Planes - 1
	for _, outside := range f.Outside(x.Shape[1], x.Shape[2]) {
		row := make([]int32, f.Out)
		for tap, out := range outside {
			for o := range row {
				if out {
					row[o] += m * taps[tap*f.Out+o]
				}
			}
		}
		k.Sums = append(k.Sums, row...)
	}
	return k
}
