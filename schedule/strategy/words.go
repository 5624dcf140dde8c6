package strategy

import (
	"math"
	"slices"

	"ripc/ir"
	"ripc/ir/size"
	"ripc/schedule/cost"
	"ripc/schedule/steps"
)

// words counts the bits of one word after the other, with the sums of a tile in registers.
func words() Strategy {
	return Strategy{
		Name: "words", Text: "count word by word, a tile of sums in registers",
		Applies: func(l *Layer) (bool, string) {
			return l.sum.exists() && !l.float() && !l.dots() && !l.table.exists(), "it does not add up counts over windows"
		},
		Knobs: wordKnobs,
		Cost:  func(l *Layer, v Values) float64 { return cost.Words(l.Target, sumOf(l), rowOf(l, v)) },
		build: buildTile,
	}
}

// floats adds up products of floats in their order, with the sums of a tile in registers.
func floats() Strategy {
	return Strategy{
		Name: "float", Text: "fused multiply-adds in order, a tile of sums in registers",
		Applies: func(l *Layer) (bool, string) {
			return l.sum.exists() && l.float(), "it does not add up floats over windows"
		},
		Knobs: floatKnobs,
		Cost:  func(l *Layer, v Values) float64 { return cost.Floats(sumOf(l).Terms(), rowOf(l, v)) },
		build: buildTile,
	}
}

// partedKnobs are those of tiles, and, where the channels of a packed word are many, how many of them have their sums in registers together.
func partedKnobs(l *Layer) []Knob {
	ks := tileKnobs(l)
	if !l.packed {
		return ks
	}
	n := l.out.extent(ir.Bit)
	if ks[0].Name == blocks {
		n *= ks[0].Default
	}
	domain := slices.DeleteFunc([]int{8, 16, 32}, func(k int) bool { return k >= n || n%k != 0 })
	if len(domain) == 0 {
		return ks
	}
	return append(ks, Knob{part, "channels of a word whose sums are in registers together", append(domain, n), n})
}

// wordKnobs are partedKnobs. A sum that is written out whole has no loop in which positions share the loads of weights, and so little code that finding a
// tile's place and its last, overlapping positions counts. So all blocks of channels of a tile come before the next one, where there are several and
// their weights stay in the first cache. Weights of a block that is one vector, as wide ones make it, are better left in registers. Words that each channel has for itself, put together for a position, make tiles of one (cost.MadeTile). Sums shorter than the words that
// are counted are written out where that leaves registers.
func wordKnobs(l *Layer) []Knob {
	ks := partedKnobs(l)
	at := func(name string) int { return slices.IndexFunc(ks, func(k Knob) bool { return k.Name == name }) }
	if t, s := at(tileW), sumOf(l); l.own && t >= 0 && len(l.before) > 0 && s.Rows*s.Cols == 1 { // each position has words of its own, put together for it
		ks[t].Default = cost.MadeTile(l.Target, l.sum.extent(ir.Plane), ks[t].Default)
	}
	if at(outer) < 0 || l.own || l.pool.exists() {
		return ks
	}
	v := Values{}
	for _, k := range ks {
		v[k.Name] = k.Default
	}
	s, planes, n := sumOf(l), l.sum.extent(ir.Plane), lanesOf(l, v)
	vectors := cost.Vectors(l.Target, n, l.sumBits())
	inside := cost.Whole(s, planes) && l.blocksInside(n, vectors)
	written := !l.short() || cost.WrittenShort(l.Target, s, planes, cost.Vectors(l.Target, n, l.wordBits()), inside)
	if !written {
		ks[at(unroll)].Default = 0
	}
	if !l.scattered {
		ks[at(tileW)].Default = l.wordTile(ks[at(tileW)].Default, s, cost.Whole(s, planes) && vectors == 1, vectors, max(1, v[blocks]))
	}
	switch {
	case !written || !cost.Whole(s, planes):
		loadAhead(l, ks, v, l.wordBits() == cost.LaneBits && (!written || s.Terms() > cost.MaxBody))
	case inside:
		ks[at(outer)].Default = 0
		if l.Target.InOrder {
			ks[at(tileW)].Default = columnsKnob(l, cost.WholePositions(l.Target, s, vectors)).Default
		}
	}
	if w, tile := l.out.extent(ir.Col), &ks[at(tileW)].Default; l.packed && !l.scattered {
		*tile = cost.NarrowTile(l.Target, s, w, planes, l.wordBits(), *tile)
		if s.Terms() <= cost.FewTerms && l.comparison(v[blocks]) == nil {
			*tile = cost.ComparedTile(l.Target, w, l.levelBits(), *tile)
		}
	}
	if p := at(part); p >= 0 && cost.SinglePosition(l.Target, s, planes, l.wordBits()) && slices.Contains(ks[p].Domain, cost.SingleChannels) {
		ks[at(tileW)].Default, ks[p].Default = 1, cost.SingleChannels
		if l.countsBytes() && s.Terms() <= 2 {
			ks[at(tileW)].Default = min(2, l.out.extent(ir.Col))
		}
	}
	return ks
}

