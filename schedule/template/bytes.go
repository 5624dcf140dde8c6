package template

import (
	"fmt"
	"strings"

	"ripc/ir"
	"ripc/targets"
)

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
	if !b.packWeights(k) || !b.step("set_encoding wt u8") {
		return false
	}
	switch {
	case k.Spread:
		if !b.step("split acc.o 4 tail=perfect -> acc.o acc.l") || !b.step("replicate xp acc.l") {
			return false
		}
	case b.s.padded && !b.step("set_encoding xp u8"), !b.step("set_encoding x u8"):
		return false
	}
	order := []string{"acc.w", "acc.kh", "acc.kw", "acc.c", "acc.o", "acc.l", "acc.part"}
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

// packWeights brings the weights into the order of the loops: tiles of filters, groups of filters that an instruction
// takes, and words that are summed in bytes lie together, so that few addresses are needed.
func (b *builder) packWeights(k Bytes) bool {
	if !b.step("pack wt 3.o 0 1 2 3.i factor=%d", 4*k.Vectors) {
		return false
	}
	c := 3
	if k.Group > 0 {
		if c = 4; !b.step("pack wt 0 1 2 4.o 3 4.i factor=%d", 4*k.Group) {
			return false
		}
	}
	if !k.Spread || b.s.extent["acc.c"] == k.Words || k.At != "kh" {
		return true
	}
	if k.Group > 0 {
		return b.step("pack wt 0 4.o 1 2 3 4.i 5 factor=%d", k.Words)
	}
	return b.step("pack wt 0 %d.o 1 2 %[1]d.i 4 factor=%d", c, k.Words)
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
		if rest, ok := strings.CutPrefix(l, "acc.l"); ok && copyOf(l, "acc.l") {
			b.step("fuse acc.o%s %s -> acc.o%s", rest, l, rest)
		}
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
	filters, n := l("acc.o"), 4*k.Vectors
	if k.Spread {
		n = k.Vectors
	}
	if b.extent(filters) > n {
		split("acc.o", n, "acc.o.o", "acc.o.i")
		filters = l("acc.o.i")
	}
	group, vectors := "", k.Vectors
	if k.Group > 0 {
		group, vectors = l("acc.o.g"), k.Group
		base := strings.TrimSuffix(filters, tile.suffix)
		split(base, k.Group, "acc.o.g", base)
	}
	split("acc.part", 2, "acc.part.o", "acc.part.i")
	order := []string{tile.around, l("acc.o.o"), l("acc.c.all"), l("acc.c.o"), l("acc.kh")}
	if k.At == "kw" {
		order = append(order, l("acc.kw"), l("acc.c.i.o"))
	} else { // neighbouring taps read the same words
		order = append(order, l("acc.c.i.o"), l("acc.kw"))
	}
	b.reorder(append(order, l("acc.h"), group, tile.w, l("acc.c.i.i"), filters, l("acc.l"), l("acc.part.o"), l("acc.part.i")))
	at := map[string]string{"c": "acc.c.o", "kh": "acc.kh", "kw": "acc.kw"}[k.At]
	halves, bytes := l("acc.r"), l("acc.b")
	step("rfactor acc %s %s type=u16 -> %s", l("acc.part.o"), l("acc.c.all"), halves)
	step("rfactor %s %s %s type=u8 -> %s", halves, l("acc.part.i"), l(at), bytes)
	if !ok {
		return false
	}
	loops := []string{l("acc.c.i.o"), l("acc.kw"), l("acc.h"), group, tile.w}
	if k.At == "c" {
		if ok = b.rolled(k, tile.suffix, &loops); !ok {
			return false
		}
	}
	tensor := fmt.Sprintf("%s_xor_cnt_add_%dx%d", instr, words, 4*vectors)
	switch {
	case k.Spread:
		tensor += "_spread"
	case k.Wide:
		tensor += "_wide"
	}
	step("tensorize %s %s", l("acc.c.i.i"), tensor)
	for _, n := range loops {
		if n != "" && b.loop(n) != nil && n != l(at) && b.loop(n).Kind == ir.Serial {
			step("unroll %s", n)
		}
	}
	add := map[string]string{"neon": "uadalp", "armv7": "vpadal"}[instr]
	ok = ok && b.eachByte(halves, "zw", 4, instr+"_clear_u16", fmt.Sprintf("%s_%s_i32", instr, add))
	if b.extent(l(at)) > 1 { // 16 bits have no registers while bytes are counted
		return ok && b.eachByte(bytes, "z", 4, instr+"_clear_u8", "") && b.eachByte(bytes, "w", 4*k.Vectors, "", fmt.Sprintf("%s_%s_u16_x%d", instr, add, 4*k.Vectors))
	}
	return ok && b.eachByte(bytes, "zw", 4, instr+"_clear_u8", fmt.Sprintf("%s_%s_u16", instr, add))
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
func (b *builder) eachByte(buf, parts string, filters int, clear, add string) bool {
	ok := true
	for _, part := range strings.Split(parts, "") {
		name := func(d int) string { return fmt.Sprintf("%s.%s%d", buf, part, d) }
		for d := 1; d <= 2; d++ {
			if b.loop(name(d)) != nil {
				ok = ok && b.step("unroll %s", name(d))
			}
		}
		ok = ok && b.step("split %s %d tail=perfect", name(3), filters) && (b.loop(name(3)+".o") == nil || b.step("unroll %s.o", name(3))) && b.step("tensorize %s.i %s", name(3), map[string]string{"z": clear, "w": add}[part])
	}
	return ok
}

func (b *builder) extent(loop string) int {
	if l := b.loop(loop); l != nil {
		return l.Extent
	}
	return 0
}
