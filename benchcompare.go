package ripc

import (
	"fmt"

	"ripc/measure"
)

// BenchComparison is two measurements of one network side by side.
type BenchComparison struct {
	Unit measure.Unit `json:"unit"` // of all costs
	// Network is the whole one, Layers are those that both have, in the order of the new one; Gone and Added name the others.
	Network CostChange   `json:"network"`
	Layers  []CostChange `json:"layers"`
	Gone    []string     `json:"gone"`
	Added   []string     `json:"added"`
	// Slower says that the network costs more than it did, by more than the tolerance.
	Slower    bool    `json:"slower"`
	Tolerance float64 `json:"tolerance"` // as a share of the old cost
}

// CostChange is what something cost and costs.
type CostChange struct {
	Name  string  `json:"name"`
	Old   float64 `json:"old"`
	New   float64 `json:"new"`
	Ratio float64 `json:"ratio"` // New / Old
}

// IncomparableError says why two measurements cannot be compared.
type IncomparableError struct{ Old, New string }

func (e *IncomparableError) Error() string {
	return fmt.Sprintf("cannot be compared: %s before, %s now", e.Old, e.New)
}

// BadInput reports that the input is at fault.
func (*IncomparableError) BadInput() bool { return true }

// CompareBench compares two measurements, which must be of the same network or layer, target and threads, and count the same thing; it fails with
// *IncomparableError.
func CompareBench(before, now *BenchResult, tolerance float64) (*BenchComparison, error) {
	was, unit := before.Cost()
	is, unitNow := now.Cost()
	what := func(r *BenchResult) string {
		if r.Layer != "" {
			return fmt.Sprintf("layer %s of %q", r.Layer, r.Model)
		}
		return fmt.Sprintf("network %q", r.Model)
	}
	switch {
	case before.Model != now.Model || before.Layer != now.Layer:
		return nil, &IncomparableError{what(before), what(now)}
	case before.Target != now.Target:
		return nil, &IncomparableError{"for " + before.Target, "for " + now.Target}
	case before.Threads != now.Threads:
		return nil, &IncomparableError{fmt.Sprintf("threads: %d", before.Threads), fmt.Sprintf("threads: %d", now.Threads)}
	case unit != unitNow || unit == "" || was <= 0:
		return nil, &IncomparableError{fmt.Sprintf("%v %s", was, unit), fmt.Sprintf("%v %s", is, unitNow)}
	}
	c := &BenchComparison{Unit: unit, Network: CostChange{now.Model, was, is, is / was}, Slower: is > was*(1+tolerance), Tolerance: tolerance, Layers: []CostChange{}, Gone: []string{}, Added: []string{}}
	old := map[string]float64{}
	for _, l := range before.Layers {
		if cost, u := l.Cost(); u == unit {
			old[l.Name] = cost
		}
	}
	seen := map[string]bool{}
	for _, l := range now.Layers {
		cost, u := l.Cost()
		if was, ok := old[l.Name]; ok && u == unit && was > 0 {
			c.Layers = append(c.Layers, CostChange{l.Name, was, cost, cost / was})
			seen[l.Name] = true
		} else {
			c.Added = append(c.Added, l.Name)
		}
	}
	for _, l := range before.Layers {
		if !seen[l.Name] {
			c.Gone = append(c.Gone, l.Name)
		}
	}
	return c, nil
}
