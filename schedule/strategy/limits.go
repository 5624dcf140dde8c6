package strategy

import (
	"cmp"
	"math"
	"math/bits"

	"ripc/ir"
	"ripc/targets"
)

// Limits of domains, for the size of code and the capacity of types.
const (
	maxTile    = 28            // positions of a tile
	maxWidth   = 16            // positions with byte sums in registers
	maxRow     = 32            // positions of a row that keep all byte sums until the output is written
	maxCarried = 4             // positions of a tile with sums and carries
	maxBody    = 6             // reduction steps that are unrolled into one loop body
	maxWritten = 16            // the same, in a thread of a device
	maxPairs   = 8             // pairs of words that one loop body counts
	maxStarts  = 8             // positions of a row that set their sums one after the other
	maxBytes   = 31            // counts of up to 8 that a byte can sum
	fewWords   = 12            // words of a row of taps that are unrolled
	maxSum     = math.MaxUint8 // the largest sum that a byte holds

	copiedAtOnce = 8 // words of a padded row that are copied together, four times each
	copiedPixels = 8 // float pixels that are copied without a loop
)

// powerOfTwo returns the largest power of two up to n, which is above 0.
func powerOfTwo(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// vectorsFor returns the number of registers for n lanes of the given width.
func vectorsFor(t targets.Target, n, bits int) int {
	lanes := max(1, t.VectorBits/bits)
	return max(1, (n+lanes-1)/lanes)
}

// shareOfRows returns the number of each thread's rows, of h in all. A target without a number of
// threads counts as eight.
func shareOfRows(t targets.Target, h int) int {
	threads := cmp.Or(t.Threads, 8)
	return max(1, (h+threads-1)/threads)
}

// copiedVectors returns the number of vectors of an input row that are copied without a loop.
// Targets with few registers copy none.
func copiedVectors(t targets.Target) int {
	if t.Registers < 32 || t.VectorBits > 128 {
		return 0
	}
	return t.Registers / 2
}

// copiedFloats returns the number of neighbouring pixels, n vectors of floats each, that are copied
// without a loop.
func copiedFloats(t targets.Target, n int) int {
	if copiedVectors(t) == 0 {
		return 1
	}
	return powerOfTwo(max(1, min(copiedPixels, t.Registers/n)))
}

// sumShape is the window of words that an output adds up.
type sumShape struct {
	rows, cols int // of the window
	words      int // of channels
	planes     bool
	bits       int // of a sum
}

// sumOf returns the window of l.
func sumOf(l *Layer) sumShape {
	return sumShape{
		rows: l.sum.extent(ir.TapRow), cols: l.sum.extent(ir.TapCol),
		words:  l.sum.extent(ir.Reduce) * max(1, l.sum.extent(ir.WeightPlane)),
		planes: l.sum.loops[ir.Plane] != nil, bits: l.sumBits(),
	}
}

// terms returns the number of words counted for an output and a plane.
func (s sumShape) terms() int { return s.rows * s.cols * s.words }

// unrollsTaps reports whether n words at each tap of a row are unrolled.
func (s sumShape) unrollsTaps(n int) bool { return n*s.cols <= fewWords }

// halves reports whether one byte holds the sum of two bytes that count n words each. They are
// added before they are widened.
func (s sumShape) halves(n int) bool { return s.bits < ir.I32.Bits() && 2*n <= maxBytes }

// byteLoop is a loop with iterations that sum in bytes. Wider sums are updated after each.
type byteLoop int

// The loops.
const (
	overWords byteLoop = iota // all taps of a group of words
	overRow                   // a row of taps
	overTap                   // one tap
)

// steps returns the number of words in a byte sum, given n words of channels.
func (at byteLoop) steps(s sumShape, n int) int {
	switch at {
	case overWords:
		return s.rows * s.cols * n
	case overRow:
		return s.cols * n
	}
	return n
}
