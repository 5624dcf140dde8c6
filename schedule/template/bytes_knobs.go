package template

import (
	"slices"

	"ripc/ir"
	"ripc/targets"
)

// Bytes are the knobs of a sum of popcounts in byte lanes. The zero value is a sum in lanes of 32 bits.
type Bytes struct {
	Vectors int // registers of 4 filters each that a tile has: 2, 4 or 8
	Width   int // positions along w that a tile has
	Words   int // words of channels that are summed in bytes
	Step    int // words that an instruction takes, 1 or 2
	// At is the loop of which an iteration sums in 8 bits: "c" for all taps, "kh" for a row of them, "kw" for one.
	At string
	// Spread keeps four copies of each word of the padded activations, one for each filter of a register.
	Spread bool
	// Group is the registers of filters that are counted for all positions before the next ones, so that few weights are
	// in registers at a time; 0 is all of the tile's.
	Group int
	Wide  bool // a load brings two registers of weights
}

// maxRow is the longest row whose sums are all kept until its output is written, so that its last tile can be narrower.
const maxRow = 32

// maxBytes is how many counts of 8 bits fit in one.
const maxBytes = 31

// maxSpread is how many bytes of activations are spread at most, so that they and a tile's weights stay in a first-level
// cache.
const maxSpread = 24 << 10

// spread lets k keep four copies of the padded activations where the cache has room for those of some rows.
func (k *Knobs) spread(s shape, t targets.Target) {
	if t.Arch != "aarch64" || !s.padded {
		return
	}
	row := 16 * s.extent["xp.w"] * s.extent["xp.c"] * max(1, s.extent["xp.p"])
	stride := max(1, (s.extent["xp.h"]-s.extent["acc.kh"])/max(1, s.extent["h"]-1))
	rows := func(h int) int { return (h-1)*stride + s.extent["acc.kh"] }
	h := k.TileH
	for h > 2 && rows(h)*row > maxSpread {
		h--
	}
	if rows(h)*row > maxSpread {
		return
	}
	k.TileH, k.Bytes.Spread = h, true
	if k.Bytes.Step == 2 && k.Bytes.Vectors > 2 && k.Bytes.At != "c" {
		k.Bytes.Group = 2
	}
}

// byteKnobs gives the tile with the fewest instructions for each position and filter, and the width of the tile of
// output positions around it. Bytes are zero where the target counts no bytes or the Func no words.
func byteKnobs(f *ir.Func, t targets.Target, s shape) (Bytes, int) {
	var none Bytes
	if t.VectorBits != 128 || byteInstructions(t) == "" || !s.conv || s.has("acc.gc") || s.has("acc.m") || !s.has("acc.c") || !countsWords(f) {
		return none, 0
	}
	worth := 2 // words for which widening costs less than it saves
	switch {
	case slices.Contains(t.Features, "dotprod"): // LLVM adds counts up by udot, which saves most of it
		if worth = 12; s.extent["acc.kh"] > 1 {
			worth = 27
		}
	case s.has("acc.n") && t.Arch == "arm":
		worth = 6
	}
	if s.extent["acc.kh"]*s.extent["acc.kw"]*s.extent["acc.c"] < worth {
		return none, 0
	}
	best, tileW, least := none, 0, 1e30
	window := 1
	if s.pooled {
		window = s.extent["pl.i"] * s.extent["pl.j"]
	}
	n, at := byteSteps(s)
	w, taps, words := s.extent["w"], s.extent["acc.kw"], 2-n%2
	spare := 0
	if at != "c" { // lanes of 16 bits go over the stack, so one more does not matter
		spare = 1
	}
	if t.Arch == "arm" { // two words need registers for the weights of both
		words, spare = 1, 0
	}
	cost := func(vectors, positions int) float64 { // of a word for all of a tile
		load := 0.5 // ldp
		if t.Arch == "arm" {
			load = 1
		}
		broadcast := float64(positions+taps-1) / float64(taps) * (1 + 1/float64(words)) // a load, or an address, and a dup each
		memory := 0.0                                                                   // sums of half of the filters wait for the others
		if vectors < 8 {
			memory = 2 * float64(vectors*positions) / float64(taps*s.extent["acc.kh"]*s.extent["acc.c"])
		}
		return float64(3*vectors*positions) + load*float64(vectors) + broadcast + memory
	}
	for _, v := range []int{8, 4, 2} {
		for p := window; p*v+words*v+words*(p-1)*min(1, taps-1)+2+words/2 <= t.Registers+spare; p += window {
			width := p / window // output positions
			if width > w {
				break
			}
			if s.pooled || w > maxRow && w%width != 0 {
				if c := cost(v, p) * float64((w+width-1)/width) / float64(v); c < least {
					best, tileW, least = Bytes{Vectors: v, Width: p}, width, c // at most: positions of a pool are rows too
				}
				continue
			}
			c := cost(v, p) * float64(w/width)
			if r := w % width; r > 0 {
				c += cost(v, r)
			}
			if c /= float64(v); c < least {
				best, tileW, least = Bytes{Vectors: v, Width: width}, w, c
				if w%width == 0 {
					tileW = width
				}
			}
		}
	}
	best.Words, best.At, best.Step = n, at, words
	best.Wide = t.Arch == "arm" && (!s.has("acc.n") || n*taps > 12) // planes read the same weights, and LLVM keeps addresses if they are few
	return best, tileW
}

// byteSteps chooses how many words are summed in bytes, by what widening costs a step: adding the lanes up, and setting
// them, which is free where the first words' counts can do it.
func byteSteps(s shape) (words int, at string) {
	kh, kw, c := s.extent["acc.kh"], s.extent["acc.kw"], s.extent["acc.c"]
	least := 1e30
	for n := 1; n <= c; n++ {
		if c%n != 0 {
			continue
		}
		for _, l := range []struct {
			at     string
			steps  int
			instrs float64
		}{{"c", kh * kw * n, 3}, {"kh", kw * n, 1}, {"kw", n, 1}} {
			if l.at == "c" && n == c {
				l.instrs = 1.5 // the sums stay in registers
			}
			if cost := l.instrs / float64(l.steps); l.steps <= maxBytes && cost < least {
				least, words, at = cost, n, l.at
			}
		}
	}
	if kh*kw == 1 {
		at = "c"
	}
	return words, at
}

// byteInstructions is what the names of a target's instructions for bytes begin with.
func byteInstructions(t targets.Target) string {
	if !slices.Contains(t.Features, "neon") {
		return ""
	}
	switch t.Arch {
	case "aarch64":
		return "neon"
	case "arm":
		return "armv7"
	}
	return ""
}

// countsWords reports whether f sums up popcounts of words x ^ wt alone.
func countsWords(f *ir.Func) bool {
	found := false
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		st, ok := s.(*ir.Store)
		if !ok || st.Buf != "acc" || st.Op != ir.AddTo {
			return true
		}
		if c, ok := st.Val.(*ir.Cast); ok {
			if p, ok := c.A.(*ir.Unary); ok && p.Op == ir.Popcount && p.Type() == ir.U32 {
				x, ok := p.A.(*ir.Binary)
				found = ok && x.Op == ir.Xor
			}
		}
		return true
	})
	return found
}
