package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule"
	"ripc/schedule/steps"
)

// across looks counts up for all positions of a block of rows, one group of channels after the other, whose table stays in the first cache. Threads share the blocks:
//
//	blocks h.o (parallel) > [bits of groups] [groups > [tables] filters > tiles of positions > [taps > vectors of positions]] [sums of positions] rows h.i > glue, pack
//
// or, where there are few blocks, the filters, and each makes all tables:
//
//	blocks h.o > [bits of groups] [groups > [tables] filters (parallel) > tiles > [taps > vectors]] [words (parallel) > sums of positions] words (parallel) > rows h.i > glue, pack
func across() Strategy {
	return Strategy{
		Name: "across", Text: "look up the counts of groups of channels for all positions of some rows at once",
		Applies: func(l *Layer) (bool, string) {
			return l.across(), "its counts are not looked up for several positions at once"
		},
		Knobs: acrossKnobs,
		build: func(b *builder, v Values) { (&acrossBuilder{builder: b, v: v}).build() },
	}
}

// across says that what is looked up are counts of neighbouring positions.
func (l *Layer) across() bool {
	if !l.table.exists() {
		return false
	}
	for _, ld := range loads(l.term()) {
		if ld.Buf == l.table.buf {
			return l.sum.along(ld.Idx[len(ld.Idx)-1:])[0] == ir.Col
		}
	}
	return false
}

func acrossKnobs(l *Layer) []Knob {
	vectors := l.sum.extent(ir.Col)
	ks := []Knob{{tileW, "vectors of positions whose sums are in registers together", divisors(vectors)}}
	if _, n := l.filterBlocks(); n > 1 {
		ks = append(ks, Knob{share, "blocks of filters that a thread looks up in tables of its own; 0: threads share blocks of rows", append([]int{0}, divisors(n)...)})
	}
	return ks
}

// filterBlocks is how many filters the output has in a word or a vector, and how many such blocks: 1 where vectors do not divide them, of which the last overlaps the one before.
func (l *Layer) filterBlocks() (size, n int) {
	if l.packed {
		return l.out.extent(ir.Bit), l.out.extent(ir.Word)
	}
	const least = 8
	all, most := l.out.extent(ir.Channel), lanesOf(l, Values{lanes: maxVector})
	for size = most; size >= least; size /= 2 {
		if all%size == 0 {
			return size, all / size
		}
	}
	return most, 1
}

// divisors are those of n.
func divisors(n int) []int { return slices.DeleteFunc(upTo(n), func(k int) bool { return n%k != 0 }) }

// inBytes returns the outermost loop of taps whose sum a byte holds.
func (l *Layer) inBytes() byteLoop {
	switch rows, cols, most := l.sum.extent(ir.TapRow), l.sum.extent(ir.TapCol), int(l.buffers[l.table.buf].Range.To); {
	case rows*cols*most <= maxSum:
		return overWords
	case cols*most <= maxSum:
		return overRow
	}
	return overTap
}

// acrossBuilder writes the schedule of across.
type acrossBuilder struct {
	*builder
	v Values
}

func (b *acrossBuilder) build() {
	row, batch, col, channels := b.out.loop(ir.Row), b.out.loop(ir.Batch), b.out.loop(ir.Col), b.out.loop(b.channels())
	inner := b.out.loop(ir.Bit)
	b.reorder(batch, row, col, channels)
	size, _ := b.filterBlocks()
	if !b.packed {
		channels, inner, _ = b.blocks(channels, size)
	}
	shared, blocks := b.v[share], ""
	sharedChannels, ownChannels := channels+".o", channels+".i"
	if shared > 0 {
		sharedChannels, ownChannels = b.divide(channels, shared)
	}
	switch one := b.sum.extent(ir.Row) == 1; {
	case one && shared > 0 && b.sum.extent(ir.Batch) == 1: // there is nothing that the sums could be computed in
		b.reorder(sharedChannels, batch, row, col, ownChannels, inner)
	case one:
		blocks = batch
		b.reorder(batch, sharedChannels, row, col, channels, ownChannels, inner)
	default:
		var rows string
		blocks, rows = b.split(row, b.rowsOfBlock(), schedule.TailGuard)
		b.reorder(batch, blocks, sharedChannels, rows, col, channels, ownChannels, inner)
	}
	made := b.between[:len(b.between)-1] // of the sums of a position
	for _, buf := range made {
		b.must(steps.ComputeAt(buf, col))
	}
	if blocks != "" {
		b.must(steps.ComputeAt(b.sumsOfPositions(), blocks))
		b.must(steps.ComputeAt(b.sum.buf, blocks))
	}
	b.sums(blocks, shared*size)
	b.transposed(shared * size)
	switch {
	case shared == 0:
		b.may(steps.Parallel(blocks))
	case b.may(steps.Parallel(sharedChannels)) && b.may(steps.Parallel(b.filtersOf(b.sumsOfPositions()))):
		b.may(steps.Parallel(b.sum.loop(ir.Channel) + ".o"))
	}
	b.registers(made...)
	b.may(steps.Vectorize(inner))
}

// sumsOfPositions is the buffer of the sums of each position, side by side.
func (b *acrossBuilder) sumsOfPositions() string { return b.between[len(b.between)-1] }

