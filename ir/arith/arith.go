// Package arith reasons about the integer expressions of ir: intervals, affine forms, simplification, proofs that an
// accumulator cannot wrap. Schedules are legal because this package proves it; what it cannot prove is refused.
package arith

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
