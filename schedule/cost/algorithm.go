// Package cost estimates what code costs on a target before there is any: which algorithm a layer should have (algorithm.go,
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

// Float estimates sums in f32 over levels that are unpacked row by row.
func Float(t targets.Target, l Layer) Estimate {
	c := t.Sums()
	terms, unpack := multiplied(t, l, LaneBits, c.Fma, l.Direct, l.scattered(t, l.GroupFilters) || l.straddles())
	return Estimate(float64(l.Outputs*l.Filters*l.Taps*l.Channels)*terms + c.Unpack*unpack + streamed(t, l, 4*l.Taps*l.Channels) + levels(c, l))
}

// Dot estimates sums of products of bytes, four channels at once, over levels that are unpacked likewise.
func Dot(t targets.Target, l Layer) Estimate {
	c := t.Sums()
	op, scattered := c.Dot, l.BlockFilters < l.Groups*l.GroupFilters && l.scattered(t, l.BlockFilters) // vectors of all groups are of one, however many are left over
	if !scattered {
		op *= t.NarrowDot(l.Narrow)
	}
	bits, level := LaneBits, levels(c, l)
	switch {
	case l.ShortDots:
		op, bits, scattered = t.ShortDot(), 16, false
		if l.ShortLevels {
			level /= 2
		}
	case l.Band:
		op = t.DirectDot() * c.Fma
	}
	terms, unpack := multiplied(t, l, bits, op, l.Band, scattered)
	if l.grouped() && !l.Band {
		terms *= t.GroupedDot()
	}
	windows := c.Fma / 2 * float64(l.Windows) // by estimate for rpi5 0.1 to 0.4 of a cycle each, 2 where a pixel has few
	return Estimate(float64(l.Outputs*l.Filters*l.Steps)*terms + c.UnpackByte*unpack + windows + streamed(t, l, Quad*l.Steps) + level)
}

// Mean estimates the mean over all positions of l's floats by a stage of its own, which are written, read and added up.
func Mean(t targets.Target, l Layer) Estimate {
	c := t.Sums()
	return Estimate(float64(l.Outputs*l.Filters) * LaneBits / float64(max(LaneBits, t.VectorBits)) * (2*c.Load + c.Fma))
}

// scattered reports whether the lanes of a vector of sums of products read different channels, where so many filters read the same.
func (l Layer) scattered(t targets.Target, filters int64) bool {
	return l.grouped() && filters%max(1, int64(t.VectorBits/LaneBits)) != 0
}

// straddles reports whether words of filters are of several groups, not each group of several words or each word of whole groups: tiles of floats have words.
func (l Layer) straddles() bool {
	return l.grouped() && l.GroupFilters%WordChannels != 0 && WordChannels%max(1, l.GroupFilters) != 0
}

// Quad is the number of channels whose products with the weights of a filter are added up at once.
const Quad = targets.Quad

// multiplied is what a step of a filter's sum of so many bits costs where one vector of them takes op, and how many bits of levels are unpacked. Lanes read neighbouring channels (direct), one for all, or
// each one of its own (scattered).
func multiplied(t targets.Target, l Layer, bits int, op float64, direct, scattered bool) (terms, unpack float64) {
	c := t.Sums()
	lanes := float64(t.VectorBits) / float64(bits)
	vectors := WordChannels / lanes
	loads := c.Load * vectors
	if bits < LaneBits { // a load has the bytes of two vectors
		loads /= 2
	}
	positions := max(1, float64(int64((float64(t.Registers)-vectors-2)/vectors)))
	if l.Cols == 1 {
		positions = 1
	}
	twice := math.Ceil(float64(l.Cols)/positions) * positions / float64(l.Cols) // the last block of a row overlaps the one before
	step := (op*vectors*positions + loads + c.Position*positions + c.Step) / (WordChannels * positions)
	switch {
	case direct: // vectors of the input are loaded as those of the weights are
		step += loads / WordChannels
	case scattered: // each lane reads a channel of its own, one position after the other
		step, twice = op+c.Load+c.Position, 1
	}
	copies := again(t, l)
	if l.Rows == 1 {
		copies = float64(l.Filters) / WordChannels // each block of filters unpacks the input for itself
	}
	planes := l.ActivationPlanes
	if l.Bytes { // which are not taken apart
		planes = 1
	}
	return step * twice, float64(l.Inputs*planes) * copies
}

