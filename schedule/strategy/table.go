package strategy

import (
	"cmp"
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/schedule"
	"ripc/schedule/steps"
	"ripc/targets/isa"
)

// The knobs of tables.
const (
	filters = "filters"
	run     = "run"
	kept    = "kept"
	share   = "share"
)

// tables looks counts up in byte lanes, which are added to the sums before they could overflow:
//
//	rows h.o (parallel) > [pad] [tables] > rows h.i > tiles w.o >
//	  [rows of taps > runs > blocks of filters > taps > groups of a run > positions] glue, pack
//
// or, where registers keep all sums of a block of filters,
//
//	rows h.o (parallel) > [pad] [tables] > rows h.i > tiles w.o > blocks of filters >
//	  [rows of taps > runs > taps > groups of a run > positions] glue, pack
//
// If the tables of a row do not stay in the first cache, a mean makes the tables of one run at a
// time. Each thread looks its own filters up:
//
//	rows m.h > runs > [tables] blocks of filters (parallel) > groups of the run > positions;
//	  blocks of words m.q.o (parallel) > glue, mean
func tables() Strategy {
	return Strategy{
		Name: "table", Text: "look up the counts of groups of channels in tables that filters and windows share",
		Applies: func(l *Layer) (bool, string) {
			return l.table.exists() && !l.sharesLookups(), "its counts are not looked up position by position"
		},
		Knobs: tableKnobs,
		build: func(b *builder, v Values) { (&tableBuilder{builder: b, v: v}).build() },
	}
}

// tableBuilder writes the schedule of tables.
type tableBuilder struct {
	*builder
	v Values
}

func (b *tableBuilder) build() {
	row, batch, col, channels := b.out.loop(ir.Row), b.out.loop(ir.Batch), b.out.loop(ir.Col), b.out.loop(b.channels())
	if b.dense() {
		b.reorder(channels, row, batch, col)
	} else {
		b.reorder(row, batch, col, channels)
	}
	unit := lanesOf(b.Layer, Values{lanes: maxVector}) // channels that are computed for each position at once
	t := tiled{inner: b.out.loop(ir.Bit), shared: true}
	if !b.packed {
		if n := b.v[filters]; b.dense() && n > 1 && b.extent(channels)%unit != 0 {
			unit = n // a shifted last block would begin inside a block of packed weights
		}
		if b.packsSums() { // vectors do not cross blocks
			unit = min(unit, b.v[filters])
		}
		channels, t.inner, t.shared = b.blocks(channels, unit)
	}
	rowTiles, rows := b.splitLonger(row, b.v[tileH], schedule.TailGuard)
	if b.halves() {
		t.half = col + ".p"
		b.must(steps.SplitAs(col, b.sum.extent(ir.Col), schedule.TailGuard, t.half, col))
	}
	colTiles, position := b.tiles(col)
	t.home = colTiles
	if b.v[kept] == 1 {
		channels, t.words = b.divide(channels, b.wordsOf(b.v))
		t.home = channels
	}
	order := []string{rowTiles, batch, rows, colTiles, channels, t.half, position, t.words, t.inner}
	if b.dense() && !b.mean.exists() { // all blocks of filters read the same tables
		n, size := b.extent(channels), max(1, b.v[filters]/unit)
		t.shared = t.shared || size > 1 && n%size != 1 // the blocks that overlap are in one tile
		channels, words := b.splitLonger(channels, size, schedule.TailGuard)
		order = []string{b.shares(channels, &t), channels, rowTiles, batch, colTiles, words, t.half, position, t.inner}
	}
	b.reorder(order...)
	t.row, t.block, t.outer, t.position = rowTiles, channels, cmp.Or(order...), position
	if b.mean.exists() {
		t.row, t.outer = b.mean.loop(ir.TapRow), b.final.loop(ir.Word)+".o"
		if t.home = cmp.Or(t.home, b.mean.loop(ir.Word)+".o"); b.byRuns(b.v) {
			t.home = t.row
		}
	}
	b.sumsAt(t.home)
	if !b.dense() || b.mean.exists() {
		b.must(steps.ComputeAt(b.table.buf, t.row))
		if b.pad.exists() {
			b.must(steps.ComputeAt(b.pad.buf, t.row))
		}
	}
	b.pads()
	if b.v[ordered] == 1 && b.v[run] < b.tablesOf() {
		b.packTables()
	}
	if !b.byRuns(b.v) {
		b.entries()
	}
	if b.packsSums() { // the sums of an instruction are contiguous
		channel := len(b.f.Buffers()[b.sum.buf].Shape) - 1
		order := slices.Insert(steps.First(channel), 2, steps.Outer(channel))
		b.must(steps.Pack(b.sum.buf, b.v[filters], append(order, steps.Inner(channel))...))
	}
	b.sums()
	b.stagesBetween()
	b.finish(t)
	if b.mean.exists() { // the same blocks as the reader of the mean has
		b.may(steps.Parallel(b.mean.loop(ir.Word) + ".o"))
	}
	if b.byRuns(b.v) {
		b.shareRuns()
	}
	// all sums of a tile fit registers
	if b.v[kept] == 0 && b.v[filters] > 1 && b.v[filters] == b.sum.extent(ir.Channel) && b.find(t.block) != nil {
		b.unroll(b.find(t.block))
	}
}

