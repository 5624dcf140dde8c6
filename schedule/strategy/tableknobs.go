package strategy

import (
	"math"
	"math/bits"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/size"
	"ripc/schedule/cost"
	"ripc/targets"
	"ripc/targets/isa"
)

// longestTile is how many positions have sums in memory together where instructions look them up: a row, with what is left over of it.
const longestTile = 14

// lookUps are the numbers of filters for which there are instructions that look counts up in the same tables, and that divide n; rising.
func (l *Layer) lookUps(n int) []int {
	var out []int
	for _, i := range isa.Query(isa.LookUp, l.Target) {
		if l.looksUp(i) && n%i.Lanes == 0 && !slices.Contains(out, i.Lanes) && l.sameTables(i.Lanes) {
			out = append(out, i.Lanes)
		}
	}
	slices.Sort(out)
	return out
}

// sameTables reports whether the filters of each block of n look up in the same tables, as those of a group of channels do.
func (l *Layer) sameTables(n int) bool {
	f, channel := l.inBlocks(n), l.sum.loop(ir.Channel)
	if f == nil {
		return false
	}
	for _, st := range storesTo(f.Body, l.sum.buf) {
		for _, ld := range loads(st.Val) {
			table := len(ld.Idx) - 1 // what is behind it is the entry
			if ld.Buf == l.table.buf && slices.ContainsFunc(ld.Idx[:table], func(e ir.Expr) bool { return arith.Mentions(e, channel) }) {
				return false
			}
		}
	}
	return true
}

// looksUp reports whether i looks up in the layer's tables, and what is no entry as the layer does.
func (l *Layer) looksUp(i isa.Instr) bool {
	bounded := false
	ir.WalkExpr(l.term(), func(e ir.Expr) bool {
		_, chosen := e.(*ir.Select)
		bounded = bounded || chosen
		return true
	})
	return i.Words == l.table.extent(ir.Entry) && i.Bounded == bounded && i.Halves == l.halves()
}

// runs is the number of look-ups whose sum fits a byte.
func (l *Layer) runs() int { return max(1, int(cost.MaxByte/l.mostFound())) }

