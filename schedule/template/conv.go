package template

import (
	"math/bits"
	"slices"

	"ripc/ir"
	"ripc/targets"
)

// laneBits is the width of an accumulator.
const laneBits = 32

// DefaultKnobs fills the vector registers with accumulators and leaves room for the weights and temporaries.
func DefaultKnobs(f *ir.Func, t targets.Target) Knobs {
	k := wordKnobs(f, t)
	if bytes, w := byteKnobs(f, t, shapeOf(f)); w > 0 {
		k.Bytes, k.TileW = bytes, w
		k.spread(shapeOf(f), t)
		if s := shapeOf(f); !s.padded { // a guard would hide from tensorize that rows are inside
			for s.extent["h"]%k.TileH != 0 {
				k.TileH--
			}
		}
	}
	return k
}

// wordKnobs are DefaultKnobs with sums as wide as words.
func wordKnobs(f *ir.Func, t targets.Target) Knobs {
	k := PlainKnobs(f, t)
	if p, gains := pairKnobs(f, t, k); gains {
		return p
	}
	return k
}

// PlainKnobs are DefaultKnobs with sums as wide as words and, on targets that count words fast, one popcount a word.
func PlainKnobs(f *ir.Func, t targets.Target) Knobs {
	s := shapeOf(f)
	if !s.conv {
		return Knobs{Lanes: maxVector, UnrollK: true}
	}
	perVector := t.VectorBits / laneBits
	k := Knobs{Lanes: 32, UnrollK: true, FiltersOuter: true}
	if !s.packed {
		n, o := 2*perVector, s.extent["o"]
		if s.extent["w"] == 1 && (o%(2*n) == 0 || o%n != 0) {
			n *= 2 // one position has few accumulators, and each waits for the one before
		}
		k.Lanes = powerOfTwo(min(n, o))
		for k.Lanes > perVector && wasted(s.extent["o"], k.Lanes) > wasted(s.extent["o"], k.Lanes/2)+s.extent["o"]/8 {
			k.Lanes /= 2
		}
	}
	vectors := max(1, (k.Lanes+perVector-1)/perVector) // registers that hold one position's accumulators
	window := 1
	if s.pooled {
		window = s.extent["pl.i"] * s.extent["pl.j"]
	}
	most := max(1, min(13, (t.Registers-vectors-2)/vectors))
	if k.CarrySave = pays(t) && s.extent["acc.c"]%2 == 0; k.CarrySave {
		most = min(most, 2)
	}
	k.TileW = bestTile(s.extent["w"], max(1, most/window))
	k.TileH = max(1, (s.extent["h"]+7)/8)
	if s.has("acc.gc") { // groups: each lane reads a word of its own, one after the other
		k.TileW, k.UnrollK = 1, false
	}
	return k
}

// wasted is the number of channels that blocks of n compute twice.
func wasted(channels, n int) int { return (channels+n-1)/n*n - channels }

// bestTile is the tile of at most most positions that covers w with the least work: positions computed twice by the
// overlapping last tile, and half a position for loading the weights of each tile.
func bestTile(w, most int) int {
	best, cost := 1, 1e30
	for m := 1; m <= min(w, most); m++ {
		if c := float64((w+m-1)/m) * (float64(m) + 0.5); c <= cost {
			best, cost = m, c
		}
	}
	return best
}

// convolution schedules accumulators in registers, with everything up to the packed output in their tile:
//
//	rows h.o (parallel) > blocks of channels > rows h.i > tiles w.o > [pad] [accumulate] [pool] glue, pack
func (b *builder) convolution(k Knobs) {
	s := b.s
	channels := "q"
	if !s.packed {
		channels = "o"
	}
	dense := s.extent["h"] == 1 // what can be shared out is the channels
	switch {
	case dense:
		b.reorder([]string{channels, "h", "b", "w"})
	case k.FiltersOuter:
		b.reorder([]string{"h", "b", channels, "w"})
	default:
		b.reorder([]string{"h", "b", "w", channels})
	}
	inner, shared := "l", true
	if !s.packed {
		channels, inner, shared = b.splitChannels(k.Lanes)
	}
	row, rows := "h", ""
	if k.TileH > 1 && s.extent["h"] > 1 {
		b.step("split h %d tail=guard -> h.o h.i", min(k.TileH, s.extent["h"]))
		row, rows = "h.o", "h.i"
	}
	tile, pos := "w", ""
	if k.TileW > 1 && s.extent["w"] > 1 {
		b.step("split w %d tail=shift -> w.o w.i", min(k.TileW, s.extent["w"]))
		tile, pos = "w.o", "w.i"
	}
	order, home := []string{row, "b", rows, tile, channels, pos}, channels
	switch {
	case dense:
		order, home = []string{channels, row, "b", tile, pos}, tile
	case k.FiltersOuter:
		order, home = []string{row, "b", channels, rows, tile, pos}, tile
	}
	if !s.packed {
		order = append(order, inner)
	}
	b.reorder(order)
	reduction := b.stages(home, row, k)
	if shared || !dense {
		b.step("parallel %s", order[0])
	}
	if pos != "" {
		b.unroll(pos)
	}
	if !b.unrolled || !b.step("tensorize %s %s_pack_le_x32", inner, byteInstructions(b.target)) {
		b.step("vectorize %s", inner)
	}
	if k.UnrollK && !b.unrolled { // last, when what else there is in the code is known; written where the other loops of acc are
		n := len(b.trace)
		b.unrollReduction()
		b.trace = slices.Concat(b.trace[:reduction], b.trace[n:], b.trace[reduction:n])
	}
}

