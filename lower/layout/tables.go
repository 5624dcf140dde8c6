package layout

import (
	"fmt"

	"ripc/graph"
)

// Tables is how the counts of a layer are looked up. A pixel's channels are cut into groups, and each group has a table: entry
// e is what the group counts against weights whose bits are e, over all planes. So a count costs one look-up a group, however
// many planes there are, and a table is made once for all filters and windows.
type Tables struct {
	Bits   int // channels of a group
	Chunk  int // words of channels that are cut into groups together; the last group of a chunk may have fewer channels
	Chunks int // of a pixel
	Groups int // of a pixel that hold channels: those of the last chunk may be fewer than PerChunk
	most   int // what an entry counts
	// Weights [KH, KW, Groups, Out] are the entries to look up: those of a group are the bits of one weight each, the first
	// channel's lowest.
	Weights []uint8
}

// MaxEntry bounds what an entry can count: entries are bytes.
const MaxEntry = 255

// PerChunk is the number of groups of a chunk.
func (t *Tables) PerChunk() int { return (t.Chunk*WordBits + t.Bits - 1) / t.Bits }

// Entries is the number of entries of a table.
func (t *Tables) Entries() int { return 1 << t.Bits }

// Largest is what a window of f counts at most, as far as the entries tell.
func (t *Tables) Largest(f *graph.FusedConv) int {
	return f.KH * f.KW * t.Groups * t.most
}

// lacksTables says why groups of so many channels do not give the sums of f over x; "" where they do.
func lacksTables(f *graph.FusedConv, x *graph.Value, bits int) string {
	switch {
	case !x.Encoded():
		return "its weights or its input are real numbers"
	case f.GroupCount() > 1:
		return "its filters read different channels"
	case bits*x.Top() > MaxEntry:
		return fmt.Sprintf("%d levels count up to %d, and tables hold counts up to %d", bits, bits*x.Top(), MaxEntry)
	}
	switch by := cutOf(f); {
	case len(by.coefs) > 1:
		return fmt.Sprintf("its weights have %d planes", len(by.coefs))
	case by.ones:
		return "its weights are 0 and 1, and tables hold what differs from them"
	}
	return ""
}

// newTables cuts the words of c, whose weights have one plane, into groups.
func newTables(f *graph.FusedConv, c *Counts, bits int) *Tables {
	t := &Tables{Bits: bits, Chunk: 1, most: bits * (1<<c.Planes - 1)}
	if WordBits%bits != 0 && c.Words%2 == 0 {
		t.Chunk = 2 // fewer channels are left over
	}
	t.Chunks = c.Words / t.Chunk
	rest := f.In - (t.Chunks-1)*t.Chunk*WordBits
	t.Groups = (t.Chunks-1)*t.PerChunk() + (rest+bits-1)/bits
	if c.Weights == nil {
		return t
	}
	taps, groups := f.KH*f.KW, t.Groups
	t.Weights = make([]uint8, taps*groups*f.Out)
	for tap := range taps {
		for g := range groups {
			for o := range f.Out {
				var chunk uint64
				for w := range t.Chunk {
					word := g/t.PerChunk()*t.Chunk + w
					chunk |= uint64(c.Weights[(tap*c.Words+word)*f.Out+o]) << (w * WordBits)
				}
				t.Weights[(tap*groups+g)*f.Out+o] = uint8(chunk >> (g % t.PerChunk() * bits) & (1<<bits - 1))
			}
		}
	}
	return t
}
