package cost

import (
	"math"

	"ripc/targets"
)

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