// splitChannels cuts the channels of a float output into vector blocks. Where they do not divide, the last block overlaps
// the one before, and blocks cannot be shared out among threads.
func (b *builder) splitChannels(lanes int) (outer, inner string, disjoint bool) {
	o := b.s.extent["o"]
	lanes = powerOfTwo(max(1, min(lanes, o)))
	if o%lanes == 0 {
		b.step("split o %d tail=perfect -> o.o o.i", lanes)
		return "o.o", "o.i", true
	}
	b.step("split o %d tail=shift -> o.o o.i", lanes)
	return "o.o", "o.i", false
}

// powerOfTwo is the largest power of two up to n: LLVM keeps vectors of other lengths in memory.
func powerOfTwo(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// reorder orders those of loops that there are (compute_at drops loops of one iteration).
func (b *builder) reorder(loops []string) {
	text, n := "reorder", 0
	for _, l := range loops {
		if l != "" && b.loop(l) != nil {
			text += " " + l
			n++
		}
	}
	if n > 1 {
		b.step("%s", text)
	}
}

// stages brings the producers to the loops where they are used, and orders the reduction: planes, window and channels
// outside, the tile's positions and channels inside, where they become registers. It gives the place in the trace where
// the steps of acc end.
func (b *builder) stages(home, row string, k Knobs) int {
	s := b.s
	if s.pooled {
		b.step("compute_at pl %s", home)
	}
	b.step("compute_at acc %s", home)
	if s.padded {
		at := row
		if s.extent["h"] == 1 {
			at = home
		}
		b.step("compute_at xp %s", at)
	}
	positions := b.positions(k)
	if k.Bytes.Vectors > 0 && b.byteLanes(b.target, k.Bytes, b.extent("acc.o"), positions) {
		b.unrolled = true
		switch {
		case k.Bytes.Spread:
			b.step("vectorize xp.r")
			b.unroll("xp.c")
		case s.padded && b.step("fuse xp.c xp.part -> xp.v"):
			b.vectors("xp.v")
		case s.padded: // one word
			b.vectors("xp.part")
		}
		return b.poolStage(k)
	}
	for _, l := range []string{"xp.c", "xp.l", "xp.r"} { // words; levels of the words that are made floats
		b.vectorize(l)
	}
	order := []string{"acc.kh", "acc.kw", "acc.c", "acc.gc", "acc.m"}
	if s.has("acc.n") {
		order = append([]string{"acc.n"}, order...)
	}
	b.reorder(append(append(order, positions...), "acc.o"))
	if k.CarrySave {
		b.carrySave(home)
	}
	for _, l := range positions {
		b.unroll(l + "*")
	}
	b.step("vectorize acc.o*")
	return b.poolStage(k)
}

// poolStage schedules the pool, if there is one, and gives the place in the trace where the steps of acc end.
func (b *builder) poolStage(k Knobs) int {
	s := b.s
	end := len(b.trace)
	if s.pooled {
		b.unroll("pl.i")
		b.unroll("pl.j")
		if k.TileW > 1 && s.extent["w"] > 1 {
			b.unroll("pl.w")
		}
		b.step("vectorize pl.o")
	}
	return end
}

// positions lists the accumulators' loops over rows and columns that have more than one iteration left in a tile.
func (b *builder) positions(k Knobs) []string {
	s := b.s
	tile := 1
	if k.TileW > 1 {
		tile = min(k.TileW, s.extent["w"])
	}
	var ls []string
	if s.pooled && s.extent["pl.i"] > 1 {
		ls = append(ls, "acc.h")
	}
	if tile > 1 || s.pooled && s.extent["pl.j"] > 1 {
		ls = append(ls, "acc.w")
	}
	return ls
}

// maxBody is the number of reduction steps that are unrolled into one loop body.
const maxBody = 6

// unrollReduction unrolls the innermost reduction loops as far as the body stays small.
func (b *builder) unrollReduction() {
	n := 1
	for _, l := range []string{"acc.m", "acc.c", "acc.c.p", "acc.gc", "acc.kw", "acc.kh", "acc.n"} {
		if n *= max(1, b.s.extent[l]); n > maxBody {
			return
		}
		if b.s.extent[l] > 1 {
			b.unroll(l)
		}
	}
}
