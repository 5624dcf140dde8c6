package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/schedule/steps"
	"ripc/targets"
	"ripc/targets/isa"
)

// Strategies for devices: each nest of loops becomes a kernel. Its independent loops are fused, and
// divided into blocks of threads. A block that shares buffers goes through the nests in it, one
// after the other.

// threads is the knob of the most threads of a block.
const threads = "threads"

// kernels makes one kernel for each tensor of a Func, whatever the Func is.
func kernels() Strategy {
	return Strategy{
		Name: "kernels", Text: "a kernel for each tensor", Machine: Device,
		Applies: func(*Layer) (bool, string) { return true, "" },
		Knobs:   func(l *Layer) []Knob { return []Knob{threadsKnob(l)} },
		build:   func(b *builder, v Values) { b.bindKernels("", v[threads]) },
	}
}

// pixels computes all that an output needs in one thread. Threads exchange nothing, so it suits any
// device.
func pixels() Strategy {
	return Strategy{
		Name: "pixels", Text: "all that an output needs in one thread", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			return !l.mean.exists() && len(tensors(l.Func)) > 0, "it has one tensor, or a mean of layers"
		},
		Knobs: func(l *Layer) []Knob { return []Knob{threadsKnob(l), filtersKnob(l), unrollKnob()} },
		build: func(b *builder, v Values) {
			if b.pad.exists() && len(b.before) == 0 {
				b.may(steps.ComputeInline(b.pad.buf))
			}
			home, inThread := b.placeValues(v, "")
			b.keepInRegisters(v, home, inThread)
			b.bindKernels("", v[threads])
		},
	}
}

// rows computes rows of the output in each block. Its threads share the rows of the input that they
// read, with the border around them.
func rows() Strategy {
	return Strategy{
		Name: "rows", Text: "rows in a block, which shares the input", Machine: Device,
		Applies: copiesRows,
		Knobs: func(l *Layer) []Knob {
			return []Knob{threadsKnob(l), blockKnob(tileH, l.rows()), filtersKnob(l), unrollKnob()}
		},
		build: func(b *builder, v Values) {
			at := b.blockLoop(v)
			home, inThread := b.placeValues(v, "")
			b.keepInRegisters(v, home, inThread)
			b.placeCopies(at)
			b.bindKernels(at, v[threads])
		},
	}
}

// pairRows is rows that count two words of channels with one popcount, by an instruction, on words
// that are kept as pairs.
func pairRows() Strategy {
	return Strategy{
		Name: "pair_rows", Text: "rows in a block, and two words counted at once by an instruction", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			if ok, why := copiesRows(l); !ok {
				return ok, why
			}
			return l.countsDifferences && l.unpaired() == "" && l.sum.extent(ir.Reduce)%2 == 0 &&
					l.sum.loops[ir.Plane] == nil && l.threadPair() != nil,
				"it has no pairs of words, or the target no instruction that counts them"
		},
		Knobs: func(l *Layer) []Knob {
			k := filtersKnob(l)
			k.Domain = []int{2, 4}
			return []Knob{threadsKnob(l), blockKnob(tileH, l.rows()), k}
		},
		build: func(b *builder, v Values) {
			at := b.blockLoop(v)
			b.must(steps.Pair(b.pad.buf, len(b.buffers[b.pad.buf].Shape)-1))
			home, inThread := b.placeValues(v, "")
			b.placeCopies(at)
			b.pairSums(home)
			b.keepInRegisters(nil, home, append(inThread, "s", "cc"))
			b.writeOut(maxWritten/2, b.sum.buf, "s", "cc")
			b.bindKernels(at, v[threads])
		},
	}
}

// threadPair returns the instruction by which a thread counts two words, or nil.
func (l *Layer) threadPair() *isa.Instr {
	return l.instr(isa.XorCountPair, func(i isa.Instr) bool { return i.Lanes == 1 })
}

// pairSums counts pairs of words in a thread. Its sums and carries live in loop home.
func (b *builder) pairSums(home string) {
	if b.err != nil {
		return
	}
	loop := func(a ir.Axis) string { return b.sum.loop(a) }
	_, lane := b.divideUnnamed(loop(ir.Channel), 1)
	b.must(steps.CarrySave(b.sum.buf, loop(ir.Reduce), home, "s", "cc"))
	dims := b.pack(b.weightDims, ir.Channel, ir.TapRow, 1)
	b.must(steps.Pair(b.weights, slices.Index(dims, ir.Reduce)))
	b.must(steps.Tensorize(lane, b.threadPair().Func))
}

