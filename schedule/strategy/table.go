package strategy

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/size"
	"ripc/schedule"
	"ripc/schedule/cost"
	"ripc/targets/isa"
)

// The knobs of tables.
const (
	filters = "filters"
	run     = "run"
	kept    = "kept"
	share   = "share"
)

// longestTile is how many positions have sums in memory together where instructions look them up: a row, with what is left over of it.
const longestTile = 14

// tables looks counts up in lanes of bytes, which are added to the sums before they could overflow:
//
//	rows h.o (parallel) > [pad] [tables] > rows h.i > tiles w.o > [rows of taps > runs > blocks of filters > taps > groups of a run > positions] glue, pack
//
// or, where all sums of a block of filters are kept in registers,
//
//	rows h.o (parallel) > [pad] [tables] > rows h.i > tiles w.o > blocks of filters > [rows of taps > runs > taps > groups of a run > positions] glue, pack
func tables() Strategy {
	return Strategy{
		Name: "table", Text: "look up the counts of groups of channels in tables that filters and windows share",
		Applies: func(l *Layer) (bool, string) { return l.table.exists(), "its counts are not looked up" },
		Knobs:   tableKnobs,
		Cost:    func(*Layer, Values) float64 { return 0 }, // there is no other way to what it applies to
		build:   func(b *builder, v Values) { (&tableBuilder{builder: b, v: v}).build() },
	}
}

// lookUps are the numbers of filters for which there are instructions that look counts up, and that divide n; rising.
func (l *Layer) lookUps(n int) []int {
	var out []int
	for _, i := range isa.Query(isa.LookUp, l.Target) {
		if l.looksUp(i) && n%i.Lanes == 0 && !slices.Contains(out, i.Lanes) {
			out = append(out, i.Lanes)
		}
	}
	slices.Sort(out)
	return out
}

// looksUp reports whether i looks up in the layer's tables, and what is no entry as the layer does.
func (l *Layer) looksUp(i isa.Instr) bool {
	bounded := false
	ir.WalkExpr(l.term(), func(e ir.Expr) bool {
		_, chosen := e.(*ir.Select)
		bounded = bounded || chosen
		return true
	})
	return i.Words == l.table.extent(ir.Entry) && i.Bounded == bounded
}

// runs is the number of look-ups whose sum fits a byte.
func (l *Layer) runs() int { return max(1, int(cost.MaxByte/l.mostFound())) }

// mostFound is the largest number that a table has, at least 1.
func (l *Layer) mostFound() int64 {
	most := int64(cost.MaxByte)
	r := arith.Ranges{}
	for _, loop := range l.table.loops {
		r = r.With(loop.Var, loop.Extent)
	}
	for _, st := range storesTo(l.Func.Body, l.table.buf) {
		if iv, ok := arith.Bounds(st.Val, r); ok {
			most = max(1, iv.Hi)
		}
	}
	return most
}

// canPart reports whether the positions of a tile may be summed in two nests: arith.VerifyWidths takes what both add to a buffer for the same elements' sums.
func (l *Layer) canPart() bool {
	return 2*int64(sumOf(l).Terms())*l.mostFound() < 1<<l.sumBits()
}

func tableKnobs(l *Layer) []Knob {
	h, most := l.rows(), l.runs()
	domain := l.lookUps(l.sum.extent(ir.Channel))
	d := l.tableDefaults(domain, most)
	if domain == nil {
		domain = []int{1}
	}
	ks := []Knob{
		{filters, "filters that are looked up at once", domain, d.filters},
		d.tile,
		{tileH, "rows of the output that share tables", upTo(h), cost.TableRows(l.Target, h, l.sum.extent(ir.TapRow))},
		{run, "groups that are summed in bytes", upTo(min(most, l.sum.extent(ir.Reduce))), d.run},
		{at, "what is summed in bytes: a run of groups of 1 a row of taps, 2 one", []int{int(cost.AtRow), int(cost.AtTap)}, int(d.at)},
		{kept, "keep all sums of a block of filters in registers, not only those of bytes", l.keeps(), d.kept},
	}
	if l.mean.exists() {
		ks = append(ks, l.shareKnob(d.filters))
	}
	if len(l.lookUpRows()) > 0 {
		ks = append(ks, Knob{ordered, "look a run of groups up by one instruction, in ripc's own order", []int{0, 1}, d.ordered},
			Knob{width, "positions that it takes", []int{2, 3, 4}, d.width})
	}
	return ks
}

