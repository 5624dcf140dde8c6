package schedule

import (
	"fmt"

	"ripc/ir"
)

// MaxLanes is the largest extent of a vectorize loop. It may be any number of machine vectors.
const MaxLanes = 256

// Vectorize marks a loop whose iterations become lanes of vectors. Other systems: Halide and TVM vectorize.
//
//	for %l in 0:16 { S }   =>   for %l in 0:16 vectorize { S }
//
// It is refused if iterations may touch the same element other than by one integer reduction (+=, |=, min=, max=), if
// the extent exceeds MaxLanes, if the loop has another mark, and if an alloc, a call or a vectorize loop is nested in it
// or it in a vectorize loop.
func Vectorize(f *ir.Func, loop string) (*ir.Func, error) {
	l, err := findLoop(f, loop)
	if err != nil {
		return nil, err
	}
	if l.Extent > MaxLanes {
		return nil, &ir.Error{
			Msg:  fmt.Sprintf("extent %d of loop %%%s is more than %d lanes", l.Extent, l.Var, MaxLanes),
			Help: "split the loop and vectorize the inner part",
		}
	}
	for _, p := range path(f.Body, loop) {
		if p.Kind == ir.Vectorize && p.Var != loop {
			return nil, &ir.Error{Msg: fmt.Sprintf("loop %%%s lies in loop %%%s, which is vectorize already", l.Var, p.Var)}
		}
	}
	var inside *ir.Error
	ir.Walk(l.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.For:
			if s.Kind == ir.Vectorize || s.Kind == ir.Parallel {
				inside = &ir.Error{Msg: fmt.Sprintf("loop %%%s holds loop %%%s, which is %s already", l.Var, s.Var, s.Kind)}
			}
		case *ir.Alloc:
			inside = &ir.Error{
				Msg:  fmt.Sprintf("loop %%%s holds the alloc of %%%s", l.Var, s.Buf.Name),
				Help: fmt.Sprintf("compute %%%s at a loop further out", s.Buf.Name),
			}
		case *ir.Call:
			inside = &ir.Error{Msg: fmt.Sprintf("loop %%%s holds a call of @%s", l.Var, s.Fn.Name), Help: "unroll it instead"}
		}
		return true
	})
	if inside != nil {
		return nil, inside
	}
	if err := checkIndependent(f, l, "vectorize", true); err != nil {
		return nil, err
	}
	return mark(f, l, ir.Vectorize)
}
