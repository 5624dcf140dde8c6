package layout

import (
	"fmt"
	"math"

	"ripc/graph"
	"ripc/ir"
	"ripc/targets"
)

// WindowLevels is a table of the levels that a layer makes of each window there may be, all filters' together. Windows of few bits are few, so
// that the compiler computes all that they give: sums and glue cost nothing then, and a position takes one look-up.
type WindowLevels struct {
	whole
	Counts *Counts // of the words that windows lie in
	Bits   int     // of a window, over all planes: those of plane n, in the order of words of Dense, behind those of plane n-1
	// Rows and Cols are the classes of positions that have rows of their own; one each where padding is one of the input's levels.
	Rows, Cols graph.Classes
	// Packed are the levels' words, [Rows.Count(), Cols.Count(), 1<<Bits, OutBits, Words(Out)]; nil without weights.
	Packed []uint32
}

// Classed says that there are several classes of positions.
func (t *WindowLevels) Classed() bool { return t.Rows.Count()*t.Cols.Count() > 1 }

// tableWindow is the row of the algorithm that looks up the levels of whole windows.
func tableWindow() algorithm {
	return algorithm{name: "table_window", windows: true, lacks: lacksWindowLevels,
		layOut: func(f *graph.FusedConv, x *graph.Value, t targets.Target) Accumulation {
			levels := newWindowLevels(f, x)
			levels.Counts = newCounts(f, x, windowWords(), t)
			return levels
		}}
}

// windowWords are what the bits of windows lie in: those that a table of them is for fit one word.
func windowWords() Counted { return Counted{Dense, WordBits} }

// A table of windows is bounded in bytes, by what second caches have room for beside the tensors, and by positions: of a table of many more windows than these, nearly nothing is ever read.
const (
	maxWindowTable     = 64 << 10
	windowsPerPosition = 16
)

// lacksLevels says why f's levels over x are no function of its windows' bits alone that integers state; "" where they are.
func lacksLevels(f *graph.FusedConv, x *graph.Value) string {
	e := &f.Epilogue
	switch {
	case !x.Encoded():
		return realNumbers
	case f.GroupCount() > 1:
		return "its filters read different channels"
	case e.OutBits == 0:
		return "it makes no levels, which a table of windows holds"
	case e.OutBits >= MinBytes:
		return fmt.Sprintf("its levels have %d bits, and tables hold planes of up to %d", e.OutBits, MinBytes-1)
	case f.Pool != nil:
		return "its levels are those of several windows"
	case len(e.Joins) > 0, f.Window != nil:
		return "other tensors meet its sums"
	case e.Thresholds == nil && e.Shift == nil && e.Scale == nil:
		return "its levels are made of floats"
	case f.SumBound() > math.MaxInt32:
		return fmt.Sprintf("its sums may reach %d, more than 32 bits hold", f.SumBound())
	}
	return ""
}

// lacksWindowLevels says why there is no table of the levels of f's windows over x; "" where there is.
func lacksWindowLevels(f *graph.FusedConv, x *graph.Value) string {
	if lacks := lacksLevels(f, x); lacks != "" {
		return lacks
	}
	bits := float64(f.Products()) * float64(x.Bits)
	if math.Exp2(bits)*float64(rowBytes(f)) > maxWindowTable {
		return fmt.Sprintf("its windows have %.0f bits, and a table of them more than %d KiB", bits, maxWindowTable>>10)
	}
	if n := tableOf(f, x).bytes(f); n > maxWindowTable {
		return fmt.Sprintf("a table of its windows has %d KiB, more than %d", n>>10, maxWindowTable>>10)
	}
	if oh, ow := f.OutSize(x.Shape[1], x.Shape[2]); math.Exp2(bits) > float64(windowsPerPosition*x.Shape[0]*oh*ow) {
		return fmt.Sprintf("its windows have %.0f bits, too many for a table that %d positions read", bits, x.Shape[0]*oh*ow)
	}
	return ""
}

// rowBytes are the bytes of the levels of a window.
func rowBytes(f *graph.FusedConv) int { return f.Epilogue.OutBits * Words(f.Out) * WordBits / 8 }

// bytes are those of t.
func (t *WindowLevels) bytes(f *graph.FusedConv) int {
	return t.Rows.Count() * t.Cols.Count() * rowBytes(f) << t.Bits
}

