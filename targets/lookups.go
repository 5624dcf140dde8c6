package targets

// LookupCosts are what counts by table cost, in cycles: Lookup is for one filter and one group, where an instruction looks up for Lanes
// filters at once, One where none does; for fewer filters, down to Least, registers that are full cost Fewer times as much, since fewer share a table. Widen is for adding the bytes of a filter's look-ups to its sum, Sum for each sum, which is kept
// in memory; Table for a table and Plane for what each plane of the activations adds to that; Level what a comparison of the sums, which are of 8
// or 16 bits, costs as a share of a SumCosts.Level. Kept says that all sums of a block of filters should stay in registers, not only those
// of bytes: tables are read from memory beside a look-up, so that fewer filters may share one, and storing sums costs more than that. Stored,
// where it is not 0, says instead how many operations it takes to add a register of bytes to sums in memory, which of registers takes two or three, so
// that they stay in registers where that costs less, or always, if Kept. Mean
// says that layers that write the mean of all positions should look up as others do: threads share few blocks of their filters then, and
// on Arm nothing is gained (conv10 of SqueezeNet with 2 bits: 7.1 million estimated cycles on rpi3 either way).
type LookupCosts struct {
	Lanes, Least                                 int
	Fewer                                        float64
	Lookup, One, Widen, Sum, Table, Plane, Level float64
	Stored                                       float64
	Kept, Mean                                   bool
}

// Lookups are the costs on t of counts by table, of groups of so many channels. Those of x86-64 are of examples/convs with 1 to 3 bits,
// the fastest of at least 20 runs on one thread of an AMD EPYC (Zen 5) with t's features switched on, on 2026-11-22; those of 64-bit Arm are
// of the same layers by estimated cycles, times what Sums has for their words over what these take; others are guessed, and
// only say that one look-up after the other is dear.
func (t Target) Lookups(channels int, halves bool) LookupCosts {
	switch {
	case halves && t.BoundedLookups():
		return t.halves()
	case halves:
		return LookupCosts{Lanes: 1, Lookup: 8, One: 8, Widen: 1, Sum: 1, Table: 60, Plane: 40, Level: 0.5} // nothing but loops
	case channels == 4 && t.Arch == "aarch64" && t.Has("neon"):
		switch t.MeasuredOn() {
		case rpi3().Name:
			return LookupCosts{Lanes: 32, Least: 8, Fewer: 1.2, Lookup: 0.24, One: 6, Widen: 1, Sum: 0.5, Table: 6, Plane: 4, Level: 0.5, Stored: 8}
		case rpi5().Name:
			return LookupCosts{Lanes: 32, Least: 8, Fewer: 1.2, Lookup: 0.073, One: 3, Widen: 0.53, Sum: 0.2, Table: 2, Plane: 1.5, Level: 0.5, Stored: 8}
		}
		return LookupCosts{Lanes: 32, Least: 8, Fewer: 1.2, Lookup: 0.13, One: 4, Widen: 0.29, Sum: 0.2, Table: 3, Plane: 2, Level: 0.5, Stored: 8} // tbl takes three operations
	case channels == 5 && t.MeasuredOn() == rpi5().Name: // a table of two registers costs nothing more there; of other cores that is not known (see RATIONALE)
		return LookupCosts{Lanes: 32, Least: 16, Fewer: 1.2, Lookup: 0.075, One: 3, Widen: 0.45, Sum: 1, Table: 2, Plane: 3, Level: 0.5, Stored: 8, Kept: true}
	case channels == 6 && t.Has("avx512vbmi") && t.Has("avx512bitalg"):
		return LookupCosts{Lanes: 64, Least: 32, Fewer: 1, Lookup: 0.009, One: 3, Widen: 0.025, Sum: 0.01, Table: 0.6, Plane: 0.3, Level: 0.2, Kept: true, Mean: true}
	case channels == 4 && t.Has("avx512bw"):
		return LookupCosts{Lanes: 64, Least: 32, Fewer: 1, Lookup: 0.0105, One: 3, Widen: 0.025, Sum: 0.12, Table: 0.6, Plane: 0.3, Level: 0.5, Mean: true}
	case channels == 4 && t.Has("avx2"):
		return LookupCosts{Lanes: 32, Least: 16, Fewer: 1, Lookup: 0.02, One: 3, Widen: 0.05, Sum: 0.2, Table: 0.8, Plane: 0.5, Level: 0.5, Mean: true}
	}
	return LookupCosts{Lanes: 1, Lookup: 4, One: 4, Widen: 1, Sum: 1, Table: 30, Plane: 20, Level: 0.5}
}

// halves are the costs on 64-bit Arm of counts by table of groups of 4 channels where an entry has those of both halves of a row: an instruction adds them to sums in memory. What that takes is little only
// on a core that works in order; on others it is about what tables or popcounts take.
func (t Target) halves() LookupCosts {
	c := LookupCosts{Lanes: 32, Least: 32, One: 6, Sum: 0.5, Table: 6, Plane: 4, Level: 0.5, Stored: 8}
	if t.InOrder {
		c.Lookup, c.Widen = 0.19, 0.6
	} else {
		c.Lookup, c.Widen = 0.13, 1.2
	}
	return c
}

// BoundedLookups says that t's instructions look up 0 for what is no entry, as tbl does, and not the entry of its lower bits.
func (t Target) BoundedLookups() bool { return t.Arch == "aarch64" && t.Has("neon") }

// WindowLookupCosts are what levels of whole windows cost that are looked up, in cycles: Window for a position, Vector for each vector of levels, Piece for
// each part that the bits of a window are put together of, Copy for a pixel that is copied to have a border, and Far for a position whose levels the first cache does not hold.
type WindowLookupCosts struct{ Window, Vector, Piece, Copy, Far float64 }

// WindowLookups are the costs on t of levels of whole windows, from 1x1, 2x2 and 3x3 layers of 28x28 pixels, 1 to 13 channels, 32 to 256 filters and 1 to 3 bits on
// 2026-11-23: estimated cycles on Arm, where Far is what loads from the second cache take, for which cores that work in order wait, and times on an AMD EPYC (Zen 4) on x86.
func (t Target) WindowLookups() WindowLookupCosts {
	c := WindowLookupCosts{Vector: 1.6, Piece: 0.12, Copy: 0.2, Far: 0.5}
	switch t.MeasuredOn() {
	case rpi3().Name:
		c = WindowLookupCosts{Window: 1, Vector: 3, Piece: 0.63, Copy: 2}
	case rpi3ARM().Name:
		c = WindowLookupCosts{Window: 2, Vector: 10, Piece: 1.8, Copy: 5.9}
	case rpi5().Name:
		c = WindowLookupCosts{Window: 0.2, Vector: 2.3, Piece: 0.3, Copy: 0.74, Far: 0.5}
	case rpi4().Name, jetsonTX2().Name, pixel1().Name:
		c = WindowLookupCosts{Window: 0.2, Vector: 2, Piece: 0.2, Copy: 0.94, Far: 0.5}
	}
	if t.InOrder {
		c.Far = 12
	}
	return c
}