// Table estimates counts that are looked up for groups of so many channels. Each block of rows makes the tables of those that its
// windows reach. Of halves an entry is for two positions. Look-ups are summed in bytes as long as these hold the sums, and are then added to 16 bits.
func Table(t targets.Target, l Layer, bits int, reach targets.Reach) Estimate {
	if reach == targets.Across {
		return tableAcross(t, l, bits)
	}
	e := table(t, l, bits, reach)
	if l.mayMerge(t, reach) {
		e = min(e, table(t, l.merged(), bits, reach))
	}
	return e
}

// table is Table of one position, or of both halves of a row, whose filters look up in the tables of their groups.
func table(t targets.Target, l Layer, bits int, reach targets.Reach) Estimate {
	c, halves := t.Sums(), reach == targets.BothHalves
	layers := max(1, l.Groups)
	g := GroupsOf(int(l.Channels*layers), bits)
	kind := t.Lookups(bits, reach)
	made, groups := int64(g.Chunks*g.PerChunk), int64(l.lookedUp(t, bits, reach))
	length, run := Runs(int(MaxByte/(int64(bits)*(1<<l.ActivationPlanes-1))), int(groups), int(l.Taps/l.TapRows))
	widened := math.Ceil(float64(groups)/float64(run)) / float64(max(1, groups)) // times that bytes are added to sums, for each look-up
	wide, inByte := l.wide(groups, int64(bits)), l.inByte(groups, int64(bits))
	switch {
	case kind.Wide > 0 && wide: // or as often as an instruction reads and writes its sums
		widened = 1 / float64(min(wideRun, groups&-groups))
	case run < length:
		widened *= float64(run) / float64(length) // for the taps of a row together
	}
	each, lanes := kind.Lookup+kind.Widen*widened, l.sameTables(kind.Lanes)
	switch {
	case lanes < kind.Least || l.Mean && !kind.Mean || inByte && l.Filters%WordChannels != 0: // no instruction fits, or sums leave one by one
		each = kind.One
	case kind.Loose > 0 && inByte: // which need no widening, in LLVM's order
		each = 2 * kind.Lookup
	case kind.Loose > 0 && !wide: // none for several positions
		each = kind.Loose / float64(t.VectorBits/8)
	case lanes < kind.Lanes:
		each *= kind.Fewer * float64(max(1, t.VectorBits/8/lanes))
	}
	outputs := l.Outputs
	if halves {
		outputs += outputs / l.Cols * (l.Cols % 2)
		if l.Strided || l.Mean || l.Levels == 0 || l.Filters%WordChannels != 0 || groups%8 != 0 || l.Taps*groups*MaxHalf < MaxByte { // no instruction looks up a run of groups, or sums leave one by one
			each = kind.One
		}
	}
	rows := int64(TableRows(t, int(l.Rows), int(l.TapRows)))
	if l.Mean {
		rows = 1
	}
	twice := float64(rows+l.TapRows-1) / float64(rows) // rows that two blocks of rows read
	tables := float64(l.Inputs/max(1, l.Channels*layers)*made) * twice * (kind.Table + kind.Plane*float64(l.ActivationPlanes))
	sums := kind.Sum * float64(l.Outputs*l.Filters)
	return Estimate(float64(outputs*l.Filters*l.Taps*groups)*each + sums + tables + streamed(t, l, l.Taps*groups) + levels(c, l)*kind.Level)
}

// wide reports whether instructions look up runs of groups of so many channels for several positions, and add to sums of 16 bits (isa.LookUpRow).
func (l Layer) wide(groups, bits int64) bool {
	const filters = 32                                                             // at least
	whole := groups%8 == 0 || groups == 4 && l.Channels*max(1, l.Groups) <= 4*bits // the tables of a word are made together
	return whole && l.sameTables(filters) == filters && l.Cols > 1 && !l.Pooled && !l.Mean && !l.inByte(groups, bits)
}

// wideRun is how many groups such an instruction takes at most, a power of two.
const wideRun = 16

// inByte reports whether a byte holds what so many groups of channels count at all taps.
func (l Layer) inByte(groups, bits int64) bool {
	return l.Taps*groups*bits*(1<<l.ActivationPlanes-1) <= MaxByte
}

// sameTables is how many filters, a power of two up to most, look up in the same tables, block by block.
func (l Layer) sameTables(most int) int {
	same := l.Filters
	if l.grouped() {
		same = l.GroupFilters
	}
	for n := most; n > 1; n /= 2 {
		if same%int64(n) == 0 {
			return n
		}
	}
	return 1
}

// MaxHalf is the largest count of two that an entry has, half a byte each.
const MaxHalf = 1<<HalfBits - 1

// HalfBits is the width of such a count.
const HalfBits = 4

// TableWindow estimates levels that are looked up for whole windows.
func TableWindow(t targets.Target, l Layer) Estimate {
	c := t.WindowLookups()
	return windows(t, l, l.Window, c.Window)
}

