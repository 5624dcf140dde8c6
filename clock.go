package ripc

import "time"

// measureClock returns the clock of one core, in GHz: how many dependent additions, one cycle each on every CPU that
// ripc compiles for, are done in a nanosecond. The best of some tries, because others use the machine too.
func measureClock() float64 {
	const steps = 1 << 20
	best := 0.0
	for range 8 {
		start := time.Now()
		clockSink = chain(clockSink|1, steps/16)
		if ns := time.Since(start).Nanoseconds(); ns > 0 {
			best = max(best, steps/float64(ns))
		}
	}
	return best
}

var clockSink uint64

// chain does 16 dependent operations a turn; the loop's own work runs beside them.
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