// filtersOf is the outermost loop over the filters of a buffer.
func (b *acrossBuilder) filtersOf(buf string) string {
	for _, l := range on(b.serial(buf), ir.Channel) {
		return l.Var
	}
	return ""
}

// rowsOfBlock is how many rows of the output a block has, where there are several.
func (b *acrossBuilder) rowsOfBlock() int {
	n := 1 // where no block is a quotient
	ir.Walk(b.Func.Body, func(s ir.Stmt) bool {
		if st, ok := s.(*ir.Store); ok {
			for _, ld := range loads(st.Val) {
				if ld.Buf != b.sumsOfPositions() {
					continue
				}
				if q, ok := ld.Idx[1].(*ir.Binary); ok && q.Op == ir.Div {
					n = int(q.B.(*ir.IntImm).V)
				}
			}
		}
		return true
	})
	return n
}

// sums looks up, group by group, in tables that are made just before; for so many filters a thread, 0 for all.
func (b *acrossBuilder) sums(blocks string, shared int) {
	if b.err != nil {
		return
	}
	sums := b.sum.buf
	all := []string{sums}
	groups, filters, rows, cols, vectors, lane := b.sum.loop(ir.Reduce), b.sum.loop(ir.Channel), b.sum.loop(ir.TapRow), b.sum.loop(ir.TapCol), b.sum.loop(ir.Col), b.sum.loop(ir.Part)
	tiles := ""
	if b.extent(vectors) > b.v[tileW] {
		tiles, vectors = b.divide(vectors, b.v[tileW])
	}
	b.reorder(groups, filters, tiles, rows, cols, vectors, lane)
	own := func(of, loop string, t ir.Type) string { // sums of its own for each iteration around a loop
		name := sums + "." + t.String()
		b.must(steps.NarrowAccumulate(of, b.around(loop), t, 0, name))
		all = append(all, name)
		return name
	}
	switch wide := b.sumType(); b.inBytes() {
	case overWords:
		own(sums, rows, ir.U8)
	case overRow:
		own(own(sums, rows, wide), cols, ir.U8)
	default:
		own(sums, rows, wide)
	}
	if shared > 0 {
		b.divide(filters, shared)
	}
	b.must(steps.ComputeAt(b.table.buf, groups))
	if blocks != "" {
		for _, n := range b.before {
			b.may(steps.ComputeAt(n.buf, blocks))
		}
	}
	b.must(steps.Pack(b.weights, 0, steps.Dims(1, 2, 0)...))
	for _, l := range on(b.serial(all...), ir.Part) {
		b.vectorize(l.Var, maxVector)
	}
	for _, a := range []ir.Axis{ir.Col, ir.TapCol, ir.TapRow} {
		for _, l := range on(b.serial(all...), a) {
			if l.Var != tiles {
				b.may(steps.Unroll(l.Var))
			}
		}
	}
	b.tablesMade() // what there is room for beside the look-ups
}

// tablesMade makes the tables of a group, vector by vector: those of the first half of its channels are in registers, and what each entry of the second has is added to them.
func (b *acrossBuilder) tablesMade() {
	for _, n := range b.before {
		for _, l := range on(b.serial(n.buf), ir.Part) {
			b.may(steps.Unroll(l.Var))
		}
	}
	position, entries := b.table.loop(ir.Col), on(b.serial(b.table.buf), ir.Entry)
	if len(entries) != 2 {
		b.errorf("tables are not made of those of two halves")
		return
	}
	if lanes := min(b.sum.extent(ir.Part), b.extent(position)); lanes > 1 {
		vectors, lane := b.split(position, lanes, schedule.TailShift)
		b.reorder(vectors, entries[0].Var, entries[1].Var, lane)
		b.must(steps.ComputeAt(b.pad.buf, vectors))
		b.may(steps.Vectorize(lane))
	} else {
		b.must(steps.ComputeAt(b.pad.buf, b.sum.loop(ir.Reduce)))
	}
	b.may(steps.Unroll(entries[1].Var))
	for _, l := range on(b.serial(b.pad.buf), ir.Col) {
		b.may(steps.Vectorize(l.Var))
	}
	for _, l := range on(b.serial(b.pad.buf), ir.Entry, ir.Half) {
		b.may(steps.Unroll(l.Var))
	}
}

// transposed writes out what brings the sums of a position together, a part of the filters at a time; for so many filters a thread, 0 for all.
func (b *acrossBuilder) transposed(shared int) {
	const written = 16
	for _, l := range on(b.serial(b.sumsOfPositions()), ir.Channel) {
		if shared > 0 {
			threads := l.Var + ".o"
			b.must(steps.SplitAs(l.Var, shared, schedule.TailPerfect, threads, l.Var))
			for _, a := range []ir.Axis{ir.Part, ir.Col, ir.Row, ir.Batch} {
				for _, around := range on(b.serial(b.sumsOfPositions()), a) {
					b.reorder(threads, around.Var)
				}
			}
		}
		if n := b.extent(l.Var); n > written && n%written == 0 {
			inner := l.Var + ".i"
			b.must(steps.SplitAs(l.Var, written, schedule.TailPerfect, l.Var, inner))
			b.may(steps.Unroll(inner))
		}
	}
}
