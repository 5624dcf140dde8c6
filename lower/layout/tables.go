package layout

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/targets"
	"ripc/targets/isa"
)

// Tables looks up the counts of a layer. A pixel's channels are cut into groups with a table each:
// entry e is the count of the group against weights with the bits of e, over all planes. So a count
// costs one look-up per group, however many planes there are, and all filters and windows share a
// table.
type Tables struct {
	whole
	Counts *Counts // the counts in the tables
	Bits   int     // channels of a group
	Groups
	// tables that a filter reads: those of its group's channels, or all. With Bounded, a filter has
	// an index outside the table for channels of other groups.
	Each int
	// Merged says that filters of several groups read the tables of all of them, at an index
	// outside the table for other groups. It takes Bounded.
	Merged bool
	Most   int // the largest entry, or half of one
	// Halves says that an entry has two counts, of half a byte each: the lower one of a pixel, the
	// upper one of the pixel that windows of the other half of a row read there. So a look-up is
	// for two positions.
	Halves bool
	// Across is how positions are cut into blocks where entries have the counts of all positions of
	// one, side by side; nil where they have those of one position.
	Across *RowBlocks
	// Bounded says that an index past the entries counts 0, as the target's instruction has it
	// (isa.LookUp). Otherwise its lower bits would select an entry.
	Bounded bool
	// Weights [KH, KW, Each, Out] are the entries to look up: those of a group are the bits of one
	// weight each, the first channel's lowest.
	Weights func() []uint8
	// Words [words, Each, Out] are those of Across in their place, TapsPerWord in a word, that of
	// tap k from bit TapBit(k) on.
	Words func() []uint32
}

// Reach is the set of positions with counts in one look-up.
type Reach string

const (
	OnePosition Reach = ""
	BothHalves  Reach = "halves" // one position of each half of a row
	Across      Reach = "across" // a vector of positions of a block of rows
)

// TapsPerWord is how many taps a word of Tables.Words has.
const TapsPerWord = 3

// TapBit is the lowest bit of tap k in its word: where no byte begins, so that LLVM loads the word
// for all of its taps, and not a byte for each.
func TapBit(k int) int { return 1 + tapBits*(k%TapsPerWord) }

// tapBits is how far taps are apart in a word.
const tapBits = 10

// Entries is the number of entries of a table.
func (t *Tables) Entries() int { return 1 << t.Bits }

// Largest returns the largest count of a window of f by the entries.
func (t *Tables) Largest(f *graph.FusedConv) int {
	return f.KH * f.KW * t.Each * t.Most
}

// lacksTables returns why groups of `bits` channels do not give the sums of f over x, or "".
func lacksTables(f *graph.FusedConv, x *graph.Value, bits int) string {
	switch {
	case !x.Encoded():
		return realNumbers
	case f.GroupCount() > 1 && !groupsOf(f.In, bits).separates(f.GroupIn(), bits):
		return fmt.Sprintf("its groups of %d channels have no tables of their own", f.GroupIn())
	case bits*x.Top() > maxCount: // entries are bytes
		return fmt.Sprintf("%d levels count up to %d, and tables hold counts up to %d", bits, bits*x.Top(), maxCount)
	}
	switch by := cutOf(f); {
	case len(by.coefs) > 1:
		return fmt.Sprintf("its weights have %d planes", len(by.coefs))
	case by.ones:
		return "its weights are 0 and 1, and tables count the bits that differ from them"
	}
	return ""
}

// MaxHalf is the largest count of two that an entry has, and HalfBits its width.
const (
	MaxHalf  = 1<<HalfBits - 1
	HalfBits = 4
)

// lacksHalves returns why one look-up of `bits` channels cannot serve both halves of a row, where
// it can serve one position; "" if it can.
func lacksHalves(f *graph.FusedConv, x *graph.Value, bits int) string {
	_, cols := f.OutSize(x.Shape[1], x.Shape[2])
	switch {
	case bits*x.Top() > MaxHalf:
		return fmt.Sprintf("%d levels count up to %d, and half an entry holds counts up to %d", bits, bits*x.Top(),
			MaxHalf)
	case cols < 2:
		return "its rows have one position"
	case f.Pool != nil:
		return "windows of its pool may lie in both halves of a row"
	}
	return ""
}

// lacksAcross says why counts cannot be looked up for all positions of blocks of rows at once,
// where they can be for one position; "" if they can.
func lacksAcross(f *graph.FusedConv, _ *graph.Value, _ int) string {
	switch {
	case f.GroupCount() > 1:
		return "its filters are of groups of channels"
	case f.SH > 1 || f.SW > 1:
		return "neighbouring positions read pixels that are no neighbours"
	case f.Pool != nil:
		return "windows of its pool may lie in two blocks of rows"
	}
	return ""
}

