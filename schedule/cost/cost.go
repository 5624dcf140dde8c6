package cost

import "ripc/targets"

// Sum is what is added up for one output: counts of the words of a window.
type Sum struct {
	Rows, Cols int // of the window
	Words      int // of channels
	Planes     bool
	Bits       int // of a sum
}

// Terms is the number of words that are counted for an output and a plane.
func (s Sum) Terms() int { return s.Rows * s.Cols * s.Words }

// Row is the row of outputs that are computed: Width positions in tiles, the last of which overlaps the one before.
type Row struct{ Width, Tile int }

// positions is how many are computed, some of them twice.
func (r Row) positions() int { return (r.Width + r.Tile - 1) / r.Tile * r.Tile }

// Words is the cost of a row if each word is counted: xor, count and addition, and the thresholds.
func Words(t targets.Target, s Sum, r Row) float64 {
	return float64(r.positions()) * float64((t.CountOps+2)*s.Terms()+3)
}

// Pairs is the cost of a row if two words are counted at once by an instruction, on words that are kept as pairs: two of the
// five operations are bitwise functions of three registers (docs/kernels.md), which take seven where there are none. What is carried is counted at the end, for
// each plane, while the sums are in memory. Functions of three registers take a little longer than other operations: 1024 products in five
// operations have 1.09 times the rate of 512 in three (limits of docs/bench-peers.md), not 1.2 times.
func Pairs(t targets.Target, s Sum, r Row) float64 {
	pair := float64(t.CountOps + 9) // xor, xor, xor, xor; xor, and, and, or
	if t.Ternary {
		pair = float64(t.CountOps) + 4.5
	}
	ops := pair*float64(s.Terms())/2 + float64(t.CountOps+5)
	if s.Planes {
		ops += 3
	}
	return float64(r.positions()) * ops
}

// CarrySave is the cost of a row if two words are counted at once by plain operations (Harley-Seal, see Warren, Hacker's
// Delight, 5-1): the words' differences, sum and carry of three, one count. vectors are the registers of sums that a position
// of the row has; sums and carries that need more registers than there are come from memory and go there.
func CarrySave(t targets.Target, s Sum, r Row, vectors int) float64 {
	pair := t.CountOps + 9 // and, or, and, or; xor, xor
	if t.Ternary {
		pair = t.CountOps + 5
	}
	if 2*vectors*r.Tile+inUse > t.Registers {
		pair += 4
	}
	ops := pair*s.Terms()/2 + t.CountOps + 5
	if s.Planes {
		ops += 3
	}
	return float64(r.positions() * ops)
}

// inUse is the number of registers that a count of words by look-up takes, with its tables and masks.
const inUse = 9

// Lookups is what is looked up for an output.
type Lookups struct {
	Terms   int     // look-ups
	Table   int     // registers of a table
	Adds    int     // sums of bytes, which are added to the sum
	Bits    int     // of the sum
	Stored  float64 // as in targets.LookupCosts
	Spilled bool    // sums that are kept do not fit the registers
	Beside  bool    // tables are read from memory beside look-ups, which wait for loads if each has its own
	Halves  bool    // they are for positions of both halves of a row at once, and of these Terms and rows are
	Loose   float64 // operations of a look-up and its addition in LLVM's order, where they are more than two
	Wide    bool    // an instruction adds what it finds to sums of 16 bits
	Looped  bool    // words of channels that are kept are a loop behind the look-ups, which reads their sums from memory
}

// LookUps is the cost of a row for a register of filters: for each look-up that and an addition, and the loads of tables and of entries, which a
// tile of so many registers of filters shares, and which cores that wait for their operands do not hide; adding bytes to the sums, which are in
// registers if they are kept, and in memory at the end; and beginning a tile. The numbers are fitted to the estimated cycles of layers with 16 to 128
// channels of 1 to 3 bits on rpi3, rpi4 and rpi5, those for tables of several registers to convs B, C and D on rpi5, and for kept sums that
// do not fit the registers to convs A, B and D on rpi3. That of sums which a loop over words reads from memory is fitted to nine layers of SqueezeNet of 2 and 3 bits on a Zen 4,
// 1x1 and 3x3, with tiles that are written out beside those that are not: what memory costs there is 7 to 21 of the operations of a register. What look-ups that read
// their tables from memory wait for loads, and that entries of a block of filters larger than the first cache come from the second one, is fitted to convs A to D and to SqueezeNet there.
func LookUps(t targets.Target, s Lookups, r Row, registers int, kept bool) float64 {
	memory := t.LookupMemory()
	load := memory.Entry
	switch {
	case t.InOrder:
		load = 1
	case s.Table > 1: // so many loads that what limits is how many operations a core begins
		load = 0.9
	}
	tables := load * float64(max(1, s.Table)) / float64(registers)
	switch {
	case s.Beside && registers > 1: // in order, by an instruction, unless loads of tables and entries take longer, 1.15 cycles each
		tables = max(0, memory.Load*(1/float64(registers)+1/float64(r.Tile))-memory.Hidden)
	case s.Beside:
		tables = 0.25
	}
	entries := load
	if s.Beside && float64(s.Terms*registers*t.VectorBits/8) > memory.Near*float64(t.L1) { // each tile reads them from the second cache
		entries = memory.Far
	}
	find, each, still := max(2, s.Loose), s.Stored, 2.5
	if s.Halves {
		find, each, still = 4, 2*each, 2*still
	}
	ops := float64(s.Terms) * (find + tables + entries/float64(r.Tile))
	if s.Spilled { // LLVM mixes what is stored with look-ups; only of many does that make up for what it stores besides
		still = memory.Still + memory.Out*spilledShare(t, s.Bits, registers, r.Tile)
		each += memory.Spilled
	}
	if s.Bits <= 8 { // they are the sums
		each, still = s.Stored/2, 0
		if registers > 1 {
			each += memory.Several
		}
	}
	if kept {
		ops += still*float64(s.Adds-1) + each
		if s.Looped {
			ops += memory.Looped
		}
	} else {
		ops += each * float64(s.Adds)
	}
	return float64(r.positions()) * (ops + memory.Start/float64(r.Tile))
}

