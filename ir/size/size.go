// Package size estimates how much code a Func becomes, and says how much it may be: one estimate and one limit for all that
// copy code, the steps of a schedule, what chooses them, and the back ends.
package size

import (
	"ripc/ir"
	"ripc/ir/arith"
)

// The limits of one kernel, in instructions of a compiler's intermediate language, on vectors or not.
const (
	// Max is what a kernel may have. Schedules are held to it by the estimate Of, the LLVM back end by counting what it
	// emits, since that alone is certain: kernels of the examples have 0.85 to 3.7 times as many as estimated.
	Max = 4000
	// Preferred is where default schedules stop unrolling, which leaves room for what the estimate does not see.
	Preferred = 1500
)

const huge = 1 << 30

// Of estimates the instructions of s once its unrolled loops are written out. A vector counts as one, whatever its length,
// unless its lanes go one by one.
func Of(s ir.Stmt) int {
	n := 0
	switch s := s.(type) {
	case *ir.For:
		n = Of(s.Body)
		if s.Kind == ir.Unroll || s.Kind == ir.Vectorize && arith.Scattered(s) {
			n = min(n, huge/max(1, s.Extent)) * s.Extent
		}
	case *ir.Block:
		for _, t := range s.Stmts {
			n = min(huge, n+Of(t))
		}
	case *ir.Alloc:
		n = Of(s.Body)
	case *ir.If:
		n = 3 + expr(s.Cond) + Of(s.Then)
		if s.Else != nil {
			n += Of(s.Else)
		}
	case *ir.Store:
		n = 2 + expr(s.Val)
		if s.Op != ir.Assign {
			n += 2
		}
	case *ir.Call:
		n = 4
	}
	return min(n, huge)
}

// expr counts operations, those that stand in e several times once; loads have an address, and a select may be a branch.
func expr(e ir.Expr) int {
	n, seen := 0, map[ir.Expr]bool{}
	ir.WalkExpr(ir.Share(e), func(e ir.Expr) bool {
		if seen[e] {
			return false
		}
		seen[e] = true
		switch e.(type) {
		case *ir.IntImm, *ir.FloatImm, *ir.Var:
			return false
		case *ir.Load:
			n += 3
			return false
		case *ir.Select:
			n += 6
		}
		n++
		return true
	})
	return n
}
