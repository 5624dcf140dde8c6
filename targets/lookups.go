package targets

// LookupTimes are what counts by table cost, in cycles: Lookup is for one filter and one group, Widen for adding the bytes of a filter's look-ups to its sum, Sum for each sum, which is kept
// in memory; Table for a table and Plane for what each plane of the activations adds to that; Level what a comparison of the sums, which are of 8
// or 16 bits, costs as a share of a SumCosts.Level.
//
// Across positions, Lookup is for the counts of a vector of positions or the bits of weights that find them, Widen for adding a vector of bytes to sums, Sum for each sum that is brought beside
// those of the other filters, Table for a vector of an entry, and Plane for a vector of what each plane has of a group.
type LookupTimes struct{ Lookup, Widen, Sum, Table, Plane, Level float64 }

// LookupCosts are what there is to know of counts by table: their times, and how many filters, Lanes, an instruction looks up for at once; for fewer, down to Least, registers that are full cost
// Fewer times as much, since fewer share a table, and where no instruction does it, a look-up costs One. Kept says that all sums of a block of filters should stay in registers, not only those
// of bytes: tables are read from memory beside a look-up, so that fewer filters may share one, and storing sums costs more than that. Stored,
// where it is not 0, says instead how many operations it takes to add a register of bytes to sums in memory, which of registers takes two or three, so
// that they stay in registers where that costs less, or always, if Kept. Mean
// says that layers that write the mean of all positions should look up as others do: threads share few blocks of their filters then, and
// on Arm nothing is gained (conv10 of SqueezeNet with 2 bits: 7.1 million estimated cycles on rpi3 either way).
type LookupCosts struct {
	Lanes, Least int
	Fewer, One   float64
	LookupTimes
	Stored     float64
	Kept, Mean bool
	// Loose is how many operations a look-up and its addition are in LLVM's order, where they are more than the two that they should be, for want of registers.
	Loose float64
	// Wide is how many look-ups by an instruction for several positions, which adds what they find to sums of 16 bits (isa.LookUpRow), take as long as one in LLVM's order; 0 where there are no such
	// instructions. There are where 8 filters take a third of the operations of 16, and on 32-bit Arm, of which LLVM has no good order.
	Wide float64
}

// LookupMemory is what memory costs beside look-ups for a register of filters, in operations of a register: Load for the load of a table or of an entry that several registers share and that is read
// beside them, of which so many as Hidden cost nothing, Entry for that of an entry, and Far and FarTable where entries and tables come from the second cache, as where entries, or with a FarTable those of one register
// with the tables of two positions, take more than Near of the first. Of sums that do not fit the registers, Spilled is for a position, and Still for each addition to them, and Out for each to those that
// are not in registers. Looped is for sums that a loop over words reads, Start for a tile, Several for comparing sums of bytes of more than one register.
type LookupMemory struct{ Load, Hidden, Entry, Near, Far, FarTable, Spilled, Still, Out, Looped, Start, Several float64 }

// narrowL1 is the first cache of x86-64 cores that load one vector of 64 bytes a cycle, as a Zen 4 does; those with more (Zen 5, and Intel's since Ice Lake) load two.
const narrowL1 = 32 << 10

// WideLoads says that t's core loads two of the longest vectors in a cycle, and that sums in memory cost little more than those in registers.
func (t Target) WideLoads() bool { return t.Arch == "x86_64" && t.VectorBits == 512 && t.L1 > narrowL1 }

// LookupMemory is what memory costs t. Of WideLoads, it is fitted to 238 layers on a Zen 5 on 2026-11-27: 1x1, 3x3 and 5x5, 16 to 512 channels of 2 and 3 bits, 7 to 27 columns, with all tiles
// of 2 to 13 positions of 64 and 128 filters, and Far and FarTable to 13 larger ones; what it chooses takes 1.5 % more than the best of these in the mean, 20 at most. Of other cores see cost.LookUps.
func (t Target) LookupMemory() LookupMemory {
	if t.WideLoads() {
		return LookupMemory{Load: 1, Hidden: 1, Entry: 0.75, Near: 0.7, Far: 4, FarTable: 2, Still: 2.5, Out: 4, Looped: 16, Start: 5, Several: 3}
	}
	return LookupMemory{Load: 2.3, Hidden: 2, Entry: 0.5, Near: 1, Far: 4, Spilled: 100, Still: 4.5, Looped: 16, Start: 20}
}

