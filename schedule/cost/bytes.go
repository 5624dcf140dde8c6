package cost

import (
	"slices"

	"ripc/targets"
)

// MaxBytes is how many counts of 8 bits fit in one.
const MaxBytes = 31

// MaxStarts is the number of positions of a row whose sums are set one after the other. It has not been measured against its
// neighbours.
const MaxStarts = 8

// MaxWidth is the number of positions up to which tiles can be tried, whatever the default is. It bounds the search alone.
const MaxWidth = 16

// MaxRow is the longest row whose sums are all kept until its output is written, so that its last tile can be narrower.
const MaxRow = 32

// CopiedAtOnce is how many words of a row of the padded input are copied together, where each is kept four times.
const CopiedAtOnce = 8

// At is the loop of which an iteration sums in lanes of 8 bits, which are then added to 16.
type At int

// The loops.
const (
	AtWords At = iota // all taps of a group of words
	AtRow             // a row of taps
	AtTap             // one tap
)

// Bytes is the cost of a row that is counted in lanes of bytes. A word costs little less than with a count of words; what it
// saves beyond a number of words, breakEven, is taken to be half an operation,
// which only the comparison with Words depends on. Ordered rows of taps are those of TileRows.
func Bytes(t targets.Target, s Sum, r Row, vectors int, ordered bool) float64 {
	if s.Bits < LaneBits && !t.InOrder || LoadsAhead(t, s) { // the last tile of words overlaps the one before, and tiles of short sums are wide
		r.Tile = 1
	}
	saved := 0.5*(float64(s.Terms()-breakEven(t, s, r, vectors, ordered))+0.5) - widened(t, s, r)
	return Words(t, s, r) - float64(r.positions())*saved
}

// widened is what it takes to add bytes to lanes of 16 bits, and these to the sums in the end, where a pixel's words are summed in several
// parts, and no taps beside them. Short sums and dot products add up the bytes of a word in one operation, so that counting words gains
// nothing by fewer of these; a position that is alone has loads of weights for itself, and waits for them. By estimated cycles of 1x1 and
// dense layers of 512 to 4096 channels and of windows of 34 to 37 words that are put together, on cores with 32 registers, where sums of words go over memory.
func widened(t targets.Target, s Sum, r Row) float64 {
	words, at := ByteSteps(t, s)
	parts := float64(s.Words / words)
	switch {
	case s.Rows*s.Cols > 1 || at != AtWords || parts == 1 || t.Registers < 32:
		return 0
	case r.Width > 1 && (s.Bits < LaneBits || t.CountOps < 2):
		return 12 * parts
	}
	return 3 * parts
}

// breakEven is the number of words for which widening costs less than counting bytes saves. Measured in 2026 on layers of
// SqueezeNet, as instructions of three boards under qemu (ripc bench MODEL --target T --json). Where counts of bytes are
// added up by dot products, words save most of it as well, the more so with few registers of filters; with 16 registers and planes, more sums go over memory, in order (1x1 layers of 32 to 128 channels) less than by the instructions that were counted first. On a core
// that waits for its operands (estimated cycles of rpi3, go run ./examples/costs gap), tiles of bytes have too few words of a pixel to fill the time with.
// Short sums (see targets.Target) make both cheaper, words more, but for those of planes: by estimated cycles of the same layers on rpi3, rpi4 and rpi5.
// Where they are of windows, halves of bytes are added up before they are widened (Halves): by those of 3x3 layers of 64 channels on rpi5.
// Words that lie one behind the other, of pixels or of windows that are put together, have all they need in registers where a tile has several positions, so that short sums of them gain nothing by
// bytes on cores in order, which wait for these, where words are no pairs, and where dot products add up. By estimated cycles of 1x1 layers of 64 to 1024 channels and of 3x3 windows of 16 to 95 that are
// put together, counts of words take 3 to 29 % less on rpi3, 4 to 14 % on rpi4 and 3 to 19 % on rpi5.
func breakEven(t targets.Target, s Sum, r Row, vectors int, ordered bool) int {
	switch {
	case s.Bits < LaneBits && s.Rows*s.Cols == 1 && r.Width > 1 && (t.InOrder || s.Words%2 > 0 || t.CountOps < 2 && s.Words > 2):
		return MaxBytes
	case ordered: // 3x3 layers of 64 channels gain, those of 32 channels take 7 % more
		return 17
	case LoadsAhead(t, s) && !s.Planes: // and SqueezeNet's layers of 64 channels have fewer positions in lanes of bytes
		return 22
	case s.Bits < LaneBits && t.InOrder:
		return 17
	case s.Bits < LaneBits/2:
		return 2
	case s.Bits < LaneBits && (t.CountOps > 1 || s.Planes):
		return 8
	case s.Bits < LaneBits && s.Rows > 1:
		return 12
	case t.CountOps < 2 && (s.Rows > 1 || vectors < 4):
		return 27
	case t.CountOps < 2:
		return 12
	case s.Planes && t.Registers < 32 && t.InOrder:
		return 4
	case s.Planes && t.Registers < 32:
		return 6
	case t.InOrder && t.Registers >= 32 && s.Rows*s.Cols == 1:
		return 6
	}
	return 2
}