// tableDefaults are defaults of knobs for tables.
type tableDefaults struct {
	filters            int
	tile               Knob
	kept, run, ordered int
	width              int // positions that an instruction takes, if ordered
	at                 cost.At
}

// tableDefaults chooses among numbers of filters for which there are instructions, tiles, and ways to keep sums, by what a row costs; most
// look-ups fit a byte.
func (l *Layer) tableDefaults(instrs []int, most int) tableDefaults {
	keeps, target := l.keeps(), l.Target.Lookups(bits.Len(uint(l.table.extent(ir.Entry)))-1)
	if instrs == nil {
		instrs, target.Stored = []int{1}, 0
	}
	switch {
	case len(keeps) == 1:
	case target.Kept:
		keeps = keeps[1:]
	case target.Stored > 0 && !l.Target.InOrder && most < l.sum.extent(ir.Reduce):
		keeps = keeps[:1] // the groups of a tap are several sums of bytes: some layers gain a fifth by keeping, others lose 7 % (see RATIONALE)
	case target.Stored > 0: // what costs least
	default:
		keeps = keeps[:1]
	}
	d, least, window := tableDefaults{width: 4, filters: instrs[0], tile: tileKnob(l, cost.TablePositions(l.Target, 1)), kept: keeps[0]}, math.Inf(1), max(1, l.window())
	d.at, d.run, _ = l.bytesOfTables(most, false)
	for _, k := range keeps {
		at, run, adds := l.bytesOfTables(most, k == 1 && target.Stored > 0)
		looked := cost.Lookups{Terms: sumOf(l).Terms(), Table: l.table.extent(ir.Entry) * 8 / l.Target.VectorBits, Adds: adds, Bits: l.sumBits(), Stored: target.Stored, Beside: target.Kept && k == 1 && target.Stored == 0}
		for _, n := range instrs { // several registers of filters share the tables that are read, where there are registers for it
			registers := max(1, n*8/l.Target.VectorBits)
			if registers > 1 && l.Target.Registers < 32 {
				continue
			}
			positions := cost.TablePositions(l.Target, registers)
			fits := positions
			if k == 1 { // the sums of more positions are on the stack, where cores that wait for their operands gain from having fewer tiles
				fits = cost.KeptPositions(l.Target, n, l.sumBits())
				if !l.Target.InOrder {
					positions = fits
				}
			}
			tile := tileKnob(l, positions)
			tiles := []int{tile.Default}
			if target.Stored > 0 {
				tiles = tile.Domain[:min(positions/window, len(tile.Domain))]
			}
			written := positions
			if k == 1 {
				written = min(positions, l.written(n, run))
			}
			if tile.Default > written {
				tiles = append(tiles, tileKnob(l, written).Default)
			}
			parts := max(1, l.Target.VectorBits/(8*n)) // of a register that is not full
			for _, m := range tiles {
				row := cost.Row{Width: window * l.out.extent(ir.Col), Tile: window * m}
				looked.Spilled, looked.Looped = window*m > fits, window*m > written
				c := float64(parts) * cost.LookUps(l.Target, looked, row, registers, k == 1)
				if c < least || c == least && k == d.kept {
					tile.Default, least = m, c
					d = tableDefaults{filters: n, tile: tile, kept: k, run: run, at: at, width: 4}
				}
			}
		}
	}
	all, planes, one := l.sum.extent(ir.Channel), l.Func.Buffers()[l.out.buf].Shape[0], l.table.extent(ir.Entry)*8 <= l.Target.VectorBits // a table of more registers leaves fewer
	if m := cost.ResidentPositions(l.Target, sumOf(l), all, l.sumBits(), planes); one && l.packed && d.kept == 0 && m > 0 && slices.Contains(instrs, all) && slices.Contains(d.tile.Domain, m) {
		d.filters, d.tile.Default = all, m
	}
	for _, i := range l.lookUpRows() {
		w := l.out.extent(ir.Col)
		if !slices.Contains(instrs, i.Lanes) || i.Positions < 2 || i.Positions > w || i.Groups > most || l.sum.extent(ir.Channel)%i.Lanes != 0 {
			continue
		}
		at, taps := cost.AtTap, l.sum.extent(ir.TapCol)
		if groups := l.sum.extent(ir.Reduce); i.Groups == groups && groups*taps <= most {
			at = cost.AtRow
		}
		adds := sumOf(l).Terms() / i.Groups
		if at == cost.AtRow {
			adds /= taps
		}
		looked := cost.Lookups{Terms: sumOf(l).Terms(), Adds: adds, Bits: l.sumBits(), Stored: target.Stored}
		for _, tile := range []int{i.Positions, w} { // or a row with what is left over of it
			if tile > i.Positions && (tile > longestTile || !l.canPart()) {
				continue
			}
			row := cost.Row{Width: w, Tile: tile}
			if c := cost.OrderedLookUps(looked, row, i.Positions, i.Lanes*8/l.Target.VectorBits, i.Groups, taps > 1 && all > i.Lanes); c < least {
				least = c
				d = tableDefaults{filters: i.Lanes, tile: tileKnob(l, tile), run: i.Groups, at: at, ordered: 1, width: i.Positions}
				d.tile.Default, d.tile.Domain = tile, among(d.tile.Domain, tile)
			}
		}
	}
	return d
}

