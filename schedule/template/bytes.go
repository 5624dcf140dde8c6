package template

import (
	"fmt"
	"slices"
	"strings"

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
}

// maxRow is the longest row whose sums are all kept until its output is written, so that its last tile can be narrower.
const maxRow = 32

// maxBytes is how many counts of 8 bits fit in one.
const maxBytes = 31

// byteKnobs gives the tile with the fewest instructions for each position and filter, and the width of the tile of
// output positions around it. Bytes are zero where the target counts no bytes or the Func no words.
func byteKnobs(f *ir.Func, t targets.Target, s shape) (Bytes, int) {
	var none Bytes
	if t.VectorBits != 128 || byteInstructions(t) == "" || !s.conv || s.has("acc.gc") || s.has("acc.m") || !s.has("acc.c") || !countsWords(f) {
		return none, 0
	}
	worth := 2 // words for which widening costs less than it saves
	if s.has("acc.n") && t.Arch == "arm" {
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

// byteLanes schedules the sums of accumulators that are at their tile, with byte lanes, and reports whether all of it is
// legal; if not, the trace is as it was.
func (b *builder) byteLanes(t targets.Target, k Bytes, filters int, positions []string) bool {
	f, trace := b.f, b.trace
	if filters%(4*k.Vectors) != 0 || !b.bytes(t, k, filters, positions) {
		b.f, b.trace = f, trace
		return false
	}
	return true
}

func (b *builder) bytes(t targets.Target, k Bytes, filters int, positions []string) bool {
	lanes := 4 * k.Vectors
	if !b.step("pack wt 3.o 0 1 2 3.i factor=%d", lanes) || !b.step("set_encoding wt u8") {
		return false
	}
	if b.s.padded && !b.step("set_encoding xp u8") {
		return false
	}
	if !b.step("set_encoding x u8") {
		return false
	}
	order := []string{"acc.w", "acc.kh", "acc.kw", "acc.c", "acc.o", "acc.part"}
	if b.s.has("acc.n") {
		order = append([]string{"acc.n"}, order...)
	}
	b.reorder(order)
	tiles := []byteTile{{w: "acc.w"}}
	if w := b.extent("acc.w"); w > k.Width {
		if !b.step("split acc.w %d tail=cut -> acc.w.o acc.w.i", k.Width) {
			return false
		}
		tiles[0] = byteTile{w: "acc.w.i", around: "acc.w.o"}
		if w%k.Width != 0 {
			tiles = append(tiles, byteTile{suffix: ".t", w: "acc.w.t"})
		}
	}
	for _, tile := range tiles {
		if !b.byteTile(byteInstructions(t), k, tile) {
			return false
		}
	}
	b.startsOfSums()
	return true
}

// startsOfSums schedules what sets and doubles the sums, which are the loops that are not marked yet.
func (b *builder) startsOfSums() {
	var serial []string
	ir.Walk(b.f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.For); ok && l.Kind == ir.Serial {
			serial = append(serial, l.Var)
		}
		return true
	})
	copyOf := func(name, loop string) bool { // acc.o.1, acc.o.2, acc.o.1.t
		rest, ok := strings.CutPrefix(name, loop+".")
		return ok && rest[0] >= '1' && rest[0] <= '9'
	}
	for _, l := range serial {
		switch {
		case copyOf(l, "acc.o"):
			b.step("vectorize %s", l)
		case copyOf(l, "acc.h"), copyOf(l, "acc.w") && b.extent(l) <= 8:
			b.unroll(l)
		}
	}
}

// byteTile is one of the nests that sum: loop w runs over its positions, around over tiles; what else there is ends with
// suffix.
type byteTile struct{ suffix, w, around string }

