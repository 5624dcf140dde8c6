package strategy

import (
	"cmp"
	"slices"

	"ripc/internal/lists"
	"ripc/ir"
	"ripc/schedule"
	"ripc/schedule/steps"
	"ripc/targets/isa"
)

// The knobs that all strategies for sums share.
const (
	tileW  = "tile_w"
	tileH  = "tile_h"
	lanes  = "lanes"
	outer  = "filters_outer"
	unroll = "unroll"
	part   = "part"
	blocks = "blocks"
)

// upTo lists 1 to n.
func upTo(n int) []int {
	var out []int
	for i := 1; i <= max(1, n); i++ {
		out = append(out, i)
	}
	return out
}

// rowsKnob is the number of rows that a thread has.
func rowsKnob(l *Layer) Knob {
	return Knob{tileH, "rows of the output that a thread computes at once", upTo(l.rows())}
}

// columnsKnob is the tile of output positions, with at most `most` sums of each channel.
func columnsKnob(l *Layer, most int) Knob {
	k := tileKnob(l, most)
	if l.scattered { // lanes read scattered words, one after the other
		k.Domain = []int{1}
	}
	return k
}

// tileKnob is columnsKnob without the limit for scattered words.
func tileKnob(l *Layer, most int) Knob {
	w := l.out.extent(ir.Col)
	if l.halves() {
		w, most = l.sum.extent(ir.Col), most/2
	}
	return Knob{tileW, "positions with sums in registers together", upTo(min(w, max(2, most/max(1, l.window()))))}
}

// lanesKnobs is the number of channels that are computed together. In a packed output these are the
// bits of a word, or of several words where sums are so narrow that a vector holds them.
func lanesKnobs(l *Layer) []Knob {
	if l.packed {
		most := l.Target.VectorBits / l.sumBits() / l.out.extent(ir.Bit)
		var domain []int
		for n := 1; n <= min(most, l.out.extent(ir.Word)); n *= 2 {
			// threads share blocks of channels of packed words, which then cannot overlap
			if l.out.extent(ir.Word)%n == 0 || !l.dense() {
				domain = append(domain, n)
			}
		}
		if len(domain) < 2 || l.mean.exists() {
			return nil
		}
		return []Knob{{blocks, "words of channels that are computed together", domain}}
	}
	n, domain := l.out.extent(ir.Channel), []int{4, 8, 16, 32, 64}
	if l.float() && n >= 2*maxVector {
		domain = append(domain, 2*maxVector)
	}
	if l.runLength > 0 {
		n = min(n, l.runLength)
		domain = slices.DeleteFunc(domain, func(lanes int) bool { return lanes > l.runLength })
	}
	if n = powerOfTwo(max(1, n)); n < 4 {
		domain = append([]int{n}, domain...)
	}
	return []Knob{{lanes, "channels that are computed together", domain}}
}

// lanesOf returns the number of sums of a position in a tile.
func lanesOf(l *Layer, v Values) int {
	if l.packed {
		return l.out.extent(ir.Bit) * max(1, v[blocks])
	}
	return powerOfTwo(min(v[lanes], l.out.extent(ir.Channel)))
}

// orderKnobs choose the order of loops and their unrolling.
func orderKnobs(l *Layer) []Knob {
	ks := []Knob{{unroll, "write the inner loops of a sum out", []int{0, 1}}}
	if l.scattered {
		ks[0].Domain = []int{0}
	}
	if !l.dense() {
		ks = append(ks, Knob{outer, "go through rows for each block of channels, so that its weights stay in the cache",
			[]int{0, 1}})
	}
	return ks
}

// tiled names the loops of a layer's output in tiles.
type tiled struct {
	home     string // each iteration has its own sums
	row      string // the loop over rows, or groups of rows
	block    string // the loop in row over words of channels, if it is outside; else row
	outer    string // the outermost loop
	position string // the positions of a tile, or "" if there is one
	half     string // the halves of a row, or "" if a tile is not in both
	words    string // the words of channels of a tile, or "" if there is one
	inner    string // the channels of a tile
	shared   bool   // blocks of channels do not overlap, so threads can share them
}