// tiles computes tiles of sums by products of matrices, which the threads of a warp share.
func tiles() Strategy {
	return Strategy{
		Name: "tiles", Text: "tiles of sums by products of matrices, and a warp for each", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			return len(l.matrixTiles()) > 0, "no product of matrices has its taps, words and channels"
		},
		Knobs: func(l *Layer) []Knob {
			rows := 0
			var columns []int
			for _, i := range l.matrixTiles() {
				rows, columns = max(rows, l.sum.extent(ir.Row)/i.Rows), append(columns, i.Positions)
			}
			return []Knob{threadsKnob(l), {tileW, "columns of a tile", slices.Compact(columns)},
				{tileH, "tiles of a block", divisorsUpTo(rows, 16)}}
		},
		build: buildTiles,
	}
}

// matrixTiles lists the products of matrices that make sums of l.
func (l *Layer) matrixTiles() []isa.Instr {
	if !l.pad.exists() || l.mean.exists() || l.pool.exists() || l.sum.extent(ir.Row) < 2 ||
		l.sum.loops[ir.Plane] != nil || len(l.buffers[l.sum.buf].Shape) != 4 {
		return nil
	}
	meaning := isa.XorCountMatrix
	switch {
	case l.dots() && l.sumType() == ir.I32 && l.sum.extent(ir.Part) == targets.Quad:
		meaning = isa.DotMatrix
	case !l.countsDifferences:
		return nil
	}
	rows, cols, taps := l.sum.extent(ir.Row), l.sum.extent(ir.Col), l.sum.extent(ir.TapRow)
	stride := (l.pad.extent(ir.Row) - taps) / (rows - 1)
	of := loads(l.term())[0].Type()
	return slices.DeleteFunc(isa.Query(meaning, l.Target), func(i isa.Instr) bool {
		return i.Func.Params[1].Type != of || rows%i.Rows != 0 || cols%i.Positions != 0 || taps != i.Taps ||
			l.sum.extent(ir.TapCol) != i.Taps ||
			l.sum.extent(ir.Reduce) != i.Words || l.sum.extent(ir.Channel)%i.Lanes != 0 || stride != i.Stride
	})
}

func buildTiles(b *builder, v Values) {
	all := b.matrixTiles()
	i := all[slices.IndexFunc(all, func(i isa.Instr) bool { return i.Positions == v[tileW] })]
	at, in := b.divide(b.out.loop(ir.Row), i.Rows*v[tileH])
	outer, inner := b.divide(b.out.loop(ir.Col), i.Positions)
	b.reorder(at, outer, in, inner)
	for _, buf := range append(slices.Clone(b.between), b.sum.buf) {
		b.must(steps.ComputeAt(buf, outer))
	}
	b.placeCopies(outer)
	row, col := b.sum.loop(ir.Row), b.sum.loop(ir.Col)
	if b.find(row) == nil {
		row = b.wrapLoop(col)
	}
	high, row := b.divide(row, i.Rows)
	tile, channel := b.divide(b.sum.loop(ir.Channel), i.Lanes)
	b.reorder(high, tile, row, col, channel)
	b.must(steps.Pack(b.sum.buf, i.Lanes, steps.WholeDim(0), steps.Outer(3), steps.WholeDim(1), steps.WholeDim(2),
		steps.Inner(3)))
	weights, dims := b.weights, b.weightDims
	if i.Meaning == isa.DotMatrix {
		ld := loads(b.Layer.term())[1]
		weights, dims = ld.Buf, b.Layer.sum.axesOf(ld.Idx)
	}
	order := []steps.Dim{steps.Outer(slices.Index(dims, ir.Channel))}
	for _, a := range []ir.Axis{ir.TapRow, ir.TapCol, ir.Channel, ir.Reduce, ir.Part} {
		switch at := slices.Index(dims, a); {
		case a == ir.Channel:
			order = append(order, steps.Inner(at))
		case at >= 0:
			order = append(order, steps.WholeDim(at))
		}
	}
	b.must(steps.Pack(weights, i.Lanes, order...))
	b.must(steps.Tensorize(row, i.Func))
	b.packWords()
	b.bindKernels(outer, v[threads])
}

