package layout

import (
	"fmt"
	"math"

	"ripc/graph"
	"ripc/internal/enum"
	"ripc/targets"
)

// Window is which words of 32 bits stand for a window of the input, of which a filter reads KH*KW pixels of GroupIn channels.
type Window uint8

const (
	// Pixels: the words of the window's pixels as they lie in memory; a group of channels has whole words.
	Pixels Window = iota
	// Dense: words that are made for each position of the output and shared by the filters of a group, in which the window's bits
	// lie one behind the other; whole words of pixels, of layers without groups, come first.
	Dense
	// Lanes: words that are made for each pixel and filter, and begin with the first channel of the filter's group.
	Lanes
	// DenseLanes: words of Lanes, of several pixels each, that are made for each position of the output and filter.
	DenseLanes
)

func windowNames() []string { return []string{"", "dense", "lanes", "dense_lanes"} }

// String is what tells w from Pixels in names.
func (w Window) String() string { return enum.Name(windowNames(), w) }

// algorithm is the name of the algorithm that counts words of w.
func (w Window) algorithm() string {
	if w == Pixels {
		return "popcount"
	}
	return "popcount_" + w.String()
}

// windowOf is what an algorithm counts that counts words.
func windowOf(by Algorithm) Window { return Window(by - Popcount) }

// Counts reports whether algorithm a counts words.
func (a Algorithm) Counts() bool { return a >= Popcount && a <= PopcountDenseLanes }

// lacks says why the sums of f over x are no counts of words of w; "" where they are.
func (w Window) lacks(f *graph.FusedConv, x *graph.Value) string {
	in, taps, grouped := f.GroupIn(), f.KH*f.KW, f.GroupCount() > 1
	switch {
	case !x.Encoded():
		return realNumbers
	case f.SumBound() > math.MaxInt32:
		return fmt.Sprintf("its counts may reach %d, more than 32 bits hold", f.SumBound())
	case w == Pixels && grouped && in%WordBits != 0:
		return "its groups do not have words of their own"
	case w == Dense && in%WordBits == 0:
		return "its channels fill words"
	case w == Dense && taps == 1 && !grouped:
		return "its windows are single pixels"
	case w == Dense && pieces(f) > maxPieces:
		return "it would take too much code"
	case (w == Lanes || w == DenseLanes) && !grouped:
		return "it has no groups"
	case w == DenseLanes && (2*in > WordBits || taps == 1):
		return "a word does not hold the channels of two pixels"
	}
	return ""
}

// across is Counts.Across for target t: pixels of one word, of which neighbouring positions read neighbours or every other one.
func across(f *graph.FusedConv, t targets.Target) bool {
	return Words(f.In) == 1 && f.SW <= 2 && t.WordShares().PieceAcross > 0
}

// pieces is how many Pieces there are, or, if these are too many, a number above maxPieces.
func pieces(f *graph.FusedConv) int {
	if f.GroupCount()*f.KH*f.KW > maxPieces {
		return maxPieces + 1
	}
	n := 0
	for _, word := range Pieces(f) {
		n += len(word)
	}
	return n
}

// maxPieces bounds the pieces of dense words, each of which has its own code.
const maxPieces = 128

// Piece is where a part of a dense word is from: bits Mask of a word of a pixel of the window, shifted left, or, where Shift is
// below 0, right.
type Piece struct {
	Tap, Word int
	Shift     int
	Mask      uint32 // all bits where the word has no others
}

// Pieces are what the words of Dense are made of that are no words of a pixel, [groups, words of a group].
func Pieces(f *graph.FusedConv) [][]Piece {
	n, first := f.GroupIn(), 0
	if f.GroupCount() == 1 {
		first = n / WordBits * WordBits
		n -= first
	}
	words := Words(f.KH * f.KW * n)
	out := make([][]Piece, f.GroupCount()*words)
	for g := range f.GroupCount() {
		for tap := range f.KH * f.KW {
			for ch := 0; ch < n; {
				from, to := first+g*n+ch, tap*n+ch
				size := min(n-ch, WordBits-from%WordBits, WordBits-to%WordBits)
				p := Piece{Tap: tap, Word: from / WordBits, Shift: to%WordBits - from%WordBits, Mask: bitRange(to%WordBits, size)}
				if has := shifted(bitRange(0, min(WordBits, f.In-p.Word*WordBits)), p.Shift); has == p.Mask {
					p.Mask = allBits
				}
				q := g*words + to/WordBits
				out[q] = append(out[q], p)
				ch += size
			}
		}
	}
	return out
}

