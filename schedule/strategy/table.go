package strategy

import (
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
	"ripc/schedule"
	"ripc/schedule/cost"
	"ripc/targets/isa"
)

// The knobs of tables.
const (
	run    = "run"
	blocks = "blocks"
)

// tables looks counts up, for a register of filters at a time, in lanes of bytes. Before these could overflow they are added to lanes
// of 16 bits, and those to the sums:
//
//	rows h.o (parallel) > [pad] [tables] > rows h.i > tiles w.o > blocks of filters > [taps > runs > groups of a run > positions] glue, pack
func tables() Strategy {
	return Strategy{
		Name: "table", Text: "look up the counts of groups of channels in tables that filters and windows share",
		Applies: func(l *Layer) (bool, string) { return l.table.exists(), "its counts are not looked up" },
		Knobs:   tableKnobs,
		Cost:    func(*Layer, Values) float64 { return 0 }, // there is no other way to what it applies to
		build:   func(b *builder, v Values) { (&tableBuilder{builder: b, v: v}).build() },
	}
}

// lookUp is the instruction that looks up counts for the most filters that divide n, nil if there is none.
func (l *Layer) lookUp(n int) *isa.Instr {
	var best *isa.Instr
	for _, i := range isa.Query(isa.LookUp, l.Target) {
		if i.Words == l.table.extent(ir.Entry) && n%i.Lanes == 0 && (best == nil || i.Lanes > best.Lanes) {
			best = &i
		}
	}
	return best
}

// runs is the number of look-ups whose sum fits a byte, at most as many as there are groups.
func (l *Layer) runs() int {
	most := int64(cost.MaxByte)
	for _, st := range storesTo(l.Func.Body, l.table.buf) {
		if iv, ok := arith.Bounds(st.Val, deps.ScopeOf(l.Func.Body).Ranges); ok {
			most = max(1, iv.Hi)
		}
	}
	return max(1, min(int(cost.MaxByte/most), l.sum.extent(ir.Reduce)))
}

func tableKnobs(l *Layer) []Knob {
	w, h, most := l.out.extent(ir.Col), l.out.extent(ir.Row), l.runs()
	n, ks := ir.U32.Bits(), []Knob(nil)
	if l.packed {
		words := []int{1}
		for k := 2; k*n <= 2*maxVector; k *= 2 {
			if l.out.extent(ir.Word)%k == 0 {
				words = append(words, k)
			}
		}
		best := 1
		for _, k := range words { // two registers of filters share the tables that are read, where there are registers for it
			if i := l.lookUp(k * n); i != nil && (i.Lanes > l.lookUp(best*n).Lanes || k*n == 2*i.Lanes && l.Target.Registers >= 32) {
				best = k
			}
		}
		ks = append(ks, Knob{blocks, "words of filters that are computed together", words, best})
		n *= best
	} else {
		channels := l.out.extent(ir.Channel)
		best := cost.PowerOfTwo(min(channels, maxVector))
		ks = append(ks, Knob{lanes, "channels that are computed together", among([]int{4, 8, 16, 32, 64}, best), best})
		n = best
	}
	positions := 1
	if i := l.lookUp(n); i != nil { // bytes, 16 bits and a table have registers
		each := n * 8 / l.Target.VectorBits
		positions = max(1, (l.Target.Registers-4*max(1, each))/(3*max(1, each)))
	}
	tile := cost.Tile(w, positions/max(1, l.window()))
	run1 := most
	if k := l.sum.extent(ir.Reduce); k%most != 0 { // a rest needs a nest of its own: rather a little less of each
		for n := most; n > most*2/3; n-- {
			if k%n == 0 {
				run1 = n
				break
			}
		}
	}
	ks = append(ks,
		Knob{tileW, "positions whose sums are in registers together", upTo(min(w, 2*tile)), tile},
		Knob{tileH, "rows of the output that share tables", upTo(h), cost.TableRows(h)},
		Knob{run, "look-ups that are summed in bytes", upTo(most), run1},
	)
	if !l.dense() {
		ks = append(ks, Knob{outer, "go through rows for each block of filters", []int{0, 1}, 0})
	}
	return ks
}

// tableBuilder writes the schedule of tables.
type tableBuilder struct {
	*builder
	v Values
}

