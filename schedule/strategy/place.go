package strategy

import (
	"cmp"
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
)

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

// placeCopies computes the copy of the input in a block. A tensor before it is computed in the
// threads that read it, if its reader does so once for each element of either.
func (b *builder) placeCopies(at string) {
	b.must(steps.ComputeAt(b.pad.buf, at))
	reader := b.pad.buf
	for _, n := range b.before {
		where := at
		if most := max(b.buffers[n.buf].Elems(), b.buffers[reader].Elems()); ir.CountLoads(b.Func.Body, n.buf) <= most {
			where = cmp.Or(b.readingLoop(n.buf), at)
		}
		b.must(steps.ComputeAt(n.buf, where))
		reader = n.buf
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