// Reach says which positions a look-up finds counts of.
type Reach string

const (
	OnePosition Reach = ""
	BothHalves  Reach = "halves" // one of each half of a row
	Across      Reach = "across" // a vector of those of a block of rows
)

// lookups is what counts by table are of: channels that one looks up at once, for which positions.
type lookups struct {
	target   string
	channels int
	reach    Reach
}

// Lookups are the costs on t of counts by table, of groups of so many channels: times that were fitted to measurements, if there
// are, or the first ones.
func (t Target) Lookups(channels int, reach Reach) LookupCosts {
	c := t.firstLookups(channels, reach)
	if t.lookups != nil {
		c.LookupTimes = *t.lookups
	} else if fitted, ok := LookupsFittedTo(t.MeasuredOn(), channels, reach); ok {
		c.LookupTimes = fitted
	}
	return c
}

// WithLookups is t with other costs of all counts by table, to try them.
func (t Target) WithLookups(c LookupTimes) Target {
	t.lookups = &c
	return t
}

// firstLookups are what Lookups are taken to be before they are fitted. Those of x86-64 are of examples/convs with 1 to 3 bits,
// the fastest of at least 20 runs on one thread of an AMD EPYC (Zen 5) with t's features switched on, on 2026-11-22; those of 64-bit Arm are
// round numbers near what is fitted for the cores of the boards; others are guessed, and
// only say that one look-up after the other is dear.
func (t Target) firstLookups(channels int, reach Reach) LookupCosts {
	halves := reach == BothHalves
	switch {
	case reach == Across:
		return LookupCosts{LookupTimes: t.lookupsAcross()}
	case t.Arch == "arm" && t.BoundedLookups() && channels == 4 && !halves: // vtbl
		return LookupCosts{Lanes: 16, Least: 8, Fewer: 1.2, One: 30, LookupTimes: LookupTimes{Lookup: 0.17, Widen: 0.6, Sum: 0.5, Table: 10, Plane: 8, Level: 0.3}, Stored: 8, Loose: 17, Wide: 4}
	case t.Arch == "aarch64" && t.BoundedLookups() && (channels == 4 || t.MeasuredOn() == rpi5().Name && channels == 5): // a table of two registers costs nothing more on rpi5; of other cores that is not known (see RATIONALE)
		c := LookupCosts{Lanes: 32, Least: 16, Fewer: 1.6, One: 4, LookupTimes: t.lookupsARM64(), Stored: 8, Kept: channels == 5}
		if t.InOrder {
			c.Fewer = 1.3
		}
		if channels == 4 && !halves && t.likeA72() {
			c.Wide = 1.4
		}
		switch {
		case halves:
			c.Least = c.Lanes
		case channels == 4:
			c.Least = 8
		}
		return c
	case halves:
		return LookupCosts{Lanes: 1, One: 8, LookupTimes: LookupTimes{Lookup: 8, Widen: 1, Sum: 1, Table: 60, Plane: 40, Level: 0.5}} // nothing but loops
	case channels == 6 && t.Has("avx512vbmi") && t.Has("avx512bitalg"):
		return LookupCosts{Lanes: 64, Least: 32, Fewer: 1, One: 3, LookupTimes: LookupTimes{Lookup: 0.009, Widen: 0.025, Sum: 0.01, Table: 0.6, Plane: 0.3, Level: 0.2}, Kept: true, Mean: true}
	case channels == 4 && t.Has("avx512bw"):
		return LookupCosts{Lanes: 64, Least: 32, Fewer: 1, One: 3, LookupTimes: LookupTimes{Lookup: 0.0105, Widen: 0.025, Sum: 0.12, Table: 0.6, Plane: 0.3, Level: 0.5}, Mean: true}
	case channels == 4 && t.Has("avx2"):
		return LookupCosts{Lanes: 32, Least: 16, Fewer: 1, One: 3, LookupTimes: LookupTimes{Lookup: 0.02, Widen: 0.05, Sum: 0.2, Table: 0.8, Plane: 0.5, Level: 0.5}, Mean: true}
	}
	return LookupCosts{Lanes: 1, One: 16, LookupTimes: LookupTimes{Lookup: 16, Widen: 1, Sum: 1, Table: 30, Plane: 20, Level: 0.5}}
}

// FirstLookups are the times of Lookups before they are fitted, which they stay near to where measurements do not tell one from another.
func (t Target) FirstLookups(channels int, reach Reach) LookupTimes {
	return t.firstLookups(channels, reach).LookupTimes
}