// newTables cuts the words of f, a layer over x with one plane of weights, into groups of `bits`
// channels, for target m.
func newTables(f *graph.FusedConv, x *graph.Value, bits int, reach Reach, m targets.Target) *Tables {
	c := newCounts(f, x, Counted{Bits: WordBits}, m)
	t := &Tables{Counts: c, Bits: bits, Groups: groupsOf(f.In, bits), Most: bits * (1<<c.Planes - 1),
		Halves: reach == BothHalves}
	if reach == Across {
		blocks := rowBlocks(f, x, m, bits)
		t.Each, t.Across = t.Used, &blocks
	} else {
		t.Bounded = m.BoundedLookups()
		t.share(f, x, m)
	}
	if t.Halves { // all that half a byte holds
		t.Most = MaxHalf
	}
	t.Words = func() []uint32 {
		all := make([]uint32, ceilDiv(f.KH*f.KW, TapsPerWord)*t.Each*f.Out)
		t.eachEntry(f, func(tap, at int, entry uint32) { all[tap/TapsPerWord*t.Each*f.Out+at] |= entry << TapBit(tap) })
		return all
	}
	t.Weights = func() []uint8 {
		all := slices.Repeat([]uint8{uint8(t.Entries())}, f.KH*f.KW*t.Each*f.Out) // no entry
		t.eachEntry(f, func(tap, at int, entry uint32) { all[tap*t.Each*f.Out+at] = uint8(entry) })
		return all
	}
	return t
}

// share sets Each and Merged. Filters of a vector use the same tables. So filters of groups that
// fill no block use those of all groups, unless no instruction does that, or there are more groups
// than filters in a vector.
func (t *Tables) share(f *graph.FusedConv, x *graph.Value, m targets.Target) {
	t.Each = t.Used / f.GroupCount()
	if t.Bounded && f.GroupCount() > 1 && f.GroupOut()%leastBlock != 0 && f.GroupCount() <= m.VectorBits/8 &&
		t.instruction(m) {
		t.Each, t.Merged = t.Used, true
	}
	if (t.Merged || f.GroupCount() == 1) && t.inRuns(f, x, m) {
		t.Each = t.tableGroups()
	}
}

// instruction reports whether m has instructions that look up in such tables.
func (t *Tables) instruction(m targets.Target) bool {
	return slices.ContainsFunc(isa.Query(isa.LookUp, m), func(i isa.Instr) bool {
		return i.Words == t.Entries() && i.Halves == t.Halves
	})
}

// inRuns reports whether t has tables of no channels too, since m looks up whole runs of tables for
// several positions at once (isa.LookUpRow), in sums of 16 bits. Where there are many registers,
// other code does as well by fewer tables, unless these are nearly all.
func (t *Tables) inRuns(f *graph.FusedConv, x *graph.Value, m targets.Target) bool {
	_, cols := f.OutSize(x.Shape[1], x.Shape[2])
	whole := t.tableGroups()%8 == 0 || t.tableGroups() == 4 && t.Chunks == 1
	nearlyAll := 3*t.tableGroups() <= 4*t.Used
	return m.ShortLookups && t.Bounded && !t.Halves && t.Bits == tableBits &&
		(m.Registers < manyRegisters || nearlyAll) &&
		whole && f.Out%WordBits == 0 && cols > 1 && f.Pool == nil && f.KH*f.KW*t.tableGroups()*t.Most > maxCount
}

// tableBits is the number of channels of a group with a table that fills a register of bytes.
const tableBits = 4

// manyRegisters is how many registers hold the sums of several positions beside the tables that
// these look up in.
const manyRegisters = 32

// eachEntry calls yield with each entry to look up: that of a group of channels and a filter, at
// index `at` within a tap of the window.
func (t *Tables) eachEntry(f *graph.FusedConv, yield func(tap, at int, entry uint32)) {
	words := t.Counts.Weights()
	if words == nil {
		return
	}
	entry := func(tap, g, o int) uint32 {
		var chunk uint64
		for w, first := 0, g/t.PerChunk*t.Chunk; w < min(t.Chunk, t.Counts.Words-first); w++ {
			chunk |= uint64(words[(tap*t.Counts.Words+first+w)*f.Out+o]) << (w * WordBits)
		}
		return uint32(chunk >> (g % t.PerChunk * t.Bits) & (1<<t.Bits - 1))
	}
	own := t.Used / f.GroupCount()
	for tap := range f.KH * f.KW {
		for g := range own {
			for o := range f.Out {
				at := g*f.Out + o
				if t.Merged {
					at += o / f.GroupOut() * own * f.Out
				}
				yield(tap, at, entry(tap, g, o))
			}
		}
	}
}
