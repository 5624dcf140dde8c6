// Package cost estimates what code costs on a target before there is any: which algorithm a layer should have (algorithm.go, products.go and tables.go,
// in times of its target), and which schedule a Func. The unit of schedules is an operation of a vector; loads of what lies
// in registers anyway, addresses and loops count nothing, so that their formulas compare ways to compute the same sums with
// each other, and say nothing about time.
package cost

import (
	"math"
	"slices"

	"ripc/targets"
)

// Layer is what the algorithms of a layer cost by.
type Layer struct {
	Outputs, Rows, Cols, Filters   int64 // positions of all pictures; rows and columns of one; output channels, those that only fill words included
	Taps, TapRows, Channels        int64 // of the window; rows of it; input channels that an output reads
	SpanRows, SpanCols             int64 // pixels of the input from the first to the last that a window reads
	Bordered                       int64 // columns of padding on both sides
	Words                          int64 // of 32 channels that hold those
	Steps                          int64 // of Quad channels that an output adds up as products of bytes, or of one where there are Groups
	ActivationPlanes, WeightPlanes int64
	Inputs                         int64 // elements of the input with its padding
	Windows                        int64 // elements that are added up, pixel by pixel and window by window, for what weights have beside their bytes
	Narrow                         int64 // of Steps, how many have products that 16 bits hold the sum of
	Levels                         int64 // thresholds that a sum is compared with; 0 where it leaves as it is
	Groups                         int64 // into which channels are cut, each output channel reading one; 0 counts as 1
	Pooled                         bool  // a pool takes the sums
	Strided                        bool  // neighbouring positions read pixels that are no neighbours
	GroupFilters                   int64 // how many read the same
	BlockFilters                   int64 // how many do where products of bytes take several groups as one, with weights of 0 between them
	Direct                         bool  // there are Groups, and each output channel reads the input channel of its number
	Band, ShortDots                bool  // products of bytes are of channels around that of the filter's number; their sums have 16 bits
	ShortLevels                    bool  // in which they are compared
	Bytes                          bool  // levels lie one a byte where the algorithm can read such
	Mean                           bool  // the mean of all positions is made of the sums, block by block of filters
	Short                          bool  // counts of words of 32 channels are compared with thresholds as they are, so that they may be as short as that allows
	Windowed                       bool  // all words of a window are neighbours in a copy of the input, which has one plane, as they are for the next position
	Dense                          []DenseWords
	Lanes                          LaneWords
	Window, Split                  WindowTable
}

// grouped reports whether output channels read different input channels.
func (l Layer) grouped() bool { return l.Groups > 1 }

// DenseWords is what words cost by that are made for each position, and hold all bits of a window.
type DenseWords struct {
	Bits          int   // of a word
	Words, Pieces int64 // of a group's window; that all groups' words are made of
	Whole         int64 // words of the window's pixels that are among them as they lie
	Rowwise       bool  // they are made for several positions at once
	Chosen        bool  // bits that no word has choose thresholds
}

// LaneWords is what words cost by that are made for each filter.
type LaneWords struct {
	Words, Sources int64 // of a filter in a pixel; words of the input that each is made of
	Merged         int64 // words of the window, where pixels share some
	Pixels         int64 // of the input with its padding
}

// WindowTable is what a table of the levels of all windows costs by, or two of the parts of windows.
type WindowTable struct {
	Bytes   int64
	Vectors int64 // of the levels of a window
	Planes  int64 // bits of the numbers that two tables have
	Pieces  int64 // that the bits of a window are put together of, 0 where they are a word of the input
	Copied  int64 // pixels of the copy of the input that has a border, or words of columns, 0 where there are none
}

// Estimate is a cost, in the unit of its target's SumCosts.
type Estimate float64

// WordChannels is the number of channels in a word whose bits are counted, and that of the filters in a block of sums.
const WordChannels = 32

// Popcount estimates sums of popcounts of words: a count for each pair of planes of each word.
func Popcount(t targets.Target, l Layer) Estimate {
	return popcounts(t, l, l.Taps*l.Words, counted(t, l, LaneBits)*windowShare(t, l), 1)
}