// tiles tiles the output and orders the loops over tiles:
//
//	rows h.o (parallel) > blocks of channels > rows h.i > tiles w.o > [pad] [accumulate] [pool] glue, pack
func (b *builder) tiles(v Values) tiled {
	row, batch, col := b.out.loop(ir.Row), b.out.loop(ir.Batch), b.out.loop(ir.Col)
	channels := b.out.loop(b.channels())
	dense, filtersOuter := b.dense(), v[outer] == 1
	switch {
	case dense:
		b.reorder(channels, row, batch, col)
	case filtersOuter:
		b.reorder(row, batch, channels, col)
	default:
		b.reorder(row, batch, col, channels)
	}
	t := tiled{inner: b.out.loop(ir.Bit), shared: true}
	if !b.packed {
		channels, t.inner, t.shared = b.blocks(channels, v[lanes])
	}
	rowTiles, rows := b.splitLonger(row, v[tileH], schedule.TailGuard)
	colTiles, position := b.splitLonger(col, v[tileW], schedule.TailShift)
	if v[blocks] > 1 {
		if b.extent(channels) == v[blocks] { // keep a loop of one block, in which the sums are computed
			channels, t.words = b.divide(channels, v[blocks])
		} else {
			tail := schedule.TailPerfect
			if b.extent(channels)%v[blocks] != 0 {
				tail = schedule.TailShift
			}
			channels, t.words = b.splitLonger(channels, v[blocks], tail)
		}
	}
	order := []string{rowTiles, batch, rows, colTiles, channels, position, t.words}
	t.home = channels
	switch {
	case dense:
		shares := b.shares(channels, &t)
		order, t.home = []string{shares, channels, rowTiles, batch, colTiles, position, t.words}, colTiles
	case filtersOuter:
		order, t.home = []string{rowTiles, batch, channels, rows, colTiles, position, t.words}, colTiles
	}
	if !b.packed {
		order = append(order, t.inner)
	}
	b.reorder(order...)
	t.row, t.outer, t.position = rowTiles, cmp.Or(order...), position
	if t.block = channels; !filtersOuter || !b.packed {
		t.block = rowTiles
	}
	if b.mean.exists() {
		t.outer = b.final.loop(ir.Word)
		if b.find(t.home) == nil { // one column
			t.home = b.mean.loop(ir.TapRow)
		}
	}
	return t
}

// shares splits a loop of blocks into shares for threads where the last block overlaps the one
// before: a share has both. It returns "" where all blocks are one share, or none overlap.
func (b *builder) shares(blocks string, t *tiled) string {
	n, size := b.extent(blocks), 2
	if t.shared || n < 4 { // fewer blocks are one share
		return ""
	}
	for ; n%size == 1; size++ {
	}
	t.shared = true
	outer := blocks + ".s"
	b.must(steps.SplitAs(blocks, size, schedule.TailGuard, outer, blocks))
	return outer
}

// blocks splits the channels of an unpacked output into vectors. Where n does not divide the
// channels, the last block overlaps the one before.
func (b *builder) blocks(loop string, n int) (blocks, inner string, disjoint bool) {
	channels := b.extent(loop)
	n = powerOfTwo(max(1, min(n, channels)))
	tail := schedule.TailPerfect
	if channels%n != 0 {
		tail = schedule.TailShift
	}
	blocks, inner = b.split(loop, n, tail)
	return blocks, inner, channels%n == 0
}

// sumsAt computes the sums and the stages after them in the iterations of loop home.
func (b *builder) sumsAt(home string) {
	for _, buf := range b.between {
		b.must(steps.ComputeAt(buf, home))
	}
	b.must(steps.ComputeAt(b.sum.buf, home))
}

// placeStages computes each stage where it is used: the sums and later stages in a tile, the padded
// input for a group of rows.
func (b *builder) placeStages(t tiled) {
	b.sumsAt(t.home)
	if !b.pad.exists() || b.mean.exists() && !b.float() { // all blocks of channels read all rows, which are few
		return
	}
	if b.channelwise() && b.may(steps.ComputeInline(b.pad.buf)) {
		return
	}
	at := t.row
	if b.mean.exists() {
		at = b.mean.loop(ir.TapRow)
	}
	// Groups read parts of a pixel, which cannot be unpacked alone. A row that is one run of bytes
	// is copied whole: parts of it begin and end anywhere, and each lane of a vector would have its
	// own condition.
	if run := b.pad.extent(ir.Col) == 1 && b.out.extent(ir.Col) > 1; b.dense() && !b.mean.exists() && !run {
		at = t.home
	}
	for _, n := range append([]nest{b.pad}, b.before...) {
		// It is refused where rows of bytes end with some that no window reads. Then the whole copy
		// is computed first.
		b.may(steps.ComputeAt(n.buf, at))
	}
}

// reduction lists the loops of a sum, outermost first: planes, window and input channels, then the
// tile's positions and channels, which become registers.
func (b *builder) reduction() []string {
	return lists.Map([]ir.Axis{ir.Plane, ir.TapRow, ir.TapCol, ir.Reduce, ir.WeightPlane, ir.Row, ir.Col, ir.Channel},
		b.sum.loop)
}

// registers vectorizes the channels of tile buffers and unrolls their positions, so that they
// become registers. Vectors come first, because the unrolled size depends on them.
func (b *builder) registers(bufs ...string) {
	for _, l := range loopsOf(b.serial(bufs...), ir.Channel) {
		if innermost(l) {
			b.may(steps.Vectorize(l.Var))
		}
	}
	b.unroll(loopsOf(b.serial(bufs...), ir.Row)...)
	b.unroll(loopsOf(b.serial(bufs...), ir.Col)...)
}

