package strategy

import (
	"cmp"
	"math"
	"math/bits"

	"ripc/ir"
	"ripc/targets"
)

// Limits of domains: how much code a schedule may be, and what types hold.
const (
	maxTile    = 28            // positions of a tile
	maxWidth   = 16            // positions whose sums of bytes are in registers together
	maxRow     = 32            // positions of a row whose sums of bytes are all kept until its output is written
	maxCarried = 4             // positions of a tile that has sums and carries
	maxBody    = 6             // reduction steps that are unrolled into one loop body
	maxPairs   = 8             // pairs of words that one loop body counts
	maxStarts  = 8             // positions of a row whose sums are set one after the other
	maxBytes   = 31            // counts of 8 bits that a byte holds the sum of
	fewWords   = 12            // words of a row of taps that are written out
	maxSum     = math.MaxUint8 // the largest sum that a byte holds

	copiedAtOnce = 8 // words of a row of the padded input that are copied together, where each is kept four times
	copiedPixels = 8 // pixels of floats that are copied without a loop
)

// powerOfTwo returns the largest power of two up to n, which is above 0.
func powerOfTwo(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// vectorsFor returns how many registers hold n lanes of so many bits.
func vectorsFor(t targets.Target, n, bits int) int {
	lanes := max(1, t.VectorBits/bits)
	return max(1, (n+lanes-1)/lanes)
}

// shareOfRows returns how many of h rows each thread has. Targets that do not say how many threads there are have eight.
func shareOfRows(t targets.Target, h int) int {
	threads := cmp.Or(t.Threads, 8)
	return max(1, (h+threads-1)/threads)
}

// copiedVectors returns how many vectors of a row of the input are copied without a loop: those that half of many registers hold.
func copiedVectors(t targets.Target) int {
	if t.Registers < 32 || t.VectorBits > 128 {
		return 0
	}
	return t.Registers / 2
}

// copiedFloats returns how many neighbouring pixels, each of n vectors of floats, are copied without a loop.
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
		rows: l.sum.extent(ir.TapRow), cols: l.sum.extent(ir.TapCol), words: l.sum.extent(ir.Reduce) * max(1, l.sum.extent(ir.WeightPlane)),
		planes: l.sum.loops[ir.Plane] != nil, bits: l.sumBits(),
	}
}

// terms returns how many words are counted for an output and a plane.
func (s sumShape) terms() int { return s.rows * s.cols * s.words }

// few reports whether n words at each tap of a row are written out.
func (s sumShape) few(n int) bool { return n*s.cols <= fewWords }

// halves reports whether one byte holds what two bytes hold, each of n words. The two are added up before they are widened.
func (s sumShape) halves(n int) bool { return s.bits < ir.I32.Bits() && 2*n <= maxBytes }

// byteLoop is the loop of which an iteration sums in bytes, which are then added to wider sums.
type byteLoop int

// The loops.
const (
	overWords byteLoop = iota // all taps of a group of words
	overRow                   // a row of taps
	overTap                   // one tap
)

// steps returns how many words are summed in bytes, of n words of channels.
func (at byteLoop) steps(s sumShape, n int) int {
	switch at {
	case overWords:
		return s.rows * s.cols * n
	case overRow:
		return s.cols * n
	}
	return n
}