// tiles splits the positions of a row into tiles. outer is "" for a mean with one tile, since all
// its words read the same sums.
func (b *tableBuilder) tiles(col string) (outer, inner string) {
	switch {
	case b.mean.exists() && b.find(col) == nil:
		return "", ""
	case b.mean.exists() && b.v[tileW] == b.out.extent(ir.Col):
		return "", col
	}
	return b.splitLonger(col, b.v[tileW], schedule.TailShift)
}

// entries schedules the tables, by an instruction where there is one.
func (b *tableBuilder) entries() {
	for _, l := range loopsOf(b.serial(b.table.buf), ir.Part) {
		made := b.instr(isa.Tables, func(i isa.Instr) bool {
			words := len(loads(storesTo(l, b.table.buf)[0].Val))
			return i.Halves == b.halves() && i.Lanes == l.Extent && i.Words == b.table.extent(ir.Entry) &&
				(len(i.Func.Params)-1)*i.Func.Params[1].Shape[0] == words
		})
		if made != nil && b.may(steps.Tensorize(l.Var, made.Func)) {
			return
		}
	}
	for _, l := range loopsOf(b.serial(b.table.buf), ir.Entry) {
		b.vectorize(l.Var, maxVector)
	}
	for _, l := range loopsOf(b.serial(b.table.buf), ir.Part) {
		b.unroll(l)
	}
}

// sums schedules the look-ups. The tables of a row of taps and a run of groups stay in the first
// cache while all filters use them, tile by tile. Registers hold byte sums alone, or all sums of a
// block of filters, which then goes through all taps and groups.
func (b *tableBuilder) sums() {
	if b.err != nil {
		return
	}
	acc, groups := b.sum.buf, b.sum.loop(ir.Reduce)
	if b.v[filters] > 1 {
		around := ir.TapCol
		if b.v[kept] == 1 {
			around = ir.TapRow
		}
		dims := b.pack(b.pack(b.weightDims, ir.Reduce, ir.TapCol, b.v[run]), ir.Channel, around, b.v[filters])
		b.packSplitWeights(len(dims))
	}
	b.reorder(b.sum.loop(ir.TapRow), groups, b.sum.loop(ir.TapCol), b.sum.loop(ir.Row), b.sum.loop(ir.Col),
		b.sum.loop(ir.Half), b.sum.loop(ir.Channel))
	if b.err != nil {
		return
	}
	bufs, loops := []string{acc}, []string{} // loops that stay
	nests, tiles := []string{groups}, b.sum.loop(ir.Col)
	if b.v[ordered] == 1 && b.extent(tiles) > b.v[width] {
		nests = b.parts(tiles)
		loops = append(loops, tiles+".o")
	}
	for _, groups := range nests {
		outer, inner, rest := b.cut(groups, b.v[run])
		if inner == "" {
			b.errorf("the groups cannot be cut into runs")
			return
		}
		loops = append(loops, outer)
		if b.byRuns(b.v) { // before an instruction makes the tables
			b.must(steps.ComputeAt(b.table.buf, outer))
			b.entries()
		}
		for _, n := range [][2]string{{outer, inner}, {"", rest}} {
			if n[1] != "" {
				bufs = append(bufs, b.scheduleRun(n[0], n[1], fmt.Sprintf("%s.%d", acc, len(bufs)))...)
			}
		}
	}
	for _, l := range loopsOf(b.serial(bufs...), ir.Channel) {
		if innermost(l) && b.packsSums() {
			_, inner := b.splitLonger(l.Var, b.v[filters], schedule.TailPerfect)
			b.vectorize(inner, maxVector)
			continue
		}
		if innermost(l) && !arith.Scattered(l) {
			b.vectorize(l.Var, maxVector)
			// LLVM then knows that the byte sums start at zero, and saves the first additions
			if outer := b.find(l.Var + ".o"); outer != nil && outer.Kind == ir.Serial && b.v[filters] > 1 &&
				!written(l)[acc] {
				b.unroll(outer)
			}
		}
	}
	if b.v[filters] == 1 { // single look-ups, in loops
		return
	}
	b.unroll(loopsOf(b.serial(bufs...), ir.Row, ir.Half)...)
	for _, l := range append(loopsOf(b.serial(bufs...), ir.Col), loopsOf(b.serial(bufs...), ir.Reduce)...) {
		if !slices.Contains(loops, l.Var) {
			b.unroll(l)
		}
	}
	if b.v[kept] == 1 && byteLoop(b.v[at]) == overRow && b.inlinesTaps(b.v[filters], b.v[run]) {
		b.unroll(loopsOf(b.serial(bufs...), ir.TapCol)...)
	}
}