// lookUpRows are the instructions that look runs of the layer's groups up for several positions, on a core that works in order.
func (l *Layer) lookUpRows() []isa.Instr {
	if !l.Target.InOrder || l.window() > 0 || l.mean.exists() || !l.nextToEachOther() {
		return nil
	}
	return slices.DeleteFunc(isa.Query(isa.LookUpRow, l.Target), func(i isa.Instr) bool {
		apart := l.sumBits() <= ir.U8.Bits() && i.Lanes < l.sum.extent(ir.Channel)    // the sums of a block are parts of wider ones, position by position
		together := i.Groups == l.tablesOf() || i.Groups%l.table.extent(ir.Part) == 0 // the tables of a word are made together
		return !l.looksUp(i) || apart || !together || l.sum.extent(ir.Reduce)%i.Groups != 0
	})
}

// nextToEachOther reports whether neighbouring positions read tables of neighbouring pixels: those of strides have others between them.
func (l *Layer) nextToEachOther() bool {
	for _, ld := range loads(l.term()) {
		if ld.Buf == l.table.buf {
			return slices.ContainsFunc(ld.Idx, func(e ir.Expr) bool { return coefficients(e)[l.sum.loop(ir.Col)] == 1 })
		}
	}
	return false
}

// tablesOf is how many tables a pixel has.
func (l *Layer) tablesOf() int {
	shape := l.Func.Buffers()[l.table.buf].Shape
	return shape[len(shape)-2]
}

// written is how many positions at most, one or more, a tile has whose words of so many filters are written out behind the look-ups of a run of groups: sums in registers have no
// index.
func (l *Layer) written(filters, run int) int {
	words := l.wordsOf(Values{"filters": filters})
	if words <= 1 {
		return math.MaxInt
	}
	const widened = 24 // what adds bytes to wider sums, for a position and a nest of look-ups
	looked, groups := 0, l.sum.extent(ir.Reduce)
	for _, n := range []int{min(run, groups), groups % run} {
		if n == 0 {
			continue
		}
		if looked += n * size.Of(&ir.Call{}); l.sumBits() > ir.U8.Bits() {
			looked += widened
		}
	}
	return l.writtenOut(words, looked)
}

// shareKnob is how many of the words of a mean share tables, of which so many filters are looked up at once.
func (l *Layer) shareKnob(filters int) Knob {
	words, n := l.final.extent(ir.Word), l.wordsOf(Values{"filters": filters})
	k := Knob{Name: share, Text: "words of channels for which tables are made together", Default: words}
	for d := n; d <= words; d += n {
		if words%d != 0 {
			continue
		}
		if k.Domain = append(k.Domain, d); d*l.out.extent(ir.Bit) >= cost.MeanFilters {
			k.Default = min(k.Default, d)
		}
	}
	return k
}

// wordsOf is how many words of channels have sums in registers together.
func (l *Layer) wordsOf(v Values) int { return max(1, v[filters]/l.out.extent(ir.Bit)) }

// keeps is whether the sums of a block of filters can be kept in registers.
func (l *Layer) keeps() []int {
	if !l.packed || l.dense() {
		return []int{0}
	}
	return []int{0, 1}
}