// fewWords is the number of words of a row of taps whose weights have addresses in registers, and which are written out.
// Measured like breakEven.
const fewWords = 12

// Few reports whether so many words at each tap of a row are few enough to be written out.
func (s Sum) Few(words int) bool { return words*s.Cols <= fewWords }

// InlineWords reports whether all words of a tap that are summed in bytes are written out, in a layer of so many positions. LLVM then loads all weights before the loop over
// tiles, and spills them, which costs cores nothing that find an order by themselves, while a loop makes them wait for its sums; where there is but one position, there
// are no tiles to load them before. By estimated cycles of 1x1 layers of 256 to 512 channels and 1 to 3 bits on rpi4 and rpi5, which take 1 to 12 % less, and of dense
// layers of 512 channels on rpi3 and rpi4, which take 31 and 18 % less. Cores that work in order take up to 4 % more for tiles; fewer registers have not been tried.
func InlineWords(t targets.Target, positions int) bool {
	return t.Registers >= 32 && (!t.InOrder || positions == 1)
}

// InlinePlanes is InlineWords for the planes around few words of a tap: loops over these are most of what there is to do. By estimated cycles of rpi4 and rpi5, 1x1 layers of 64
// channels and 2 bits take 9 and 10 % less, and those of 128 channels and 3 bits 5 %; of 256, 7 to 16 % more.
func InlinePlanes(t targets.Target, s Sum) bool {
	return InlineWords(t, 2) && s.Rows*s.Cols == 1 && s.Words <= 4
}

// Halves reports whether two lanes of bytes, of so many words each, fit one: they are added up before anything is widened, so that sums of
// 16 bits take half of the additions, and of the memory.
func (s Sum) Halves(steps int) bool { return s.Bits < LaneBits && 2*steps <= MaxBytes }

// ByteSteps chooses how many words are summed in lanes of 8 bits before these are added to 16, by what that costs a step:
// adding the lanes up, and setting them, which is free where the first words' counts can do it. Cores that find an order by themselves have
// few ports for additions that widen and for stores, of which a burst takes as long as both halves' additions of bytes; by estimated cycles of
// 3x3 layers of 256 and 512 channels on rpi4 and rpi5, which take 0.8 to 3.8 % less by runs of 12 words than by 24, and 4 % more on rpi3.
func ByteSteps(t targets.Target, s Sum) (words int, at At) {
	least := 1e30
	for n := 1; n <= s.Words; n++ {
		if s.Words%n != 0 {
			continue
		}
		for _, l := range []struct {
			at     At
			instrs float64
		}{{AtWords, 3}, {AtRow, 1}, {AtTap, 1}} {
			if l.at == AtWords && n == s.Words {
				l.instrs = 1.5 // the sums stay in registers
			}
			steps := l.at.Steps(s, n)
			if s.Bits < LaneBits && s.Rows*s.Cols > 1 && !s.Halves(steps) && !t.InOrder {
				l.instrs *= 2.5
			}
			if cost := l.instrs / float64(steps); steps <= MaxBytes && cost < least {
				least, words, at = cost, n, l.at
			}
		}
	}
	if s.Rows*s.Cols == 1 {
		at = AtWords
	}
	return words, at
}