const allBits = 1<<WordBits - 1

// bitRange has n bits set, from bit first on.
func bitRange(first, n int) uint32 { return uint32((1<<n - 1) << first) }

// shifted is w shifted left, or, by less than 0, right.
func shifted(w uint32, by int) uint32 {
	if by < 0 {
		return w >> -by
	}
	return w << by
}

// LaneWords are how the words of Lanes are made: word j of filter o is, rotated right by Rotate[o] bits, the bits Masks[j, u, o] of
// the words LaneBase(o)+u of the pixel, for u from 0 to Sources-1.
type LaneWords struct {
	Words, Sources int
	Masks          []uint32 // [Words, Sources, Out]
	Rotate         []uint32 // [Out]
}

// LaneBase is the first word of a pixel that the 32 filters of o's output word read.
func LaneBase(f *graph.FusedConv, o int) int {
	return o / WordBits * WordBits / f.GroupOut() * f.GroupIn() / WordBits
}

// lanesOf is LaneWords without what filters differ in.
func lanesOf(f *graph.FusedConv) *LaneWords {
	in := f.GroupIn()
	l := &LaneWords{Words: Words(in)}
	for o := range f.Out {
		l.Sources = max(l.Sources, ((o/f.GroupOut()+1)*in-1)/WordBits-LaneBase(f, o)+1)
	}
	return l
}

func laneWords(f *graph.FusedConv) *LaneWords {
	in, l := f.GroupIn(), lanesOf(f)
	l.Rotate = make([]uint32, f.Out)
	for o := range f.Out {
		l.Rotate[o] = uint32(o / f.GroupOut() * in % WordBits)
	}
	l.Masks = make([]uint32, l.Words*l.Sources*f.Out)
	for o := range f.Out {
		for ch := range in {
			bit := o/f.GroupOut()*in + ch
			u := bit/WordBits - LaneBase(f, o)
			l.Masks[(ch/WordBits*l.Sources+u)*f.Out+o] |= 1 << (bit % WordBits)
		}
	}
	return l
}

// PixelsPerWord is the number of pixels that a word of DenseLanes holds bits of.
func PixelsPerWord(f *graph.FusedConv) int { return min(WordBits/f.GroupIn(), f.KH*f.KW) }

// extent is the size of what f's sums add up over: rows and columns of pixels, and words of each.
func (w Window) extent(f *graph.FusedConv) (rows, cols, words int) {
	taps, in := f.KH*f.KW, f.GroupIn()
	switch {
	case w == Dense && f.GroupCount() == 1:
		return 1, 1, taps*(in/WordBits) + Words(taps*(in%WordBits))
	case w == Dense:
		return 1, 1, Words(taps * in)
	case w == DenseLanes:
		n := PixelsPerWord(f)
		return 1, 1, (taps + n - 1) / n
	}
	return f.KH, f.KW, Words(in)
}

// place is the word, of all that f's sums add up, and the bit in it that channel ch of its group has in pixel tap of a window.
func (w Window) place(f *graph.FusedConv, tap, ch int) (word, bit int) {
	taps, in := f.KH*f.KW, f.GroupIn()
	switch whole := in / WordBits; {
	case w == Dense && f.GroupCount() == 1 && ch < whole*WordBits:
		return tap*whole + ch/WordBits, ch % WordBits
	case w == Dense && f.GroupCount() == 1:
		i := tap*(in%WordBits) + ch%WordBits
		return taps*whole + i/WordBits, i % WordBits
	case w == Dense:
		i := tap*in + ch
		return i / WordBits, i % WordBits
	case w == DenseLanes:
		n := PixelsPerWord(f)
		return tap / n, tap%n*in + ch
	}
	return tap*Words(in) + ch/WordBits, ch % WordBits
}
