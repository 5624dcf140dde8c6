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

// MaxCarried is the number of positions of a tile that have registers for sums and carries besides everything that a count
// of words by look-up takes. It has not been measured against its neighbours.
const MaxCarried = 2

// CopiedVectors is how many vectors of a row of the input, at most, are copied without a loop, so that the loads of some come before the
// stores of others. By estimated cycles of SqueezeNet, that gains 9 % of a 1x1 layer on rpi3 and 1 to 3 % on rpi4 and rpi5, and loses 2 % of a
// 3x3 layer where there are 16 registers. Longer vectors have not been measured.
func CopiedVectors(t targets.Target) int {
	if t.Registers < 32 || t.VectorBits > 128 {
		return 0
	}
	return 16
}

// CopiedPixels is how many neighbouring pixels of so many vectors of floats are copied without a loop, with one comparison of places for all, as far as registers hold them. By
// estimated cycles of QuickNet's stem and its first blur, of 3, 16 and 64 channels, layers take 13 to 25 % less on rpi3 and 3 to 14 % on rpi4; with twice as many pixels of 64
// channels as have registers, 9 % less and 8 % more.
func CopiedPixels(t targets.Target, vectors int) int {
	if CopiedVectors(t) == 0 {
		return 1
	}
	return PowerOfTwo(max(1, min(8, t.Registers/vectors)))
}

// MaxPairs is the number of pairs of words that one loop body counts: with more, sums are spilled (docs/kernels.md).
const MaxPairs = 8

// MaxBody is the number of reduction steps that are unrolled into one loop body.
const MaxBody = 6

