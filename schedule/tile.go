package schedule

import (
	"cmp"

	"ripc/ir"
)

// tile splits two nested loops and puts both inner ones inside both outer ones. Other systems:
// Halide and TVM tile.
//
//	for %h in 0:H { for %w in 0:W { S } }
//	=>
//	for %h.o in 0:H/f { for %w.o in 0:W/g { for %h.i in 0:f { for %w.i in 0:g { S' } } } }
//
// Empty names give l.o and l.i. It is refused where Split or Reorder would be.
func tile(f *ir.Func, outer, inner string, fo, fi int, tail Tail, names [4]string) *ir.Func {
	for i, n := range []string{outer + ".o", inner + ".o", outer + ".i", inner + ".i"} {
		names[i] = cmp.Or(names[i], n)
	}
	g := split(f, outer, fo, tail, names[0], names[2])
	g = split(g, inner, fi, tail, names[1], names[3])
	return reorder(g, names[:]...)
}
