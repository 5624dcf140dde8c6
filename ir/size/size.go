// Package size estimates how much code a Func becomes, and says how much it may be: one estimate
// and one limit for all that copy code, the steps of a schedule, what chooses them, and the back
// ends.
package size

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/arith"
)

// The limits of one kernel, in instructions of a compiler's intermediate language, on vectors or
// not.
const (
	// Max is what a kernel may have. Schedules are held to it by the estimate Of, the LLVM back end
	// by counting what it emits, since that alone is certain: kernels of the examples have 0.85 to
	// 3.7 times as many as estimated.
	Max = 4000
	// Sure is an estimate that few kernels have which need more than Max. The plainest schedule of
	// a kernel makes do without the steps that go beyond it.
	Sure = 3000
	// Preferred is where schedules stop unrolling, which leaves room for what the estimate does not
	// see.
	Preferred = 1500
)

// Check fails if after, which a schedule made of before, is more than Max by estimate. What is too
// large without a schedule is left to the back end, which counts.
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
func Of(s ir.Stmt) int { return new(estimate).of(s, "", nil) }

// estimate is one under way.
type estimate struct {
	// seen are operations of the expression that is counted, behind those of the one in whose
	// address it stands.
	seen []ir.Expr
}

// of is Of inside a loop over that lane, whose lanes go one by one, "" for none, or inside vector,
// a loop whose lanes go together.
func (c *estimate) of(s ir.Stmt, lane string, vector *ir.For) int {
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
		n = c.of(s.Body, lane, vector)
		if s.Kind == ir.Unroll || scattered {
			n = min(n, huge/max(1, s.Extent)) * s.Extent
		}
	case *ir.Block:
		for _, t := range s.Stmts {
			n = min(huge, n+c.of(t, lane, vector))
		}
	case *ir.Alloc:
		n = c.of(s.Body, lane, vector)
	case *ir.If:
		times := 1
		if vector != nil && arith.Mentions(s.Cond, vector.Var) { // lanes that differ in the condition go one by one
			times, vector = vector.Extent, nil
		}
		n = 3 + c.expr(s.Cond, lane) + c.of(s.Then, lane, vector)
		if s.Else != nil {
			n += c.of(s.Else, lane, vector)
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

// operations calls f on all of e but leaves and what is below loads, while f returns true.
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

// few is how many operations are compared with each other. Of more, equal ones are made one.
const few = 24

// once gives e, and what says of each of its operations whether an equal one was asked about
// before.
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
	n, own := 0, false
	for _, x := range idx {
		for _, t := range arith.ToAffine(x).Terms {
			n++
			if _, plain := t.Atom.(*ir.Var); !plain && arith.Mentions(t.Atom, lane) {
				own = true
				n += c.expr(t.Atom, lane)
			}
		}
	}
	if !own {
		return 0
	}
	return n
}