// Steps is how many words of n channels' words are summed in lanes of 8 bits.
func (a At) Steps(s Sum, n int) int {
	switch a {
	case AtWords:
		return s.Rows * s.Cols * n
	case AtRow:
		return s.Cols * n
	}
	return n
}

// ByteTile is a tile of sums in lanes of bytes.
type ByteTile struct {
	Vectors   int // registers of filters
	Positions int
	Step      int // words that an instruction takes
	Outputs   int // positions of the output around it
	Group     int // registers of filters that are counted for all positions before the next ones, 0 for all
}

// oneByOne says that a core that works in order counts one word at a time: it gains nothing by loading weights in pairs then, and LLVM puts what
// else there is between a count and its addition, for which underOne registers are left. By estimated cycles of rpi3, 3x3 layers of 96 and 160 channels
// take 3 to 12 % less with 3 or 4 positions of 4 registers than with 5 of 4, or 2 of 8.
func oneByOne(t targets.Target, step int) bool { return t.InOrder && t.Registers >= 32 && step == 1 }

const underOne = 4

// TileBytes gives the tile with the fewest operations for each position and filter of a row, of vectors registers of filters
// out of those that there are instructions for. window is the number of positions that a pool makes one of, 0 if there is
// none. Vectors are 0 if none fits the registers.
//
// Rows of taps that are written out and count words in pairs have tiles of two registers of filters: sums of 16 bits stay in registers then. By estimated
// cycles of 3x3 layers of 64 and 128 channels on rpi5, which take 0.6 to 1.7 % less than with four registers that are counted two by two, and
// on rpi4, which take 0.7 % less to 0.4 % more. One word at a time, 96 channels take 13 % more.
func TileBytes(t targets.Target, s Sum, w, window int, vectors []int) ByteTile {
	tile := fewestOperations(t, s, w, window, vectors)
	if tile.Step == 2 && WholeRows(t, s, tile) && slices.Contains(vectors, 2) {
		tile.Vectors = 2
	}
	return tile
}

// fewestOperations is TileBytes by operations alone.
func fewestOperations(t targets.Target, s Sum, w, window int, vectors []int) ByteTile {
	words, at := ByteSteps(t, s)
	step, spare := 2-words%2, 0
	if at != AtWords { // lanes of 16 bits go over the stack, so one more does not matter
		spare = 1
	}
	if t.Registers < 32 { // two words need registers for the weights of both
		step, spare = 1, 0
	}
	if oneByOne(t, step) {
		spare -= underOne
	}
	pool := max(1, window)
	best, least := ByteTile{}, 1e30
	for _, v := range vectors {
		for p := pool; p*v+step*v+step*(p-1)*min(1, s.Cols-1)+2+step/2 <= t.Registers+spare; p += pool {
			width := p / pool
			if width > w {
				break
			}
			outputs, c := width, 0.0
			switch {
			case window > 0 || w > MaxRow && w%width != 0:
				c = byteWord(t, s, v, p, step) * float64((w+width-1)/width)
			default:
				c = byteWord(t, s, v, p, step) * float64(w/width)
				if r := w % width; r > 0 {
					c += byteWord(t, s, v, r, step)
					outputs = w
				}
			}
			if c /= float64(v); c < least {
				best, least = ByteTile{Vectors: v, Positions: p, Step: step, Outputs: outputs}, c
			}
		}
	}
	return best
}

// MaxWhole is how many counts of a register a tile has whose rows of taps are written out.
const MaxWhole = 600

// WholeRows reports whether rows of taps are written out, whose sums are added up between them where nothing has to be cleared before, and in
// an order that LLVM finds, which cores that find theirs by themselves gain from. By estimated cycles of 3x3 layers of 64 and 128 channels, which
// take 1.6 to 4 % less on rpi4 and rpi5, and up to 4 % more on rpi3, where LLVM spills more.
func WholeRows(t targets.Target, s Sum, tile ByteTile) bool {
	words, at := ByteSteps(t, s)
	if tile.Outputs > tile.Positions { // LLVM would keep the weights for the row's last tile, in memory
		return false
	}
	return !t.InOrder && at == AtRow && words == s.Words && s.Halves(at.Steps(s, words)) && s.Terms()*tile.Positions*tile.Vectors <= MaxWhole
}

