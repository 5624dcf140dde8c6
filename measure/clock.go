// Package measure times code on this machine: the clock of a core, samples of runs, and statistics
// of them.
package measure

import (
	"cmp"
	"runtime"
	"slices"
	"time"
)

// Timing is one run: its time, and the clock of its core directly behind it.
type Timing struct {
	Took time.Duration
	GHz  float64
}

// Cycles is the length of the run in cycles of one core.
func (t Timing) Cycles() float64 { return float64(t.Took.Nanoseconds()) * t.GHz }

// Since is the Timing of a run that began at start and ends now. After wide vectors a core runs at
// a lower clock than an idle one, and speeds up again within tens of microseconds. So the clock is
// measured directly behind each run, and for a short time only.
func Since(start time.Time) Timing {
	t := Timing{Took: time.Since(start)}
	t.GHz = clock()
	return t
}

// The length of clock's chain of additions.
const (
	chainSteps  = 1 << 15 // 7 to 30 microseconds
	stepsOfTurn = 16      // in chain
)

// clock measures the clock of this core in GHz: the number of dependent additions in a nanosecond.
// An addition takes one cycle on every CPU that ripc compiles for.
func clock() float64 {
	before := time.Now()
	start := time.Now()
	runtime.KeepAlive(chain(1, chainSteps/stepsOfTurn))
	ns := time.Since(start) - start.Sub(before) // without the time of reading the clock
	return chainSteps / float64(max(1, ns.Nanoseconds()))
}

// Fastest returns the fastest tenth of the runs, but at least five if there are five.
func Fastest(runs []Timing) []Timing {
	sorted := slices.Clone(runs)
	slices.SortFunc(sorted, func(a, b Timing) int { return cmp.Compare(a.Took, b.Took) })
	return sorted[:min(len(sorted), max(5, len(sorted)/10))]
}

// Median is the median of a quantity over runs, 0 without any. It ignores single disturbed runs or
// clocks.
func Median(runs []Timing, quantity func(Timing) float64) float64 {
	if len(runs) == 0 {
		return 0
	}
	var vs []float64
	for _, r := range runs {
		vs = append(vs, quantity(r))
	}
	slices.Sort(vs)
	return vs[len(vs)/2]
}

// chain does stepsOfTurn dependent operations a turn; the loop's own work runs beside them.
//
//go:noinline
func chain(x uint64, turns int) uint64 {
	y := x
	for range turns {
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
	}
	return x
}