// packWords lets a warp make each word of bits of sums that are shared, by an instruction.
func (b *builder) packWords() {
	i := b.instr(isa.PackWord, func(i isa.Instr) bool { return i.Lanes == b.out.extent(ir.Bit) })
	if b.err != nil || i == nil || b.levelBits() != 1 {
		return
	}
	b.attempt(func() { // other functions of sums stay
		_, word := b.divideUnnamed(b.out.loop(ir.Word), 1)
		b.must(steps.Tensorize(word, i.Func))
	})
}

// channelLanes is rows with a thread for each channel. The sums are shared: a warp packs a word of
// bits, where the target has ballots, else a thread does.
func channelLanes() Strategy {
	return Strategy{
		Name: "lanes", Text: "a thread for each channel of a position, and words by ballots", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			if ok, why := copiesRows(l); !ok {
				return ok, why
			}
			return hasLoop(l.Func.Body, ir.Bit), "it writes no bits"
		},
		Knobs: func(l *Layer) []Knob {
			return []Knob{threadsKnob(l), blockKnob(tileH, l.rows()), blockKnob(tileW, l.out.extent(ir.Col)),
				{run, "neighbouring positions of a thread", []int{1, 2, 4}}, unrollKnob()}
		},
		build: func(b *builder, v Values) {
			at := b.blockLoop(v)
			home, inThread := b.placeValues(v, at)
			b.keepInRegisters(v, home, inThread)
			b.placeCopies(at)
			b.packWords()
			b.bindKernels(at, v[threads])
		},
	}
}

// splitSums divides the sums of a dense layer into parts, which threads of a block add up.
func splitSums() Strategy {
	return Strategy{
		Name: "split_k", Text: "parts of a sum in the threads of a block", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			return l.sum.exists() && !l.float() && !l.mean.exists() && !l.table.exists() && !l.pad.exists() &&
					l.out.extent(ir.Row)*l.out.extent(ir.Col) == 1 && l.sum.loops[ir.WeightPlane] == nil &&
					l.sum.loops[ir.Plane] == nil && l.sum.extent(ir.Reduce) > 1,
				"it has no integer sums of one position, or several planes of bits"
		},
		Knobs: func(l *Layer) []Knob {
			all := divisorsUpTo(l.sum.extent(ir.Reduce), 32)[1:]
			slices.Reverse(all)
			if len(all) == 0 {
				all = []int{l.sum.extent(ir.Reduce)}
			}
			return []Knob{threadsKnob(l), {part, "parts of a sum", all}}
		},
		build: buildSplitSums,
	}
}

func buildSplitSums(b *builder, v Values) {
	at := b.out.loop(b.channels())
	if !b.packed {
		n := divisorsUpTo(b.extent(at), ir.U32.Bits())
		at, _ = b.divide(at, n[len(n)-1])
	}
	for _, buf := range append(slices.Clone(b.between), b.sum.buf) {
		b.must(steps.ComputeAt(buf, at))
	}
	sum := func(a ir.Axis) string { return b.sum.loop(a) }
	parts, words := b.divide(sum(ir.Reduce), b.extent(sum(ir.Reduce))/v[part])
	b.reorder(sum(ir.TapRow), sum(ir.TapCol), sum(ir.Channel), parts, words)
	b.must(steps.Rfactor(b.sum.buf, parts, sum(ir.TapCol), b.sum.buf+".r"))
	b.reorder(parts, sum(ir.Channel), words)
	if n := divisorsUpTo(b.extent(words), maxWritten); len(n) > 1 {
		_, inner := b.divide(words, n[len(n)-1])
		b.unroll(b.find(inner))
	}
	b.bindKernels(at, v[threads])
}

// oneBlock computes all of a small Func in one block, tensor after tensor.
func oneBlock() Strategy {
	return Strategy{
		Name: "one_block", Text: "all tensors in one block, which shares them", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			return !l.sum.exists() && l.out.loops[ir.Batch] != nil && len(allocs(l.Func.Body)) > 0 &&
					l.out.extent(ir.Row)*l.out.extent(ir.Col) <= 1,
				"it has sums of a layer, one tensor, or several positions"
		},
		Knobs: func(l *Layer) []Knob { return []Knob{threadsKnob(l)} },
		build: func(b *builder, v Values) {
			at := b.out.loop(ir.Batch)
			for _, buf := range tensors(b.Func) {
				if b.buffers[buf].Bytes() > b.Target.Device.SharedBytes {
					b.must(steps.ComputeInline(buf))
				} else {
					b.must(steps.ComputeAt(buf, at))
				}
			}
			b.bindKernels(at, v[threads])
		},
	}
}