// TileGrouped is a tile of a layer of one tap for cores that wait for each operand: two positions of so many registers of filters, of which two are
// counted at a time, so that there are registers for it. By estimated cycles of rpi3, SqueezeNet's squeeze layers of 1 bit take 8 to 9 % less
// than with the tiles of TileBytes.
func TileGrouped(t targets.Target, s Sum, w, vectors int) (ByteTile, bool) {
	const positions, step, group = 2, 2, 2
	words, _ := ByteSteps(t, s)
	fits := positions*vectors+step*(positions+group)+2 <= t.Registers
	if !t.InOrder || !fits || s.Planes || s.Rows*s.Cols > 1 || words%step != 0 || w < positions || vectors <= 2*group {
		return ByteTile{}, false
	}
	return ByteTile{Vectors: vectors, Positions: positions, Step: step, Outputs: positions, Group: group}, true
}

// TileRows is the tile of a layer on a core that works in order whose rows of taps are counted by an instruction each, in an order that ripc
// finds: three or four positions of an eighth of the registers each, so that sums take up to half of them. Each instruction takes as long as a third of a position to begin
// and to end. By estimated cycles of rpi3, 3x3 layers of 64 to 256 channels take 6 to 10 % less than in the order that LLVM finds, but for rows of 5 and 9 positions of 64
// channels, which take 4 and 1 % more; of planes, nothing is known.
func TileRows(t targets.Target, s Sum, w int) (ByteTile, bool) {
	const begin = 0.35
	vectors := t.Registers / 8
	words, at := ByteSteps(t, s)
	if !t.InOrder || s.Planes || at == AtTap {
		return ByteTile{}, false
	}
	best, least := ByteTile{}, 1e30
	for positions := 4; positions >= 3 && positions <= w; positions-- {
		tile := ByteTile{Vectors: vectors, Positions: positions, Step: 2 - words%2, Outputs: positions}
		c := float64((w+positions-1)/positions) * (float64(positions) + begin)
		if rest := w % positions; w <= MaxRow && rest != 0 {
			c -= float64(positions - rest)
			tile.Outputs = w
		}
		if c < least {
			best, least = tile, c
		}
	}
	return best, best.Vectors > 0
}

// loadsBeside says that weights are loaded beside the counts of words that are written out (InlineWords), by cores that find an order by themselves and take two operations for
// a count: they gain little by positions that share them. By estimated cycles of rpi4, 1x1 layers of 384 and 512 channels take 4 to 14 % less with one position of 8
// registers than with 5 of 4; on rpi5, where a dot product adds counts up, up to 6 % more, or 4 % less.
func loadsBeside(t targets.Target, s Sum) bool {
	return InlineWords(t, 2) && s.Rows*s.Cols == 1 && t.CountOps > 1
}

// byteWord is the cost of a word for all of a tile.
func byteWord(t targets.Target, s Sum, vectors, positions, step int) float64 {
	memory := 0.0 // sums of half of the filters wait for the others
	if vectors < 8 {
		memory = 2 * float64(vectors*positions) / float64(s.Terms())
	}
	load := 1.0
	switch {
	case loadsBeside(t, s):
		load = 0.25
	case t.PairLoads && !oneByOne(t, step):
		load = 0.5
	}
	return wordOps(s, vectors, positions, load, 1+1/float64(step)) + memory // a load, or an address, and a copy to all lanes each
}

// wordOps is what it takes to count a word for registers of filters at so many positions: three operations each, the loads of their weights, and
// to bring words, which neighbouring taps share, into all lanes.
func wordOps(s Sum, vectors, positions int, load, spread float64) float64 {
	return float64(3*vectors*positions) + load*float64(vectors) + spread*float64(positions+s.Cols-1)/float64(s.Cols)
}
