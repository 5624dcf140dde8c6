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
		Knobs:   tileKnobs,
		Cost:    func(l *Layer, v Values) float64 { return cost.Dots(sumOf(l).Terms(), rowOf(l, v)) },
		build:   buildDots,
	}
}

// dotInstr is the instruction that adds products of four channels to the most of n sums, nil if there is none that fits.
func dotInstr(l *Layer, n int) *isa.Instr {
	if n == 0 || l.scattered || l.sum.extent(ir.Part) != cost.Quad {
		return nil
	}
	var types []ir.Type
	for _, ld := range loads(l.term()) {
		types = append(types, ld.T)
	}
	var best *isa.Instr
	for _, i := range isa.Query(isa.DotBytes, l.Target) {
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
	order := b.reduction()
	if instr := dotInstr(b.Layer, b.extent(filters)); instr != nil {
		vectors, lane := "", filters
		if b.extent(filters) > instr.Lanes {
			vectors, lane = filters+".o", filters+".i"
			b.must("split %s %d tail=perfect", filters, instr.Lanes)
		}
		b.reorder(append(order[:len(order)-1:len(order)-1], vectors, lane, part)...)
		b.must("tensorize %s %s", lane, instr.Func.Name)
		if vectors != "" {
			b.unroll(b.find(vectors))
		}
	} else {
		if part != "" { // neighbouring filters are lanes
			b.must("pack %s 0 1 2 4 3", loads(b.Layer.term())[1].Buf)
		}
		b.reorder(slices.Insert(order, slices.Index(order, b.sum.loop(ir.Reduce))+1, part)...)
	}
	b.registers(b.sum.buf)
	b.unroll(on(b.serial(b.sum.buf), ir.Channel)...) // of vectors
	b.stagesBetween()
	b.finish(t)
	if v[unroll] == 1 {
		b.writeOut(b.sum.buf)
	}
}
