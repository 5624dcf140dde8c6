package layout

import (
	"math/bits"
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/targets"
)

// Counts is a layer over packed levels with packed weights. The raw count of an output is
//
//	P = sum over planes n of the input and m of the weights of 2^n * Coefs[m] * popcount(x_n ^ w_m)
//
// and Line turns P into the sum. With Ones, common 1 bits are counted: popcount(x_n & w_m).
type Counts struct {
	whole
	Line
	Planes int     // of the input
	Coefs  []int32 // factors of the planes of the weights; see cut
	Ones   bool
	// Counted is the kind of the counted words: Words words for each of Rows x Cols pixels, or for
	// one. With Parts they are parts of one word with all bits of a window, or of the input's word
	// of a pixel.
	Counted           Counted
	Parts             bool
	Rows, Cols, Words int
	// Rowwise says that words of Dense are contiguous along a row's positions, not within a
	// position. Several positions are then gathered at once.
	Rowwise bool
	// Clamped says that a masked read outside the image reads the nearest row inside, without a
	// branch: in-order cores wait for branches.
	Clamped bool
	// Rest is the number of trailing bits of a window's word that popcount skips. Their value
	// selects a row of thresholds (Line.Chosen).
	Rest int
	// Weights are [Rows, Cols, Words, len(Coefs), Out]; inverted for inverted input bits, negated
	// in falling channels.
	Weights func() []uint32
	// Most is the largest sum of the planes' words, if words are narrow or narrow sums gain; else
	// 0.
	Most int
	rest []uint32 // bits of the weights opposite the Rest, [Out]
	ones []int32  // 1 bits of Weights for each pixel of the window, [KH*KW, len(Coefs), Out]
	// PadLevel is the level that positions outside the image hold.
	PadLevel int
}

// Line turns P, the accumulator of an output, into its sum: ((Base - Mul*P) >> Half) + Add.
// Padding, if not nil, corrects P first.
type Line struct {
	// Rising says that P rises with the sum, which is then Base + Mul*P.
	Rising    bool
	Padding   *Correction
	Base      []int32 // [Out]
	Mul, Half int32
	Add       []int32 // [Out] or nil: addends of sums that Base does not include
	// Thresholds [2^OutBits-1][Out]: level >= j iff P <= Thresholds[j-1][o]. A threshold below all
	// P is never reached. If P is Rising, the comparison is P >=, and a threshold above all P is
	// never reached. With Classes each row class of h and column class of w has its own thresholds,
	// [2^OutBits-1][Rows.Count(), Cols.Count(), Out], for P without correction.
	Thresholds [][]int32
	Classes    *Classes
	// Chosen is the number of rows in Thresholds, [2^OutBits-1][Chosen, ... Out]. Residual bits of
	// the input select a row; 0 means that there is one.
	Chosen      int
	least, most int32 // bounds of P
}

// Classes are border classes: positions of an output with the same taps outside the image.
type Classes struct{ Rows, Cols graph.Classes }

// Count returns the number of classes.
func (c Classes) Count() int { return c.Rows.Count() * c.Cols.Count() }

// maxClassed is the largest number of thresholds of a channel in all classes. They replace the
// corrections of counts, a number for each class.
const maxClassed = 64

// Correction is the correction of P for each border class. P becomes P - Sums[row class of
// h][column class of w][o]; with Twice, 2*P takes P's place. So positions outside the image count
// as 0 if no level does. It includes the layer's Border.
type Correction struct {
	Classes
	Twice bool
	Sums  []int32 // [Rows.Count(), Cols.Count(), Out]
}

