package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
)

// words counts the bits of one word after the other, with the sums of a tile in registers.
func words() Strategy {
	return Strategy{
		Name: "words", Text: "count word by word, a tile of sums in registers",
		Applies: func(l *Layer) (bool, string) {
			return l.sum.exists() && !l.float() && !l.dots() && !l.table.exists(),
				"it does not add up counts over windows"
		},
		Knobs: partedKnobs,
		build: buildTile,
	}
}

// floats adds up products of floats in order, with the sums of a tile in registers.
func floats() Strategy {
	return Strategy{
		Name: "float", Text: "fused multiply-adds in order, a tile of sums in registers",
		Applies: func(l *Layer) (bool, string) {
			return l.sum.exists() && l.float(), "it does not add up floats over windows"
		},
		Knobs: floatKnobs,
		build: buildTile,
	}
}

// partedKnobs returns tileKnobs and, where a packed word has many channels, the number of those
// with sums in registers together.
func partedKnobs(l *Layer) []Knob {
	ks := tileKnobs(l)
	if !l.packed {
		return ks
	}
	n := l.out.extent(ir.Bit)
	if ks[0].Name == blocks {
		n *= slices.Max(ks[0].Domain)
	}
	domain := slices.DeleteFunc([]int{8, 16, 32}, func(k int) bool { return k >= n || n%k != 0 })
	if len(domain) == 0 {
		return ks
	}
	return append(ks, Knob{part, "channels of a word with sums in registers together", append(domain, n)})
}

// tileKnobs returns the knobs of tiles.
func tileKnobs(l *Layer) []Knob {
	ks := append(lanesKnobs(l), columnsKnob(l, maxTile), rowsKnob(l))
	return append(ks, orderKnobs(l)...)
}

func buildTile(b *builder, v Values) {
	t := b.tiles(v)
	b.placeStages(t)
	b.pads()
	loops := b.reduction()
	if c := b.sum.loop(ir.Channel); v[part] > 0 && c != "" && v[part] < b.extent(c) && b.extent(c)%v[part] == 0 {
		parts, channel := b.divide(c, v[part])
		loops = append([]string{parts}, append(loops[:len(loops)-1], channel)...)
	}
	b.packFilters(b.extent(loops[len(loops)-1]))
	if v[byLane] == 1 {
		b.byLane(loops, t)
	} else {
		b.reorder(loops...)
		b.registers(b.sum.buf)
	}
	b.stagesBetween()
	b.finish(t)
	if v[unroll] == 1 && v[byLane] == 0 {
		b.writeOut(maxBody, b.sum.buf)
	}
}

// carrySave counts two words at once by plain operations, for targets with slow counts. Sum and
// carries are allocated beside the sums or, where these double from plane to plane, in the loop
// over planes.
func carrySave() Strategy {
	return Strategy{
		Name: "carry_save", Text: "count two words at once, by plain operations",
		Applies: func(l *Layer) (bool, string) {
			switch {
			case !l.countsBits:
				return false, "it does not add up counts of words over windows"
			case l.sum.loops[ir.WeightPlane] != nil:
				return false, "weights have several planes"
			case l.sum.extent(ir.Reduce)%2 != 0:
				return false, "the words are no pairs"
			}
			return true, ""
		},
		Knobs: func(l *Layer) []Knob {
			ks := append(lanesKnobs(l), columnsKnob(l, maxCarried), rowsKnob(l))
			return append(ks, orderKnobs(l)...)
		},
		build: func(b *builder, v Values) {
			t := b.tiles(v)
			b.placeStages(t)
			b.pads()
			b.reorder(b.reduction()...)
			around := t.home
			if p := b.sum.loop(ir.Plane); b.find(p) != nil {
				around = p
			}
			sums, carries := b.sum.buf+".s", b.sum.buf+".cs"
			b.must(steps.CarrySave(b.sum.buf, b.sum.loop(ir.Reduce), around, sums, carries))
			b.registers(b.sum.buf, sums, carries)
			b.stagesBetween()
			b.finish(t)
			if v[unroll] == 1 {
				b.writeOut(maxBody, b.sum.buf, sums, carries)
			}
		},
	}
}
