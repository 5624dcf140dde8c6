// Package arith reasons about the integer expressions of ir: intervals, affine forms,
// simplification, proofs that an accumulator cannot wrap. Schedules are legal because this package
// proves it. It refuses everything that it cannot prove.
package arith

import (
	"maps"
	"math"

	"ripc/ir"
)

// Interval is a closed range of integers from Lo to Hi. An interval of u64 may be open: then Hi is
// the largest i64, and all larger numbers belong to it, too. Only this package makes open
// intervals; it never returns one together with true.
type Interval struct {
	Lo, Hi int64
	open   bool
}

func span(lo, hi int64) Interval { return Interval{Lo: lo, Hi: hi} }

// upFrom is all u64 from lo on.
func upFrom(lo int64) Interval { return Interval{Lo: lo, Hi: math.MaxInt64, open: true} }

// single returns the interval's number if it has a single one.
func (iv Interval) single() (int64, bool) { return iv.Lo, iv.Lo == iv.Hi && !iv.open }

// Ranges has the interval of each loop variable in scope (0..extent-1 of its loop).
type Ranges map[string]Interval

// Loops returns the ranges of all loops in s. Names are unique, so one set serves every place in s:
// expressions only use variables of enclosing loops.
func Loops(s ir.Stmt) Ranges {
	r := Ranges{}
	for l := range ir.StmtsOf[*ir.For](s) {
		r[l.Var] = span(0, int64(l.Extent)-1)
	}
	return r
}

// With returns r with one more variable; r itself is not changed.
func (r Ranges) With(name string, extent int) Ranges {
	m := make(Ranges, len(r)+1)
	maps.Copy(m, r)
	m[name] = span(0, int64(extent)-1)
	return m
}
