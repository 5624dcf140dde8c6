package ripc

import "time"

// clock finds the clock of one core: how many dependent additions, one cycle each on every CPU that ripc compiles for,
// are done in a nanosecond. Whatever disturbs a measurement (other programs, a core that is still speeding up) makes it
// slower, never faster, so that the best of many short chains counts: a chain of some microseconds is often left alone
// where a longer one never is. Bench looks before, between and after its runs, because no moment is sure to be quiet.
type clock struct {
	best float64   // steps a nanosecond
	last time.Time // end of the last look
}

// How long clocks look, and how often between runs.
const (
	chainSteps  = 1 << 16 // 15 to 60 microseconds; the timer's own time is below a hundredth of that
	firstLook   = 20 * time.Millisecond
	shortLook   = 300 * time.Microsecond
	lookPause   = 20 * time.Millisecond
	stepsOfTurn = 16 // in chain
)

// look measures for a while.
func (c *clock) look(long time.Duration) {
	begin := time.Now()
	for time.Since(begin) < long {
		start := time.Now()
		clockSink = chain(clockSink|1, chainSteps/stepsOfTurn)
		if ns := time.Since(start).Nanoseconds(); ns > 0 {
			c.best = max(c.best, chainSteps/float64(ns))
		}
	}
	c.last = time.Now()
}

// glance is for moments between two runs: it looks shortly, and not if it did just before.
func (c *clock) glance() {
	if time.Since(c.last) >= lookPause {
		c.look(shortLook)
	}
}

// ghz is the clock found so far.
func (c *clock) ghz() float64 { return c.best }

var clockSink uint64

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
