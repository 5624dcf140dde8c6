package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/schedule/steps"
)

// bindKernels makes kernels of the nests. Each iteration of the loop at becomes a block, which goes
// through the nests in it and shares the buffers between them; other nests have blocks of threads.
func (b *builder) bindKernels(at string, threads int) {
	if b.err != nil {
		return
	}
	b.unrollOwn()
	for _, loop := range b.outerLoops(b.f.Body, false) {
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
		for _, phase := range b.outerLoops(b.find(at).Body, true) {
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
	oneTurn := func(l *ir.For) bool { return l.Extent == 1 }
	walkNests(s, oneTurn, func(s ir.Stmt) {
		if a, ok := s.(*ir.Alloc); ok {
			bytes += a.Buf.Bytes()
			b.must(steps.Share(a.Buf.Name))
		}
	})
	if bytes > b.Target.Device.SharedBytes {
		b.errorf("the buffers of a block take %d bytes of shared memory, and it has %d", bytes,
			b.Target.Device.SharedBytes)
	}
}

// outerLoops lists the outermost loops of nests. inBlock looks inside of loops of one iteration,
// and of those that repeat phases of a block in order.
func (b *builder) outerLoops(s ir.Stmt, inBlock bool) (all []string) {
	opens := func(l *ir.For) bool { return inBlock && (l.Extent == 1 || b.repeatsLoop(l)) }
	walkNests(s, opens, func(s ir.Stmt) {
		if l, ok := s.(*ir.For); ok && !opens(l) {
			all = append(all, l.Var)
		}
	})
	return all
}

// repeatsLoop reports whether l repeats a loop, and its iterations cannot be bound to threads.
func (b *builder) repeatsLoop(l *ir.For) bool {
	_, around := l.Body.(*ir.For)
	return around && l.Kind == ir.Serial && b.known.apply(b.f, steps.Bind(l.Var, ir.Threads)).err != nil
}

// walkNests calls see with the nests of s and the allocs around them. It also looks inside of the
// loops that opens accepts.
func walkNests(s ir.Stmt, opens func(*ir.For) bool, see func(ir.Stmt)) {
	ir.Walk(s, func(s ir.Stmt) bool {
		see(s)
		l, isLoop := s.(*ir.For)
		_, isIf := s.(*ir.If)
		return !isIf && (!isLoop || opens(l))
	})
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

// bindNest binds the independent loops of a nest, or those outside that steps allow. around is the
// kind of the loop over groups of threads.
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
