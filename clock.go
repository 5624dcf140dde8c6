package ripc

import (
	"cmp"
	"runtime"
	"slices"
	"time"
)

// timing is one run: how long it took, and the clock of its core directly behind it.
type timing struct {
	took time.Duration
	ghz  float64
}

// cycles is how many cycles of one core the run took.
func (t timing) cycles() float64 { return float64(t.took.Nanoseconds()) * t.ghz }

// timed is the timing of a run that began at start and ends now. A core that has just computed with wide vectors runs at
// a lower clock than an idle one, by a tenth and more, and speeds up again within some tens of microseconds. So the
// clock is looked at behind each run, at once and shortly.
func timed(start time.Time) timing {
	t := timing{took: time.Since(start)}
	t.ghz = look()
	return t
}

// How long look looks.
const (
	chainSteps  = 1 << 15 // 7 to 30 microseconds
	stepsOfTurn = 16      // in chain
)

// look is how many dependent additions, one cycle each on every CPU that ripc compiles for, are done in a nanosecond.
func look() float64 {
	before := time.Now()
	start := time.Now()
	runtime.KeepAlive(chain(1, chainSteps/stepsOfTurn))
	ns := time.Since(start) - start.Sub(before) // without what it takes to read the time
	return chainSteps / float64(max(1, ns.Nanoseconds()))
}

// fastest is what counts of many runs: the tenth of them, five at least, that took the shortest time.
func fastest(runs []timing) []timing {
	sorted := slices.Clone(runs)
	slices.SortFunc(sorted, func(a, b timing) int { return cmp.Compare(a.took, b.took) })
	return sorted[:min(len(sorted), max(5, len(sorted)/10))]
}

// middle is the middle value of what of gives for runs: a look that was disturbed does not count.
func middle(runs []timing, of func(timing) float64) float64 {
	if len(runs) == 0 {
		return 0
	}
	var vs []float64
	for _, r := range runs {
		vs = append(vs, of(r))
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