// TableWindowSplit estimates numbers that are looked up for two parts of windows, and compared.
func TableWindowSplit(t targets.Target, l Layer) Estimate {
	c := t.WindowLookups()
	return windows(t, l, l.Split, 2*c.Window+c.Number*float64(l.Split.Vectors*l.Split.Planes))
}

// windows estimates what w has for each window that is found by its bits, at so much a position beside levels.
func windows(t targets.Target, l Layer, w WindowTable, find float64) Estimate {
	c := t.WindowLookups()
	each := find + c.Vector*float64(w.Vectors) + c.Piece*float64(w.Pieces*l.ActivationPlanes)
	if w.Bytes > int64(t.L1/2) {
		each += c.Far
	}
	return Estimate(float64(l.Outputs)*each + c.Copy*float64(w.Copied*l.ActivationPlanes)*again(t, l))
}

// MeanFilters is how many filters of a layer that writes the mean of all positions a thread looks up, one after the other, in the tables of a row, where these come from the second cache:
// with fewer, which more threads could share, it reads them again more often.
const MeanFilters = 512

// TablePositions is how many positions have registers for sums of bytes, of so many registers of filters each, beside the entries that
// are looked up, and what is looked up or a temporary.
func TablePositions(t targets.Target, filters int) int {
	return max(1, min(MaxPositions, (t.Registers-filters-max(filters+2, underWay(t)))/filters))
}

// ResidentPositions is how many positions have registers for sums of all filters, where the entries that these look up fill no more than half of the registers, and so stay
// there from one tile to the next; 0 where they do not. Cores that work in order wait for loads of entries. Sums have to be bytes; outputs of
// three planes and more compare them with so many thresholds that two positions are written out. By estimated cycles of rpi3, 1x1 layers of 16 channels, 64 filters and 2 bits take 11 to 15 % less at three positions of four registers than
// with halves of the filters at eight; at four positions, as TablePositions allows, 5 to 15 % less. Those of 8 to 16 channels, 48 and 64 filters and 3 bits take 8 to 30 % less at two positions than at seven or eight.
func ResidentPositions(t targets.Target, s Sum, filters, bits, planes int) int {
	registers := Vectors(t, filters, 8)
	entries := s.Terms() * registers
	switch {
	case !t.InOrder || bits > 8 || entries > t.Registers/2:
		return 0
	case planes > 2:
		return 2
	}
	return max(1, min(MaxPositions, (t.Registers-entries-registers)/registers))
}

// KeptPositions is how many positions have registers for all sums of so many filters, of so many bits, and, unless these are bytes, for the
// bytes that are added to them, beside entries, a table, a mask and a temporary.
func KeptPositions(t targets.Target, filters, bits int) int {
	sums := Vectors(t, filters, 8)
	free := t.Registers - sums
	if bits > 8 {
		free -= 3
		sums += Vectors(t, filters, bits) // which nothing is looked up for
	} else {
		free -= max(3, underWay(t))
	}
	return max(1, min(MaxPositions, free/sums))
}

// RoomyPositions is how many of KeptPositions there are best, of sums wider than bytes, on cores that work in order: as many as leave registers for what is under way, or, where the taps of a row
// are written out, with a run of groups at each, for all the tables and entries of a row of taps as well; as many as there are if that is less than two. By estimated cycles of rpi3, 3x3 layers of 12 and 16 channels and
// 2 and 3 bits take 4 to 12 % less with three positions of two registers of filters than with four, and one of 8 channels and 3 bits 10 % less with two.
func RoomyPositions(t targets.Target, filters, bits, run, taps, most int) int {
	if !t.InOrder || bits <= 8 {
		return most
	}
	entries := Vectors(t, filters, 8)
	sums := entries + Vectors(t, filters, bits)
	n := (t.Registers - entries - underWay(t)) / sums
	if taps > 1 {
		if all := (t.Registers - run*(taps-1) - run*taps*entries) / (run + sums); all > 1 {
			n = all
		}
	}
	if n < 2 {
		return most
	}
	return min(n, most)
}

// underWay is how many registers are for what is looked up and waits to be added, and for temporaries. Cores that work in order wait for each look-up, so that LLVM puts
// others in between: without registers for these it spills sums. By estimated cycles of 3x3 layers of 48 and 64 channels on rpi3, tiles of 10 to 13
// positions of two registers take 1.1 to 2.4 times as long as those of 7.
func underWay(t targets.Target) int {
	if t.InOrder {
		return t.Registers * 3 / 8
	}
	return 0
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
