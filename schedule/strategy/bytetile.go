package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule"
	"ripc/schedule/steps"
	"ripc/targets/isa"
)

// byteNest is one nest of sums: its loops by axis, the loop over tiles around it, and the stem and
// suffix of the names of new loops and buffers.
type byteNest struct {
	around string
	loops  map[ir.Axis]string
	name   map[ir.Axis]string
	suffix string
}

// tile schedules the sums of a tile: lanes of 16 bits around lanes of 8 bits.
func (b *byteBuilder) tile(n byteNest) {
	v := b.v
	loop := func(a ir.Axis) string { return n.loops[a] }
	named := func(a ir.Axis, part string) string { return n.name[a] + part + n.suffix }
	split := func(l string, size int, outer, inner string) {
		b.must(steps.SplitAs(l, size, schedule.TailPerfect, outer, inner))
	}
	// Words: all > groups of one byte sum > words of an instruction.
	all, groups := named(ir.Reduce, ".all"), named(ir.Reduce, ".o")
	words, instrWords := named(ir.Reduce, ".i.o"), named(ir.Reduce, ".i.i")
	split(loop(ir.Reduce), v[perBytes], groups, named(ir.Reduce, ".i"))
	if b.is(ordered) {
		words, instrWords = "", named(ir.Reduce, ".i")
	} else {
		split(named(ir.Reduce, ".i"), v[step], words, instrWords)
	}
	split(groups, max(1, b.extent(groups)), all, groups)
	filters, tiles, registers := loop(ir.Channel), "", v[vectors]
	if !b.is(spread) {
		registers *= perVector(b.Layer)
	}
	if b.extent(filters) > registers {
		tiles = named(ir.Channel, ".o")
		split(filters, registers, tiles, named(ir.Channel, ".i"))
		filters = named(ir.Channel, ".i")
	}
	groupOf := ""
	if b.is(group) {
		groupOf = named(ir.Channel, ".g")
		size := v[group]
		if !b.is(spread) {
			size *= perVector(b.Layer)
		}
		split(filters, size, groupOf, filters)
	}
	parts, inner := named(ir.Part, ".o"), named(ir.Part, ".i")
	split(loop(ir.Part), 2, parts, inner)
	where := byteLoop(v[at])
	order := []string{n.around, tiles, all, groups, loop(ir.TapRow)}
	inside := []string{loop(ir.Row), groupOf, loop(ir.Col), instrWords}
	switch {
	case b.is(ordered):
		order, inside = append(order, loop(ir.TapCol), instrWords), []string{loop(ir.Col)}
	case where == overTap:
		order = append(order, loop(ir.TapCol), words)
	default: // neighbouring taps read the same words
		order = append(order, words, loop(ir.TapCol))
	}
	b.reorder(slices.Concat(order, inside, []string{filters, loop(ir.Copy), parts, inner})...)
	sumAt := map[byteLoop]string{overWords: groups, overRow: loop(ir.TapRow), overTap: loop(ir.TapCol)}[where]
	halves, bytes := b.sum.buf+".r"+n.suffix, b.sum.buf+".b"+n.suffix
	sums, half := b.sumType(), b.halfType(where)
	halvesAt := all
	if half == ir.U8 && sums != ir.U8 && where != overWords {
		halvesAt = sumAt
	}
	b.must(steps.RfactorAs(b.sum.buf, parts, halvesAt, half, halves))
	b.must(steps.RfactorAs(halves, inner, sumAt, ir.U8, bytes))
	if b.err != nil {
		return
	}
	unrolled := []string{words, loop(ir.TapCol), loop(ir.Row), groupOf, loop(ir.Col)}
	if where == overWords {
		unrolled = b.keepWordLoop(words, unrolled)
	}
	positions := b.extent(loop(ir.Col))
	b.count(n, instrWords)
	if b.is(whole) {
		unrolled = append(unrolled, loop(ir.TapRow))
	}
	for _, l := range unrolled {
		if f := b.find(l); f != nil && (l != sumAt || b.is(whole)) && f.Kind == ir.Serial {
			b.unroll(f)
		}
	}
	clear := func(t ir.Type, dims int) *isa.Instr {
		return b.instr(isa.Clear, func(i isa.Instr) bool { return i.Type == t && len(i.Func.Params[0].Shape) == dims })
	}
	many := perVector(b.Layer) * v[vectors]
	b.lanes(halves, clear(half, 2), false)
	add := func(to, from ir.Type, dims int) *isa.Instr {
		// the sums of 16 bits stay in memory while bytes are counted
		if b.extent(sumAt) > 1 && !b.is(whole) && to == ir.U16 && from == ir.U8 {
			if i := b.addRow(positions, many); i != nil {
				return i
			}
			return b.instr(isa.WidenAddMemory, func(i isa.Instr) bool {
				return i.Type == to && i.Lanes == many && len(i.Func.Params[0].Shape) == dims
			})
		}
		return b.pairAdd(to, from, dims, many)
	}
	b.lanes(halves, add(sums, half, 1), true)
	b.lanes(bytes, clear(ir.U8, 3), false)
	b.lanes(bytes, add(half, ir.U8, 2), true)
}

