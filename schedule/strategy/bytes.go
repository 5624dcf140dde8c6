package strategy

import (
	"maps"
	"slices"

	"ripc/ir"
	"ripc/schedule"
	"ripc/schedule/steps"
	"ripc/targets/isa"
)

// The knobs of byte lanes.
const (
	vectors  = "vectors"
	width    = "width"
	perBytes = "words"
	step     = "step"
	at       = "at"
	spread   = "spread"
	group    = "group"
	wide     = "wide"
	whole    = "whole"
	ordered  = "ordered"
)

// byteLanes counts words in byte lanes, which pairwise additions widen to sums.
func byteLanes() Strategy {
	return Strategy{
		Name: "bytes", Text: "count in lanes of bytes, and widen these from time to time",
		Applies: func(l *Layer) (bool, string) {
			switch {
			case !l.countsDifferences || l.scattered:
				return false, "it does not add up differences of words over windows"
			case len(isa.Query(isa.XorCountTile, l.Target)) == 0:
				return false, "the target has no instructions that count in lanes of bytes"
			case len(byteVectors(l)) == 0:
				return false, "the channels do not fill vectors of bytes"
			case l.window()*slices.Min(byteVectors(l)) >= l.Target.Registers:
				return false, "a pool's window has no registers"
			}
			return true, ""
		},
		Knobs: byteKnobs,
		build: func(b *builder, v Values) { (&byteBuilder{builder: b, v: v}).build() },
	}
}

// perVector returns the number of filters that a register of bytes counts.
func perVector(l *Layer) int { return l.Target.VectorBits / ir.I32.Bits() }

