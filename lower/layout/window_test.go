package layout

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestPieces: the words of Dense hold each bit of the windows of all groups once, at its place, and
// none of other groups.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.IntRange(1, 3).Draw(t, "groups")
		f := &graph.FusedConv{KH: rapid.IntRange(1, 3).Draw(t, "kh"), KW: rapid.IntRange(1, 3).Draw(t, "kw"), Groups: g, Out: g}
		f.SW = rapid.IntRange(1, 3).Draw(t, "stride")
		f.In = g * rapid.IntRange(1, 70).Draw(t, "channels")
		c := Counted{Dense: true, Bits: rapid.SampledFrom([]int{8, 16, WordBits}).Draw(t, "bits")}
		pieces, taps := c.Pieces(f), f.KH*f.KW
		_, _, words := c.extent(f)
		whole := taps * c.WholeWords(f)
		if len(pieces) != g*(words-whole) {
			t.Fatalf("%d words of pieces, want %d groups of %d", len(pieces), g, words-whole)
		}
		for group := range g {
			for tap := range taps {
				for ch := range f.GroupIn() {
					word, bit := c.place(f, tap, ch)
					if word < whole {
						continue
					}
					// A pixel that has this channel alone gives this bit, and nothing else in the
					// words of all groups.
					part, from := tap, group*f.GroupIn()+ch
					if c.Columns(f) {
						part, from = tap%f.KW, tap/f.KW*f.In+ch
					}
					ones := 0
					for q, parts := range pieces {
						var got uint32
						for _, p := range parts {
							if p.Part == part && p.Word == from/WordBits {
								got |= shifted(1<<(from%WordBits), p.Shift) & p.Mask & bitRange(0, c.Bits)
							}
						}
						ones += bits.OnesCount32(got)
						if q == group*(words-whole)+word-whole && got != 1<<bit {
							t.Fatalf("channel %d of group %d, pixel %d is %#x of word %d, want bit %d", ch, group, tap, got, q, bit)
						}
					}
					if ones != 1 {
						t.Fatalf("channel %d of group %d, pixel %d has %d bits", ch, group, tap, ones)
					}
				}
			}
		}
	})
}

// TestApplying: every layer of one bit has an algorithm, with groups, too.
func TestApplying(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.IntRange(1, 40).Draw(t, "groups")
		f := &graph.FusedConv{KH: rapid.IntRange(1, 7).Draw(t, "kh"), KW: rapid.IntRange(1, 7).Draw(t, "kw"), SH: 1, SW: 1,
			In: g * rapid.IntRange(1, 300).Draw(t, "channels"), Out: g * rapid.IntRange(1, 9).Draw(t, "filters"), Groups: g,
			X: graph.Integers{Max: 1, Step: 1}, W: graph.Integers{Min: -1, Max: 1, Step: 2}}
		x := graph.Value{Shape: []int{1, 9, 9, f.In}, LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 1}}
		if len(Applying(f, &x)) == 0 {
			t.Fatal("none applies")
		}
	})
}
