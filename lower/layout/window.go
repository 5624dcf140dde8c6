package layout

import (
	"fmt"
	"math"

	"ripc/graph"
	"ripc/targets"
)

// Counted is the kind of words that represent a window; a filter reads KH*KW pixels of GroupIn
// channels.
type Counted struct {
	// Dense says that words are made for each position of the output and shared by the filters of
	// a group. The window's bits lie in them one behind the other; whole words of pixels, of layers
	// without groups, come first. Else words are those of the window's pixels as they lie in
	// memory, and a group of channels has whole words.
	Dense bool
	// Bits is WordBits, or less of Dense words, so that few bits fill them; a vector then holds
	// more filters.
	Bits int
}

// Suffix is the end of the names of algorithms and Funcs that count words of c.
func (c Counted) Suffix() string {
	switch {
	case !c.Dense:
		return ""
	case c.narrow():
		return fmt.Sprintf("_dense%d", c.Bits)
	}
	return "_dense"
}

// narrow says that c's words have fewer bits than those of pixels.
func (c Counted) narrow() bool { return c.Bits < WordBits }

// algorithm is the row of the algorithm that counts words of c.
func (c Counted) algorithm() algorithm {
	return algorithm{name: "popcount" + c.Suffix(), counts: true, lacks: c.lacks,
		layOut: func(f *graph.FusedConv, x *graph.Value, t targets.Target) Accumulation {
			k := newCounts(f, x, c, t)
			k.Rowwise = c.rowwise(f, t)
			return k
		}}
}

// WordsOfSum returns the number of words that are counted for a sum of f, of each plane.
func (c Counted) WordsOfSum(f *graph.FusedConv) int {
	rows, cols, words := c.extent(f)
	return rows * cols * words
}

// lacks says why the sums of f over x are no counts of words of c; "" where they are.
func (c Counted) lacks(f *graph.FusedConv, x *graph.Value) string {
	in, taps, grouped := f.GroupIn(), f.KH*f.KW, f.GroupCount() > 1
	switch {
	case !x.Encoded():
		return realNumbers
	case f.SumBound() > math.MaxInt32, corrected(f) && f.SumBound() > math.MaxInt32/2:
		return fmt.Sprintf("its counts may reach %d, more than 32 bits hold", f.SumBound())
	case !c.Dense && grouped && in%WordBits != 0:
		return "its groups do not have words of their own"
	case c.narrow() && len(cutOf(f).coefs) > 1:
		return fmt.Sprintf("its weights have %d planes", len(cutOf(f).coefs))
	case c.narrow() && grouped && f.GroupOut()%WordBits != 0:
		return "its groups are no blocks of filters"
	case c.narrow() && cutOf(f).ones:
		return "its weights are 0 and 1"
	case c.narrow() && c.maxPlaneCount(f, x.Bits) >= 1<<c.Bits-1:
		return fmt.Sprintf("its counts may reach %d, more than %d bits hold", c.maxPlaneCount(f, x.Bits), c.Bits)
	case c.Bits == 16 && Counted{Dense: true, Bits: 8}.lacks(f, x) == "":
		return "8 bits hold its counts"
	case c.Dense && !c.narrow() && in%WordBits == 0:
		return "its channels fill words"
	case c.Dense && !c.narrow() && taps == 1 && !grouped:
		return "its windows are single pixels"
	case c.Dense && (c.pieces(f) > maxPieces || (!grouped || f.Pool != nil) && c.pieces(f) > fewPieces):
		return tooMuchCode
	case c.largest(f, x.Bits) > math.MaxInt32:
		return fmt.Sprintf("its counts may reach %d, more than 32 bits hold", c.largest(f, x.Bits))
	}
	return ""
}

// corrected reports whether f's counts are corrected at the borders of pictures, by as much as they
// are.
func corrected(f *graph.FusedConv) bool {
	return f.Epilogue.Border != nil || f.Pad.Any() && !f.X.Has(f.PadValue)
}

// maxPlaneCount returns the largest count of planes of the input by the words.
func (c Counted) maxPlaneCount(f *graph.FusedConv, planes int) int {
	return min(c.WordsOfSum(f)*c.Bits, math.MaxInt32) * (1<<planes - 1)
}

// largest returns the largest count of all planes by interval analysis, which gives each plane of
// weights the largest factor.
func (c Counted) largest(f *graph.FusedConv, planes int) int64 {
	most := int32(0)
	coefs := cutOf(f).coefs
	for _, v := range coefs {
		most = max(most, v, -v)
	}
	return int64(c.maxPlaneCount(f, planes)) * int64(len(coefs)) * int64(most)
}

// rowwise returns Counts.Rowwise for target t: pixels of one word, with neighbouring positions that
// read neighbours or every other pixel. 32-bit words without columns are contiguous for a position,
// unless t broadcasts loads.
func (c Counted) rowwise(f *graph.FusedConv, t targets.Target) bool {
	return c.Dense && Words(f.In) == 1 && f.SW <= 2 && (c.narrow() || t.BroadcastLoads() || c.Columns(f))
}

// OnePixel says that windows of f are pixels as they lie in memory.
func OnePixel(f *graph.FusedConv) bool { return f.KH*f.KW == 1 && !f.Pad.Any() }

// parted says that words of c are parts of one word that has all bits of a window, or, where
// windows are pixels, of the input's.
func (c Counted) parted(f *graph.FusedConv) bool {
	return c.Dense && c.narrow() && f.GroupCount() == 1 && f.Products() <= WordBits
}

