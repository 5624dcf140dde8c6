// Package size estimates and limits the amount of code that a Func becomes. The steps of a
// schedule, the choice of schedules and the back ends share one estimate and one limit.
package size

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/arith"
)

// The limits of one kernel, in instructions of a compiler's intermediate language, on vectors or
// not.
const (
	// Max bounds the instructions of a kernel. Schedules are held to it by the estimate Of. The
	// LLVM back end counts its instructions, which can be several times the estimate.
	Max = 4000
	// Sure is a threshold for estimates: few kernels below it need more than Max. The plainest
	// schedule of a kernel drops steps that exceed it.
	Sure = 3000
	// Preferred is the estimate at which schedules stop unrolling. It leaves room for code that the
	// estimate misses.
	Preferred = 1500
)

// Check fails if a schedule turned before into after and the estimate of after exceeds Max. Code
// that is too large without a schedule is left to the back end, which counts.
func Check(before, after ir.Stmt) error {
	if n := Of(after); n > Max && n > Of(before) {
		return fmt.Errorf("the code would have about %d instructions, more than %d", n, Max)
	}
	return nil
}

const huge = 1 << 30

// Of estimates the instructions of s once its unrolled loops are written out. A vector counts as
// one, whatever its length, unless its lanes go one by one; each of these makes addresses of its
// own then.
func Of(s ir.Stmt) int { return new(estimate).count(s, "", nil) }

// Written estimates the instructions of s on a machine with vectors of the given bits. A longer
// vector counts once for each register that it fills with words of 32 bits.
func Written(s ir.Stmt, bits int) int { return (&estimate{bits: bits}).count(s, "", nil) }

// estimate is one under way.
type estimate struct {
	bits int // of a vector register; 0: vectors of all lengths count once
	// seen are the operations of the counted expression, after those of the enclosing expression
	// if it is an address.
	seen []ir.Expr
}

// count is Of inside a loop over lane, with lanes that run one by one ("": no such loop), or inside
// vector, a loop with lanes that run together.
func (c *estimate) count(s ir.Stmt, lane string, vector *ir.For) int {
	n := 0
	switch s := s.(type) {
	case *ir.For:
		scattered := s.Kind == ir.Vectorize && arith.Scattered(s)
		switch {
		case scattered:
			lane, vector = s.Var, nil
		case s.Kind == ir.Vectorize:
			vector = s
		}
		n = c.count(s.Body, lane, vector)
		times := 1
		switch {
		case s.Kind == ir.Unroll || scattered:
			times = s.Extent
		case s.Kind == ir.Vectorize && c.bits > 0:
			const word = 32
			times = (s.Extent*word + c.bits - 1) / c.bits
		}
		n = min(n, huge/max(1, times)) * times
	case *ir.Block:
		for _, t := range s.Stmts {
			n = min(huge, n+c.count(t, lane, vector))
		}
	case *ir.Alloc:
		n = c.count(s.Body, lane, vector)
	case *ir.If:
		times := 1
		if vector != nil && arith.Mentions(s.Cond, vector.Var) { // lanes that differ in the condition go one by one
			times, vector = vector.Extent, nil
		}
		n = 3 + c.expr(s.Cond, lane) + c.count(s.Then, lane, vector)
		if s.Else != nil {
			n += c.count(s.Else, lane, vector)
		}
		n = min(n, huge/max(1, times)) * times
	case *ir.Store:
		n = 2 + c.expr(s.Val, lane) + c.address(s.Idx, lane)
		if s.Op != ir.Assign {
			n += 2
		}
	case *ir.Call:
		n = 4
	}
	return min(n, huge)
}

// expr counts operations, those that stand in e several times once; loads have an address, and a
// select may be a branch.
func (c *estimate) expr(e ir.Expr, lane string) int {
	n := 0
	first := len(c.seen)
	e, known := c.once(e)
	operations(e, func(e ir.Expr) bool {
		if known(e) {
			return false
		}
		switch e := e.(type) {
		case *ir.Load:
			n += 3 + c.address(e.Idx, lane)
			return true
		case *ir.Select:
			n += 6
		}
		n++
		return true
	})
	c.seen = c.seen[:first]
	return n
}

// operations calls f on the operations in e, without leaves and the indices of loads, while f
// returns true.
func operations(e ir.Expr, f func(ir.Expr) bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e.(type) {
		case *ir.IntImm, *ir.FloatImm, *ir.Var:
			return false
		case *ir.Load:
			f(e)
			return false
		}
		return f(e)
	})
}

// few is the largest number of operations to compare pairwise. Beyond it, equal ones are shared
// first.
const few = 24

// once returns e, and a function that reports for each operation of e whether an equal one was
// passed to it before.
func (c *estimate) once(e ir.Expr) (ir.Expr, func(ir.Expr) bool) {
	n := 0
	operations(e, func(ir.Expr) bool { n++; return n <= few })
	if n <= few {
		first := len(c.seen)
		return e, func(e ir.Expr) bool {
			for _, s := range c.seen[first:] {
				if ir.Equal(s, e) {
					return true
				}
			}
			c.seen = append(c.seen, e)
			return false
		}
	}
	seen := map[ir.Expr]bool{}
	return ir.Share(e), func(e ir.Expr) bool {
		was := seen[e]
		seen[e] = true
		return was
	}
}

// address counts the operations of an address that each lane computes for itself, because it is no
// multiple of the lane's number plus something else; 0 of others.
func (c *estimate) address(idx []ir.Expr, lane string) int {
	if lane == "" {
		return 0
	}
	n, perLane := 0, false
	for _, x := range idx {
		for _, t := range arith.ToAffine(x).Terms {
			n++
			if _, plain := t.Atom.(*ir.Var); !plain && arith.Mentions(t.Atom, lane) {
				perLane = true
				n += c.expr(t.Atom, lane)
			}
		}
	}
	if !perLane {
		return 0
	}
	return n
}
