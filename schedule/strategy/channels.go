package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
	"ripc/targets"
	"ripc/targets/isa"
)

// dotChannels adds up products of bytes with input channels in lanes. Each sum of a tile has a
// register, and its lanes are added up behind the window. One instruction serves all positions and
// filters of a tile, and fixes the order of its code.
func dotChannels() Strategy {
	return Strategy{
		Name: "dot_channels", Text: "products of bytes, input channels in lanes, a tile of sums in registers",
		Applies: func(l *Layer) (bool, string) {
			switch {
			case !l.dots() || l.runLength > 0:
				return false, "it does not add up products of bytes over windows of all channels"
			case l.Target.MultipliesBytes():
				return false, "the target multiplies and adds bytes in one operation"
			case l.packed || len(channelKnobs(l)[0].Domain) == 0 || len(channelKnobs(l)[1].Domain) == 0:
				return false, "the target has no instruction with channels in lanes for it"
			}
			return true, ""
		},
		Knobs: channelKnobs,
		build: buildChannels,
	}
}

// channelInstrs lists the instructions of meaning DotChannels for tiles of n filters, the cheapest
// first.
func channelInstrs(l *Layer, n int) []isa.Instr {
	if l.out.extent(ir.Channel)%n != 0 { // the last tile overlaps the one before
		return nil
	}
	stride := l.pixelStride()
	return slices.DeleteFunc(dotInstrs(l, isa.DotChannels, n), func(i isa.Instr) bool {
		return i.Lanes != n || i.Stride != stride
	})
}

// pixelStride returns the number of pixels from an output position's window to the next one's, or 0
// where a row is one run of bytes.
func (l *Layer) pixelStride() int {
	const cols = 2 // dimension of the levels
	return int(coefficients(loads(l.term())[0].Idx[cols])[l.sum.loop(ir.Col)])
}

// channelKnobs are tileKnobs for the tiles that instructions have. A row of an odd number of
// positions is a tile as well: its last position has an instruction of its own.
func channelKnobs(l *Layer) []Knob {
	ks := tileKnobs(l)
	has := func(fits func(isa.Instr) bool) bool {
		return slices.ContainsFunc(ks[0].Domain, func(n int) bool {
			return slices.ContainsFunc(channelInstrs(l, n), fits)
		})
	}
	tiles := slices.DeleteFunc(slices.Clone(ks[1].Domain), func(n int) bool {
		return n == 1 || !has(func(i isa.Instr) bool { return i.Positions == n })
	})
	if w := l.out.extent(ir.Col); len(tiles) > 0 && w > tiles[0] && w <= maxRow && w%tiles[0] != 0 {
		tiles = append(tiles, w)
	}
	ks[0].Domain = slices.DeleteFunc(slices.Clone(ks[0].Domain), func(n int) bool {
		return len(channelInstrs(l, n)) == 0
	})
	ks[1].Domain = tiles
	return ks
}

func buildChannels(b *builder, v Values) {
	t := b.tiles(v)
	b.placeStages(t)
	nests := b.sumsOfChannels(t)
	for _, sums := range nests { // apart, since a loop over tiles of a row writes several
		for _, s := range sums {
			b.registers(s)
			b.unroll(loopsOf(b.serial(s), ir.Channel)...)
		}
	}
	b.stagesBetween()
	b.finish(t)
	for _, sums := range nests {
		if v[unroll] == 1 {
			b.writeOut(maxBody, sums...)
		}
	}
}

// sumsOfChannels tensorizes the sums by the first legal instruction, and returns the buffers of the
// sums of each nest.
func (b *builder) sumsOfChannels(t tiled) (nests [][]string) {
	filters, positions := b.extent(b.sum.loop(ir.Channel)), b.extent(b.sum.loop(ir.Col))
	for _, i := range channelInstrs(b.Layer, filters) {
		if i.Positions > 1 && i.Positions <= positions && b.attempt(func() {
			b.packLevels(i.Words*targets.Quad, t.row)
			b.pads()
			nests = b.lanesOfChannels(i, t.home)
		}) {
			return nests
		}
	}
	b.errorf("there is no instruction for %d filters at %d positions", filters, positions)
	return nil
}

