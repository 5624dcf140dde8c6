package measure

import (
	"cmp"
	"slices"
)

// Figures are one measurement. MACsPerCycle counts all threads together: MACs over the median
// number of cycles of the fastest tenth of runs, each by the clock directly behind it.
type Figures struct {
	MinMS        *float64 `json:"min_ms"`
	MedianMS     *float64 `json:"median_ms"`
	P90MS        *float64 `json:"p90_ms"` // nine runs of ten took no longer
	MACsPerCycle *float64 `json:"macs_per_cycle"`
	Instructions *uint64  `json:"instructions"`
	// Of simulated code: cycles by a model of the core's pipeline, without caches (package
	// engine/estimate), and MACs over those.
	EstimatedCycles       *float64 `json:"estimated_cycles"`
	MACsPerEstimatedCycle *float64 `json:"macs_per_estimated_cycle"`
	// EstimatedMS is EstimatedCycles at the clock of the board, if that is known, without caches.
	EstimatedMS        *float64 `json:"estimated_ms"`
	MACsPerInstruction *float64 `json:"macs_per_instruction"`
}

// Unit is the unit of costs.
type Unit string

// The units, the better ones first.
const (
	Milliseconds    Unit = "ms"
	EstimatedCycles Unit = "estimated cycles"
	Instructions    Unit = "instructions"
)

// Cost is one number to compare by: the time of the fastest run. For simulated code it is the
// estimated cycles, or the instructions if LLVM has no model of the core. unit is "" if none is
// known.
func (f Figures) Cost() (cost float64, unit Unit) {
	switch {
	case f.MinMS != nil:
		return *f.MinMS, Milliseconds
	case f.EstimatedCycles != nil:
		return *f.EstimatedCycles, EstimatedCycles
	case f.Instructions != nil:
		return float64(*f.Instructions), Instructions
	}
	return 0, ""
}

// Reduce returns the shortest, the median and the 90th percentile of the times of runs, and MACs
// per cycle from the cycles of the fastest ones; of no runs, nothing.
func Reduce(runs []Timing, macs int64) Figures {
	if len(runs) == 0 {
		return Figures{}
	}
	ms := func(ns float64) *float64 { v := ns / 1e6; return &v }
	took := func(t Timing) float64 { return float64(t.Took.Nanoseconds()) }
	byTime := slices.Clone(runs)
	slices.SortFunc(byTime, func(a, b Timing) int { return cmp.Compare(a.Took, b.Took) })
	const most = 0.9
	f := Figures{MinMS: ms(took(byTime[0])), MedianMS: ms(Median(runs, took)),
		P90MS: ms(took(byTime[int(most*float64(len(runs)-1))]))}
	if cycles := Median(Fastest(runs), Timing.Cycles); macs > 0 && cycles > 0 {
		v := float64(macs) / cycles
		f.MACsPerCycle = &v
	}
	return f
}