// wordTile is the tile, no larger than it is by registers, of so many words of channels of each position, whose sums are so many vectors. Whole sums of one vector, whose weights
// stay in registers, are written out: by time on a Zen 4, SqueezeNet's 1x1 layers of 16 channels and 2 and 3 bits take 17 to 21 % less, while those of two vectors
// take 3 and 12 % more so by estimated cycles of rpi4 and rpi5.
func (l *Layer) wordTile(tile int, s cost.Sum, whole bool, vectors, words int) int {
	w, choose := l.out.extent(ir.Col), cost.Tile
	if whole {
		choose = cost.WholeTile
	}
	if cost.InlineRow(l.Target, s) {
		tile = cost.TapTile(l.Target, s, vectors, w, tile)
	}
	if most := l.writtenSums(words, whole); tile > most {
		tile = choose(w, most)
	}
	return tile
}

// writtenSums is how many positions at most a tile has for which so many words of channels of each are written out, and the sums as well if they are to be whole.
func (l *Layer) writtenSums(words int, whole bool) int {
	loop := ir.FindLoop(l.Func.Body, l.sum.loop(ir.Channel))
	if loop == nil {
		return math.MaxInt
	}
	each, terms, term := size.Of(loop.Body), 1, 0
	ir.Walk(loop.Body, func(s ir.Stmt) bool {
		if in, ok := s.(*ir.For); ok {
			terms, term = terms*in.Extent, size.Of(in.Body)
		}
		return true
	})
	if whole {
		each += (terms - 1) * term
	}
	return l.writtenOut(words, each)
}

// blocksInside says that there are several blocks of n channels, of so many vectors of sums each, whose weights stay in the first cache.
func (l *Layer) blocksInside(n, vectors int) bool {
	channels := max(1, l.out.extent(ir.Word)) * max(l.out.extent(ir.Bit), l.out.extent(ir.Channel))
	return vectors > 1 && (channels+n-1)/n >= cost.LeastBlocks && channels*sumOf(l).Terms()*l.sumBits()/8 <= l.Target.L1/2
}

// loadAhead gives part and tiles the defaults that leave registers for what LLVM loads ahead in a loop over windows, or, where whole words of a pixel are looped over, there.
func loadAhead(l *Layer, ks []Knob, v Values, looped bool) {
	choose := cost.WordPart
	switch s := sumOf(l); {
	case l.scattered:
		return
	case cost.LoadsAhead(l.Target, s):
	case looped && cost.LoadsPixels(l.Target, s):
		choose = cost.PixelPart
	default:
		return
	}
	w := slices.IndexFunc(ks, func(k Knob) bool { return k.Name == tileW })
	p := slices.IndexFunc(ks, func(k Knob) bool { return k.Name == part })
	n := lanesOf(l, v)
	parts := []int{n}
	if p >= 0 {
		parts = ks[p].Domain
	}
	best, tile := choose(l.Target, sumOf(l), parts, n, l.out.extent(ir.Col), slices.Max(ks[w].Domain))
	if ks[w].Default = tile; p >= 0 {
		ks[p].Default = best
	}
}

func tileKnobs(l *Layer) []Knob {
	return tilesOf(l, func(channels int) int { return cost.Positions(l.Target, cost.Vectors(l.Target, channels, l.sumBits())) })
}

// tilesOf are the knobs of tiles, of which so many positions of so many channels have registers.
func tilesOf(l *Layer, positions func(channels int) int) []Knob {
	ls := lanesKnobs(l)
	n := l.out.extent(ir.Bit)
	switch {
	case l.packed && len(ls) > 0:
		n *= ls[0].Default
	case len(ls) > 0:
		n = ls[0].Default
	}
	if l.together > 0 {
		n = min(n, l.together)
	}
	ks := append(ls, columnsKnob(l, positions(n)), rowsKnob(l))
	return append(ks, orderKnobs(l)...)
}

func buildTile(b *builder, v Values) {
	t := b.tiles(v)
	b.bring(t)
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
		b.writeOut(b.sum.buf)
	}
}

// carrySave counts two words at once by plain operations, for targets whose counts take many. The sum and the carries live
// where the sums do, or, where these are doubled from plane to plane, in the loop over planes.
func carrySave() Strategy {
	return Strategy{
		Name: "carry_save", Text: "count two words at once, by plain operations",
		Applies: func(l *Layer) (bool, string) {
			switch {
			case !l.counts:
				return false, "it does not add up counts of words over windows"
			case l.sum.loops[ir.WeightPlane] != nil:
				return false, "weights have several planes"
			case l.sum.extent(ir.Reduce)%2 != 0:
				return false, "the words are no pairs"
			}
			return true, ""
		},
		Knobs: func(l *Layer) []Knob {
			ks := tileKnobs(l)
			for i, k := range ks {
				if k.Name == tileW {
					n := min(cost.MaxCarried, cost.Positions(l.Target, cost.Vectors(l.Target, lanesOf(l, Values{lanes: ks[0].Default}), l.sumBits())))
					ks[i] = columnsKnob(l, n)
				}
			}
			return ks
		},
		Cost: func(l *Layer, v Values) float64 {
			return cost.CarrySave(l.Target, sumOf(l), rowOf(l, v), max(1, l.window())*cost.Vectors(l.Target, lanesOf(l, v), l.sumBits()))
		},
		build: func(b *builder, v Values) {
			t := b.tiles(v)
			b.bring(t)
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
				b.writeOut(b.sum.buf, sums, carries)
			}
		},
	}
}