// count tensorizes the counts of a nest, from loop words inwards, or whole rows of taps.
func (b *byteBuilder) count(n byteNest, words string) {
	if !b.is(ordered) {
		b.must(steps.Tensorize(words, b.tileInstr().Func))
		return
	}
	positions := b.extent(n.loops[ir.Col])
	instr := rowInstr(b.Layer, b.v[perBytes], b.v[vectors], positions)
	if instr == nil {
		b.errorf("there is no instruction that counts a row of taps at %d positions", positions)
		return
	}
	b.must(steps.Tensorize(n.loops[ir.TapCol], instr.Func))
}

// addRow returns the instruction that adds the byte counts of a row of taps to sums in memory, for
// all positions and filters, or nil.
func (b *byteBuilder) addRow(positions, filters int) *isa.Instr {
	if !b.is(ordered) {
		return nil
	}
	return b.instr(isa.WidenAddMemory, func(i isa.Instr) bool { return i.Lanes == filters && i.Positions == positions })
}

// halfType returns the type of the sums of half a word's bytes: bytes if all counts fit.
func (b *byteBuilder) halfType(where byteLoop) ir.Type {
	s := sumOf(b.Layer)
	steps := where.steps(s, b.v[perBytes])
	switch sums := b.sumType(); {
	case sums == ir.U8:
		return ir.U8
	case sums == ir.U16 && s.halves(steps) && (where != overWords || steps == s.terms()):
		return ir.U8
	}
	return ir.U16
}

// pairAdd returns the instruction that adds pairs of lanes of type from to sums of type to, or nil.
// Its buffers have `dims` dimensions and its lanes divide n.
func (b *builder) pairAdd(to, from ir.Type, dims, n int) *isa.Instr {
	m := isa.WidenAdd
	if to == from {
		m = isa.AddPairs
	}
	return b.instr(m, func(i isa.Instr) bool {
		return i.Type == to && i.Func.Params[1].Type == from && len(i.Func.Params[0].Shape) == dims && n%i.Lanes == 0
	})
}

// inlinesWords reports whether all words of a byte sum are unrolled at one tap. LLVM then loads all
// weights before the loop over tiles, and an in-order core waits for those that it spills, unless
// there is one tile.
func (b *byteBuilder) inlinesWords(positions int) bool {
	return b.Target.Registers >= 32 && (!b.Target.InOrder || positions == 1)
}

// inlinesPlanes reports whether the planes around few words of a tap are unrolled with them.
func (b *byteBuilder) inlinesPlanes() bool {
	const few = 4
	s := sumOf(b.Layer)
	return b.inlinesWords(2) && s.rows*s.cols == 1 && s.words <= few
}

// keepWordLoop drops the loop over words from the loops to unroll, unless its words are few.
func (b *byteBuilder) keepWordLoop(words string, unrolled []string) []string {
	s := sumOf(b.Layer)
	switch n := b.v[perBytes] / b.v[step]; {
	case s.rows > 1 && s.unrollsTaps(b.v[perBytes]):
		return unrolled
	case s.cols > 1:
		return unrolled[2:]
	case n <= 2 || s.rows == 1 && b.inlinesWords(max(1, b.sum.extent(ir.Row))*max(1, b.sum.extent(ir.Col))):
		return unrolled
	case n%2 == 0:
		_, pair := b.divide(words, 2)
		return append(unrolled[1:], pair)
	}
	return unrolled[1:]
}

// lanes tensorizes the nest that sets the lanes of a buffer or, with flush, the nest that adds them
// up.
func (b *builder) lanes(buf string, instr *isa.Instr, flush bool) {
	if b.err != nil {
		return
	}
	if instr == nil {
		b.errorf("there is no instruction that sets or adds up the lanes of %s", buf)
		return
	}
	nest := b.lanesOf(buf, flush)
	if instr.Positions > 0 {
		b.must(steps.Tensorize(loopsOf(nest, ir.Col)[0].Var, instr.Func))
		return
	}
	for _, l := range loopsOf(nest, ir.Row, ir.Col) {
		b.unroll(l)
	}
	vectors, lane := b.divideUnnamed(loopsOf(nest, ir.Channel)[0].Var, instr.Lanes)
	if l := b.find(vectors); l != nil {
		b.unroll(l)
	}
	b.must(steps.Tensorize(lane, instr.Func))
}

// lanesOf lists the loops that set the lanes of a buffer or, with flush, add them up, outermost
// first.
func (b *builder) lanesOf(buf string, flush bool) []*ir.For {
	var out []*ir.For
	for l := range ir.StmtsOf[*ir.For](b.f.Body) {
		all, some := true, false
		for s := range ir.Stmts(l.Body) {
			switch s := s.(type) {
			case *ir.Call:
				all = false
			case *ir.Store:
				some = true
				reads := slices.ContainsFunc(loads(s.Val), func(ld *ir.Load) bool { return ld.Buf == buf })
				if flush {
					all = all && reads && s.Buf != buf
				} else {
					all = all && s.Buf == buf && s.Op == ir.Assign && !reads
				}
			}
		}
		if all && some {
			out = append(out, l)
		}
	}
	return out
}
