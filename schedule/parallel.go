package schedule

import (
	"slices"

	"ripc/ir"
	"ripc/ir/deps"
)

// parallel marks a loop to share its iterations among threads. Other systems: Halide and TVM
// parallel.
//
//	for %l in 0:14 { S }   =>   for %l in 0:14 parallel { S }
//
// All threads run the func, each with its own allocs; only the iterations of parallel loops are
// divided, and no thread waits for another. So it is refused unless the loops around it are serial
// and its iterations touch different elements of the parameters. (Loops of one iteration are moved
// into it if there are no others.) The rest of the func must write no parameter, and read none that
// the loop writes. An alloc from outside may be written if no two iterations touch the same element
// of it, and only parallel loops of the same extent read it: each thread has the same iterations of
// all of them.
//
//	for %h in 0:13 { tables of row h   for %q in 0:8 { sums of block q } }
//	=> parallel q
//	for %h in 0:13 { tables of row h   for %q in 0:8 parallel { sums of block q } }
//
// makes the tables once in each thread, however many blocks that has.
func parallel(f *ir.Func, loop string) *ir.Func {
	findLoop(f, loop)
	around := path(f.Body, loop)
	around = around[:len(around)-1]
	if !slices.ContainsFunc(around, func(p *ir.For) bool { return p.Extent > 1 }) {
		for _, p := range slices.Backward(around) {
			f = interchange(f, p.Var, loop)
		}
	}
	g := mark(f, ir.FindLoop(f.Body, loop), ir.Parallel)
	must(deps.Check(g))
	return g
}
