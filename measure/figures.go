package measure

import (
	"cmp"
	"slices"
)

// Figures are one measurement. MACsPerCycle counts all threads together: MACs over the median number of
// cycles of the fastest tenth of runs, each by the clock directly behind it.
type Figures struct {
	MinMS        *float64 `json:"min_ms"`
	MedianMS     *float64 `json:"median_ms"`
	MACsPerCycle *float64 `json:"macs_per_cycle"`
	Instructions *uint64  `json:"instructions"`
	// Of simulated code: cycles by a model of the core's pipeline, without caches (package engine/estimate), and MACs over those.
	EstimatedCycles       *float64 `json:"estimated_cycles"`
	MACsPerEstimatedCycle *float64 `json:"macs_per_estimated_cycle"`
}

// Reduce gives the shortest and the median time of runs, and MACs per cycle from the cycles of the fastest ones; of no runs, nothing.
func Reduce(runs []Timing, macs int64) Figures {
	if len(runs) == 0 {
		return Figures{}
	}
	ms := func(ns float64) *float64 { v := ns / 1e6; return &v }
	took := func(t Timing) float64 { return float64(t.Took.Nanoseconds()) }
	f := Figures{MinMS: ms(took(slices.MinFunc(runs, func(a, b Timing) int { return cmp.Compare(a.Took, b.Took) }))), MedianMS: ms(Median(runs, took))}
	if cycles := Median(Fastest(runs), Timing.Cycles); macs > 0 && cycles > 0 {
		v := float64(macs) / cycles
		f.MACsPerCycle = &v
	}
	return f
}
