package records

import (
	"fmt"
	"math"
)

// FieldError says why a field of a record is wrong.
type FieldError struct {
	Field string // as in the file, such as "result.cost"
	Text  string // the fault
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Text }

// Check fails with *FieldError if r lacks a field or holds a value that no measurement gives.
func (r *Record) Check() error {
	for _, f := range []struct{ name, value string }{
		{"workload.key", r.Workload.Key}, {"target", r.Target}, {"candidate.strategy", r.Candidate.Strategy},
	} {
		if f.value == "" {
			return &FieldError{f.name, "is missing"}
		}
	}
	if r.Origin.Trial < 0 {
		return &FieldError{"origin.trial", fmt.Sprintf("is %d", r.Origin.Trial)}
	}
	return r.Result.Check()
}

// Check fails with *FieldError if m holds values that no measurement gives: a failure has a known
// kind and no cost. A cost is positive and finite, in a known unit, inside of its interval if it
// has one.
func (m *Measurement) Check() error {
	if m.Failure != nil {
		switch m.Failure.Kind {
		case Unbuildable, Crashed, TimedOut, Wrong:
		default:
			return &FieldError{"result.failure.kind", fmt.Sprintf("%q is none", m.Failure.Kind)}
		}
		if m.Cost != 0 {
			return &FieldError{"result.cost", "is there although the candidate failed"}
		}
		return nil
	}
	switch m.Unit {
	case Nanoseconds, Cycles, Instructions:
	default:
		return &FieldError{"result.unit", fmt.Sprintf("%q is none", m.Unit)}
	}
	if !(m.Cost > 0) || math.IsInf(m.Cost, 0) {
		return &FieldError{"result.cost", fmt.Sprintf("is %g", m.Cost)}
	}
	if (m.Low != 0 || m.High != 0) && !(0 <= m.Low && m.Low <= m.Cost && m.Cost <= m.High && !math.IsInf(m.High, 0)) {
		return &FieldError{"result.low, result.high", fmt.Sprintf("%g is not between %g and %g", m.Cost, m.Low, m.High)}
	}
	for _, s := range m.Samples {
		if !(s > 0) || math.IsInf(s, 0) {
			return &FieldError{"result.samples", fmt.Sprintf("%g is one", s)}
		}
	}
	if !(m.GHz >= 0) || math.IsInf(m.GHz, 0) || math.IsNaN(m.Celsius) || math.IsInf(m.Celsius, 0) {
		return &FieldError{"result.ghz, result.celsius", fmt.Sprintf("are %g and %g", m.GHz, m.Celsius)}
	}
	return nil
}