// inParts reports whether t reads parts of words. In-order cores wait for the instructions that cut
// a word, so they do it only for fewer counted words.
func (c Counted) inParts(f *graph.FusedConv, x *graph.Value, t targets.Target) bool {
	return c.parted(f) && (!t.InOrder || c.residualBits(f, x) > 0)
}

// residualBits is how many bits of a window of f are left over by whole words of c, where they are
// few and choose thresholds instead of being counted: a word less is read and counted, and no
// threshold more read than would be. Those of several levels that are the same for all positions
// stay in registers if nothing chooses them.
func (c Counted) residualBits(f *graph.FusedConv, x *graph.Value) int {
	if !c.parted(f) || x.Bits > 1 || f.Products() < c.Bits || !comparesCounts(f, x) {
		return 0
	}
	n, levels := f.Products()%c.Bits, len(f.Epilogue.Thresholds)
	classes := 1
	if corrected(f) {
		classes = classesOf(f, x).Count()
	}
	if levels > 1 && classes == 1 || levels*classes<<n > maxClassed {
		return 0
	}
	return n
}

// WholeWords is how many words of each pixel of the window are words of Dense as they lie in
// memory.
func (c Counted) WholeWords(f *graph.FusedConv) int {
	if !c.Dense || c.narrow() || f.GroupCount() > 1 {
		return 0
	}
	return f.In / WordBits
}

// pieces returns the number of Pieces. For words of columns it is the number of columns of each
// window; if these are too many, it is above maxPieces. Words with c's as parts take as long as
// those would: they wait for loads.
func (c Counted) pieces(f *graph.FusedConv) int {
	if f.GroupCount()*f.KH*f.KW > maxPieces {
		return maxPieces + 1
	}
	n := 0
	if c.Columns(f) {
		n = f.KH * f.SW
	}
	for _, word := range c.Pieces(f) {
		n += len(word)
	}
	return n
}

// maxPieces bounds the pieces of dense words, which have separate code. fewPieces is the bound for
// layers without groups, since whole words of pixels give their sums as well, and for pools, since
// their windows are unrolled.
const (
	maxPieces = 192
	fewPieces = 128
)

const tooMuchCode = "it would take too much code"

// Columns says that words of Dense are made of words of columns: of the bits of KH pixels that
// stand one above the other, which a row's windows share where they overlap. So a word is made of
// KW parts and not of KH*KW, and of those of neighbouring columns, where steps of 2 take each other
// one.
func (c Counted) Columns(f *graph.FusedConv) bool {
	return c.Dense && f.GroupCount() == 1 && f.KH > 1 && f.KW > f.SW && f.KH*f.In <= WordBits
}

// parts is of how many parts of a window the words of Dense are made, pixels or columns, and of how
// many bits of each.
func (c Counted) parts(f *graph.FusedConv) (n, bits int) {
	if c.Columns(f) {
		return f.KW, f.KH * f.In
	}
	return f.KH * f.KW, f.GroupIn()
}

// Piece is where a part of a dense word is from: bits Mask of a word of a pixel of the window, or
// of that of a column, shifted left, or, where Shift is below 0, right.
type Piece struct {
	Part, Word int // Part is a tap of the window, or one of Columns
	Shift      int
	Mask       uint32 // all bits where the word has no others that are kept
}

// Pieces returns the pieces of Dense words that are no whole words of a pixel, [groups, words of a
// group].
func (c Counted) Pieces(f *graph.FusedConv) [][]Piece {
	first := c.WholeWords(f) * WordBits
	parts, n := c.parts(f)
	all := n * f.GroupCount() // bits of a part, of all groups
	n -= first
	words := ceilDiv(parts*n, c.Bits)
	out := make([][]Piece, f.GroupCount()*words)
	for g := range f.GroupCount() {
		for part := range parts {
			for ch := 0; ch < n; {
				from, to := first+g*n+ch, part*n+ch
				size := min(n-ch, WordBits-from%WordBits, c.Bits-to%c.Bits)
				p := Piece{Part: part, Word: from / WordBits, Shift: to%c.Bits - from%WordBits,
					Mask: bitRange(to%c.Bits, size)}
				if has := shifted(bitRange(0, min(WordBits, all-p.Word*WordBits)), p.Shift) & bitRange(0,
					c.Bits); has == p.Mask {
					p.Mask = allBits
				}
				q := g*words + to/c.Bits
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

// extent returns the size of f's reduction: rows and columns of pixels, and words of each.
func (c Counted) extent(f *graph.FusedConv) (rows, cols, words int) {
	taps, in := f.KH*f.KW, f.GroupIn()
	if c.Dense {
		whole := c.WholeWords(f)
		return 1, 1, taps*whole + ceilDiv(taps*(in-whole*WordBits), c.Bits)
	}
	return f.KH, f.KW, Words(in)
}

// place is the word, of all that f's sums add up, and the bit in it that channel ch of its group
// has in pixel tap of a window.
func (c Counted) place(f *graph.FusedConv, tap, ch int) (word, bit int) {
	taps, in := f.KH*f.KW, f.GroupIn()
	switch whole := c.WholeWords(f); {
	case c.Dense && ch < whole*WordBits:
		return tap*whole + ch/WordBits, ch % WordBits
	case c.Dense:
		if c.Columns(f) {
			tap = tap%f.KW*f.KH + tap/f.KW
		}
		i := tap*(in-whole*WordBits) + ch - whole*WordBits
		return taps*whole + i/c.Bits, i % c.Bits
	}
	return tap*Words(in) + ch/WordBits, ch % WordBits
}