// packLevels packs each n channels of neighbouring pixels together. An input that is read as it is
// gets a copy for each iteration of loop row.
func (b *builder) packLevels(n int, row string) {
	levels := loads(b.Layer.term())[0].Buf
	if levels != b.pad.buf {
		b.must(steps.CacheRead(levels, row, levels+".c"))
		levels += ".c"
	}
	if b.err != nil {
		return
	}
	dims := len(b.f.Buffers()[levels].Shape)
	if all := b.f.Buffers()[levels].Shape[dims-1]; all == n {
		return
	}
	var inner []string
	for _, l := range b.serial(levels) {
		if innermost(l) {
			inner = append(inner, l.Var)
		}
	}
	for _, l := range inner {
		_, lane := b.divide(l, n)
		b.must(steps.Vectorize(lane))
	}
	order := append(steps.First(dims-2), steps.Outer(dims-1), steps.WholeDim(dims-2), steps.Inner(dims-1))
	b.must(steps.Pack(levels, n, order...))
}

// lanesOfChannels tensorizes the sums of a tile by an instruction, and those of the last position
// of a row by another. The halves of a step of four channels, and each second step, become lanes
// with sums of their own, which each iteration of loop home adds up. It returns the buffers of the
// sums of each nest.
func (b *builder) lanesOfChannels(instr isa.Instr, home string) (sums [][]string) {
	const block = 4 // steps that fill a register
	col, filters := b.sum.loop(ir.Col), b.sum.loop(ir.Channel)
	around, step := b.reduction(), b.sum.loop(ir.Reduce)
	around = slices.DeleteFunc(around, func(l string) bool { return l == step || l == col || l == filters })
	if b.extent(step) != instr.Words {
		var steps string
		steps, step = b.divide(step, instr.Words)
		around = append(around, steps)
	}
	blocks := ""
	if instr.Words > block {
		blocks, step = b.divide(step, block)
	}
	halves, odd := b.divide(step, 2)
	quarter, channel := b.divide(b.sum.loop(ir.Part), targets.Quad/2)
	b.packChannels(block, instr.Lanes)
	nests := []rowNest{{positions: col, home: home, instr: &instr}}
	if n := b.extent(col); n > instr.Positions {
		b.reorder(append([]string{col}, around...)...)
		all, last := channelInstrs(b.Layer, instr.Lanes), (*isa.Instr)(nil)
		if k := slices.IndexFunc(all, func(i isa.Instr) bool {
			return i.Words == instr.Words && i.Positions == n%instr.Positions
		}); k >= 0 {
			last = &all[k]
		}
		nests = b.cutRow(nests[0], last)
	}
	for _, n := range nests {
		pairs, quads := b.sum.buf+".p"+n.suffix, b.sum.buf+".q"+n.suffix
		order := slices.Concat(around, []string{"", filters, odd, quarter, blocks, halves, channel})
		for i, l := range order {
			if l != "" {
				order[i] += n.suffix
			}
		}
		order[len(around)] = n.positions
		b.reorder(order...)
		b.must(steps.Rfactor(b.sum.buf, odd+n.suffix, n.home, pairs))
		b.must(steps.Rfactor(pairs, quarter+n.suffix, n.home, quads))
		b.must(steps.Tensorize(n.positions, n.instr.Func))
		if b.err != nil {
			return nil
		}
		for _, buf := range []string{quads, pairs} {
			set := b.lanesOf(buf, false)
			b.must(steps.Vectorize(set[len(set)-1].Var))
			b.unroll(set[:len(set)-1]...)
		}
		b.lanes(quads, b.pairAdd(ir.I32, ir.I32, 2, instr.Lanes), true)
		b.lanes(pairs, b.pairAdd(ir.I32, ir.I32, 1, instr.Lanes), true)
		sums = append(sums, []string{b.sum.buf, pairs, quads})
	}
	return sums
}

// packChannels packs the weights in the order of their use: blocks of filters, taps, n steps that
// fill a register, and their channels for one filter after the other.
func (b *builder) packChannels(n, filters int) {
	w := loads(b.Layer.term())[1].Buf
	shape := b.buffers[w].Shape
	order := append(steps.First(2), steps.Outer(2), steps.WholeDim(3), steps.Inner(2), steps.WholeDim(4))
	b.must(steps.Pack(w, n, order...))
	if filters < shape[3] {
		b.must(steps.Pack(w, filters, append([]steps.Dim{steps.Outer(3)}, append(steps.First(3), steps.Inner(3),
			steps.WholeDim(4), steps.WholeDim(5))...)...))
	}
}