// mostFound is the largest number that a table has, at least 1.
func (l *Layer) mostFound() int64 {
	most := int64(cost.MaxByte)
	if iv, ok := arith.Bounds(l.term(), arith.Ranges{}); ok {
		most = min(most, iv.Hi)
	}
	r := arith.Ranges{}
	for _, loop := range l.table.loops {
		r = r.With(loop.Var, loop.Extent)
	}
	for _, st := range storesTo(l.Func.Body, l.table.buf) {
		if iv, ok := arith.Bounds(st.Val, r); ok {
			most = max(1, min(most, iv.Hi))
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
		{run, "groups that are summed in bytes, or by an instruction", l.runsOf(most), d.run},
		{at, "what is summed in bytes: a run of groups of 1 a row of taps, 2 one", []int{int(cost.AtRow), int(cost.AtTap)}, int(d.at)},
		{kept, "keep all sums of a block of filters in registers, not only those of bytes", l.keeps(), d.kept},
	}
	if l.mean.exists() {
		ks = append(ks, l.shareKnob(d.filters, l.byRuns(Values{filters: d.filters, run: d.run, tileW: d.tile.Default})))
	}
	if widths := l.widths(d.filters); len(widths) > 0 {
		if !slices.Contains(widths, d.width) {
			d.width = slices.Max(widths)
		}
		ks = append(ks, Knob{ordered, "look a run of groups up by one instruction, in ripc's own order", []int{0, 1}, d.ordered},
			Knob{width, "positions that it takes", widths, d.width})
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
	keeps, target, wideLoads := l.keeps(), l.lookupCosts(), l.Target.WideLoads()
	if instrs == nil {
		instrs, target.Stored = []int{1}, 0
	}
	switch {
	case len(keeps) == 1:
	case target.Kept && (target.Stored > 0 || wideLoads):
		keeps = keeps[1:]
	case target.Kept: // unless a tile's tables do not stay in the first cache
		keeps = []int{1, 0}
	case target.Stored > 0 && !l.Target.InOrder && most < l.sum.extent(ir.Reduce):
		keeps = keeps[:1] // the groups of a tap are several sums of bytes: some layers gain a fifth by keeping, others lose 7 % (see RATIONALE)
	case target.Stored > 0: // what costs least
	default:
		keeps = keeps[:1]
	}
	d, least, window := tableDefaults{filters: instrs[0], tile: tileKnob(l, cost.TablePositions(l.Target, 1)), kept: keeps[0]}, math.Inf(1), max(1, l.window())
	d.at, d.run, _ = l.bytesOfTables(most, false)
	for _, k := range keeps {
		if target.Kept && k == 0 && len(keeps) > 1 { // the tables of a kept tile come from the second cache, again for each block of filters
			if l.tablesRead(window*d.tile.Default) <= l.Target.L1 {
				break
			}
			least = math.Inf(1)
		}
		at, run, adds := l.bytesOfTables(most, k == 1 && target.Stored > 0)
		looked := cost.Lookups{Terms: sumOf(l).Terms(), Table: l.table.extent(ir.Entry) * 8 / l.Target.VectorBits, Adds: adds, Bits: l.sumBits(), Read: l.tablesRead(2 * window), Stored: target.Stored, Loose: target.Loose, Beside: target.Kept && k == 1 && target.Stored == 0, Halves: l.halves()}
		for _, n := range instrs { // several registers of filters share the tables that are read, where there are registers for it
			registers := max(1, n*8/l.Target.VectorBits)
			if registers > 1 && l.Target.Registers < 32 {
				continue
			}
			if k == 1 && l.Target.InOrder && registers == 1 && slices.Contains(instrs, 2*n) { // its tiles would have few sums, and each look-up waits: 3x3 layers of 7x7 pixels and 3 bits take 1.3 to 1.7 times as long on rpi3
				continue
			}
			positions := cost.TablePositions(l.Target, registers)
			fits := positions
			if k == 1 { // the sums of more positions are on the stack, where cores that wait for their operands gain from having fewer tiles
				fits = cost.KeptPositions(l.Target, n, l.sumBits())
				if !l.Target.InOrder && !wideLoads {
					positions = fits
				}
			}
			tile := tileKnob(l, positions)
			tiles := []int{tile.Default}
			if target.Stored > 0 || looked.Beside && (registers > 1 || wideLoads) {
				tiles = tile.Domain[:min(positions/window, len(tile.Domain))]
			}
			written := positions
			if k == 1 {
				copies := run
				if at == cost.AtRow && looked.Beside && l.inlinesTaps(n, run) {
					copies *= l.sum.extent(ir.TapCol)
				}
				written = min(positions, l.written(n, run, copies))
			}
			if tile.Default > written {
				tiles = append(tiles, tileKnob(l, written).Default)
			}
			parts := max(1, l.Target.VectorBits/(8*n)) // of a register that is not full
			for _, m := range tiles {
				row := cost.Row{Width: window * l.sum.extent(ir.Col), Tile: window * m}
				looked.Spilled, looked.Looped = window*m > fits, window*m > written
				c := float64(parts) * cost.LookUps(l.Target, looked, row, registers, k == 1)
				if c < least || c == least && k == d.kept {
					tile.Default, least = m, c
					d = tableDefaults{filters: n, tile: tile, kept: k, run: run, at: at}
				}
			}
		}
	}
	if d.kept == 0 && l.Target.InOrder && l.packed && l.sumBits() <= ir.U8.Bits() { // sums of bytes are in registers where their comparisons are written out
		if m := l.written(2*d.filters, d.run, d.run); m < d.tile.Default {
			d.tile.Default = tileKnob(l, m).Default
		}
	}
	if d.kept == 1 {
		taps := 1
		if d.at == cost.AtRow && l.inlinesTaps(d.filters, d.run) {
			taps = l.sum.extent(ir.TapCol)
		}
		if m := cost.RoomyPositions(l.Target, d.filters, l.sumBits(), d.run, taps, window*d.tile.Default); m < window*d.tile.Default {
			d.tile.Default = tileKnob(l, m).Default
		}
	}
	all, planes, one := l.sum.extent(ir.Channel), l.levelBits(), l.table.extent(ir.Entry)*8 <= l.Target.VectorBits // a table of more registers leaves fewer
	if m := cost.ResidentPositions(l.Target, sumOf(l), all, l.sumBits(), planes); one && l.packed && d.kept == 0 && m > 0 && slices.Contains(instrs, all) && slices.Contains(d.tile.Domain, m) {
		d.filters, d.tile.Default = all, m
	}
	return l.orderedDefaults(d, instrs, most, least)
}

// runsOf are the numbers of groups that bytes hold the sums of, of so many at most, and those that an instruction adds to wider sums.
func (l *Layer) runsOf(most int) []int {
	out := upTo(min(most, l.sum.extent(ir.Reduce)))
	if l.wide() {
		for _, i := range l.lookUpRows() {
			if !slices.Contains(out, i.Groups) {
				out = append(out, i.Groups)
			}
		}
		slices.Sort(out)
	}
	return out
}

// orderedDefaults is d, which costs so much, or what costs less by an instruction for runs of groups.
func (l *Layer) orderedDefaults(d tableDefaults, instrs []int, most int, least float64) tableDefaults {
	all, taps, w := l.sum.extent(ir.Channel), l.sum.extent(ir.TapCol), l.sum.extent(ir.Col)
	stored := l.lookupCosts().Stored
	for _, i := range l.lookUpRows() {
		if !slices.Contains(instrs, i.Lanes) || i.Positions < 2 && !i.Halves || i.Positions > w || i.Groups > most && !l.wide() || all%i.Lanes != 0 {
			continue
		}
		at := cost.AtTap
		if groups := l.sum.extent(ir.Reduce); i.Groups == groups && groups*taps <= most {
			at = cost.AtRow
		}
		adds := sumOf(l).Terms() / i.Groups
		if at == cost.AtRow {
			adds /= taps
		}
		looked := cost.Lookups{Terms: sumOf(l).Terms(), Adds: adds, Bits: l.sumBits(), Stored: stored, Halves: i.Halves, Wide: l.wide()}
		for _, tile := range []int{i.Positions, w} { // or a row with what is left over of it
			if tile > i.Positions && (tile > longestTile || !l.canPart()) {
				continue
			}
			row := cost.Row{Width: w, Tile: tile}
			if c := cost.OrderedLookUps(l.Target, looked, row, i.Positions, i.Lanes*8/l.Target.VectorBits, i.Groups, taps > 1 && all > i.Lanes); c < least {
				least = c
				d = tableDefaults{filters: i.Lanes, tile: tileKnob(l, tile), run: i.Groups, at: at, ordered: 1, width: i.Positions}
				d.tile.Default, d.tile.Domain = tile, among(d.tile.Domain, tile)
			}
		}
	}
	return d
}

// lookupCosts are what the layer's look-ups cost on its target.
func (l *Layer) lookupCosts() targets.LookupCosts {
	reach := targets.OnePosition
	if l.halves() {
		reach = targets.BothHalves
	}
	return l.Target.Lookups(bits.Len(uint(l.table.extent(ir.Entry)))-1, reach)
}

// wide says that an instruction that looks up for several positions adds to sums of 16 bits.
func (l *Layer) wide() bool { return l.lookupCosts().Wide > 0 }

// rowsWiden says that the instructions of lookUpRows add to sums of 16 bits by themselves.
func (l *Layer) rowsWiden() bool { return l.halves() || l.wide() }

// lookUpRows are the instructions that look runs of the layer's groups up for several positions, on a core that works in order, for positions of both halves of rows on any, and in sums of 16 bits where
// fewer filters are looked up for with less.
// A single position, or a half of one, has no loop that an instruction could take.
func (l *Layer) lookUpRows() []isa.Instr {
	if !l.Target.InOrder && !l.rowsWiden() || l.sum.extent(ir.Col) < 2 || l.window() > 0 || l.mean.exists() {
		return nil
	}
	step, taps, most := l.stepOf(ir.Col), 0, l.mostFound()
	if l.wide() {
		taps = l.tapsTogether()
	}
	return slices.DeleteFunc(isa.Query(isa.LookUpRow, l.Target), func(i isa.Instr) bool {
		apart := l.sumBits() <= ir.U8.Bits() && i.Lanes < l.sum.extent(ir.Channel)    // the sums of a block are parts of wider ones, position by position
		together := i.Groups == l.tablesOf() || i.Groups%l.table.extent(ir.Part) == 0 // the tables of a word are made together
		if l.rowsWiden() {
			apart = l.sumType() != i.Type
		}
		reads := step == max(1, i.Stride) || l.wide() && i.Positions == 1 // a single position has no step
		holds := i.Func.Params[1].Range
		less := !holds.Any() && holds.To < most
		return !l.looksUp(i) || less || i.Taps != taps || !reads || apart || !together || l.sum.extent(ir.Reduce)%i.Groups != 0
	})
}

// tapsTogether is how many taps of a row an instruction goes through: all where they read neighbouring pixels and there is one for so many, or each by itself.
func (l *Layer) tapsTogether() int {
	taps := l.sum.extent(ir.TapCol)
	if l.stepOf(ir.TapCol) == 1 && slices.ContainsFunc(isa.Query(isa.LookUpRow, l.Target), func(i isa.Instr) bool { return i.Taps == taps }) {
		return taps
	}
	return 1
}

// widths are the numbers of positions, or of those of a half, for which instructions look up for so many filters.
func (l *Layer) widths(filters int) []int {
	var out []int
	for _, i := range l.lookUpRows() {
		if i.Lanes == filters && (i.Positions > 1 || i.Halves) && !slices.Contains(out, i.Positions) {
			out = append(out, i.Positions)
		}
	}
	return out
}

// stepOf is how many pixels the tables are apart that neighbours along an axis read: 1 unless there are strides, or windows are spread; 0 where the axis has no loop.
func (l *Layer) stepOf(axis ir.Axis) int {
	for _, ld := range loads(l.term()) {
		if ld.Buf != l.table.buf {
			continue
		}
		for _, e := range ld.Idx {
			if n := coefficients(e)[l.sum.loop(axis)]; n != 0 {
				return int(n)
			}
		}
	}
	return 0
}

// tablesRead is how many bytes of tables a tile of so many neighbouring positions looks up in.
func (l *Layer) tablesRead(positions int) int {
	return l.sum.extent(ir.Reduce) * max(1, l.sum.extent(ir.TapRow)) * (positions + max(1, l.sum.extent(ir.TapCol)) - 1) * l.table.extent(ir.Entry)
}

// tablesOf is how many tables a pixel has.
func (l *Layer) tablesOf() int {
	shape := l.buffers[l.table.buf].Shape
	return shape[len(shape)-2]
}

// inlinesTaps reports whether the taps of a row are written out, where so many filters look a run of groups up and keep their sums.
func (l *Layer) inlinesTaps(filters, run int) bool {
	return cost.InlineTaps(l.Target, sumOf(l), run, max(1, filters*8/l.Target.VectorBits))
}

// written is how many positions at most, one or more, a tile has whose words of so many filters are written out behind the look-ups of a run of groups, of which code has so many
// copies: sums in registers have no index.
func (l *Layer) written(filters, run, copies int) int {
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
		if looked += n * copies / run * size.Of(&ir.Call{}); l.sumBits() > ir.U8.Bits() {
			looked += widened
		}
	}
	return l.writtenOut(words, looked)
}

// shareKnob is how many of the words of a mean are a block that a thread has, of which so many filters are looked up at once: as few as there may be where tables are made for a run
// of groups, and stay in the first cache for all blocks.
func (l *Layer) shareKnob(filters int, byRuns bool) Knob {
	words, n := l.final.extent(ir.Word), l.wordsOf(Values{"filters": filters})
	k := Knob{Name: share, Text: "words of channels that a thread looks up one after the other in the same tables", Default: words}
	for d := n; d <= words; d += n {
		if words%d != 0 {
			continue
		}
		if k.Domain = append(k.Domain, d); byRuns || d*l.out.extent(ir.Bit) >= cost.MeanFilters {
			k.Default = min(k.Default, d)
		}
	}
	return k
}

// runOfWords is how many groups, at most most, a mean looks up whose tables are made just before: those of whole words, whose tables are made together. It is 0 where
// there is no such number, where the tables of a row stay in the first cache, where windows of several rows share them, and where not all blocks of filters look a row up as one tile.
func (l *Layer) runOfWords(most int) int {
	instrs, width := l.lookUps(l.sum.extent(ir.Channel)), l.out.extent(ir.Col)
	if !l.mean.exists() || l.sum.extent(ir.TapRow) > 1 || l.tablesRead(width) <= l.Target.L1 || len(instrs) == 0 {
		return 0
	}
	if width > cost.TablePositions(l.Target, max(1, instrs[len(instrs)-1]*8/l.Target.VectorBits)) {
		return 0
	}
	part := max(1, l.table.extent(ir.Part))
	for n := most / part * part; n > 0; n -= part {
		if l.sum.extent(ir.Reduce)%n == 0 {
			return n
		}
	}
	return 0
}

// byRuns reports whether the tables of a run of groups are made just before these are looked up, by blocks of filters that threads share.
func (l *Layer) byRuns(v Values) bool {
	n := l.runOfWords(v[run])
	return n > 0 && n == v[run] && v[tileW] == l.out.extent(ir.Col) && v[filters] > 1 && v[filters] < l.sum.extent(ir.Channel)
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

// shortRun is how many groups of one tap are few.
const shortRun = 8

// bytesOfTables is what is summed in bytes: how many groups, and of a row of taps or of one, and how many such sums an output has. Where adding them
// is cheap, as in registers, those of a row are worth their loops only if there are a fifth less, or half as many where a run of one tap is long. By estimated cycles, 3x3 and 5x5 layers of
// 12 to 48 channels and 3 bits take 4 to 15 % less on rpi3, 2 to 7 % on rpi4 and up to 12 % on rpi5 than by runs of one tap, of 40 to 56 channels and 2 bits 6 to 19 % more on rpi3, and of 80 to 128 channels and 1 bit 9 to 17 % more on rpi5.
func (l *Layer) bytesOfTables(most int, cheap bool) (at cost.At, groups, adds int) {
	n, rows, taps := l.sum.extent(ir.Reduce), l.sum.extent(ir.TapRow), l.sum.extent(ir.TapCol)
	sums := func(run, times int) int { return (n + run - 1) / run * rows * times }
	length, run := cost.Runs(most, n, taps)
	if n := l.runOfWords(most); n > 0 {
		return cost.AtTap, n, sums(n, taps)
	}
	if l.mean.exists() && taps == 1 { // with all sums in memory, a nest for a rest costs less than a run more
		few := (n + most - 1) / most
		run = (n + few - 1) / few
		length = run
	}
	if length == run && !cheap {
		return cost.AtTap, run, sums(run, taps)
	}
	one, _ := cost.Runs(most, n, 1)
	if l.Target.InOrder { // as few sums as there can be: some may be in memory, and a nest for a rest costs less than that
		few := (n + most - 1) / most
		one = (n + few - 1) / few
	}
	fewer := 1.25
	if one > shortRun {
		fewer = 2
	}
	if cheap && (length == run || float64(sums(one, taps)) < fewer*float64(sums(run, 1))) {
		return cost.AtTap, one, sums(one, taps)
	}
	return cost.AtRow, run, sums(run, 1)
}
