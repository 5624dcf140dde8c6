package schedule

import (
	"errors"

	"ripc/ir"
	"ripc/ir/deps"
)

// bind makes the iterations of a loop blocks or threads of a device. Other systems: TVM bind,
// Halide gpu_blocks and gpu_threads.
//
//	for %h in 0:28 { for %w in 0:28 { S } }
//	=> bind h block; bind w thread
//	for %h in 0:28 block { for %w in 0:28 thread { S } }
//
// It is refused if iterations may touch the same element, one of them writing it, and if the loop
// has another mark. How loops of a device nest is checked by sync.
func bind(f *ir.Func, loop, to string) *ir.Func {
	for _, kind := range []ir.LoopKind{ir.Blocks, ir.Threads} {
		if kind.String() == to {
			g := mark(f, findLoop(f, loop), kind)
			must(deps.CheckLoop(g, loop))
			return g
		}
	}
	refuse("write: bind LOOP block, or bind LOOP thread", "%q is neither block nor thread", to)
	return nil
}

// share gives the threads of a block one alloc together, in the fast memory of the block. Other
// systems: Halide store_in(GPUShared), TVM set_scope, Exo set_memory.
//
//	alloc %t: i32[64]   =>   alloc %t: i32[64] shared
//
// It is refused if the buffer is no alloc. The alloc has to lie in the loops of blocks and outside
// of those of threads, which sync checks.
func share(f *ir.Func, buffer string) *ir.Func {
	b := findAlloc(f, buffer).Buf
	b.Space = ir.Shared
	return withBuffer(f, -1, b)
}

// sync puts the fewest barriers from the front between loops of threads, so that no two threads
// race. It ends the schedule of a device. Other systems: Halide and TVM insert barriers as they
// lower.
//
//	for %a in 0:64 thread { %t[%a] = ... }
//	for %b in 0:64 thread { ... %t[63 - %b] ... }
//	=> sync
//	for %a in 0:64 thread { %t[%a] = ... }
//	barrier
//	for %b in 0:64 thread { ... %t[63 - %b] ... }
//
// It is refused if loops of blocks and threads, or allocs, do not stand as a device needs them
// (deps.DeviceOf), with the step that would help.
func sync(f *ir.Func) *ir.Func {
	for {
		err := deps.CheckDevice(f)
		race := (*deps.Race)(nil)
		if !errors.As(err, &race) {
			must(err)
			return f
		}
		f = f.WithBody(barrierBefore(f.Body, race.Before))
	}
}

// barrierBefore returns s with a barrier in front of a statement in it.
func barrierBefore(s, at ir.Stmt) ir.Stmt {
	if s == at {
		return ir.Seq(&ir.Barrier{}, s)
	}
	return mapChildren(s, func(t ir.Stmt) ir.Stmt { return barrierBefore(t, at) })
}
