package strategy

import (
	"math"
	"slices"

	"ripc/ir"
	"ripc/schedule"
	"ripc/schedule/steps"
)

// acrossTables looks counts up for all positions of a block of rows, one group of channels after
// the other, so that a group's table stays in the first cache. Threads share the blocks:
//
//	blocks h.o (parallel) > [bits of groups] [groups > [tables] filters > tiles of positions > [taps > vectors of positions]]
//	  [sums of positions] rows h.i > glue, pack
//
// Where there are few blocks, threads share the filters, and each thread makes all tables:
//
//	blocks h.o > [bits of groups] [groups > [tables] filters (parallel) > tiles > [taps > vectors]]
//	  [words (parallel) > sums of positions] words (parallel) > rows h.i > glue, pack
func acrossTables() Strategy {
	return Strategy{
		Name: "across", Text: "look up the counts of groups of channels for all positions of some rows at once",
		Applies: func(l *Layer) (bool, string) {
			return l.sharesLookups(), "its counts are not looked up for several positions at once"
		},
		Knobs: acrossKnobs,
		build: func(b *builder, v Values) { (&acrossBuilder{builder: b, v: v}).build() },
	}
}

// sharesLookups reports whether one look-up gives the counts of neighbouring positions.
func (l *Layer) sharesLookups() bool {
	if !l.table.exists() {
		return false
	}
	for _, ld := range loads(l.term()) {
		if ld.Buf == l.table.buf {
			return l.sum.axesOf(ld.Idx[len(ld.Idx)-1:])[0] == ir.Col
		}
	}
	return false
}

func acrossKnobs(l *Layer) []Knob {
	vectors := l.sum.extent(ir.Col)
	ks := []Knob{{tileW, "vectors of positions with sums in registers together", divisors(vectors)}}
	if _, n := l.filterBlocks(); n > 1 {
		ks = append(ks, Knob{share, "blocks of filters that a thread looks up in tables of its own; 0: threads " +
			"share blocks of rows", append([]int{0}, divisors(n)...)})
	}
	return ks
}

// filterBlocks returns the number of output channels in a word or a vector, and the number of such
// blocks. Where no vector divides the channels, the last block overlaps the one before, and n is 1.
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

// divisors lists the divisors of n.
func divisors(n int) []int { return slices.DeleteFunc(upTo(n), func(k int) bool { return n%k != 0 }) }

// inBytes returns the outermost loop over taps with a sum that a byte holds.
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
	case one && shared > 0 && b.sum.extent(ir.Batch) == 1: // no loop is left to compute the sums in
		b.reorder(sharedChannels, batch, row, col, ownChannels, inner)
	case one:
		blocks = batch
		b.reorder(batch, sharedChannels, row, col, channels, ownChannels, inner)
	default:
		var rows string
		blocks, rows = b.split(row, b.rowsOfBlock(), schedule.TailGuard)
		b.reorder(batch, blocks, sharedChannels, rows, col, channels, ownChannels, inner)
	}
	made := b.between[:len(b.between)-1] // values of a single position
	for _, buf := range made {
		b.must(steps.ComputeAt(buf, col))
	}
	if blocks != "" {
		b.must(steps.ComputeAt(b.sumsOfPositions(), blocks))
		b.must(steps.ComputeAt(b.sum.buf, blocks))
	}
	b.sums(blocks, shared*size)
	b.transposeSums(shared * size)
	switch {
	case shared == 0:
		b.may(steps.Parallel(blocks))
	case b.may(steps.Parallel(sharedChannels)) && b.may(steps.Parallel(b.filtersOf(b.sumsOfPositions()))):
		b.may(steps.Parallel(b.sum.loop(ir.Channel) + ".o"))
	}
	b.registers(made...)
	b.may(steps.Vectorize(inner))
}

// sumsOfPositions returns the buffer that holds the sums of each position side by side.
func (b *acrossBuilder) sumsOfPositions() string { return b.between[len(b.between)-1] }

