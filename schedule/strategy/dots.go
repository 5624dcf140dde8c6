package strategy

import (
	"cmp"
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
	"ripc/targets"
	"ripc/targets/isa"
)

// dots adds up products of bytes, a step of channels at once by the target's instruction for it, with the sums of a tile in registers.
func dots() Strategy {
	return Strategy{
		Name: "dot", Text: "products of bytes, several channels at once, a tile of sums in registers",
		Applies: func(l *Layer) (bool, string) { return l.dots(), "it does not add up products of bytes over windows" },
		Knobs:   tileKnobs,
		build:   buildDots,
	}
}

// dotInstrs are the instructions of meaning m that add products of channels, four at a time, to the most of n sums, and of steps that the
// layer has; the one of fewest operations first.
func dotInstrs(l *Layer, m isa.Meaning, n int) []isa.Instr {
	if n == 0 || l.scattered || l.sum.extent(ir.Part) != targets.Quad {
		return nil
	}
	bufs, terms := l.buffers, loads(l.term())
	fit := slices.DeleteFunc(isa.Query(m, l.Target), func(i isa.Instr) bool {
		for p, ld := range terms {
			if q := i.Func.Params[1+p]; q.Type != ld.T || !q.Range.Has(bufs[ld.Buf].Range) {
				return true
			}
		}
		return n%i.Lanes != 0 || max(1, l.sum.extent(ir.Reduce))%i.Words != 0
	})
	slices.SortStableFunc(fit, func(a, b isa.Instr) int { return cmp.Compare(a.Ops*b.Lanes*b.Words, b.Ops*a.Lanes*a.Words) })
	return fit
}

func buildDots(b *builder, v Values) {
	t := b.tiles(v)
	b.bring(t)
	b.pads()
	sums := b.products(t.home)
	b.registers(sums...)
	b.unroll(on(b.serial(sums...), ir.Channel)...) // of vectors
	b.stagesBetween()
	b.finish(t)
	if v[unroll] == 1 {
		b.writeOut(sums...)
	}
}

// products makes instructions of the sums, the best of those that are legal, and gives the buffers in which they are.
func (b *builder) products(home string) []string {
	filters, part, sum := b.sum.loop(ir.Channel), b.sum.loop(ir.Part), b.sum.buf
	order := b.reduction()
	if n := b.together; n > 0 && n < b.extent(filters) { // of a word, one block after the other
		home, filters = b.divide(filters, n)
		order = append([]string{home}, append(order[:len(order)-1], filters)...)
	}
	around := order[:len(order)-1]
	for _, i := range dotInstrs(b.Layer, isa.DotBytes, b.extent(filters)) {
		if b.attempt(func() { b.dotLanes(i, around, filters, part) }) {
			return []string{sum}
		}
	}
	for _, i := range dotInstrs(b.Layer, isa.DotPairs, b.extent(filters)) {
		if b.attempt(func() { b.dotPairs(i, around, filters, part, home) }) {
			return []string{sum, sumsOfPairs(b.Layer)}
		}
	}
	if part != "" { // neighbouring filters are lanes
		b.must(steps.Pack(loads(b.Layer.term())[1].Buf, 0, steps.Dims(0, 1, 2, 4, 3)...))
	}
	b.reorder(slices.Insert(order, slices.Index(order, b.sum.loop(ir.Reduce))+1, part)...)
	return []string{sum}
}

// dotLanes makes instructions of the sums of filters, with the loops over parts of a step inside, then that over the steps of an
// instruction, and those around outside.
func (b *builder) dotLanes(instr isa.Instr, around []string, filters string, parts ...string) {
	vectors, lane, tensor := "", filters, b.sum.loop(ir.Reduce)
	if b.extent(filters) > instr.Lanes {
		vectors, lane = b.divideUnnamed(filters, instr.Lanes)
	}
	around = slices.Clone(around)
	at := slices.Index(around, tensor)
	switch {
	case instr.Words == 1:
		tensor = lane
	case b.extent(tensor) == instr.Words:
		around = slices.Delete(around, at, at+1)
	default:
		around[at], tensor = b.divideUnnamed(tensor, instr.Words)
	}
	block := max(1, b.extent(vectors)) * b.extent(lane)
	if instr.Words > 1 { // the weights of several steps of its lanes lie together
		block = instr.Lanes
	}
	b.packBlocks(loads(b.Layer.term())[1].Buf, block)
	inner := []string{vectors, tensor}
	if tensor != lane {
		inner = append(inner, lane)
	}
	b.reorder(slices.Concat(around, inner, parts)...)
	b.must(steps.Tensorize(tensor, instr.Func))
	if vectors != "" {
		b.unroll(b.find(vectors))
	}
}

// sumsOfPairs is the buffer in which a filter has a sum for each half of a step.
func sumsOfPairs(l *Layer) string { return l.sum.buf + ".r" }

// dotPairs is dotLanes by instructions that add up each half of a step apart. An iteration of loop home adds the halves up.
func (b *builder) dotPairs(instr isa.Instr, around []string, filters, part, home string) {
	sums := sumsOfPairs(b.Layer)
	halves, half := b.divideUnnamed(part, 2)
	b.reorder(slices.Concat(around, []string{filters, halves, half})...)
	b.must(steps.Rfactor(b.sum.buf, halves, home, sums))
	b.dotLanes(instr, around, filters, halves, half)
	if b.err != nil {
		return
	}
	lanes := b.lanesOf(sums, false)
	b.must(steps.Vectorize(lanes[len(lanes)-1].Var))
	b.unroll(lanes[:len(lanes)-1]...)
	b.lanes(sums, b.instr(isa.AddPairs, func(i isa.Instr) bool { return i.Type == ir.I32 && i.Lanes == instr.Lanes }), true)
}

// attempt reports whether steps are legal; if not, none of them is taken.
func (b *builder) attempt(apply func()) bool {
	before := *b
	if apply(); b.err == nil {
		return true
	}
	*b = before
	return false
}