// windowShare is what words of windows cost that are counted at once, as a share of those that are counted one by one.
func windowShare(t targets.Target, l Layer) float64 {
	if !l.Windowed || l.Mean || l.Rows < 2 || l.Cols < targets.LeastWindowPositions || l.Filters%targets.WindowFilters != 0 {
		return 1
	}
	s := Sum{Rows: int(l.TapRows), Cols: int(l.Taps / l.TapRows), Words: int(l.Words)}
	if !t.CountsWindow(s.Rows, s.Cols, s.Words) {
		return 1
	}
	w := int(l.Cols)
	return CarryTree(s, Row{w, TreeTile(s, w)}) / Words(t, s, Row{w, 1})
}

// PopcountDense is Popcount of words of so many bits that are put together for each position of the output, number by number.
func PopcountDense(t targets.Target, l Layer, bits int) Estimate {
	d := l.Dense[slices.IndexFunc(l.Dense, func(d DenseWords) bool { return d.Bits == bits })]
	sums := denseWords(t, l, d)
	if d.Chosen && t.InOrder {
		sums += chosenRow * Estimate(l.Outputs)
	}
	return sums
}

// chosenRow is how long cores that work in order wait at a position for the address of the thresholds that its bits choose: 1x1, 3x3 and 5x5 layers of 1 to 25 channels by estimated cycles of rpi3. Others do not wait.
const chosenRow = 13

// denseWords estimates counts of the words of d.
func denseWords(t targets.Target, l Layer, d DenseWords) Estimate {
	bits := d.Bits
	c, shares, narrow := t.Sums(), t.WordShares(), t.NarrowWords()
	pieces, whole := float64(l.Outputs*l.ActivationPlanes*d.Pieces), float64(l.Outputs*l.ActivationPlanes*d.Whole)
	if l.Short {
		each, put := c.DenseWord+scattered(t, l, LaneBits), c.Piece
		switch bits {
		case 16:
			each, put = c.HalfWord, c.NarrowPiece
		case 8:
			each, put = c.ByteWord, c.NarrowPiece
		}
		return shortSums(t, l, d.Words, bits, each) + Estimate(put*pieces+c.Whole*whole)
	}
	piece := shares.Piece
	switch {
	case d.Rowwise && bits == WordChannels && shares.PieceRowwise > 0:
		piece = shares.PieceRowwise
	case d.Rowwise:
		piece = narrow.Piece
	}
	made := Estimate(c.Word * piece * (pieces + whole))
	if bits == WordChannels {
		level := narrow.Whole
		if l.grouped() {
			level = 1
		}
		return popcounts(t, l, d.Words, counted(t, l, LaneBits), level) + made
	}
	each := counted(t, l, bits) * narrow.Bit(bits, l.Channels%WordChannels == 0 && !l.grouped()) * float64(bits) / WordChannels
	n := float64(l.Outputs * fullVectors(t, l, bits) * d.Words * l.ActivationPlanes)
	return Estimate(n*each+streamed(t, l, d.Words*int64(bits)/8)+levels(c, l)*narrow.LevelOf(bits)) + made
}

// fullVectors is l's filters, and those that fill the last of vectors of words of so many bits, which take as long.
func fullVectors(t targets.Target, l Layer, bits int) int64 {
	lanes := int64(max(1, t.VectorBits/bits))
	return (l.Filters + lanes - 1) / lanes * lanes
}

// shortSums estimates counts of so many words of so many bits, each for one filter, whose sums are as short as they may be: the narrower these are, the more of them
// a vector compares with thresholds, and doubles for the next plane.
func shortSums(t targets.Target, l Layer, words int64, bits int, each float64) Estimate {
	c, filters := t.Sums(), l.Filters
	if bits < WordChannels {
		filters = fullVectors(t, l, bits)
	}
	n := float64(l.Outputs * filters * words * l.ActivationPlanes)
	sums := float64(l.Outputs*l.Filters) * float64(sumBits(words*int64(bits)*(1<<l.ActivationPlanes-1))) / 16
	return Estimate(n*each + streamed(t, l, words*int64(bits)/8) + sums*(c.ShortLevel*float64(l.Levels+1)+c.ShortPlane*float64(l.ActivationPlanes-1)))
}

// sumBits is how many bits a lane has that holds sums of that much, and one more.
func sumBits(most int64) int {
	switch {
	case most < math.MaxUint8:
		return 8
	case most < math.MaxUint16:
		return 16
	}
	return 32
}