// spilledShare is the share of all sums, of so many bits and for so many positions and registers of filters, that KeptPositions leaves no registers for.
func spilledShare(t targets.Target, bits, registers, positions int) float64 {
	sums := registers * positions * (8 + bits) / 8
	free := t.Registers - registers - 3
	return max(0, float64(sums-free)) / float64(sums)
}

// OrderedLookUps is LookUps where an instruction looks so many groups up at so many positions, in an order that ripc finds, and sums of 16 bits are in memory. By estimated cycles of these instructions
// on rpi3, and of 196 layers of 16 to 512 channels, 1x1 and 3x3, of 2 and 3 bits: LLVM's order takes more than LookUps says, the most
// where windows of several taps are gone through again for several blocks of filters. A position that is left over of a tile is looked up by itself, and waits for its few sums.
func OrderedLookUps(t targets.Target, s Lookups, r Row, positions, registers, groups int, again bool) float64 {
	if s.Wide {
		return wideLookUps(t, s, r, positions, registers, groups)
	}
	const start, found, once, wait = 20, 0.85, 0.88, 7
	each := s.Stored
	if s.Bits <= 8 {
		each /= 2
	}
	find := 2.05
	if s.Halves {
		find, each = 3.1, 2*each
	}
	look := find + 0.6/float64(positions) + 0.3/float64(registers) + 0.6/float64(groups)
	ops := float64(s.Terms)*look + each*float64(s.Adds)
	c := float64(r.positions()) * (ops + start/float64(positions))
	if r.Tile%positions == 1 {
		alone := wait/float64(registers) - look
		c += float64(r.positions()/r.Tile) * float64(s.Terms) * max(0, alone)
	}
	if !again {
		return once * c
	}
	return found * c
}

// wideLookUps is OrderedLookUps in sums of 16 bits. The A72 does two operations a cycle of three that it begins: a look-up of two halves of a register and half an addition of each, tables and what
// negates every other one, entries, and the sums, which come from memory and go there. LLVM's model of it takes 3 % more for the instructions, and more for those of one position. The A53 in 32 bits, taken to be an R52,
// has five cycles for two registers of a position, one more for their entries, and bytes that are added to memory behind each run.
func wideLookUps(t targets.Target, s Lookups, r Row, positions, registers, groups int) float64 {
	const start, found, alone = 20, 1.03, 0.45
	look := func(positions int) float64 {
		p, n, g := float64(positions), float64(registers), float64(groups)
		if t.InOrder {
			return 2.5 + 0.5/p + (9+10/p)/g
		}
		c := found * max(1.5+0.25/n, 1+2/(3*p)+0.5/n+2/g)
		if positions == 1 {
			c += alone
		}
		return c
	}
	tiles, rest := r.Tile/positions, r.Tile%positions
	c := float64(s.Terms*tiles*positions)*look(positions) + start*float64(tiles)
	if rest > 0 {
		c += float64(s.Terms*rest)*look(rest) + start
	}
	return c * float64(r.positions()) / float64(r.Tile)
}

// InlineTaps reports whether the taps of a row are written out whose look-ups, a run of groups at each, are added up in bytes, where a block of filters keeps its sums in
// registers: cores that work in order wait for the loop's end, with nothing to do between. By estimated cycles of rpi3, 3x3 layers of 8 to 16 channels and 2 and 3 bits take 5 to
// 15 % less; where bytes are added to sums in memory behind each row of taps, layers take 5 % more. Where two registers of filters look up in order, a first look-up without an addition
// is worth 2 to 5 % of 3x3 layers of 32 to 128 channels (Zen 4).
func InlineTaps(t targets.Target, s Sum, run, registers int) bool {
	return t.InOrder && s.Few(run) || !t.InOrder && registers > 1
}

// Dots is the cost of a row of sums of n steps of products of bytes.
func Dots(n int, r Row) float64 { return float64(r.positions() * (n + 1)) }

// Floats is the cost of a row of sums of n products.
func Floats(n int, r Row) float64 { return float64(r.positions() * (n + 1)) }