// tensors lists the buffers of a Func between its nests, the last first.
func tensors(f *ir.Func) (all []string) {
	for s := f.Body; ; {
		a, ok := s.(*ir.Alloc)
		if !ok {
			slices.Reverse(all)
			return all
		}
		all, s = append(all, a.Buf.Name), a.Body
	}
}

// copiesRows reports whether l has sums over windows of a copied input, in several rows.
func copiesRows(l *Layer) (ok bool, why string) {
	return l.sum.exists() && !l.mean.exists() && l.pad.exists() && !l.table.exists() && l.out.extent(ir.Row) > 1,
		"it has no sums over windows of a copied input, or tables of them, or one row"
}

// blockLoop divides the output into blocks of rows and, if there is a knob, of columns. It returns
// the loop in which each iteration is a block.
func (b *builder) blockLoop(v Values) string {
	at, in := b.out.loop(ir.Row), ""
	col := b.out.loop(ir.Col)
	if v[tileH] > 1 {
		at, in = b.divide(at, v[tileH])
	}
	if v[tileW] > 0 && v[tileW] < b.extent(col) {
		outer, inner := b.divide(col, v[tileW])
		b.reorder(at, outer, in, inner)
		at = outer
	}
	return at
}

// placeCopies computes copies of the input in a block.
func (b *builder) placeCopies(at string) {
	for _, n := range append([]nest{b.pad}, b.before...) {
		b.must(steps.ComputeAt(n.buf, at))
	}
}

// placeValues computes the tensors between input and output where they are read: the sums of some
// channels at once, in an iteration of loop home. With a loop of blocks, threads have a channel
// each, and the block shares the values that become bits of words. inThread lists the others.
func (b *builder) placeValues(v Values, block string) (home string, inThread []string) {
	all := append(slices.Clone(b.between), b.sum.buf)
	if !b.sum.exists() {
		all = tensors(b.Func)
	}
	inThread = all
	for i, buf := range all {
		where := home
		if home == "" {
			if where = b.readingLoop(buf); where == "" {
				continue // several nests read it
			}
			switch axis := b.find(where).Axis; {
			case axis == ir.Bit && block != "":
				home, inThread, where = nestsOf(b.f, map[string]bool{})[buf].loop(ir.Channel), all[i+1:], block
			case axis == ir.Bit || axis == ir.Channel:
				if n := v[filters]; n > 1 && b.extent(where)%n == 0 {
					where, _ = b.divide(where, n)
				}
				home = where
			}
		}
		b.must(steps.ComputeAt(buf, where))
	}
	switch {
	case b.err != nil || !b.sum.exists() || home == "":
	case block != "" && len(inThread) == 0:
		b.tileColumns(home, v[run])
	default:
		b.reorder(b.reduction()...)
	}
	return home, inThread
}

// keepInRegisters unrolls the loops over a thread's values, so that these become registers, and the
// innermost loops of sums if v says so.
func (b *builder) keepInRegisters(v Values, home string, inThread []string) {
	if b.err != nil || !b.sum.exists() || home == "" {
		return
	}
	all := loopsOf(b.serial(inThread...), ir.TapRow, ir.TapCol, ir.Row, ir.Col, ir.Channel)
	for s := range ir.Stmts(b.find(home).Body) {
		if l, ok := s.(*ir.For); ok && l.Axis == ir.Bit && l.Kind == ir.Serial {
			all = append(all, l) // of the channels that share an iteration
		}
	}
	for _, l := range all {
		isTap := l.Axis == ir.TapRow || l.Axis == ir.TapCol
		if ir.FindLoop(b.find(home).Body, l.Var) != nil && (!isTap || written(l)[b.pool.buf]) {
			b.unroll(l)
		}
	}
	if v[unroll] == 1 {
		b.writeOut(maxWritten, b.sum.buf, b.sum.buf+".own")
	}
}