// tableOf is the table without what it holds.
func tableOf(f *graph.FusedConv, x *graph.Value) *WindowLevels {
	t := &WindowLevels{Bits: f.Products() * x.Bits, Rows: graph.Classes{Size: 1}, Cols: graph.Classes{Size: 1}}
	if corrected(f) {
		t.Rows, t.Cols = f.Borders(x.Shape[1], x.Shape[2])
	}
	return t
}

// newWindowLevels computes the table of f's windows over x.
func newWindowLevels(f *graph.FusedConv, x *graph.Value) *WindowLevels {
	t := tableOf(f, x)
	if f.Ints.Len() == 0 {
		return t
	}
	outside := make([][]bool, t.Rows.Count()*t.Cols.Count())
	if f.Pad.Any() && !f.X.Has(f.PadValue) { // what lies outside counts as 0, and has no bits that say so
		outside = f.Outside(x.Shape[1], x.Shape[2])
	}
	words := Words(f.Out)
	t.Packed = make([]uint32, t.bytes(f)*8/WordBits)
	for class, out := range outside {
		for o := range f.Out {
			for window, sum := range windowSums(f, x, o, out) {
				if f.Epilogue.Border != nil {
					sum += int64(f.Epilogue.Border[class*f.Out+o])
				}
				level := storedLevel(f, o, sum)
				for n := range f.Epilogue.OutBits {
					bit := uint32(level) >> n & 1
					t.Packed[((class<<t.Bits+window)*f.Epilogue.OutBits+n)*words+o/WordBits] |= bit << (o % WordBits)
				}
			}
		}
	}
	return t
}

// windowSums are the sums of filter o for each window of x's bits; taps that lie outside the image add nothing.
func windowSums(f *graph.FusedConv, x *graph.Value, o int, outside []bool) []int64 {
	return sumsOf(windowBits(f, x, o, outside))
}

// windowBits are what filter o's sum is for a window of x without a bit that is 1, and what each such bit adds to it.
func windowBits(f *graph.FusedConv, x *graph.Value, o int, outside []bool) (zero int64, each []int64) {
	products := f.Products()
	each = make([]int64, products*x.Bits)
	for n := range x.Bits {
		for i := range products {
			w := int64(f.Ints.At(i*f.Out + o))
			if outside != nil && outside[i/f.In] {
				w = 0
			}
			_, bit := windowWords().place(f, i/f.In, i%f.In)
			each[n*products+bit] = w * int64(x.Integer(1<<n)-x.Integer(0))
			if n == 0 {
				zero += w * int64(x.Integer(0))
			}
		}
	}
	return zero, each
}

// sumsOf are the sums of all numbers of bits that add each to zero.
func sumsOf(zero int64, each []int64) []int64 {
	sums := make([]int64, 1<<len(each))
	sums[0] = zero
	for bit, v := range each {
		for window := range 1 << bit {
			sums[1<<bit|window] = sums[window] + v
		}
	}
	return sums
}

// storedLevel is the level that f makes of a sum of channel o, as its bits lie in memory.
func storedLevel(f *graph.FusedConv, o int, sum int64) int {
	level := levelOfSum(f, o, sum)
	if f.Epilogue.OutEnc == ir.BipolarInv {
		level = 1<<f.Epilogue.OutBits - 1 - level
	}
	return level
}

// levelOfSum is the level that f makes of a sum of channel o, by integers alone.
func levelOfSum(f *graph.FusedConv, o int, sum int64) int {
	e := &f.Epilogue
	if f.Add != nil {
		sum += int64(f.Add[o])
	}
	switch {
	case e.Shift != nil:
		return e.Shift.Level(o, sum, e.OutBits)
	case e.Scale != nil:
		return e.Scale.Level(o, sum)
	}
	if e.Falling != nil && e.Falling[o] {
		sum = -sum
	}
	level := 0
	for _, row := range e.Thresholds {
		if sum >= int64(row[o]) {
			level++
		}
	}
	return level
}

// OnePixel says that windows of f are pixels as they lie in memory.
func OnePixel(f *graph.FusedConv) bool { return f.KH*f.KW == 1 && !f.Pad.Any() }