// shareRuns lets threads share the filters that read a run's tables, in the blocks of the mean.
func (b *tableBuilder) shareRuns() {
	blocks := b.sum.loop(ir.Channel) + ".b"
	if n := b.v[share] * b.out.extent(ir.Bit) / b.v[filters]; n > 1 && n < b.extent(blocks) {
		shared := blocks + ".s"
		b.must(steps.SplitAs(blocks, n, schedule.TailPerfect, shared, blocks))
		blocks = shared
	}
	b.may(steps.Parallel(blocks))
}

// parts splits the positions of a tile into those of an instruction and a remainder, each with a
// nest of all taps, and returns their loops over groups.
func (b *tableBuilder) parts(col string) []string {
	inside := func(loops map[ir.Axis]string, col string) {
		b.reorder(loops[ir.TapRow], loops[ir.Reduce], loops[ir.TapCol], loops[ir.Row], col, loops[ir.Half],
			loops[ir.Channel])
	}
	b.reorder(col, b.sum.loop(ir.TapRow), b.sum.loop(ir.Reduce), b.sum.loop(ir.TapCol), b.sum.loop(ir.Row),
		b.sum.loop(ir.Half), b.sum.loop(ir.Channel))
	outer, inner, tail := b.cut(col, b.v[width])
	if inner == "" {
		b.errorf("the positions of a tile cannot be cut")
		return nil
	}
	all := b.loopsIn(outer)
	inside(all, inner)
	groups := []string{all[ir.Reduce]}
	if tail != "" {
		all = b.loopsIn(tail)
		inside(all, tail)
		groups = append(groups, all[ir.Reduce])
	}
	return groups
}

// loopsIn returns the outermost loop of each axis, from root inwards.
func (b *tableBuilder) loopsIn(root string) map[ir.Axis]string {
	loops := map[ir.Axis]string{}
	for l := range ir.StmtsOf[*ir.For](b.find(root)) {
		if loops[l.Axis] == "" {
			loops[l.Axis] = l.Var
		}
	}
	return loops
}

// scheduleRun schedules the nest of a run of groups, in the loop over runs if there are several,
// and returns the buffers of its sums. Their names begin with name.
func (b *tableBuilder) scheduleRun(runs, groups, name string) []string {
	loops := b.loopsIn(groups)
	all, lane, blocks := loops[ir.Channel], loops[ir.Channel], ""
	if n := b.v[filters]; n > 1 && b.extent(all) > n {
		blocks, lane = all+".b", all+".f"
		b.must(steps.SplitAs(all, n, schedule.TailPerfect, blocks, lane))
	}
	register, half, other := "", "", ""
	if n := b.splitLanes(); n > 0 {
		if b.v[filters] > n {
			register = lane + ".r"
			b.must(steps.SplitAs(lane, n, schedule.TailPerfect, register, lane))
		}
		half, other = lane+".k", lane+".j"
		b.must(steps.SplitAs(lane, n/2, schedule.TailPerfect, other, half))
		lane = cmp.Or(register, half)
	}
	b.reorder(runs, blocks, loops[ir.TapCol], groups, loops[ir.Row], loops[ir.Col], loops[ir.Half], register,
		cmp.Or(half, lane), other)
	var bufs []string
	switch bits := b.f.Buffers()[b.sum.buf].Type.Bits(); {
	case b.widensDirectly() && bits > ir.U16.Bits(): // an instruction's sums are parts of these
		around := cmp.Or(loops[ir.TapCol], groups)
		if blocks == "" {
			around = cmp.Or(runs, around)
		}
		bufs = []string{name + ".h"}
		b.must(steps.NarrowAccumulate(b.sum.buf, b.wrapLoop(around), ir.U16, 0, bufs[0]))
	case !b.widensDirectly() && bits > ir.U8.Bits():
		bufs = b.inBytes(loops[ir.TapCol], groups, name)
	}
	switch i := b.lookUp(); {
	case b.v[ordered] == 1:
		rows := b.lookUpRows()
		k := slices.IndexFunc(rows, func(i isa.Instr) bool {
			return i.Groups == b.v[run] && i.Lanes == b.v[filters] && i.Positions == b.extent(loops[ir.Col])
		})
		if k < 0 {
			b.errorf("there is no instruction that looks %d groups of %d filters up at %d positions", b.v[run],
				b.v[filters], b.extent(loops[ir.Col]))
			break
		}
		if rows[k].Taps > 1 {
			groups = loops[ir.TapCol]
		}
		b.must(steps.Tensorize(groups, rows[k].Func))
	case i != nil && i.Halves:
		b.must(steps.Tensorize(loops[ir.Half], i.Func))
	case i != nil:
		b.must(steps.Tensorize(lane, i.Func))
	}
	return bufs
}