// filtersOf returns the outermost loop over the filters of a buffer.
func (b *acrossBuilder) filtersOf(buf string) string {
	for _, l := range loopsOf(b.serial(buf), ir.Channel) {
		return l.Var
	}
	return ""
}

// rowsOfBlock returns the number of output rows in a block, where there are several blocks.
func (b *acrossBuilder) rowsOfBlock() int {
	n := 1 // where no block is a quotient
	for st := range ir.StmtsOf[*ir.Store](b.Func.Body) {
		for _, ld := range loads(st.Val) {
			if ld.Buf != b.sumsOfPositions() {
				continue
			}
			if q, ok := ld.Idx[1].(*ir.Binary); ok && q.Op == ir.Div {
				n = int(q.B.(*ir.IntImm).V)
			}
		}
	}
	return n
}

// sums schedules the look-ups, group by group, in tables that are made just before. A thread has
// `shared` filters, or all if shared is 0.
func (b *acrossBuilder) sums(blocks string, shared int) {
	if b.err != nil {
		return
	}
	sums := b.sum.buf
	all := []string{sums}
	groups, filters, rows, cols, vectors, lane := b.sum.loop(ir.Reduce), b.sum.loop(ir.Channel), b.sum.loop(ir.TapRow),
		b.sum.loop(ir.TapCol), b.sum.loop(ir.Col), b.sum.loop(ir.Part)
	tiles := ""
	if b.extent(vectors) > b.v[tileW] {
		tiles, vectors = b.divide(vectors, b.v[tileW])
	}
	b.reorder(groups, filters, tiles, rows, cols, vectors, lane)
	own := func(of, loop string, t ir.Type) string { // accumulates apart in each iteration around a loop
		name := sums + "." + t.String()
		b.must(steps.NarrowAccumulate(of, b.wrapLoop(loop), t, 0, name))
		all = append(all, name)
		return name
	}
	wide, most := b.sumType(), int(b.buffers[b.table.buf].Range.To)
	if wide.Bits() > ir.U16.Bits() && b.extent(rows)*b.extent(cols)*most <= math.MaxUint16 {
		wide = ir.U16 // of a group
	}
	switch b.inBytes() {
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
	for _, l := range loopsOf(b.serial(all...), ir.Part) {
		b.vectorize(l.Var, maxVector)
	}
	for _, a := range []ir.Axis{ir.Col, ir.TapCol, ir.TapRow} {
		for _, l := range loopsOf(b.serial(all...), a) {
			if l.Var != tiles {
				b.may(steps.Unroll(l.Var))
			}
		}
	}
	b.scheduleTables() // last: the look-ups have the first claim on the size of the code
}

// scheduleTables makes the tables of a group vector by vector. Registers hold the table of the
// first half of its channels; each entry of the second half's table is added to it.
func (b *acrossBuilder) scheduleTables() {
	for _, n := range b.before {
		for _, l := range loopsOf(b.serial(n.buf), ir.Part) {
			b.may(steps.Unroll(l.Var))
		}
	}
	position, entries := b.table.loop(ir.Col), loopsOf(b.serial(b.table.buf), ir.Entry)
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
	for _, l := range loopsOf(b.serial(b.pad.buf), ir.Col) {
		b.may(steps.Vectorize(l.Var))
	}
	for _, l := range loopsOf(b.serial(b.pad.buf), ir.Entry, ir.Half) {
		b.may(steps.Unroll(l.Var))
	}
}

// transposeSums unrolls the copy of the sums of a position, a part of the filters at a time. A
// thread has `shared` filters, or all if shared is 0.
func (b *acrossBuilder) transposeSums(shared int) {
	const written = 16
	for _, l := range loopsOf(b.serial(b.sumsOfPositions()), ir.Channel) {
		if shared > 0 {
			threads := l.Var + ".o"
			b.must(steps.SplitAs(l.Var, shared, schedule.TailPerfect, threads, l.Var))
			for _, a := range []ir.Axis{ir.Part, ir.Col, ir.Row, ir.Batch} {
				for _, around := range loopsOf(b.serial(b.sumsOfPositions()), a) {
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