// lookupsAcross are cycles of the look-ups for a vector of positions. Those of x86-64 are of examples/convs as above, on 2026-11-26. In-order cores are to keep what they do, whose models load a vector of 16 bytes
// in a cycle, where an A53 takes two, as long as no board has been asked.
func (t Target) lookupsAcross() LookupTimes {
	switch {
	case t.Arch == "x86_64" && t.VectorBits <= 128:
		return LookupTimes{Lookup: 0.6, Widen: 1.8, Sum: 0.6, Table: 1.2, Plane: 3, Level: 0.2}
	case t.Arch == "x86_64":
		return LookupTimes{Lookup: 0.8, Widen: 2.4, Sum: 0.8, Table: 1.6, Plane: 4, Level: 0.2}
	case t.Arch == "aarch64" && !t.InOrder && t.MeasuredOn() != rpi3().Name: // nor do CPUs that are estimated by its times
		return LookupTimes{Lookup: 1, Widen: 2, Sum: 1, Table: 2, Plane: 5, Level: 0.2}
	}
	return LookupTimes{Lookup: 16, Widen: 24, Sum: 24, Table: 16, Plane: 60, Level: 0.4}
}

// lookupsARM64 are cycles of a filter's look-ups by tbl, for one position or two.
func (t Target) lookupsARM64() LookupTimes {
	switch {
	case t.InOrder:
		return LookupTimes{Lookup: 0.15, Widen: 0.5, Sum: 0.3, Table: 4, Plane: 3, Level: 0.1}
	case t.MeasuredOn() == rpi5().Name:
		return LookupTimes{Lookup: 0.07, Widen: 0.5, Sum: 0.2, Table: 2, Plane: 1.5, Level: 0.1}
	}
	return LookupTimes{Lookup: 0.13, Widen: 0.3, Sum: 0.2, Table: 3, Plane: 2, Level: 0.1} // tbl takes three operations
}

// BoundedLookups says that t's instructions look up 0 for what is no entry, as tbl and vtbl do, and not the entry of its lower bits.
func (t Target) BoundedLookups() bool { return t.Has("neon") }

// WindowLookupCosts are what levels of whole windows cost that are looked up, in cycles: Window for a position, Vector for each vector of levels, Piece for
// each part that the bits of a window are put together of, Copy for a pixel that is copied to have a border, and Far for a position whose levels the first cache does not hold. Where two tables are
// looked up, Number is for each bit of each vector of the numbers that are compared.
type WindowLookupCosts struct{ Window, Vector, Piece, Copy, Far, Number float64 }

// WindowLookups are the costs on t of levels of whole windows, from 1x1, 2x2 and 3x3 layers of 28x28 pixels, 1 to 13 channels, 32 to 256 filters and 1 to 3 bits on
// 2026-11-23: estimated cycles on Arm, where Far is what loads from the second cache take, for which cores that work in order wait, and times on an AMD EPYC (Zen 4) on x86.
// Numbers are from such layers of 12 to 18 bits and 32 to 512 filters on 2026-11-26. Those of a Zen 5 are times of its own of 2026-11-27, where tables of 4 to 64 KiB take as long.
func (t Target) WindowLookups() WindowLookupCosts {
	c := WindowLookupCosts{Vector: 1.6, Piece: 0.12, Copy: 0.2, Far: 0.5, Number: 1.5}
	switch t.MeasuredOn() {
	case zen5:
		c = WindowLookupCosts{Vector: 1, Piece: 0.05, Copy: 0.09, Number: 1}
	case x86v4().Name:
		c.Number = 1.85
	case rpi3().Name:
		c = WindowLookupCosts{Window: 1, Vector: 3, Piece: 0.63, Copy: 2, Number: 5}
	case rpi3ARM().Name:
		c = WindowLookupCosts{Window: 2, Vector: 10, Piece: 1.8, Copy: 5.9, Number: 12}
	case rpi5().Name:
		c = WindowLookupCosts{Window: 0.2, Vector: 2.3, Piece: 0.3, Copy: 0.74, Far: 0.5, Number: 1.8}
	case rpi4().Name, jetsonTX2().Name, pixel1().Name:
		c = WindowLookupCosts{Window: 0.2, Vector: 2, Piece: 0.2, Copy: 0.94, Far: 0.5, Number: 1.8}
	}
	if t.InOrder {
		c.Far = 12
	}
	return c
}
