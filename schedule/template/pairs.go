package template

import (
	"slices"

	"ripc/ir"
	"ripc/schedule"
	"ripc/targets"
	"ripc/targets/isa"
)

// pairInstr is the instruction that counts two words of activations against pairLanes filters with one popcount.
const (
	pairInstr = "avx512_pair_popcnt_acc_x16"
	pairLanes = 16
)

// maxPairs is the number of pairs that one loop body counts.
const maxPairs = 8

// pairKnobs are k for counting by pairs, if f can be counted so on t and gains by it.
func pairKnobs(f *ir.Func, t targets.Target, k Knobs) (Knobs, bool) {
	s := shapeOf(f)
	words := s.extent["acc.c"]
	if !s.packed || s.pooled || !s.padded || words%2 != 0 {
		return k, false
	}
	p := k
	p.Pairs = true
	p.TileW = bestTile(s.extent["w"], (t.Registers-4)/4) // a sum, carries and two temporaries for each position
	// Operations of a vector of filters in a row. A word is xor, popcount and addition, a pair of them five operations;
	// carries are cleared and added at the end, with several planes for each of them, while the sums are in memory.
	words *= s.extent["acc.kh"] * s.extent["acc.kw"]
	row := func(tile int) int { return (s.extent["w"] + tile - 1) / tile * tile }
	single, paired := 6*words+6, 5*words+12
	if s.has("acc.n") {
		paired += 6
	}
	if row(p.TileW)*paired >= row(k.TileW)*single {
		return k, false
	}
	return p, newBuilder(f, t).pairs(p)
}

// pairs schedules a convolution that counts two words of channels with one popcount (schedule.CarrySave), the sums of 16
// filters in registers at a time, and reports whether all that matters was legal:
//
//	rows h.o (parallel) > [pad, pair] > words of channels > rows h.i > tiles w.o > [vectors of filters > accumulate] glue, pack
func (b *builder) pairs(k Knobs) bool {
	if b.instrs[pairInstr] == nil || !b.s.packed || b.s.pooled || !b.s.padded {
		return false
	}
	b.reorder([]string{"h", "b", "q", "w"})
	row, rows := b.cut("h", k.TileH, "guard")
	tile, pos := b.cut("w", k.TileW, "shift")
	b.reorder([]string{row, "b", "q", rows, tile, pos})
	if !b.all("pair xp 4", "compute_at acc "+tile) || !b.step("compute_at xp %s", row) {
		return false
	}
	b.pairedRows()
	if !b.step("split acc.o %d tail=perfect", pairLanes) || !b.countPairs() {
		return false
	}
	for _, l := range []string{"acc.w*", "s.z2", "s.w2"} {
		b.unroll(l)
	}
	for _, l := range []string{"s.z3", "s.w3", "acc.o.i*"} {
		b.step("vectorize %s", l)
	}
	b.step("parallel %s", row)
	if pos != "" {
		b.unroll(pos)
	}
	b.step("vectorize l")
	return true
}

// pairedRows fills the padded rows: whole pixels as vectors, those of the border apart.
func (b *builder) pairedRows() {
	b.vectors("xp.c")
	var x, xp ir.Buffer
	for _, p := range b.f.Params {
		if p.Name == "x" {
			x = p.Buffer
		}
	}
	xp = b.f.Buffers()["xp"]
	border := xp.Shape[3] - x.Shape[3]
	if left := (b.s.extent["acc.kw"] - 1) / 2; border > 0 && x.Shape[3] > 0 {
		left = min(left, border)
		b.step("peel xp.w %d %d", left, border-left)
	}
}

// countPairs makes the sum one of pairs, in a body of as many of them as do not spill, and an instruction of each.
func (b *builder) countPairs() bool {
	words, paired := b.s.extent["acc.c"], "acc.c"
	order := []string{"acc.n", "acc.o.o", "acc.kh", "acc.kw", "acc.c.o", "acc.c.i", "acc.c", "acc.h", "acc.w", "acc.o.i"}
	if words > 2*maxPairs {
		n := 2 * maxPairs
		for words%n != 0 {
			n -= 2
		}
		if !b.step("split acc.c %d tail=perfect", n) {
			return false
		}
		words, paired = n, "acc.c.i"
	}
	b.reorder(order)
	if !b.all("carry_save acc "+paired+" acc.o.o -> s cc", "pack wt 3.o 0 1 2 3.i factor=16", "pair wt 3", "tensorize acc.o.i "+pairInstr) {
		return false
	}
	b.unroll(paired + ".p")
	if words == 2 { // one pair a pixel
		b.unroll("acc.kw")
	}
	return true
}

// cut splits a loop into tiles, if they are smaller than it; inner is empty if not.
func (b *builder) cut(loop string, size int, tail string) (outer, inner string) {
	size = min(size, b.s.extent[loop])
	if size > 1 && b.step("split %s %d tail=%s -> %s.o %s.i", loop, size, tail, loop, loop) {
		return loop + ".o", loop + ".i"
	}
	return loop, ""
}

// all appends steps up to the first that is not legal, and reports whether there was none.
func (b *builder) all(steps ...string) bool {
	return !slices.ContainsFunc(steps, func(s string) bool { return !b.step("%s", s) })
}

// newBuilder begins a trace for f.
func newBuilder(f *ir.Func, t targets.Target) *builder {
	return &builder{s: shapeOf(f), f: f, lanes: maxVector, target: t, instrs: isa.For(t)}
}

// apply is f after a step; what packs parameters is legal here, since compilers and tests apply traces with
// schedule.Trace.ApplyAll.
func (b *builder) apply(st schedule.Step) (*ir.Func, error) {
	r, err := schedule.Trace{st}.ApplyAll(b.f, schedule.WithInstrs(b.instrs))
	return r.Func, err
}