func (b *tableBuilder) build() {
	row, batch, col, channels := b.out.loop(ir.Row), b.out.loop(ir.Batch), b.out.loop(ir.Col), b.out.loop(b.channels())
	dense, filtersOuter := b.dense(), b.v[outer] == 1
	t := tiled{inner: b.out.loop(ir.Bit), shared: true}
	switch {
	case dense:
		b.reorder(channels, row, batch, col)
	case filtersOuter:
		b.reorder(row, batch, channels, col)
	default:
		b.reorder(row, batch, col, channels)
	}
	words := ""
	if b.packed {
		channels, words = b.split(channels, b.v[blocks], schedule.TailPerfect)
	} else {
		channels, t.inner, t.shared = b.blocks(channels, b.v[lanes])
	}
	rowTiles, rows := b.split(row, b.v[tileH], schedule.TailGuard)
	colTiles, position := b.split(col, b.v[tileW], schedule.TailShift)
	var order []string
	switch {
	case dense:
		order, t.home = []string{channels, rowTiles, batch, colTiles, position, words}, colTiles
	case filtersOuter:
		order, t.home = []string{rowTiles, batch, channels, rows, colTiles, position, words}, colTiles
	default:
		order, t.home = []string{rowTiles, batch, rows, colTiles, channels, position, words}, channels
	}
	if !b.packed {
		order = append(order, t.inner)
	}
	b.reorder(order...)
	t.row, t.outer, t.position = rowTiles, order[0], position
	for _, buf := range b.between {
		b.must("compute_at %s %s", buf, t.home)
	}
	b.must("compute_at %s %s", b.sum.buf, t.home)
	if !dense { // else all blocks of filters read the same tables
		b.must("compute_at %s %s", b.table.buf, t.row)
		if b.pad.exists() {
			b.must("compute_at %s %s", b.pad.buf, t.row)
		}
	}
	b.pads()
	b.entries()
	b.sums()
	b.stagesBetween()
	if t.shared || !dense {
		b.may("parallel %s", t.outer)
	}
	if l := b.find(words); l != nil {
		b.unroll(l)
	}
	b.positions(t)
	b.may("vectorize %s", t.inner)
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

// sums looks up.
func (b *tableBuilder) sums() {
	if b.err != nil {
		return
	}
	loop := func(a ir.Axis) string { return b.sum.loop(a) }
	acc, filters, groups, all := b.sum.buf, loop(ir.Channel), loop(ir.Reduce), b.sum.buf+".all"
	instr := b.lookUp(b.extent(filters))
	if instr != nil {
		b.pack(b.weightDims, ir.Channel, ir.TapRow, b.extent(filters))
	}
	b.must("split %s %d tail=perfect -> %s %[1]s", loop(ir.TapRow), b.extent(loop(ir.TapRow)), all)
	b.reorder(all, loop(ir.TapRow), loop(ir.TapCol), groups, loop(ir.Row), loop(ir.Col), filters)
	if b.err != nil {
		return
	}
	runs, inner, rest := b.cut(groups, b.v[run])
	if inner == "" {
		b.errorf("the groups cannot be cut into runs")
		return
	}
	halves, bytes := acc+".h", []string{acc + ".b"}
	switch { // as seldom as sums of 16 bits hold
	case b.may("narrow_accumulate %s %s u16 -> %s", acc, all, halves):
	case b.may("narrow_accumulate %s %s u16 -> %s", acc, loop(ir.TapRow), halves):
	default:
		b.must("narrow_accumulate %s %s u16 -> %s", acc, loop(ir.TapCol), halves)
	}
	b.must("narrow_accumulate %s %s u8 -> %s", halves, runs, bytes[0])
	if rest != "" {
		b.must("split %s %d tail=perfect -> %s %[1]s", rest, b.extent(rest), rest+".all")
		bytes = append(bytes, acc+".c")
		b.must("narrow_accumulate %s %s u8 -> %s", halves, rest+".all", bytes[1])
	}
	for _, buf := range bytes {
		for _, l := range on(b.serial(buf), ir.Channel) {
			if instr != nil && looksUp(l, b.table.buf) {
				_, lane := b.split(l.Var, instr.Lanes, schedule.TailPerfect)
				b.must("tensorize %s %s", lane, instr.Func.Name)
			}
		}
	}
	bufs := append(bytes, halves, acc)
	b.registers(bufs...)
	for _, l := range on(b.serial(bufs...), ir.Channel, ir.Reduce) {
		if l.Axis == ir.Channel && calls(l) || l.Var == inner || l.Var == rest {
			b.unroll(l)
		}
	}
}

// looksUp reports whether s reads tables.
func looksUp(s ir.Stmt, table string) bool {
	return has(s, func(s ir.Stmt) bool {
		st, ok := s.(*ir.Store)
		if !ok {
			return false
		}
		for _, ld := range loads(st.Val) {
			if ld.Buf == table {
				return true
			}
		}
		return false
	})
}
