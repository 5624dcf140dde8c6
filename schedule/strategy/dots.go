package strategy

import (
	"cmp"
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
	"ripc/targets"
	"ripc/targets/isa"
)

// dots adds up products of bytes by dot-product instructions, with the sums of a tile in registers.
func dots() Strategy {
	return Strategy{
		Name: "dot", Text: "products of bytes, several channels at once, a tile of sums in registers",
		Applies: func(l *Layer) (bool, string) { return l.dots(), "it does not add up products of bytes over windows" },
		Knobs:   tileKnobs,
		build:   buildDots,
	}
}

// dotInstrs lists the instructions of meaning m that add products of channels, four at a time, to
// sums. Their lanes divide n and their words divide the layer's steps; the cheapest comes first.
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
	slices.SortStableFunc(fit, func(a, b isa.Instr) int {
		return cmp.Compare(a.Ops*b.Lanes*b.Words, b.Ops*a.Lanes*a.Words)
	})
	return fit
}

func buildDots(b *builder, v Values) {
	t := b.tiles(v)
	b.placeStages(t)
	b.pads()
	sums := b.products(t.home)
	b.registers(sums...)
	b.unroll(loopsOf(b.serial(sums...), ir.Channel)...) // of vectors
	b.stagesBetween()
	b.finish(t)
	if v[unroll] == 1 {
		b.writeOut(maxBody, sums...)
	}
}

// products tensorizes the sums by the first legal instruction, and returns the buffers of the sums.
func (b *builder) products(home string) []string {
	filters, part, sum := b.sum.loop(ir.Channel), b.sum.loop(ir.Part), b.sum.buf
	order := b.reduction()
	if n := b.runLength; n > 0 && n < b.extent(filters) { // blocks of one word, one after the other
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
	if part != "" { // neighbouring filters become lanes
		b.must(steps.Pack(loads(b.Layer.term())[1].Buf, 0, steps.Dims(0, 1, 2, 4, 3)...))
	}
	b.reorder(slices.Insert(order, slices.Index(order, b.sum.loop(ir.Reduce))+1, part)...)
	return []string{sum}
}

// dotLanes tensorizes the sums of filters. The loops over parts of a step go inside, then the loop
// over the steps of an instruction; the loops around go outside.
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
	if instr.Words > 1 { // the weights of several steps are contiguous for the lanes of an instruction
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

// sumsOfPairs returns the buffer with a sum for each half of a step.
func sumsOfPairs(l *Layer) string { return l.sum.buf + ".r" }

// dotPairs is dotLanes for instructions that sum each half of a step apart. Each iteration of loop
// home adds the halves.
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
	b.lanes(sums, b.instr(isa.AddPairs, func(i isa.Instr) bool {
		return i.Type == ir.I32 && i.Lanes == instr.Lanes
	}), true)
}

// attempt applies steps and reports whether all are legal; if not, it undoes them.
func (b *builder) attempt(apply func()) bool {
	before := *b
	if apply(); b.err == nil {
		return true
	}
	*b = before
	return false
}
