package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/deps"
)

// Vectorize marks a loop to turn its iterations into lanes of vectors. Other systems: Halide and
// TVM vectorize.
//
//	for %l in 0:16 { S }   =>   for %l in 0:16 vectorize { S }
//
// It is refused if iterations may touch the same element other than by one integer reduction (+=,
// |=, min=, max=), if the extent exceeds 256 (deps.MaxLanes), if the loop has another mark, and if
// an alloc, a call or a vectorize loop is nested in it or it in a vectorize loop.
func Vectorize(f *ir.Func, loop string) (*ir.Func, error) {
	l, err := findLoop(f, loop)
	if err != nil {
		return nil, err
	}
	var inside *ir.Error
	ir.Walk(l.Body, func(s ir.Stmt) bool {
		if s, ok := s.(*ir.Alloc); ok {
			inside = &ir.Error{
				Msg:  fmt.Sprintf("loop %%%s holds the alloc of %%%s", l.Var, s.Buf.Name),
				Help: fmt.Sprintf("compute %%%s at a loop further out", s.Buf.Name),
			}
		}
		return true
	})
	if inside != nil {
		return nil, inside
	}
	g, err := mark(f, l, ir.Vectorize)
	if err != nil {
		return nil, err
	}
	if err := deps.CheckLoop(g, loop); err != nil {
		return nil, err
	}
	return g, nil
}