func newCounts(f *graph.FusedConv, x *graph.Value, w Counted, t targets.Target) *Counts {
	by, sign := cutOf(f), signs(f)
	c := &Counts{Planes: x.Bits, Counted: w, Coefs: by.coefs, Ones: by.ones, Clamped: t.InOrder,
		Line: Line{Rising: by.ones && x.Enc != ir.BipolarInv}}
	c.Rows, c.Cols, c.Words = w.extent(f)
	c.Parts = w.inParts(f, x, t)
	if c.Rest = w.residualBits(f, x); c.Rest > 0 {
		c.Words--
	}
	c.pack(f, x.Enc == ir.BipolarInv && !c.Ones)
	if f.Pad.Any() {
		level, ok := levelOf(f.PadValue, x)
		if c.PadLevel = level; !ok {
			c.Padding = c.correction(f, x)
		}
	}
	if f.Epilogue.Border != nil && c.Padding == nil {
		c.Padding = &Correction{Classes: classesOf(f, x), Twice: x.Enc != ir.Unipolar,
			Sums: make([]int32, len(f.Epilogue.Border))}
	}
	alone := comparesCounts(f, x)
	if w.narrow() || t.ShortSums && alone {
		c.Most = w.maxPlaneCount(f, c.Planes)
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
	limits := c.limits
	if c.Padding != nil && alone {
		limits, c.Classes = c.classLimits(c.Padding, int32(f.SumBound())), &c.Padding.Classes
		c.Padding = nil
	}
	for _, row := range f.Epilogue.Thresholds {
		c.Thresholds = append(c.Thresholds, c.residualLimits(limits(row)))
	}
	return c
}

// residualLimits returns limits of P, [..., Out], for each value of the Rest. They apply to counts
// without the Rest.
func (c *Counts) residualLimits(limits []int32) []int32 {
	if c.Rest == 0 {
		return limits
	}
	c.Chosen = 1 << c.Rest
	out := make([]int32, 0, c.Chosen*len(limits))
	for n := range uint32(c.Chosen) {
		for i, limit := range limits {
			out = append(out, max(-1, limit-int32(bits.OnesCount32(n^c.rest[i%len(c.rest)]))))
		}
	}
	return out
}

// comparesCounts reports whether counts of f go to thresholds unchanged and nowhere else. Border
// corrections become thresholds of each class, if these are not too many.
func comparesCounts(f *graph.FusedConv, x *graph.Value) bool {
	n := len(f.Epilogue.Thresholds)
	return n > 0 && countsOnce(f) && (!corrected(f) || n*classesOf(f, x).Count() <= maxClassed)
}

// countsOnce reports whether f counts differing bits for one plane of weights, without a pool.
func countsOnce(f *graph.FusedConv) bool {
	by := cutOf(f)
	return f.Pool == nil && !by.ones && len(by.coefs) == 1
}

// classesOf returns the border classes of f.
func classesOf(f *graph.FusedConv, x *graph.Value) Classes {
	rows, cols := f.Borders(x.Shape[1], x.Shape[2])
	return Classes{rows, cols}
}

// levelOf returns the level of integer v, and whether there is one.
func levelOf(v int, x *graph.Value) (int, bool) {
	for level := range x.Top() + 1 {
		if x.Integer(level) == v {
			return level, true
		}
	}
	return 0, false
}

// pack sets c's Weights, and counts their bits.
func (c *Counts) pack(f *graph.FusedConv, inverted bool) {
	planes := len(c.Coefs)
	c.ones, c.rest = make([]int32, f.KH*f.KW*planes*f.Out), make([]uint32, f.Out)
	words := c.Rows * c.Cols * c.Words
	c.eachRow(f, inverted, func(tap, at, bit int, sets []uint16) {
		for j := range planes {
			ones := c.ones[(tap*planes+j)*f.Out:][:f.Out]
			for o, set := range sets {
				ones[o] += int32(set >> j & 1)
			}
		}
		for o, set := range sets {
			if at >= words && set != 0 {
				c.rest[o] |= 1 << bit
			}
		}
	})
	c.Weights = func() []uint32 {
		if f.Ints.Len() == 0 {
			return nil
		}
		all := make([]uint32, words*planes*f.Out)
		c.eachRow(f, inverted, func(_, at, bit int, sets []uint16) {
			if at >= words {
				return
			}
			for j := range planes {
				row := all[(at*planes+j)*f.Out:][:f.Out]
				for o, set := range sets {
					row[o] |= uint32(set) >> j & 1 << bit
				}
			}
		})
		return all
	}
}

// eachRow calls yield for each input channel of each tap: the tap, the word and the bit in it, and
// for each filter its weight's planes, a bit each.
func (c *Counts) eachRow(f *graph.FusedConv, inverted bool, yield func(tap, word, bit int, sets []uint16)) {
	if f.Ints.Len() == 0 {
		return
	}
	by, sign := cutOf(f), signs(f)
	// of the weights, then of negated weights
	counted := slices.Concat(by.ofEach(f, inverted, 1), by.ofEach(f, inverted, -1))
	values := f.W.Max - f.W.Min + 1
	first := make([]int, f.Out) // index of a channel's first value in counted
	for o := range first {
		if first[o] = -f.W.Min; sign[o] < 0 {
			first[o] += values
		}
	}
	weights, sets := make([]float32, f.Out), make([]uint16, f.Out)
	for i := range f.KH * f.KW * f.GroupIn() {
		f.Ints.Read(i*f.Out, weights)
		for o, v := range weights {
			sets[o] = counted[first[o]+int(v)]
		}
		tap, ch := i/f.GroupIn(), i%f.GroupIn()
		at, bit := c.Counted.place(f, tap, ch)
		yield(tap, at, bit, sets)
	}
}

// ofEach returns, for each value of f's weights times sign, the planes with a 1, as bits; the
// planes with a 0 if inverted.
func (by cut) ofEach(f *graph.FusedConv, inverted bool, sign int) []uint16 {
	var all []uint16
	for v := f.W.Min; v <= f.W.Max; v++ {
		set := uint16(0)
		for j := range by.coefs {
			one := by.bit(j, v*sign)
			if !by.ones {
				one = by.bit(j, v) != (sign < 0)
			}
			if one != inverted {
				set |= 1 << j
			}
		}
		all = append(all, set)
	}
	return all
}

// onesOf counts the 1 bits of plane j of filter o.
func (c *Counts) onesOf(f *graph.FusedConv, j, o int) int32 {
	var n int32
	for tap := range f.KH * f.KW {
		n += c.ones[(tap*len(c.Coefs)+j)*f.Out+o]
	}
	return n
}

// solve sets Base, Mul and Half. The planes' sums are twice f's sums if f's weights are doubled.
func (c *Counts) solve(f *graph.FusedConv, x *graph.Value) {
	m, zero := int32(1)<<c.Planes-1, int32(x.Zero)
	c.Base, c.Mul = make([]int32, f.Out), 1
	if x.Enc != ir.Unipolar && c.Padding == nil {
		c.Mul = 2
	}
	for o := range c.Base {
		for j, coef := range c.Coefs {
			if c.Ones { // the integer is the level less zero, twice the level less m, or m less that
				switch n := coef * c.onesOf(f, j, o); x.Enc {
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
			c.Base[o] += coef * ((m-2*zero)*c.onesOf(f, j, o) + zero*int32(f.Products()))
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

// limit returns the largest P with a sum of channel o that reaches t. If P is Rising, it is the
// least P, negated.
func (c *Line) limit(o int, t int32) int64 {
	return floorDiv(int64(c.Base[o])-int64(t)<<c.Half, int64(c.Mul))
}

// classLimits returns the limits in each class for uncorrected counts up to most. A corrected count
// would be 2*P - k, or P - k.
func (c *Line) classLimits(k *Correction, most int32) func(t []int32) []int32 {
	each := int64(1)
	if k.Twice {
		each = 2
	}
	return func(t []int32) []int32 {
		out := make([]int32, len(k.Sums))
		for i, v := range k.Sums {
			o := i % len(t)
			out[i] = int32(max(-1, min(int64(most), floorDiv(c.limit(o, t[o])+int64(v), each))))
		}
		return out
	}
}

// limits returns the largest P that reach the thresholds t [Out]; the least P if P is Rising.
func (c *Line) limits(t []int32) []int32 {
	out := make([]int32, len(t))
	for o, v := range t {
		p := c.limit(o, v)
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

// correction returns the correction for padding that counts as 0 bits: a padded tap of 0 bits
// counts -m (bipolar, times the weight) where it should count 0. Where ones are counted, it counts
// as the lowest integer, or, inverted, as the highest. Weights are as stored, so that bipolar_inv
// has the same sum. Each border class has the sum of the taps outside the image.
func (c *Counts) correction(f *graph.FusedConv, x *graph.Value) *Correction {
	taps := make([]int32, f.KH*f.KW*f.Out) // at the highest level
	for i := range taps {
		for j, coef := range c.Coefs {
			ones := c.ones[(i/f.Out*len(c.Coefs)+j)*f.Out+i%f.Out]
			if c.Ones {
				taps[i] -= coef * ones
			} else {
				taps[i] += coef * (2*ones - int32(f.GroupIn()))
			}
		}
	}
	k := &Correction{Classes: classesOf(f, x), Twice: true}
	m := int32(1)<<c.Planes - 1
	for _, outside := range f.OutsideTaps(x.Shape[1], x.Shape[2]) {
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

// GatheredWords returns the kind of words that are gathered for windows: the counted words, or the
// words with those as parts.
func (c *Counts) GatheredWords() Counted {
	if c.Parts {
		return Counted{Dense: c.Counted.Dense, Bits: WordBits}
	}
	return c.Counted
}