// bytesOfTables is what is summed in bytes: how many groups, and of a row of taps or of one, and how many such sums an output has. Where adding them
// is cheap, as in registers, those of a row are worth their loops only if there are half as many.
func (l *Layer) bytesOfTables(most int, cheap bool) (at cost.At, groups, adds int) {
	n, rows, taps := l.sum.extent(ir.Reduce), l.sum.extent(ir.TapRow), l.sum.extent(ir.TapCol)
	sums := func(run, times int) int { return (n + run - 1) / run * rows * times }
	length, run := cost.Runs(most, n, taps)
	if length == run && !cheap {
		return cost.AtTap, run, sums(run, taps)
	}
	one, _ := cost.Runs(most, n, 1)
	if l.Target.InOrder { // as few sums as there can be: some may be in memory, and a nest for a rest costs less than that
		few := (n + most - 1) / most
		one = (n + few - 1) / few
	}
	if cheap && (length == run || sums(one, taps) < 2*sums(run, 1)) {
		return cost.AtTap, one, sums(one, taps)
	}
	return cost.AtRow, run, sums(run, 1)
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
	unit := lanesOf(b.Layer, Values{lanes: maxVector}) // channels of the output that are computed for each position at once
	t := tiled{inner: b.out.loop(ir.Bit), shared: true}
	if !b.packed {
		if n := b.v[filters]; b.dense() && n > 1 && b.extent(channels)%unit != 0 {
			unit = n // a last block that is shifted would begin where weights are not packed from
		}
		channels, t.inner, t.shared = b.blocks(channels, unit)
	}
	rowTiles, rows := b.split(row, b.v[tileH], schedule.TailGuard)
	colTiles, position := b.tiles(col)
	t.home = colTiles
	if b.v[kept] == 1 {
		b.must("split %[1]s %[2]d tail=perfect -> %[1]s.o %[1]s.i", channels, b.wordsOf(b.v))
		channels, t.words = channels+".o", channels+".i"
		t.home = channels
	}
	order := []string{rowTiles, batch, rows, colTiles, channels, position, t.words, t.inner}
	if b.dense() && !b.mean.exists() { // all blocks of filters read the same tables
		channels, words := b.split(channels, max(1, b.v[filters]/unit), schedule.TailGuard)
		order = []string{channels, rowTiles, batch, colTiles, words, position, t.inner}
	}
	b.reorder(order...)
	t.row, t.block, t.outer, t.position = rowTiles, channels, order[0], position
	if b.mean.exists() {
		t.row, t.outer = b.mean.loop(ir.TapRow), b.final.loop(ir.Word)+".o"
		t.home = cmp.Or(t.home, t.row)
	}
	b.sumsAt(t.home)
	if !b.dense() || b.mean.exists() {
		b.must("compute_at %s %s", b.table.buf, t.row)
		if b.pad.exists() {
			b.must("compute_at %s %s", b.pad.buf, t.row)
		}
	}
	b.pads()
	if b.v[ordered] == 1 && b.v[run] < b.tablesOf() {
		b.packTables()
	}
	b.entries()
	b.sums()
	b.stagesBetween()
	b.finish(t)
	if b.v[kept] == 0 && b.v[filters] > 1 && b.v[filters] == b.sum.extent(ir.Channel) && b.find(t.block) != nil { // all sums of a tile can be in registers
		b.unroll(b.find(t.block))
	}
}

// tiles cuts the positions of a row into tiles; outer is "" where a mean has one tile, whose sums all its words read.
func (b *tableBuilder) tiles(col string) (outer, inner string) {
	switch {
	case b.mean.exists() && b.find(col) == nil:
		return "", ""
	case b.mean.exists() && b.v[tileW] == b.out.extent(ir.Col):
		return "", col
	}
	return b.split(col, b.v[tileW], schedule.TailShift)
}

// entries makes the tables, by an instruction where there is one for them.
func (b *tableBuilder) entries() {
	for _, l := range on(b.serial(b.table.buf), ir.Part) {
		made := b.instr(isa.Tables, func(i isa.Instr) bool {
			words := len(loads(storesTo(l, b.table.buf)[0].Val))
			return i.Lanes == l.Extent && i.Words == b.table.extent(ir.Entry) && (len(i.Func.Params)-1)*i.Func.Params[1].Shape[0] == words
		})
		if made != nil && b.may("tensorize %s %s", l.Var, made.Func.Name) {
			return
		}
	}
	for _, l := range on(b.serial(b.table.buf), ir.Entry) {
		b.vectorize(l.Var, maxVector)
	}
	for _, l := range on(b.serial(b.table.buf), ir.Part) {
		b.unroll(l)
	}
}

