package cost

import "ripc/targets"

// Lookups is what is looked up for an output.
type Lookups struct {
	Terms   int     // look-ups
	Table   int     // registers of a table
	Adds    int     // sums of bytes, which are added to the sum
	Bits    int     // of the sum
	Read    int     // bytes of the tables that two positions look up in
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
// their tables from memory wait for loads, and that entries of a block of filters larger than the first cache come from the second one, is fitted to convs A to D and to SqueezeNet there (targets.LookupMemory, which says what else there is).
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
	held := s.Terms * registers * t.VectorBits / 8
	if memory.FarTable > 0 {
		held = s.Terms*t.VectorBits/8 + s.Read
	}
	if s.Beside && float64(held) > memory.Near*float64(t.L1) { // each tile reads them from the second cache
		entries = memory.Far
		tables += memory.FarTable / float64(registers)
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
	return max(0, float64(sums-roomForSums(t, registers))) / float64(sums)
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
	free := roomForSums(t, sums)
	if bits > 8 {
		sums += Vectors(t, filters, bits) // which nothing is looked up for
	} else {
		free = min(free, t.Registers-sums-underWay(t))
	}
	return max(1, min(MaxPositions, free/sums))
}

// roomForSums is how many registers sums may have beside so many registers of entries, a table, a mask and a temporary.
func roomForSums(t targets.Target, entries int) int { return t.Registers - entries - 3 }

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