// byteVectors lists the numbers of registers of filters that have an instruction and fill the
// channels of a tile.
func byteVectors(l *Layer) []int {
	tiles := []int{l.out.extent(ir.Bit)}
	if !l.packed { // a last block that overlaps the one before would begin inside a vector
		tiles = slices.DeleteFunc(slices.Clone(lanesKnobs(l)[0].Domain), func(n int) bool {
			return l.out.extent(ir.Channel)%n != 0
		})
	}
	var out []int
	for _, i := range isa.Query(isa.XorCountTile, l.Target) {
		fills := slices.ContainsFunc(tiles, func(n int) bool { return n%i.Lanes == 0 })
		if v := i.Lanes / perVector(l); fills && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

func byteKnobs(l *Layer) []Knob {
	s, w, window, registers := sumOf(l), l.out.extent(ir.Col), max(1, l.window()), byteVectors(l)
	ks := lanesKnobs(l)
	for i := range ks {
		ks[i].Domain = slices.DeleteFunc(slices.Clone(ks[i].Domain), func(n int) bool {
			return n%(perVector(l)*registers[0]) != 0 || l.out.extent(ir.Channel)%n != 0
		})
	}
	inBytes := slices.DeleteFunc(divisors(s.words), func(n int) bool { return n > maxBytes })
	var steps []int
	for _, i := range isa.Query(isa.XorCountTile, l.Target) {
		if !slices.Contains(steps, i.Words) {
			steps = append(steps, i.Words)
		}
	}
	ks = append(ks,
		Knob{tileW, "positions of the output with sums that are kept", upTo(min(w, maxRow))},
		rowsKnob(l),
		Knob{vectors, "registers of filters that a tile has", registers},
		Knob{width, "positions with sums in registers together", upTo(max(window, min(maxWidth, w*window)))},
		Knob{perBytes, "words of channels that are summed in bytes", inBytes},
		Knob{step, "words that an instruction takes", steps},
		Knob{at, "words that are summed in bytes: those of 0 all taps, 1 a row of them, 2 one",
			[]int{int(overWords), int(overRow), int(overTap)}},
	)
	rows := l.rowsOfTaps()
	if l.pad.exists() && (rows || l.instr(isa.XorCountTile, func(i isa.Instr) bool { return i.Copies }) != nil) {
		ks = append(ks, Knob{spread, "keep four copies of each word of the input", []int{0, 1}})
	}
	if slices.Max(registers) > 2 {
		ks = append(ks, Knob{group, "registers of filters that are counted for all positions before the next ones, " +
			"0 for all", []int{0, 2}})
	}
	if l.instr(isa.XorCountTile, func(i isa.Instr) bool { return i.Wide }) != nil {
		ks = append(ks, Knob{wide, "load two registers of weights at once", []int{0, 1}})
	}
	if s.rows > 1 {
		ks = append(ks, Knob{whole, "write the rows of taps out", []int{0, 1}})
	}
	if rows {
		ks = append(ks, Knob{ordered, "count a row of taps by one instruction, in ripc's own order", []int{0, 1}})
	}
	return append(ks, orderKnobs(l)[1:]...)
}

// rowsOfTaps reports whether instructions count whole rows of taps. They fix the order of their
// code, for in-order cores, and read neighbouring pixels.
func (l *Layer) rowsOfTaps() bool {
	s, filters := sumOf(l), max(l.out.extent(ir.Bit), l.out.extent(ir.Channel))
	if !l.Target.InOrder || s.planes || l.window() > 0 || l.mean.exists() ||
		l.pad.extent(ir.Col) != l.out.extent(ir.Col)+s.cols-1 {
		return false
	}
	return l.instr(isa.XorCountRow, func(i isa.Instr) bool {
		return s.words%i.Words == 0 && i.Taps == s.cols && filters%i.Lanes == 0
	}) != nil
}

// rowInstr returns the instruction that counts a row of taps, `words` words each, or nil.
func rowInstr(l *Layer, words, vectors, positions int) *isa.Instr {
	return l.instr(isa.XorCountRow, func(i isa.Instr) bool {
		return i.Words == words && i.Taps == l.sum.extent(ir.TapCol) && i.Lanes == vectors*perVector(l) &&
			i.Positions == positions
	})
}

// byteBuilder writes the schedule of byteLanes.
type byteBuilder struct {
	*builder
	v    Values
	near bool // each tile of filters sets its sums just before adding to them
}

// is reports whether a knob is on.
func (b *byteBuilder) is(knob string) bool { return b.v[knob] != 0 }

func (b *byteBuilder) build() {
	t := b.tiles(b.v)
	b.placeStages(t)
	if b.check(); b.err != nil {
		return
	}
	b.sums()
	b.copies()
	b.starts()
	b.stagesBetween()
	if t.shared || !b.dense() {
		b.may(steps.Parallel(t.outer))
	}
	b.positions(t)
	if !b.packCompare(t) {
		b.may(steps.Vectorize(t.inner))
	}
	if planes := b.find(b.sum.loop(ir.Plane)); planes != nil && b.inlinesPlanes() {
		b.unroll(planes)
	}
}

// packCompare tensorizes the comparisons of a word's sums, and reports whether that is legal.
func (b *builder) packCompare(t tiled) bool {
	compare := b.instr(isa.PackCompare, func(i isa.Instr) bool {
		return i.Lanes == b.extent(t.inner) && i.Func.Params[1].Type == b.sumType()
	})
	return b.packed && !b.mean.exists() && compare != nil && b.may(steps.Tensorize(t.inner, compare.Func))
}

// check refuses values that contradict each other.
func (b *byteBuilder) check() {
	s, n := sumOf(b.Layer), b.v[perBytes]
	filters := b.extent(b.sum.loop(ir.Channel))
	switch steps := byteLoop(b.v[at]).steps(s, n); {
	case steps > maxBytes:
		b.errorf("%d counts do not fit in a byte", steps)
	case n%b.v[step] != 0:
		b.errorf("instructions that take %d words do not divide %d", b.v[step], n)
	case filters%(perVector(b.Layer)*b.v[vectors]) != 0:
		b.errorf("%d registers of filters do not divide %d filters", b.v[vectors], filters)
	case b.v[group] >= b.v[vectors] && b.is(group):
		b.errorf("groups of %d registers are no part of %d", b.v[group], b.v[vectors])
	case b.is(ordered) && (!b.is(spread) || b.is(group) || byteLoop(b.v[at]) == overTap):
		b.errorf("rows of taps are counted by an instruction for copied pixels and all registers of filters")
	case b.is(whole) && byteLoop(b.v[at]) == overTap:
		b.errorf("sums are of single taps, and not written out")
	case !b.is(ordered) && b.tileInstr() == nil:
		b.errorf("there is no such instruction")
	}
}

// tileInstr returns the instruction that counts a tile, or nil.
func (b *byteBuilder) tileInstr() *isa.Instr {
	n := b.v[vectors]
	if b.is(group) {
		n = b.v[group]
	}
	return b.instr(isa.XorCountTile, func(i isa.Instr) bool {
		return i.Words == b.v[step] && i.Lanes == n*perVector(b.Layer) && i.Copies == b.is(spread) &&
			i.Wide == (b.is(wide) && !b.is(spread))
	})
}

// sums schedules the sums of a tile of the output.
func (b *byteBuilder) sums() {
	b.packWeights()
	b.must(steps.SetEncoding(b.weights, ir.U8))
	loop := func(a ir.Axis) string { return b.sum.loop(a) }
	filters, lane := loop(ir.Channel), ""
	switch {
	case b.is(spread):
		lane = b.sum.buf + ".l"
		if b.is(ordered) && b.sum.extent(ir.Reduce) > b.v[perBytes] {
			b.packPixels()
		}
		b.must(steps.SplitAs(filters, perVector(b.Layer), schedule.TailPerfect, filters, lane))
		b.must(steps.Replicate(b.pad.buf, lane))
	case b.pad.exists():
		b.must(steps.SetEncoding(b.pad.buf, ir.U8))
		if b.input != b.pad.buf {
			b.must(steps.SetEncoding(b.input, ir.U8))
		}
	default:
		b.must(steps.SetEncoding(b.input, ir.U8))
	}
	if b.err != nil {
		return
	}
	part := loopsOf(b.serial(b.sum.buf), ir.Part)[0].Var
	w := loop(ir.Col)
	rows := "" // rows of a pool's window go inside the planes
	if loop(ir.Plane) != "" {
		rows = loop(ir.Row)
	}
	registers, cut := b.v[vectors], b.extent(w) > b.v[width]
	if !b.is(spread) {
		registers *= perVector(b.Layer)
	}
	tiles := ""
	// tiles of filters go outside: each sets its sums just before adding to them
	if b.extent(filters) > registers && !cut {
		b.near = true
		tiles, filters = b.divide(filters, registers)
	}
	b.reorder(tiles, loop(ir.Plane), rows, w, loop(ir.TapRow), loop(ir.TapCol), loop(ir.Reduce), filters, lane, part)
	names := map[ir.Axis]string{ir.Col: w, ir.TapRow: loop(ir.TapRow), ir.TapCol: loop(ir.TapCol),
		ir.Reduce: loop(ir.Reduce), ir.Row: loop(ir.Row), ir.Channel: loop(ir.Channel), ir.Copy: lane, ir.Part: part}
	main, rest := byteNest{loops: withLoop(names, ir.Channel, filters), name: names}, byteNest{}
	if cut {
		outer, inner, tail := b.cut(w, b.v[width])
		if inner == "" {
			b.errorf("the positions cannot be cut into tiles")
			return
		}
		main.around = outer
		main.loops = withLoop(main.loops, ir.Col, inner)
		if tail != "" {
			rest = byteNest{suffix: ".t", loops: b.nestAt(tail), name: names}
		}
	}
	b.tile(main)
	if rest.loops != nil && b.err == nil {
		b.tile(rest)
	}
}

// withLoop returns m with another loop.
func withLoop(m map[ir.Axis]string, a ir.Axis, name string) map[ir.Axis]string {
	m = maps.Clone(m)
	m[a] = name
	return m
}

// nestAt returns the loops over parts of words from root inwards. A second loop over channels goes
// over the copies of the input, and has the key ir.Copy.
func (b *byteBuilder) nestAt(root string) map[ir.Axis]string {
	out := map[ir.Axis]string{}
	for l := range ir.StmtsOf[*ir.For](b.find(root)) {
		if hasLoop(l, ir.Part) {
			a := l.Axis
			if a == ir.Channel && out[a] != "" {
				a = ir.Copy
			}
			if out[a] == "" {
				out[a] = l.Var
			}
		}
	}
	return out
}

// packWeights packs the weights in the order of the loops: tiles of filters, groups of filters of
// an instruction, and the words of one byte sum. Few addresses are needed then.
func (b *byteBuilder) packWeights() {
	n := perVector(b.Layer)
	dims := b.pack(b.weightDims, ir.Channel, ir.TapRow, n*b.v[vectors])
	if b.is(group) {
		dims = b.pack(dims, ir.Channel, ir.Reduce, n*b.v[group])
	}
	if b.is(spread) && b.sum.extent(ir.Reduce) != b.v[perBytes] && byteLoop(b.v[at]) == overRow {
		b.pack(dims, ir.Reduce, ir.TapRow, b.v[perBytes])
	}
}

// packPixels packs the words of one byte sum of neighbouring pixels together, as an instruction for
// a row of taps reads them.
func (b *byteBuilder) packPixels() {
	words := len(b.f.Buffers()[b.pad.buf].Shape) - 1
	order := append(steps.First(words-1), steps.Outer(words), steps.WholeDim(words-1), steps.Inner(words))
	b.must(steps.Pack(b.pad.buf, b.v[perBytes], order...))
}

// copies schedules the copy of the padded input.
func (b *byteBuilder) copies() {
	if !b.pad.exists() || b.err != nil {
		return
	}
	words := b.find(b.pad.loop(ir.Word))
	if b.is(spread) {
		for _, l := range loopsOf(b.serial(b.pad.buf), ir.Copy) {
			b.may(steps.Vectorize(l.Var))
		}
		if words != nil {
			b.unroll(words)
		}
		for _, l := range loopsOf(b.serial(b.pad.buf), ir.Col) {
			b.peelRow(l)
		}
		return
	}
	for _, l := range loopsOf(b.serial(b.pad.buf), ir.Part) {
		all := l.Var
		if words != nil {
			all = b.fuse(words.Var, l.Var, b.pad.buf+".v")
		}
		b.vectorize(all, maxVector)
	}
}

// peelRow peels the border off a row of the padded input, so that no pixel has a condition of its
// own, and unrolls groups of pixels.
func (b *byteBuilder) peelRow(l *ir.For) {
	if !b.peelBorder(l) {
		return
	}
	n := 1
	for n < copiedAtOnce/max(1, b.extent(b.pad.loop(ir.Word))) && b.extent(l.Var)%(2*n) == 0 {
		n *= 2
	}
	if n > 1 {
		b.mayUnrollTiles(l.Var, n, schedule.TailPerfect)
	}
}

// starts schedules the nests without instructions: they set and double the sums.
func (b *byteBuilder) starts() {
	if b.err != nil {
		return
	}
	free := func() []*ir.For {
		return slices.DeleteFunc(b.serial(b.sum.buf), func(l *ir.For) bool { return calls(l) })
	}
	for _, l := range loopsOf(free(), ir.Channel) {
		if in, ok := l.Body.(*ir.For); ok && in.Axis == ir.Channel {
			b.must(steps.Fuse(l.Var, in.Var, l.Var))
		}
	}
	shape := b.f.Buffers()[b.sum.buf].Shape
	width := shape[len(shape)-2] // positions of an uncut row
	for _, l := range loopsOf(free(), ir.Channel, ir.Row, ir.Col) {
		switch {
		// in the pieces in which they are replaced later: else LLVM keeps no sums in registers
		case l.Axis == ir.Channel:
			if n := b.Target.VectorBits / b.sumType().Bits(); b.near && l.Extent > n {
				if vectors, lane, ok := b.maySplit(l.Var, n, schedule.TailPerfect); ok {
					b.unroll(b.find(vectors))
					b.may(steps.Vectorize(lane))
					continue
				}
			}
			b.may(steps.Vectorize(l.Var))
		case l.Axis == ir.Row || l.Extent == width && width <= maxStarts:
			b.unroll(l)
		}
	}
}
