package cost

import "ripc/targets"

// TapsPerWord is how many taps have the bits of their weights in a word where these find counts of neighbouring positions.
const TapsPerWord = 3

// Across is how the positions of an output are cut into blocks of rows, for all positions of which a look-up finds counts side by side.
type Across struct {
	Rows, Blocks int // of a block; how many there are
	Width        int // positions of a row of a block: all that its windows read, but for the padding behind it, which is that before the next one
	Lanes        int // positions of a vector
	Positions    int // of a block, whole vectors, which end behind the last row
	Read         int // that those and their windows read
}

// AcrossOf cuts l into blocks for t, where groups have so many channels: those that take the least time whose tables stay in the first cache.
func AcrossOf(t targets.Target, l Layer, bits int) Across {
	lanes := max(1, t.VectorBits/8)
	block := func(rows int) Across {
		a := Across{Rows: rows, Lanes: lanes, Width: int(l.Cols + l.SpanCols - 1 - l.Bordered)}
		a.Blocks = (int(l.Rows) + rows - 1) / rows
		a.Positions = ((rows-1)*a.Width + int(l.Cols) + lanes - 1) / lanes * lanes
		a.Read = a.Positions + int(l.SpanRows-1)*a.Width + int(l.SpanCols-1)
		return a
	}
	times, best := t.FirstLookups(bits, targets.Across), block(1) // however times are fitted, to layers in such blocks
	least := across(t, times, l, best, bits)
	for rows := 2; rows <= int(l.Rows); rows++ {
		a := block(rows)
		if a.Read<<bits > t.L1 {
			break
		}
		if c := across(t, times, l, a, bits); c < least {
			best, least = a, c
		}
	}
	return best
}

// AcrossAt is of what bytes hold the sums, where an entry has so much at most: of all taps of a window (AtWords), of those of a row, or of one.
func AcrossAt(rows, cols, most int) At {
	switch {
	case rows*cols*most <= MaxByte:
		return AtWords
	case cols*most <= MaxByte:
		return AtRow
	}
	return AtTap
}

// AcrossTile is how many of a block's vectors, a divisor of all, have sums of bytes in registers together: fewer where several of them are added to each sum, since LLVM has these under way together.
func AcrossTile(t targets.Target, vectors int, at At) int {
	most := (t.Registers - 6) / 2 // each, and what is added to it
	if at != AtWords {
		most = (t.Registers - 4) / 3
	}
	for n := min(vectors, most); n > 1; n-- {
		if vectors%n == 0 {
			return n
		}
	}
	return 1
}

// finding is what it takes to find an entry by the bits of a word, as a share of a load of counts.
const finding = 2. / 3

// across estimates the look-ups of a group of so many channels in blocks of a.
func across(t targets.Target, c targets.LookupTimes, l Layer, a Across, bits int) float64 {
	at := AcrossAt(int(l.TapRows), int(l.Taps/l.TapRows), bits*(1<<l.ActivationPlanes-1))
	vectors, read := int64(a.Positions/a.Lanes), int64((a.Read+a.Lanes-1)/a.Lanes)
	tiles := vectors / int64(AcrossTile(t, int(vectors), at))
	found := float64(tiles) * (float64((l.Taps+TapsPerWord-1)/TapsPerWord) + finding*float64(l.Taps)) // where entries are
	inRegisters := int64(0)                                                                           // times that bytes are added to sums there
	switch at {
	case AtRow:
		inRegisters = l.TapRows
	case AtTap:
		inRegisters = l.Taps
	}
	looked := float64(l.Filters) * (c.Lookup*(float64(l.Taps*vectors)+found) + c.Widen*float64(vectors)*(1+float64(inRegisters)/4))
	made := float64(read) * (c.Table*float64(int64(1)<<bits) + c.Plane*float64(l.ActivationPlanes*int64(bits)))
	return float64(a.Blocks) * (looked + made)
}

// tableAcross estimates counts of groups of so many channels that are looked up for all positions of blocks of rows.
func tableAcross(t targets.Target, l Layer, bits int) Estimate {
	c, a := t.Lookups(bits, targets.Across), AcrossOf(t, l, bits)
	groups := GroupsOf(int(l.Channels), bits).Used
	batch := float64(l.Outputs) / float64(l.Rows*l.Cols)
	sums := c.Sum * float64(a.Blocks) * float64(a.Positions) * float64(l.Filters)
	return Estimate(batch*(float64(groups)*across(t, c.LookupTimes, l, a, bits)+sums)) + Estimate(levels(t.Sums(), l)*c.Level)
}