// sums looks up: for a row of taps and a run of groups, whose tables stay in the first cache, all filters, one tile after the other.
// Only the sums of bytes are in registers. Where all are kept, a block of filters goes through all taps and groups.
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
		b.weightsApart(len(dims))
	}
	b.reorder(b.sum.loop(ir.TapRow), groups, b.sum.loop(ir.TapCol), b.sum.loop(ir.Row), b.sum.loop(ir.Col), b.sum.loop(ir.Channel))
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
		for _, n := range [][2]string{{outer, inner}, {"", rest}} {
			if n[1] != "" {
				bufs = append(bufs, b.looked(n[0], n[1], fmt.Sprintf("%s.%d", acc, len(bufs)))...)
			}
		}
	}
	for _, l := range on(b.serial(bufs...), ir.Channel) {
		if innermost(l) && !arith.Scattered(l) {
			b.vectorize(l.Var, maxVector)
		}
	}
	if b.v[filters] == 1 { // look-ups one after the other, in loops
		return
	}
	b.unroll(on(b.serial(bufs...), ir.Row)...)
	for _, l := range append(on(b.serial(bufs...), ir.Col), on(b.serial(bufs...), ir.Reduce)...) {
		if !slices.Contains(loops, l.Var) {
			b.unroll(l)
		}
	}
	if b.v[kept] == 1 && cost.At(b.v[at]) == cost.AtRow && cost.InlineTaps(b.Target, sumOf(b.Layer), b.v[run]) {
		b.unroll(on(b.serial(bufs...), ir.TapCol)...)
	}
}