// widensDirectly reports whether an instruction adds to sums of 16 bits directly.
func (b *tableBuilder) widensDirectly() bool { return b.v[ordered] == 1 && b.rowsWiden() }

// packsSums reports whether the sums of a block of filters are contiguous, as an instruction needs
// them.
func (b *tableBuilder) packsSums() bool {
	// without separate byte sums for a block
	bytes := b.halves() && b.v[filters] > 1 && b.v[kept] == 0 && b.sumBits() <= ir.U8.Bits()
	return (b.widensDirectly() || bytes) && b.v[filters] < b.sum.extent(ir.Channel)
}

// packTables packs the tables of a run of groups of neighbouring pixels together, as an instruction
// for several positions reads them.
func (b *tableBuilder) packTables() {
	dims := len(b.f.Buffers()[b.table.buf].Shape)
	order := append(steps.First(dims-3), steps.Outer(dims-2), steps.WholeDim(dims-3), steps.Inner(dims-2),
		steps.WholeDim(dims-1))
	b.must(steps.Pack(b.table.buf, b.v[run], order...))
}

// lookUp returns the instruction that looks counts up, or nil. Byte sums that are widened later
// prefer an instruction with even and odd bytes of separate filters.
func (b *tableBuilder) lookUp() *isa.Instr {
	find := func(apart bool) *isa.Instr {
		return b.instr(isa.LookUp, func(i isa.Instr) bool {
			return b.looksUp(i) && i.Lanes == b.v[filters] && (i.Apart > 0) == apart
		})
	}
	if b.sumBits() > ir.U8.Bits() {
		if i := find(true); i != nil {
			return i
		}
	}
	return find(false)
}

// splitLanes returns the number of filters that even and odd bytes split in halves, or 0 if bytes
// are in order.
func (b *tableBuilder) splitLanes() int {
	if i := b.lookUp(); i != nil {
		return i.Apart
	}
	return 0
}

// packSplitWeights packs the weights, with filters in the last of `dims` dimensions, in the order
// of the bytes of their sums.
func (b *tableBuilder) packSplitWeights(dims int) {
	n := b.splitLanes()
	if n == 0 {
		return
	}
	if b.v[filters] > n {
		b.must(steps.Pack(b.weights, n, append(steps.First(dims-1), steps.Outer(dims-1), steps.Inner(dims-1))...))
		dims++
	}
	b.must(steps.Pack(b.weights, n/2, append(steps.First(dims-1), steps.Inner(dims-1), steps.Outer(dims-1))...))
}

// inBytes accumulates the look-ups of an iteration in bytes, with sums of 16 bits around them where
// the final sums are wider. It returns the buffers of both.
func (b *tableBuilder) inBytes(taps, groups, name string) []string {
	around, bufs, from := taps, []string{name + ".b"}, b.sum.buf
	if byteLoop(b.v[at]) == overTap {
		around = groups
	}
	one := b.wrapLoop(around)
	if b.f.Buffers()[from].Type.Bits() > ir.U16.Bits() {
		bufs = append(bufs, name+".h")
		halves := one + ".h"
		b.must(steps.SplitAs(one, 1, schedule.TailPerfect, halves, one))
		b.must(steps.NarrowAccumulate(from, halves, ir.U16, 0, bufs[1]))
		from = bufs[1]
	}
	n := b.splitLanes()
	b.must(steps.NarrowAccumulate(from, one, ir.U8, n, bufs[0]))
	if n == 0 {
		return bufs
	}
	// the nest that widens: even lanes belong to one half of the filters, odd lanes to the other
	for _, l := range loopsOf(b.serial(from), ir.Channel) {
		st, ok := l.Body.(*ir.Store)
		if ok && slices.ContainsFunc(loads(st.Val), func(ld *ir.Load) bool { return ld.Buf == bufs[0] }) {
			halves, _ := b.divideUnnamed(l.Var, n/2)
			b.may(steps.Unroll(halves))
		}
	}
	return bufs
}