// tileColumns lets a thread have the sums of a channel at n neighbouring positions.
func (b *builder) tileColumns(channel string, n int) {
	col := b.sum.loop(ir.Col)
	if n < 2 || b.extent(col) < n || b.extent(col)%n != 0 {
		return
	}
	outer, inner := b.divide(col, n)
	order := []string{outer, channel}
	for _, a := range []ir.Axis{ir.Plane, ir.TapRow, ir.TapCol, ir.Reduce, ir.WeightPlane} {
		order = append(order, b.sum.loop(a))
	}
	b.reorder(append(order, inner)...)
	b.may(steps.CacheWrite(b.sum.buf, channel, b.sum.buf+".own"))
	b.unroll(loopsOf(b.serial(b.sum.buf, b.sum.buf+".own"), ir.Col)...)
}

// readingLoop returns the innermost loop that has all loads of a buffer, or "".
func (b *builder) readingLoop(buf string) (loop string) {
	reads := func(s ir.Stmt) (n int) {
		for t := range ir.Stmts(s) {
			if st, ok := t.(*ir.Store); ok && st.Buf == buf {
				continue // adds up
			}
			for e := range ir.Exprs(t) {
				n += len(slices.DeleteFunc(loads(e), func(ld *ir.Load) bool { return ld.Buf != buf }))
			}
		}
		return n
	}
	all := reads(b.f.Body)
	for s := range ir.Stmts(b.f.Body) {
		if l, ok := s.(*ir.For); ok && all > 0 && reads(l) == all && !written(l)[buf] {
			loop = l.Var
		}
	}
	return loop
}

// bindKernels makes kernels of the nests. Each iteration of the loop at becomes a block, which goes
// through the nests in it and shares the buffers between them; other nests have blocks of threads.
func (b *builder) bindKernels(at string, threads int) {
	if b.err != nil {
		return
	}
	b.unrollOwn()
	for _, loop := range outerLoops(b.f.Body, false) {
		chain := b.independentLoops(loop)
		i := slices.Index(chain, at)
		if i < 0 {
			b.cacheSums(loop)
			b.bindNest(loop, threads, ir.Blocks)
			continue
		}
		for _, l := range chain[:i+1] {
			b.must(steps.Bind(l, ir.Blocks))
		}
		if b.shareAllocs(b.find(at).Body); b.err != nil {
			return
		}
		for _, phase := range outerLoops(b.find(at).Body, true) {
			phase = b.sinkGuards(phase)
			b.cacheSums(phase)
			b.bindNest(phase, threads, ir.Serial)
		}
	}
	b.must(steps.Sync())
}

// shareAllocs shares the allocs between the nests of a block.
func (b *builder) shareAllocs(s ir.Stmt) {
	bytes := 0
	var share func(s ir.Stmt)
	share = func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Block:
			for _, t := range s.Stmts {
				share(t)
			}
		case *ir.Alloc:
			bytes += s.Buf.Bytes()
			b.must(steps.Share(s.Buf.Name))
			share(s.Body)
		case *ir.For:
			if s.Extent == 1 {
				share(s.Body)
			}
		}
	}
	if share(s); bytes > b.Target.Device.SharedBytes {
		b.errorf("the buffers of a block take %d bytes of shared memory, and it has %d", bytes,
			b.Target.Device.SharedBytes)
	}
}

// divisorsUpTo lists the divisors of n up to most.
func divisorsUpTo(n, most int) []int {
	return slices.DeleteFunc(divisors(n), func(k int) bool { return k > most })
}

// blockKnob is the number of rows or columns of a block: a divisor of n.
func blockKnob(name string, n int) Knob {
	return Knob{name, "rows or columns of the output in a block", divisorsUpTo(n, 64)}
}

// filtersKnob is the number of channels with sums in a thread's registers.
func filtersKnob(*Layer) Knob {
	return Knob{filters, "channels with sums in a thread's registers", []int{1, 2, 4, 8}}
}

func unrollKnob() Knob { return Knob{unroll, "write the inner loops of a sum out", []int{1, 0}} }

// threadsKnob lists powers of two, the usual one first.
func threadsKnob(l *Layer) Knob {
	all := []int{128, 64, 32, 256, 512, 1024}
	return Knob{threads, "threads of a block at most", slices.DeleteFunc(all, func(n int) bool {
		return n > l.Target.Device.MaxThreads
	})}
}