// placeMean computes the operands of a mean in a row of it, and the mean in its block of channels,
// which threads can share. placeSharedMean serves blocks that share tables. A block of several
// words computes each row for all of its words before the next row.
func (b *builder) placeMean(v Values) {
	if !b.mean.exists() {
		return
	}
	if v[share] > 0 {
		b.placeSharedMean(v)
		return
	}
	m := func(a ir.Axis) string { return b.mean.loop(a) }
	block, batch := b.final.loop(ir.Word), b.final.loop(ir.Batch)
	b.reorder(block, batch)
	b.must(steps.ComputeAt(b.mean.buf, batch))
	b.reorder(m(ir.TapRow), m(ir.TapCol), m(ir.Bit))
	b.must(steps.ComputeAt(b.out.buf, m(ir.TapRow)))
}

// placeSharedMean is placeMean for blocks of words that read the same tables of a row. The loop
// over rows goes around the loop over blocks, so that each thread makes the tables once.
func (b *builder) placeSharedMean(v Values) {
	m := func(a ir.Axis) string { return b.mean.loop(a) }
	block, batch, words := b.final.loop(ir.Word), b.final.loop(ir.Batch), m(ir.Word)
	sharedBlocks, block := b.divide(block, v[share])
	sharedWords, words := b.divide(words, v[share])
	b.reorder(sharedBlocks, batch, block)
	b.reorder(m(ir.TapRow), sharedWords, words, m(ir.TapCol), m(ir.Bit))
	home := sharedWords
	if v[tileW] == b.out.extent(ir.Col) {
		home = words
	}
	b.must(steps.ComputeAt(b.out.buf, home))
}

// scheduleMean vectorizes and unrolls the mean.
func (b *builder) scheduleMean() {
	if !b.mean.exists() {
		return
	}
	for _, l := range loopsOf(b.serial(b.mean.buf, b.final.buf), ir.Bit) {
		if innermost(l) {
			b.vectorize(l.Var, maxVector)
		}
	}
	for _, l := range loopsOf(b.serial(b.mean.buf), ir.TapCol) {
		b.unroll(l)
	}
}

// stagesBetween schedules the stages from the sums to the output.
func (b *builder) stagesBetween() {
	for _, buf := range b.between {
		if buf == b.pool.buf {
			windows := loopsOf(b.serial(buf), ir.TapRow, ir.TapCol)
			for _, l := range windows {
				b.unroll(l)
			}
		}
		b.registers(buf)
	}
}

// finish schedules the output of a tile.
func (b *builder) finish(t tiled) {
	if t.shared || !b.dense() {
		b.may(steps.Parallel(t.outer))
	}
	b.positions(t)
	if t.half != "" {
		b.unroll(b.find(t.half))
	}
	if t.words != "" {
		less := b.comparison(b.extent(t.words))
		if less != nil && b.may(steps.Tensorize(t.words, less.Func)) {
			return
		}
		b.unroll(b.find(t.words))
	}
	if b.find(t.inner) != nil { // no instruction has replaced it
		b.may(steps.Vectorize(t.inner))
	}
}

// comparison returns the instruction that compares the sums of the given number of words, or nil.
func (l *Layer) comparison(words int) *isa.Instr {
	return l.instr(isa.PackLess, func(i isa.Instr) bool {
		return i.Words == words && i.Planes == l.levelBits() && i.Func.Params[i.Planes].Type == l.sumType()
	})
}

// maxJoined is the number of unrolled positions in a tile that joins other tensors. More of them do
// not fit the registers.
const maxJoined = 7

// positions unrolls the positions of a tile.
func (b *builder) positions(t tiled) {
	switch {
	case t.position == "":
	case b.hasJoins && (!b.packed || b.mean.exists()) && b.extent(t.position) > maxJoined:
		_, inner, tail := b.cut(t.position, maxJoined)
		for _, part := range []string{inner, tail} {
			if l := b.find(part); l != nil {
				b.unroll(l)
			}
		}
	default:
		b.unroll(b.find(t.position))
	}
}

// writeOut unrolls the innermost loops of the sums while the body has at most `most` steps. It is
// the last step, when the size of all other code is known.
func (b *builder) writeOut(most int, bufs ...string) {
	n := 1
	for _, a := range []ir.Axis{ir.WeightPlane, ir.Reduce, ir.TapCol, ir.TapRow, ir.Plane} {
		for _, l := range loopsOf(b.serial(bufs...), a) {
			if n *= l.Extent; n > most {
				return
			}
			if l.Extent > 1 {
				b.unroll(l)
			}
		}
	}
}