// byteTile schedules a tile's sums: lanes of 16 bits around lanes of 8 bits.
func (b *builder) byteTile(instr string, k Bytes, tile byteTile) bool {
	l := func(name string) string { return name + tile.suffix }
	ok := true
	step := func(format string, args ...any) { ok = ok && b.step(format, args...) }
	split := func(loop string, n int, outer, inner string) {
		step("split %s %d tail=perfect -> %s %s", l(loop), n, l(outer), l(inner))
	}
	words := k.Step
	split("acc.c", k.Words, "acc.c.o", "acc.c.i")
	split("acc.c.i", words, "acc.c.i.o", "acc.c.i.i")
	split("acc.c.o", max(1, b.extent(l("acc.c.o"))), "acc.c.all", "acc.c.o")
	filters := l("acc.o")
	if b.extent(filters) > 4*k.Vectors {
		split("acc.o", 4*k.Vectors, "acc.o.o", "acc.o.i")
		filters = l("acc.o.i")
	}
	split("acc.part", 2, "acc.part.o", "acc.part.i")
	order := []string{tile.around, l("acc.o.o"), l("acc.c.all"), l("acc.c.o"), l("acc.kh")}
	if k.At == "kw" {
		order = append(order, l("acc.kw"), l("acc.c.i.o"))
	} else { // neighbouring taps read the same words
		order = append(order, l("acc.c.i.o"), l("acc.kw"))
	}
	b.reorder(append(order, l("acc.h"), tile.w, l("acc.c.i.i"), filters, l("acc.part.o"), l("acc.part.i")))
	at := map[string]string{"c": "acc.c.o", "kh": "acc.kh", "kw": "acc.kw"}[k.At]
	halves, bytes := l("acc.r"), l("acc.b")
	step("rfactor acc %s %s type=u16 -> %s", l("acc.part.o"), l("acc.c.all"), halves)
	step("rfactor %s %s %s type=u8 -> %s", halves, l("acc.part.i"), l(at), bytes)
	if !ok {
		return false
	}
	loops := []string{l("acc.c.i.o"), l("acc.kw"), l("acc.h"), tile.w}
	if k.At == "c" {
		if ok = b.rolled(k, tile.suffix, &loops); !ok {
			return false
		}
	}
	step("tensorize %s %s_xor_cnt_add_%dx%d", l("acc.c.i.i"), instr, words, 4*k.Vectors)
	for _, n := range loops {
		if b.loop(n) != nil && n != l(at) && b.loop(n).Kind == ir.Serial {
			step("unroll %s", n)
		}
	}
	add := map[string]string{"neon": "uadalp", "armv7": "vpadal"}[instr]
	return ok && b.eachByte(halves, instr+"_clear_u16", fmt.Sprintf("%s_%s_i32", instr, add)) && b.eachByte(bytes, instr+"_clear_u8", fmt.Sprintf("%s_%s_u16", instr, add))
}

// rolled leaves a loop over words as it is: where there is none, LLVM loads all weights before the loop over tiles, and
// has no registers for them.
func (b *builder) rolled(k Bytes, suffix string, loops *[]string) bool {
	c, n := "acc.c.i.o"+suffix, k.Words/k.Step
	if b.s.extent["acc.kh"] > 1 && k.Words*b.s.extent["acc.kw"] <= 12 {
		return true
	}
	if b.s.extent["acc.kw"] > 1 {
		*loops = (*loops)[2:]
		return true
	}
	if n <= 2 {
		return true
	}
	if *loops = (*loops)[1:]; n%2 == 0 {
		*loops = append(*loops, c+".i")
		return b.step("split %s 2 tail=perfect -> %s.o %s.i", c, c, c)
	}
	return true
}

// eachByte schedules what sets the lanes of an accumulator and what adds them up, after Rfactor.
func (b *builder) eachByte(buf, clear, add string) bool {
	ok := true
	for _, part := range []string{"z", "w"} {
		name := func(d int) string { return fmt.Sprintf("%s.%s%d", buf, part, d) }
		for d := 1; d <= 2; d++ {
			if b.loop(name(d)) != nil {
				ok = ok && b.step("unroll %s", name(d))
			}
		}
		ok = ok && b.step("split %s 4 tail=perfect", name(3)) && b.step("unroll %s.o", name(3)) && b.step("tensorize %s.i %s", name(3), map[string]string{"z": clear, "w": add}[part])
	}
	return ok
}

func (b *builder) extent(loop string) int {
	if l := b.loop(loop); l != nil {
		return l.Extent
	}
	return 0
}
