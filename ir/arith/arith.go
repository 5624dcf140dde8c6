// Package arith reasons about the integer expressions of ir: intervals, affine forms, simplification, proofs that an
// accumulator cannot wrap. Schedules are legal because this package proves it; what it cannot prove is refused.
package arith

import "ripc/ir"

// Interval is a closed range of integers.
type Interval struct{ Lo, Hi int64 }

// Ranges gives the interval of each loop variable in scope (0..extent-1 of its loop).
type Ranges map[string]Interval

// With is r with one variable more (r itself is not changed).
func (r Ranges) With(name string, extent int) Ranges {
	m := make(Ranges, len(r)+1)
	for k, v := range r {
		m[k] = v
	}
	m[name] = Interval{0, int64(extent) - 1}
	return m
}

// RangesAt gives the ranges of the loops of f that enclose the statement for which at returns true (the first one).
func RangesAt(body ir.Stmt, at func(ir.Stmt) bool) (Ranges, bool) {
	return rangesAt(body, at, Ranges{})
}

func rangesAt(s ir.Stmt, at func(ir.Stmt) bool, r Ranges) (Ranges, bool) {
	if s == nil {
		return nil, false
	}
	if at(s) {
		return r, true
	}
	switch s := s.(type) {
	case *ir.For:
		return rangesAt(s.Body, at, r.With(s.Var, s.Extent))
	case *ir.Block:
		for _, t := range s.Stmts {
			if q, ok := rangesAt(t, at, r); ok {
				return q, true
			}
		}
	case *ir.If:
		if q, ok := rangesAt(s.Then, at, r); ok {
			return q, true
		}
		return rangesAt(s.Else, at, r)
	case *ir.Alloc:
		return rangesAt(s.Body, at, r)
	}
	return nil, false
}
