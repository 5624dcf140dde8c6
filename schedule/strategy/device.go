package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
)

// Strategies for devices: each nest of loops becomes a kernel. Its independent loops are fused, and
// divided into blocks of threads.

// Knobs of strategies for devices.
const (
	threads = "threads" // of a block, at most
	place   = "place"   // where sums are computed
)

// Values of place.
const (
	perChannel = iota // a thread has a channel, or a word of channels, of a position
	perPixel          // a thread has all channels of a position
)

// kernels makes one kernel for each tensor of a Func, whatever the Func is.
func kernels() Strategy {
	return Strategy{
		Name: "kernels", Text: "a kernel for each tensor", Machine: Device,
		Applies: func(*Layer) (bool, string) { return true, "" },
		Knobs:   func(l *Layer) []Knob { return []Knob{threadsKnob(l)} },
		build:   func(b *builder, v Values) { b.bindNests(v[threads]) },
	}
}

// pixels computes the sums and the epilogue of an output in one thread. Threads exchange nothing,
// so it suits any device.
func pixels() Strategy {
	return Strategy{
		Name: "pixels", Text: "the sums of an output in one thread", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			return l.sum.exists() && !l.mean.exists(), "it has no sums over windows, or a mean of them"
		},
		Knobs: func(l *Layer) []Knob {
			return []Knob{threadsKnob(l), {place, "where sums are computed", []int{perChannel, perPixel}}}
		},
		build: func(b *builder, v Values) {
			at := b.out.loop(b.channels())
			if v[place] == perPixel {
				at = b.out.loop(ir.Col)
			}
			if at == "" {
				b.errorf("the output has no loop over its %s", b.channels())
				return
			}
			for _, buf := range append(slices.Clone(b.between), b.sum.buf) {
				b.must(steps.ComputeAt(buf, at))
			}
			b.bindNests(v[threads])
		},
	}
}

// rows computes a row of the output in each block. Its threads share the rows of the input that
// they read, with the border around them.
func rows() Strategy {
	return Strategy{
		Name: "rows", Text: "a row in a block, which shares the input", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			return l.sum.exists() && !l.mean.exists() && l.pad.exists() && !l.table.exists() && len(l.before) == 0 &&
					l.out.extent(ir.Row) > 1,
				"it has no sums over windows of a copied input, or tables of them, or one row"
		},
		Knobs: func(l *Layer) []Knob { return []Knob{threadsKnob(l)} },
		build: func(b *builder, v Values) {
			row, at := b.out.loop(ir.Row), b.out.loop(b.channels())
			for _, buf := range append(slices.Clone(b.between), b.sum.buf) {
				b.must(steps.ComputeAt(buf, at))
			}
			b.must(steps.ComputeAt(b.pad.buf, row))
			b.must(steps.Share(b.pad.buf))
			b.bindRow(row, v[threads])
		},
	}
}

// bindRow makes blocks of the loops from the outermost to row, and phases of the nests inside it.
func (b *builder) bindRow(row string, threads int) {
	if b.err != nil {
		return
	}
	if n := ir.FindAlloc(b.f.Body, b.pad.buf).Buf.Bytes(); n > b.Target.Device.SharedBytes {
		b.errorf("a row's input takes %d bytes of shared memory, and a block has %d", n, b.Target.Device.SharedBytes)
		return
	}
	for _, loop := range outerLoops(b.f.Body) {
		chain := b.independentLoops(loop)
		at := slices.Index(chain, row)
		if at < 0 {
			b.bindNest(loop, threads, ir.Blocks)
			continue
		}
		for _, l := range chain[:at+1] {
			b.must(steps.Bind(l, ir.Blocks))
		}
		for _, phase := range outerLoops(b.find(row).Body) {
			b.bindNest(phase, threads, ir.Serial)
		}
	}
	b.must(steps.Sync())
}

// threadsKnob lists powers of two, the usual one first.
func threadsKnob(l *Layer) Knob {
	all := []int{128, 64, 32, 256, 512, 1024}
	return Knob{threads, "threads of a block at most", slices.DeleteFunc(all, func(n int) bool {
		return n > l.Target.Device.MaxThreads
	})}
}

// bindNests binds the loops of each nest, and ends the schedule.
func (b *builder) bindNests(threads int) {
	if b.err != nil {
		return
	}
	d := outerLoops(b.f.Body)
	for _, loop := range d {
		b.cacheSums(loop)
		b.bindNest(loop, threads, ir.Blocks)
	}
	b.must(steps.Sync())
}

// outerLoops lists the outermost loops of nests.
func outerLoops(s ir.Stmt) (all []string) {
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			all = append(all, outerLoops(t)...)
		}
	case *ir.Alloc:
		return outerLoops(s.Body)
	case *ir.For:
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

// bindNest binds as many independent loops of a nest as steps allow. around is the kind of the loop
// over groups of threads.
func (b *builder) bindNest(outer string, threads int, around ir.LoopKind) {
	for chain := b.independentLoops(outer); len(chain) > 0; chain = chain[:len(chain)-1] {
		before := b.draft
		b.bindLoops(chain, threads, around)
		if b.err == nil {
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