// PowerOfTwo is the largest power of two up to n, which is above 0: vectors of other lengths are kept in memory.
func PowerOfTwo(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// Tile is the tile of at most most positions that covers a row of width w with the least work: positions computed twice by
// the overlapping last tile, and half a position for loading the weights of each tile.
func Tile(w, most int) int { return tile(w, most, func(m int) float64 { return float64(m) + 0.5 }) }

// WholeTile is Tile of Whole sums, whose weights LLVM loads before all tiles: each is but a turn of a loop. By time on a Zen 4, 1x1 layers of 16 channels, 2 bits and 55 columns take 15 % less
// with tiles of 5 positions, which compute none twice, than with those of 8.
func WholeTile(w, most int) int {
	return tile(w, most, func(m int) float64 { return float64(m) + 0.2 })
}

// TapTile is Tile of sums of so many vectors each where the taps of a row are written out (InlineRow). LLVM keeps the words that neighbouring taps share in
// registers, each in all lanes of one, and spills sums for them: a store and a load for each row of taps. By time on a Zen 4, QuickNet's 3x3 layers of 64 channels and 56 columns take
// 4 and 19 % less with tiles of 7 positions than with those of 8, and those of SqueezeNet with 13 columns nothing more with 13 than with 7, which compute one twice; by estimated cycles of rpi5 QuickNet's fourth takes 16 % less.
func TapTile(t targets.Target, s Sum, vectors, w, most int) int {
	ops := float64(vectors * (t.CountOps + 2) * s.Cols * s.Words) // of a position, for a row of taps
	return tile(w, most, func(m int) float64 {
		spilled := max(0, vectors*m+(m+s.Cols-1)*s.Words+vectors+2-t.Registers)
		return float64(m) + 0.5 + 2*float64(spilled)/ops
	})
}

// InlineRow reports whether the taps of a row are written out that share words, on cores that find an order by themselves; for others see WordPart.
func InlineRow(t targets.Target, s Sum) bool {
	return !t.InOrder && s.Cols > 1 && s.Cols*s.Words <= MaxBody
}

// tile is the tile of at most most positions that covers a row of width w at the least cost, the largest of several.
func tile(w, most int, each func(positions int) float64) int {
	best, cost := 1, 1e30
	for m := 1; m <= min(w, max(1, most)); m++ {
		if c := float64((w+m-1)/m) * each(m); c <= cost {
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

// NarrowTile is the tile, no larger than tile, of a row of so many positions of words of so many bits whose levels have so many planes: each plane has words of its own, and comparisons with more thresholds, for which LLVM needs
// registers. Of words of 8 bits, by estimated cycles of rpi3, rpi4 and rpi5, 1x1 layers of 8 to 32 channels and 3x3 ones of 1 to 3 take 4 to 37 % less with 3 bits by tiles of two positions than by those of 7 to 13, and up to 30 % less with 2 bits by those of
// 5 or 7 than by those of 11 or 13; 3x3 layers of 8 channels and 2 bits, whose sums are of 9 words, take 11 to 14 % more. Of other words, SqueezeNet's 1x1 layer of 55x55x64, 16 filters and 3 bits takes 14 % less by those of 5 than by those of 11 on rpi3.
func NarrowTile(t targets.Target, s Sum, width, planes, bits, tile int) int {
	const few = 4 // words of a sum
	most := tile
	switch {
	case !t.ShortSums:
	case s.Terms() > few:
	case bits > 8 && planes > 2 && t.InOrder:
		most = 7
	case bits > 8:
	case planes > 2:
		most = 2
	case planes == 2:
		most = 9
	}
	if tile <= most {
		return tile
	}
	return WholeTile(width, most)
}

// OwnTile is the tile, no larger than the usual one, of a row of so many positions with so many vectors of sums, each of which reads a vector of its own for each product. Neighbours share what they read unless there are strides: half of
// the registers are for that, and more where neighbours share nothing, the most on cores that work in order, unless a row is a tile. By estimated cycles of QuickNet's blurs and second layer, in steps of 2, tiles of 7 positions of two vectors take
// 3, 15 and 24 % less than those of 8 on rpi3, rpi4 and rpi5, and of 5 or 6 positions 9 to 13 % less than of 7 on rpi3; rows of 13, in steps of 1, take 30 to 47 % less in two tiles than in one.
func OwnTile(t targets.Target, strided bool, width, vectors, usual int) int {
	most := t.Registers / 2 / vectors
	if strided {
		if most = (t.Registers - 4) / 2 / vectors; t.InOrder && width > most {
			most = t.Registers * 3 / 8 / vectors
		}
	}
	if most = max(1, most); usual <= most {
		return usual
	}
	return tile(width, most, func(m int) float64 { return float64(m) + 1.5 })
}

// FewTerms is up to how many words of a sum comparisons, and not weights that positions share, decide how large a tile is.
const FewTerms = 6

// ComparedTile is the tile, no larger than the usual one, of a row of so many positions of sums that become levels of so many planes, each of which is a comparison into a mask. What is summed up for the
// next tile goes on while a core compares, as far as it looks ahead. By time on a Zen 5, SqueezeNet's stem takes 1 to 2 % less with 2 bits at 7 positions than at 8, and 2 % less to nothing more with 3; with 1 bit it takes up to 2 % more.
// Counts of 2 bits, if of FewTerms, take 3 to 12 % less at 6 or 7 positions than at 9, 12 or 13 (1x1 and 3x3 layers of 8 to 128 channels), of more up to 5 % more.
func ComparedTile(t targets.Target, width, planes, usual int) int {
	const most, masks = 7, 512 // bits of vectors that are compared into masks
	if t.VectorBits < masks || planes < 2 || usual <= most {
		return usual
	}
	return Tile(width, most)
}

// MadeTile is the tile, no larger than the usual one, of positions of so many planes of which each has words of its own for each channel, put together for it: a single one where its words stay in the registers of
// vectors of 512 bits from there to their counts. By time on a Zen 5, layers of 1 bit in 8 to 48 groups take 6 to 19 % less (3x3 and 5x5, 48 to 128 channels), those of 2 and 3 bits as long.
func MadeTile(t targets.Target, planes, usual int) int {
	if t.VectorBits < 512 || planes > 1 {
		return usual
	}
	return 1
}

// Whole reports whether a sum over so many planes is written out whole, without a loop.
func Whole(s Sum, planes int) bool { return s.Terms()*max(1, planes) <= MaxBody }

// WrittenShort reports whether the loops over words are written out whose counts are added up in fewer bits than a word has, over so many planes. LLVM takes the
// weights of all words out of the loops around, so many registers each, where nothing changes them there, as blocks of channels inside of a tile do, and spills what does not
// fit. Cores that work in order wait for loops, so that weights of all words and planes may fill the registers, unless planes
// stay in a loop (128 channels of 2 bits and 16 filters take 9 to 20 % less in loops on rpi3); others gain little by fewer of these, and need half for sums. By
// estimated cycles of 1x1 layers of 1 to 16 words and 1 to 3 bits on rpi3, rpi4 and rpi5, with 7 to 55 columns.
func WrittenShort(t targets.Target, s Sum, planes, weights int, inside bool) bool {
	if s.Terms() > MaxBody || inside && planes <= 1 { // words stay in a loop anyway; weights in memory
		return true
	}
	registers := t.Registers
	if !t.InOrder {
		registers /= 2
	}
	return Whole(s, planes) && s.Terms()*max(1, planes)*weights <= registers
}

// SinglePosition reports whether sums of less than 32 bits over so many planes of words of so many bits are best for one position and SingleChannels channels, which fill registers, at a time: all planes of few narrow words are
// written out then, and neither their sums nor the levels of three bits wait in memory for those of other positions. By estimated cycles of rpi4, layers of 3 bits take 4 to 15 % less in most of 20 shapes, and 6 % more in one. Words of 32 bits take
// 8 to 53 % more, and so do narrow ones of some shapes on rpi5; layers of 2 bits take 12 % less to 20 % more.
func SinglePosition(t targets.Target, s Sum, planes, word int) bool {
	return t.SinglePositions() && planes >= 3 && word < LaneBits && s.Terms() <= MaxBody && s.Bits < WordChannels && t.VectorBits <= SingleChannels*s.Bits
}

// SingleChannels is of how many channels such a position has sums.
const SingleChannels = 16

// LeastBlocks is how many blocks of channels a layer of Whole sums has to have so that a tile goes through all of them. By estimated cycles of 1x1 layers of
// 8 to 48 channels on rpi3, rpi4 and rpi5: three blocks and more gain up to 14 %, two lose up to 7 % or gain 5 %.
const LeastBlocks = 3

// WholePositions is Positions of Whole sums, for which LLVM keeps the weights of all words in registers. Cores that work in order wait
// for what is spilled; others lose more by loading weights for fewer positions.
func WholePositions(t targets.Target, s Sum, vectors int) int {
	return max(1, min(MaxPositions, (t.Registers-s.Terms()*vectors-2)/vectors))
}

// LoadsAhead reports whether LLVM loads much of what is counted next ahead of time: for cores that work in order, in loops over windows.
func LoadsAhead(t targets.Target, s Sum) bool {
	return t.InOrder && s.Bits < LaneBits && s.Rows > 1
}

// LoadsPixels is LoadsAhead of loops over the words of a pixel.
func LoadsPixels(t targets.Target, s Sum) bool {
	return t.InOrder && s.Bits < LaneBits && s.Rows*s.Cols == 1
}

// WordPart is how many channels, one of parts, have sums of counted words in registers together where LLVM loads ahead, and how many positions, at
// most most, so that a row takes the fewest operations. Half of the registers are for what is loaded: the words of a row of taps, each in all lanes of
// one, and weights; of planes LLVM loads more, which three eighths are left for. By estimated cycles of rpi3, 3x3 layers of 32 channels whose
// rows are 10 to 28 wide take 6 to 8 % less with 16 channels at 5 or 7 positions than with 32 at 2 or 3, and those of 2 and 3 bits 10 to 19 % less with 8
// or 16 channels at 4 to 7 positions than with 32 at 4 or 5; layers of 64 channels, where words of a row of taps are more, are best with 32 at 3.
func WordPart(t targets.Target, s Sum, parts []int, channels, width, most int) (part, positions int) {
	kept := 0
	if s.Planes {
		kept = t.Registers * 3 / 8
	}
	return wordPart(t, s, parts, channels, width, most, func(m int) int { return (m + s.Cols - 1) * s.Words }, kept)
}

// wordPart is WordPart where so many positions have words in registers, and so many registers are for others.
func wordPart(t targets.Target, s Sum, parts []int, channels, width, most int, words func(positions int) int, kept int) (part, positions int) {
	const spread = 2.7 // a word in all lanes: a load, which others wait for, and an address
	var least float64
	registers := t.Registers - kept
	for _, p := range slices.Backward(parts) {
		sums, weights := Vectors(t, p, s.Bits), Vectors(t, p, LaneBits)
		for m := 1; m <= min(MaxPositions, width, most); m++ {
			loaded := words(m) + weights + 2
			if m > 1 && (sums*(m+1) > t.Registers/2 || sums*m+loaded > registers) {
				break
			}
			n := float64((width+m-1)/m) * float64((channels+p-1)/p) * wordOps(s, weights, m, 1, spread)
			if part == 0 || n < least {
				part, positions, least = p, m, n
			}
		}
	}
	return part, positions
}

// PixelPart is WordPart for words of a pixel that stay in a loop: a word of each position and its weights are in registers, and as many for what is loaded next. Cores that work in
// order wait for what is spilled. By estimated cycles of rpi3, 1x1 layers of 128 to 512 channels and 1 and 2 bits take 2 to 11 % less.
func PixelPart(t targets.Target, s Sum, parts []int, channels, width, most int) (part, positions int) {
	return wordPart(t, s, parts, channels, width, most, func(m int) int { return m }, 0)
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

// MaxProducts is how many products of vectors one loop body has where inputs come as vectors, so that the code stays small.
const MaxProducts = 480

// MaxWritten is how many of these a loop body has before LLVM cuts them into registers: with operands and addresses each is 13 instructions, beside
// which inputs are loaded, of the 4000 that a kernel may have (size.Max).
const MaxWritten = 192

// Window is what sums of products of floats over windows read, and the row of sums.
type Window struct {
	Rows, Cols, Channels int // of a window
	Stride               int // columns from one window to the next
	Width                int // of the row of outputs
	PoolRows, PoolCols   int // sums that are pooled into one output
	// Vectors says how inputs come.
	Vectors InputVectors
}

// InputVectors is how inputs come into vectors whose lanes are multiplied with.
type InputVectors uint8

// The ways.
const (
	OneByOne     InputVectors = iota // not at all: each is a load
	RowVectors                       // the row of the image that a tile's windows cover is a run of numbers
	PixelVectors                     // a vector has neighbouring channels of a pixel
)

// Part is how many channels, one of parts, have float sums in registers together, and how many outputs of them, so that a row has the
// fewest products and loads of vectors, or 0 if nothing fits. A tile multiplies each of its inputs with each of its weights, part by part, and loads the weights
// once and the inputs once a part.
func Part(t targets.Target, parts []int, channels int, w Window) (part, outputs int) {
	var least float64
	for _, p := range slices.Backward(parts) {
		v := Vectors(t, p, LaneBits)
		blocks := float64((channels + p - 1) / p)
		for m := 1; m <= min(MaxPositions, w.Width); m++ {
			sums := v * m * w.PoolRows * w.PoolCols
			inputs, kept, steps := w.inputs(t, m)
			if sums+v+kept > t.Registers || w.Vectors != OneByOne && (sums*steps > MaxProducts || sums/v*steps > MaxWritten) {
				break
			}
			n := float64((w.Width+m-1)/m) * blocks * (float64(sums+v) + float64(inputs)/float64(steps))
			if part == 0 || n < least {
				part, outputs, least = p, m, n
			}
		}
	}
	return part, outputs
}

// partInUse is how many registers a product takes beside its sums and operands where inputs are loaded one by one: with fewer, LLVM spills sums.
const partInUse = 3

// inputs is how many loads bring what m outputs multiply in so many steps, each of one product for each sum, and how many registers that takes.
func (w Window) inputs(t targets.Target, m int) (loads, registers, steps int) {
	cols, lanes := (m*w.PoolCols-1)*w.Stride, t.VectorBits/LaneBits
	switch w.Vectors {
	case RowVectors:
		run := (cols + w.Cols) * w.Channels
		n := w.PoolRows * ((run + lanes - 1) / lanes)
		return n, n, w.Cols * w.Channels
	case PixelVectors:
		n := w.PoolRows * (cols + 1)
		return n, n, lanes
	}
	n := m * w.PoolRows * w.PoolCols
	return n, n + partInUse, 1
}

// PairPositions is Positions for counting by pairs: a sum, carries and two temporaries for each.
func PairPositions(t targets.Target) int { return (t.Registers - 4) / 4 }

// Vectors is how many registers hold lanes sums of so many bits.
func Vectors(t targets.Target, lanes, bits int) int {
	n := t.VectorBits / bits
	return max(1, (lanes+n-1)/n)
}

// Lanes is how many of the channels of a float output are computed together, in rows of width w: two registers, or four
// where one position has few sums and each waits for the one before; fewer where many channels would be computed twice, unless
// that makes more blocks for one thread, which wait as long each.
func Lanes(t targets.Target, channels, w int) int {
	one := t.VectorBits / LaneBits
	n := 2 * one
	if w == 1 && (channels%(2*n) == 0 || channels%n != 0) {
		n *= 2
	}
	n = PowerOfTwo(min(n, channels))
	blocks := func(n int) int { return (channels + n - 1) / n }
	wasted := func(n int) int { return blocks(n)*n - channels }
	waits := func(n int) int { return blocks(n) * max(sumWait, 2*n/one) } // a product and a load of weights for each register
	for n > one && wasted(n) > wasted(n/2)+channels/8 {
		if alone := w == 1 && channels%(n/2) != 0; alone && waits(n/2) > waits(n) {
			break
		}
		n /= 2
	}
	return n
}

// FloatLanes is Lanes of sums of floats, which wait: of one position four registers where each of MaxThreads has a block, so that a last one, which overlaps the one before, is
// little beside them, and eight on cores that find an order by themselves, which have two units for products. By estimated cycles 1000 filters of 512 inputs take half as long on rpi3 with
// four registers as with two, and 0.63 times as long on rpi4; with eight 0.92 times as long again on rpi4 and 0.76 times on rpi5, but 1.16 times on rpi3.
func FloatLanes(t targets.Target, channels, w int) int {
	n, one, most := Lanes(t, channels, w), t.VectorBits/LaneBits, 8
	if t.InOrder {
		most = 4
	}
	for w == 1 && n >= 2*one && n < most*one && channels >= 2*n*MaxThreads {
		n *= 2
	}
	return n
}

// sumWait is how many operations others can do while a sum of floats waits for the one before.
const sumWait = 4
