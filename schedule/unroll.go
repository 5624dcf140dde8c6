package schedule

import (
	"fmt"

	"ripc/ir"
)

// MaxSize is the number of operations that a Func may have once its unrolled loops are written out.
const MaxSize = 4000

// Unroll marks a loop to be written out. Other systems: Halide, TVM unroll; Exo unroll_loop.
//
//	for %l in 0:4 { S }   =>   for %l in 0:4 unroll { S }
//
// It is refused if the loop has another mark, and if the func would then have more than MaxSize operations.
func Unroll(f *ir.Func, loop string) (*ir.Func, error) {
	l, err := findLoop(f, loop)
	if err != nil {
		return nil, err
	}
	g, err := mark(f, l, ir.Unroll)
	if err != nil {
		return nil, err
	}
	if n := Size(g.Body); n > MaxSize {
		return nil, &ir.Error{
			Msg:  fmt.Sprintf("unrolling loop %%%s (extent %d) makes %d operations of the func, more than %d", l.Var, l.Extent, n, MaxSize),
			Help: fmt.Sprintf("the body of %%%s has %d: split the loop and unroll the inner part", l.Var, Size(l.Body)),
		}
	}
	return g, nil
}

func mark(f *ir.Func, l *ir.For, kind ir.LoopKind) (*ir.Func, error) {
	if l.Kind != ir.Serial && l.Kind != kind {
		return nil, &ir.Error{Msg: fmt.Sprintf("loop %%%s is marked %s already", l.Var, l.Kind)}
	}
	return replaceLoop(f, l.Var, &ir.For{Var: l.Var, Extent: l.Extent, Kind: kind, Axis: l.Axis, Body: l.Body}), nil
}

// Size estimates the operations of s after unrolling: stores, loads and arithmetic, not the arithmetic of indices. A
// vectorize loop counts once for every 16 elements.
func Size(s ir.Stmt) int {
	const huge = 1 << 30
	n := 0
	switch s := s.(type) {
	case *ir.For:
		n = Size(s.Body)
		switch s.Kind {
		case ir.Unroll:
			n = min(n, huge/max(1, s.Extent)) * s.Extent
		case ir.Vectorize:
			n = min(n, huge/max(1, s.Extent)) * ((s.Extent + 15) / 16)
		}
	case *ir.Block:
		for _, t := range s.Stmts {
			n += Size(t)
		}
	case *ir.Alloc:
		n = Size(s.Body)
	case *ir.If:
		n = 1 + opCount(s.Cond) + Size(s.Then)
		if s.Else != nil {
			n += Size(s.Else)
		}
	case *ir.Store:
		n = 1 + opCount(s.Val)
	case *ir.Call:
		n = 4
	}
	return min(n, huge)
}

func opCount(e ir.Expr) int {
	n := 0
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e.(type) {
		case *ir.IntImm, *ir.FloatImm, *ir.Var:
			return false
		case *ir.Load:
			n++
			return false
		}
		n++
		return true
	})
	return n
}