// parts cuts the positions of a tile into those that an instruction takes and the rest, with a nest of all taps for each, and gives their loops over groups.
func (b *tableBuilder) parts(col string) []string {
	inside := func(loops map[ir.Axis]string, col string) {
		b.reorder(loops[ir.TapRow], loops[ir.Reduce], loops[ir.TapCol], loops[ir.Row], col, loops[ir.Channel])
	}
	b.reorder(col, b.sum.loop(ir.TapRow), b.sum.loop(ir.Reduce), b.sum.loop(ir.TapCol), b.sum.loop(ir.Row), b.sum.loop(ir.Channel))
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

// loopsIn are the outermost loops of each axis from the one called root inwards.
func (b *tableBuilder) loopsIn(root string) map[ir.Axis]string {
	loops := map[ir.Axis]string{}
	ir.Walk(b.find(root), func(s ir.Stmt) bool {
		if l, ok := s.(*ir.For); ok && loops[l.Axis] == "" {
			loops[l.Axis] = l.Var
		}
		return true
	})
	return loops
}

// looked schedules the nest of a run of groups, in the loop over runs if there are several, and gives the buffers of its sums, whose
// names begin with name.
func (b *tableBuilder) looked(runs, groups, name string) []string {
	loops := b.loopsIn(groups)
	all, lane, blocks := loops[ir.Channel], loops[ir.Channel], ""
	if n := b.v[filters]; n > 1 && b.extent(all) > n {
		blocks, lane = all+".b", all+".f"
		b.must("split %s %d tail=perfect -> %s %s", all, n, blocks, lane)
	}
	register, half, other := "", "", ""
	if n := b.apart(); n > 0 {
		if b.v[filters] > n {
			register = lane + ".r"
			b.must("split %s %d tail=perfect -> %s %[1]s", lane, n, register)
		}
		half, other = lane+".k", lane+".j"
		b.must("split %s %d tail=perfect -> %s %s", lane, n/2, other, half)
		lane = cmp.Or(register, half)
	}
	if half == "" {
		half = lane
	}
	b.reorder(runs, blocks, loops[ir.TapCol], groups, loops[ir.Row], loops[ir.Col], register, half, other)
	var bufs []string
	if b.f.Buffers()[b.sum.buf].Type.Bits() > ir.U8.Bits() {
		bufs = b.inBytes(loops[ir.TapCol], groups, name)
	}
	switch i := b.lookUp(); {
	case b.v[ordered] == 1:
		rows := b.lookUpRows()
		k := slices.IndexFunc(rows, func(i isa.Instr) bool {
			return i.Groups == b.v[run] && i.Lanes == b.v[filters] && i.Positions == b.extent(loops[ir.Col])
		})
		if k < 0 {
			b.errorf("there is no instruction that looks %d groups of %d filters up at %d positions", b.v[run], b.v[filters], b.extent(loops[ir.Col]))
			break
		}
		b.must("tensorize %s %s", groups, rows[k].Func.Name)
	case i != nil:
		b.must("tensorize %s %s", lane, i.Func.Name)
	}
	return bufs
}

// packTables brings the tables of a run of groups of neighbouring pixels together, as an instruction for several positions has them.
func (b *tableBuilder) packTables() {
	dims := len(b.f.Buffers()[b.table.buf].Shape)
	order := ""
	for d := range dims - 3 {
		order += fmt.Sprintf(" %d", d)
	}
	b.must("pack %s%s %d.o %d %[3]d.i %[5]d factor=%[6]d", b.table.buf, order, dims-2, dims-3, dims-1, b.v[run])
}

// lookUp is the instruction that looks counts up, nil where there is none. Of bytes that are added to wider sums, even and odd ones are of filters
// that are apart, where there is an instruction for that.
func (b *tableBuilder) lookUp() *isa.Instr {
	find := func(apart bool) *isa.Instr {
		return b.instr(isa.LookUp, func(i isa.Instr) bool { return b.looksUp(i) && i.Lanes == b.v[filters] && (i.Apart > 0) == apart })
	}
	if b.sumBits() > ir.U8.Bits() {
		if i := find(true); i != nil {
			return i
		}
	}
	return find(false)
}

// apart is of how many filters even and odd bytes are the halves; 0 where bytes are in order.
func (b *tableBuilder) apart() int {
	if i := b.lookUp(); i != nil {
		return i.Apart
	}
	return 0
}

// weightsApart lays the weights, of so many dimensions, the last of which are filters, out as the bytes of their sums.
func (b *tableBuilder) weightsApart(dims int) {
	n := b.apart()
	if n == 0 {
		return
	}
	part := func(order string, factor int) {
		text := ""
		for d := range dims - 1 {
			text += fmt.Sprintf(" %d", d)
		}
		b.must("pack %s%s "+order+" factor=%d", b.weights, text, dims-1, dims-1, factor)
		dims++
	}
	if b.v[filters] > n {
		part("%d.o %d.i", n)
	}
	part("%d.i %d.o", n/2)
}

// inBytes sums what an iteration of a loop looks up in bytes, in 16 bits around that where the sums have more, and gives their buffers.
func (b *tableBuilder) inBytes(taps, groups, name string) []string {
	around, bufs, from := taps, []string{name + ".b"}, b.sum.buf
	if cost.At(b.v[at]) == cost.AtTap {
		around = groups
	}
	// A loop of one around it.
	one := around + ".one"
	b.must("split %[1]s %[2]d tail=perfect -> %[3]s %[1]s", around, b.extent(around), one)
	if b.f.Buffers()[from].Type.Bits() > ir.U16.Bits() {
		bufs = append(bufs, name+".h")
		b.must("split %[1]s 1 tail=perfect -> %[1]s.h %[1]s", one)
		b.must("narrow_accumulate %s %s.h u16 -> %s", from, one, bufs[1])
		from = bufs[1]
	}
	n := b.apart()
	if n == 0 {
		b.must("narrow_accumulate %s %s u8 -> %s", from, one, bufs[0])
		return bufs
	}
	b.must("narrow_accumulate %s %s u8 apart=%d -> %s", from, one, n, bufs[0])
	for _, l := range on(b.serial(from), ir.Channel) { // what adds bytes to wider sums: a half of the filters, neighbours, of even lanes, and one of odd ones
		st, ok := l.Body.(*ir.Store)
		if ok && slices.ContainsFunc(loads(st.Val), func(ld *ir.Load) bool { return ld.Buf == bufs[0] }) {
			b.must("split %s %d tail=perfect", l.Var, n/2)
			b.may("unroll %s.o", l.Var)
		}
	}
	return bufs
}
