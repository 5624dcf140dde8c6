package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule/cost"
	"ripc/targets/isa"
)

// dots adds up products of bytes, a step of channels at once by the target's instruction for it, with the sums of a tile in registers.
func dots() Strategy {
	return Strategy{
		Name: "dot", Text: "products of bytes, several channels at once, a tile of sums in registers",
		Applies: func(l *Layer) (bool, string) { return l.dots(), "it does not add up products of bytes over windows" },
		Knobs: func(l *Layer) []Knob {
			return tilesOf(l, func(channels int) int {
				if dotInstr(l, isa.DotBytes, channels) == nil && dotInstr(l, isa.DotPairs, channels) != nil {
					return 2
				}
				return 1
			})
		},
		Cost:  func(l *Layer, v Values) float64 { return cost.Dots(sumOf(l).Terms(), rowOf(l, v)) },
		build: buildDots,
	}
}

// dotInstr is the instruction of meaning m that adds products of four channels to the most of n sums, nil if there is none that fits.
func dotInstr(l *Layer, m isa.Meaning, n int) *isa.Instr {
	if n == 0 || l.scattered || l.sum.extent(ir.Part) != cost.Quad {
		return nil
	}
	var types []ir.Type
	for _, ld := range loads(l.term()) {
		types = append(types, ld.T)
	}
	var best *isa.Instr
	for _, i := range isa.Query(m, l.Target) {
		x, w := i.Func.Params[1].Type, i.Func.Params[2].Type
		if n%i.Lanes == 0 && x == types[0] && w == types[1] && (best == nil || i.Lanes > best.Lanes) {
			best = &i
		}
	}
	return best
}

func buildDots(b *builder, v Values) {
	t := b.tiles(v)
	b.bring(t)
	b.pads()
	filters, part := b.sum.loop(ir.Channel), b.sum.loop(ir.Part)
	order, sums := b.reduction(), []string{b.sum.buf}
	around := order[: len(order)-1 : len(order)-1]
	whole, pairs := dotInstr(b.Layer, isa.DotBytes, b.extent(filters)), dotInstr(b.Layer, isa.DotPairs, b.extent(filters))
	switch {
	case whole != nil:
		b.dotLanes(whole, around, filters, part)
	case pairs != nil && b.attempt(func() { b.dotPairs(pairs, around, filters, part, t.home) }):
		sums = append(sums, sumsOfPairs(b.Layer))
	default:
		if part != "" { // neighbouring filters are lanes
			b.must("pack %s 0 1 2 4 3", loads(b.Layer.term())[1].Buf)
		}
		b.reorder(slices.Insert(order, slices.Index(order, b.sum.loop(ir.Reduce))+1, part)...)
	}
	b.registers(sums...)
	b.unroll(on(b.serial(sums...), ir.Channel)...) // of vectors
	b.stagesBetween()
	b.finish(t)
	if v[unroll] == 1 {
		b.writeOut(sums...)
	}
}

// dotLanes makes instructions of the sums of filters, with the loops over parts of a step inside and those around outside.
func (b *builder) dotLanes(instr *isa.Instr, around []string, filters string, parts ...string) {
	vectors, lane := "", filters
	if b.extent(filters) > instr.Lanes {
		vectors, lane = filters+".o", filters+".i"
		b.must("split %s %d tail=perfect", filters, instr.Lanes)
	}
	b.reorder(slices.Concat(around, []string{vectors, lane}, parts)...)
	b.must("tensorize %s %s", lane, instr.Func.Name)
	if vectors != "" {
		b.unroll(b.find(vectors))
	}
}

// sumsOfPairs is the buffer in which a filter has a sum for each half of a step.
func sumsOfPairs(l *Layer) string { return l.sum.buf + ".r" }

// dotPairs is dotLanes by instructions that add up each half of a step apart. An iteration of loop home adds the halves up.
func (b *builder) dotPairs(instr *isa.Instr, around []string, filters, part, home string) {
	sums := sumsOfPairs(b.Layer)
	b.must("split %s 2 tail=perfect", part)
	b.reorder(slices.Concat(around, []string{filters, part + ".o", part + ".i"})...)
	b.must("rfactor %s %s.o %s -> %s", b.sum.buf, part, home, sums)
	b.dotLanes(instr, around, filters, part+".o", part+".i")
	if b.err != nil {
		return
	}
	lanes := b.lanesOf(sums, false)
	b.must("vectorize %s", lanes[len(lanes)-1].Var)
	b.unroll(lanes[:len(lanes)-1]...)
	b.lanes(sums, b.instr(isa.AddPairs, func(i isa.Instr) bool { return i.Lanes == instr.Lanes }), instr.Lanes, true)
}

// attempt reports whether steps are legal; if not, none of them is taken.
func (b *builder) attempt(steps func()) bool {
	before := *b
	if steps(); b.err == nil {
		return true
	}
	*b = before
	return false
}
