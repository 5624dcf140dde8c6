package cost

import (
	"math/bits"
	"slices"

	"ripc/targets"
)

// LaneBits is the width of a sum.
const LaneBits = 32

// MaxPositions bounds the positions of a tile, and so its code. It has not been measured against its neighbours.
const MaxPositions = 13

// MaxThreads is the number of threads that rows are shared out among evenly, at least.
const MaxThreads = 8

// MaxCarried is the number of positions of a tile that have registers for sums and carries besides everything that a count
// of words by look-up takes. It has not been measured against its neighbours.
const MaxCarried = 2

// MaxPairs is the number of pairs of words that one loop body counts: with more, sums are spilled (docs/kernels.md).
const MaxPairs = 8

// MaxBody is the number of reduction steps that are unrolled into one loop body.
const MaxBody = 6

// PowerOfTwo is the largest power of two up to n, which is above 0: vectors of other lengths are kept in memory.
func PowerOfTwo(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// Tile is the tile of at most most positions that covers a row of width w with the least work: positions computed twice by
// the overlapping last tile, and half a position for loading the weights of each tile.
func Tile(w, most int) int {
	best, cost := 1, 1e30
	for m := 1; m <= min(w, max(1, most)); m++ {
		if c := float64((w+m-1)/m) * (float64(m) + 0.5); c <= cost {
			best, cost = m, c
		}
	}
	return best
}

// Positions is how many positions of sums, of so many vectors each, have registers beside one position's weights and two
// temporaries.
func Positions(t targets.Target, vectors int) int {
	return max(1, min(MaxPositions, (t.Registers-vectors-2)/vectors))
}

// NarrowPositions is Positions of so many channels that have two sums each, of products of bytes that are added in 16 bits for so many steps of
// four. The weights of all steps lie in registers, 8 bytes each; machines with 16 registers have two in one. A fifth of the
// registers is for products on their way: cores that work in order wait for each, and LLVM puts others in between; with fewer registers for them it
// spills sums. By estimated cycles of 3x3 layers of 128 and 256 channels.
func NarrowPositions(t targets.Target, channels, steps int) int {
	vectors, weights := Vectors(t, 2*channels, LaneBits), channels*steps/2
	if t.Registers < 32 {
		weights /= 2
	}
	return max(1, min(MaxPositions, (t.Registers-weights-t.Registers/5)/vectors))
}

// partInUse is how many registers a product takes beside its sums and operands: with fewer, LLVM spills sums.
const partInUse = 3

// Part is how many of the channels of a packed word, the last of parts, have float sums of a window of taps in registers together, and at most
// how many positions beside them, in rows of width w and with window positions pooled into one. A tile multiplies each of its inputs with
// each of its weights, part by part, and loads the weights once and the inputs once a part. Where a core begins instructions in their order,
// each load takes the place of a product: there smaller parts of more positions are taken if loads and products are fewer. Others load
// beside products, and windows of one tap gained nothing where it was tried.
func Part(t targets.Target, parts []int, taps, w, window int) (part, positions int) {
	channels := parts[len(parts)-1]
	all := Vectors(t, channels, LaneBits)
	part, positions = channels, Positions(t, all)
	if !t.InOrder || taps == 1 {
		return part, positions
	}
	least := -1
	for _, p := range slices.Backward(parts) {
		v := Vectors(t, p, LaneBits)
		most := min(MaxPositions, (t.Registers-partInUse-v)/(v+1))
		if most < 1 {
			continue
		}
		tile := Tile(w, most/max(1, window))
		tiles := (w + tile - 1) / tile
		tile *= max(1, window)
		if n := tiles * (all*tile + all + all/v*tile); least < 0 || n < least {
			part, positions, least = p, most, n
		}
	}
	return part, positions
}

// PairPositions is Positions for counting by pairs: a sum, carries and two temporaries for each.
func PairPositions(t targets.Target) int { return (t.Registers - 4) / 4 }

// Vectors is how many registers hold lanes sums of so many bits.
func Vectors(t targets.Target, lanes, bits int) int {
	n := t.VectorBits / bits
	return max(1, (lanes+n-1)/n)
}

// Rows is the number of rows that a thread computes at once.
func Rows(h int) int { return max(1, (h+MaxThreads-1)/MaxThreads) }

// Lanes is how many of the channels of a float output are computed together, in rows of width w: two registers, or four
// where one position has few sums and each waits for the one before; fewer where many channels would be computed twice.
func Lanes(t targets.Target, channels, w int) int {
	one := t.VectorBits / LaneBits
	n := 2 * one
	if w == 1 && (channels%(2*n) == 0 || channels%n != 0) {
		n *= 2
	}
	n = PowerOfTwo(min(n, channels))
	wasted := func(n int) int { return (channels+n-1)/n*n - channels }
	for n > one && wasted(n) > wasted(n/2)+channels/8 {
		n /= 2
	}
	return n
}
