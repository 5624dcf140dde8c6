package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/deps"
)

// vectorize marks a loop to turn its iterations into lanes of vectors. Other systems: Halide and
// TVM vectorize.
//
//	for %l in 0:16 { S }   =>   for %l in 0:16 vectorize { S }
//
// It is refused if iterations may touch the same element other than by one integer reduction (+=,
// |=, min=, max=), if the extent exceeds 256 (deps.MaxLanes), if the loop has another mark, and if
// an alloc, a call or a vectorize loop is nested in it or it in a vectorize loop.
func vectorize(f *ir.Func, loop string) *ir.Func {
	l := findLoop(f, loop)
	for s := range ir.StmtsOf[*ir.Alloc](l.Body) {
		refuse(fmt.Sprintf("compute %%%s at a loop further out", s.Buf.Name), "loop %%%s holds the alloc of %%%s",
			l.Var, s.Buf.Name)
	}
	g := mark(f, l, ir.Vectorize)
	must(deps.CheckLoop(g, loop))
	return g
}