// PopcountLanes is Popcount of words that each filter has for itself, made of Sources words of each pixel.
func PopcountLanes(t targets.Target, l Layer) Estimate {
	return popcounts(t, l, l.Taps*l.Lanes.Words, word(t, l)*t.WordShares().LaneWord, 1) + lanes(t, l)
}

// PopcountDenseLanes is PopcountLanes where words of several pixels become one.
func PopcountDenseLanes(t targets.Target, l Layer) Estimate {
	c := t.WordShares()
	merged := word(t, l) * c.Lane * float64(l.Outputs*l.ActivationPlanes*l.Filters*(2*l.Taps+l.Lanes.Merged))
	return popcounts(t, l, l.Lanes.Merged, word(t, l)*c.LaneWord, 1) + lanes(t, l) + Estimate(merged)
}

// lanes estimates what it takes to make each filter's words of a pixel: two operations a source, and a rotation.
func lanes(t targets.Target, l Layer) Estimate {
	pixels := float64(l.Lanes.Pixels*l.ActivationPlanes*l.Filters) * again(t, l)
	return Estimate(word(t, l) * t.WordShares().Lane * pixels * float64(l.Lanes.Words*(2*l.Lanes.Sources+4)))
}

// again is how often a row of the input is copied: blocks of rows of the output (as schedules share them out, see Rows) copy those
// that their windows reach.
func again(t targets.Target, l Layer) float64 {
	rows := int64(Rows(t, int(l.Rows), Any))
	return float64(rows+l.TapRows-1) / float64(rows)
}

// counted is what a word of so many bits costs for one filter, as one of 32 does but for what scattered adds.
func counted(t targets.Target, l Layer, bits int) float64 {
	c, each := t.Sums(), word(t, l)
	if l.WeightPlanes > 1 {
		each = c.PlaneWord + c.ExtraPlane*float64(l.WeightPlanes-2)
	}
	return each + scattered(t, l, bits)
}

// word is what a word of 32 channels costs for one filter, where weights have one plane. Sums of one plane take as long as short ones.
func word(t targets.Target, l Layer) float64 {
	if t.ShortSums && (l.Short || l.ActivationPlanes == 1) {
		return t.Sums().ShortWord
	}
	return t.Sums().Word
}

// scattered is what a word of so many bits costs beside that for one filter where filters read different ones: of groups that are no blocks of filters, as many filters as fill
// a part of a vector read the same word.
func scattered(t targets.Target, l Layer, bits int) float64 {
	lanes := int64(t.VectorBits / bits)
	if !l.grouped() || l.GroupFilters%max(WordChannels, lanes) == 0 {
		return 0
	}
	same := int64(1)
	for l.GroupFilters%(2*same) == 0 && 2*same <= lanes {
		same *= 2
	}
	c := t.WordShares()
	return word(t, l) * c.Scattered / math.Pow(float64(same), c.Alike)
}

// popcounts estimates counts of words, each for one filter, and comparisons of the sums, which cost that share of a Level unless they are short.
func popcounts(t targets.Target, l Layer, words int64, each, level float64) Estimate {
	if l.Short {
		return shortSums(t, l, words, WordChannels, each)
	}
	c := t.Sums()
	n := float64(l.Outputs * l.Filters * words * l.ActivationPlanes * l.WeightPlanes)
	e := n*each + streamed(t, l, words*WordChannels/8*l.WeightPlanes) + levels(c, l)*level
	if t.ShortSums && l.WeightPlanes == 1 { // elsewhere what it takes is part of a word
		e += c.LongPlane * float64(l.Outputs*l.Filters*l.TapRows*(l.ActivationPlanes-1))
	}
	return Estimate(e)
}

// streamed estimates what it takes to read the weights, so many bytes for each filter, once for each row of outputs:
// from farther away where a block of filters does not fit the second cache.
func streamed(t targets.Target, l Layer, perFilter int64) float64 {
	each := t.Sums().Byte
	if WordChannels*perFilter > int64(t.L2) {
		each = t.Sums().FarByte
	}
	return each * float64(l.Outputs/l.Cols) * float64(l.Filters*perFilter)
}

// levels estimates what makes levels of the sums, whatever these are.
func levels(c targets.SumCosts, l Layer) float64 {
	return c.Level * float64(l.Outputs*l.Filters*(l.Levels+1))
}