// outerLoops lists the outermost loops of nests; inBlock looks inside of loops of one iteration.
func outerLoops(s ir.Stmt, inBlock bool) (all []string) {
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			all = append(all, outerLoops(t, inBlock)...)
		}
	case *ir.Alloc:
		return outerLoops(s.Body, inBlock)
	case *ir.For:
		if inBlock && s.Extent == 1 {
			return outerLoops(s.Body, inBlock)
		}
		return []string{s.Var}
	}
	return all
}

// cacheSums lets a nest sum up one element in a register, and not in the device's memory.
func (b *builder) cacheSums(outer string) {
	chain := b.independentLoops(outer)
	if len(chain) == 0 {
		return
	}
	inner := chain[len(chain)-1]
	for _, buf := range sortedKeys(written(b.find(inner).Body)) {
		stores := storesTo(b.find(inner).Body, buf)
		place := func(s *ir.Store) string { return ir.ExprString(&ir.Load{Buf: buf, Idx: s.Idx}) }
		elsewhere := func(s *ir.Store) bool { return place(s) != place(stores[0]) }
		if len(stores) > 1 && !slices.ContainsFunc(stores, elsewhere) {
			b.may(steps.CacheWrite(buf, inner, buf+".own"))
		}
	}
}

// independentLoops lists the perfectly nested loops, from outer inward, with iterations that touch
// different elements.
func (b *builder) independentLoops(outer string) (all []string) {
	for l := b.find(outer); l != nil && l.Kind == ir.Serial; {
		if b.known.apply(b.f, steps.Bind(l.Var, ir.Threads)).err != nil {
			break
		}
		all = append(all, l.Var)
		l, _ = l.Body.(*ir.For)
	}
	return all
}

// unrollOwn unrolls loops over the words of an alloc that the definition has within a loop, so that
// its elements are registers.
func (b *builder) unrollOwn() {
	between := tensors(b.Func)
	for _, buf := range allocs(b.f.Body) {
		if _, defined := b.buffers[buf]; !defined || slices.Contains(between, buf) {
			continue
		}
		for s := range ir.Stmts(ir.FindAlloc(b.f.Body, buf).Body) {
			if l, ok := s.(*ir.For); ok && l.Axis == ir.Word && l.Kind == ir.Serial && l.Extent <= maxWritten {
				b.unroll(l)
			}
		}
	}
}

// sinkGuards puts conditions between the loops of a nest inside of them, and returns its outermost
// loop.
func (b *builder) sinkGuards(outer string) string {
	for name := outer; ; {
		body := b.find(name).Body
		guard, guarded := body.(*ir.If)
		for ; guarded && guard.Else == nil; guard, guarded = body.(*ir.If) {
			body = guard.Then
		}
		in, ok := body.(*ir.For)
		if ok && body == b.find(name).Body {
			name = in.Var
			continue
		}
		if !ok || !b.may(steps.Reorder(in.Var, name)) {
			return outer
		}
		if name == outer {
			outer = in.Var
		}
	}
}

// bindNest binds as many independent loops of a nest as steps allow. around is the kind of the loop
// over groups of threads.
func (b *builder) bindNest(outer string, threads int, around ir.LoopKind) {
	if b.err != nil {
		return
	}
	for s := range ir.Stmts(b.find(outer).Body) {
		if c, ok := s.(*ir.Call); ok && c.Fn.Threads > 0 {
			threads = max(1, threads/c.Fn.Threads)
			break
		}
	}
	for chain := b.independentLoops(outer); len(chain) > 0; chain = chain[:len(chain)-1] {
		before := b.draft
		b.bindLoops(chain, threads, around)
		if b.err == nil && arith.VerifyBounds(b.f) == nil { // of fused loops less is known
			return
		}
		b.draft, b.err, b.failed = before, nil, ""
	}
}

// bindLoops fuses loops into one, and divides it into groups of threads: of the largest divisor of
// its extent that is possible.
func (b *builder) bindLoops(chain []string, threads int, around ir.LoopKind) {
	loop := chain[0]
	for _, inner := range chain[1:] {
		fused := loop + ".f"
		b.must(steps.Fuse(loop, inner, fused))
		loop = fused
	}
	extent := b.extent(loop)
	if extent <= threads {
		b.must(steps.Bind(loop, ir.Threads))
		return
	}
	for extent%threads != 0 {
		threads--
	}
	outer, inner := b.divide(loop, threads)
	if around == ir.Blocks {
		b.must(steps.Bind(outer, around))
	}
	b.must(steps.Bind(inner, ir.Threads))
}
