package autotune

import (
	"time"

	"ripc/autotune/records"
	"ripc/autotune/space"
)

// Event is a message of Tune's while it works: Began, then Tried for each candidate in order, then
// Again where times are measured.
type Event interface{ event() }

// Began describes the work to do.
type Began struct {
	Tasks   []*space.Task
	Machine records.Machine
	Unit    records.Unit
	Trials  int           // budget; 0 is none
	Time    time.Duration // budget; 0 is none
	Search  string        // that proposes
	Missing error         // why it is not the default one, which lacks something; nil if it is, or was named
	Notes   []Note        // about records that are left out
}

// Tried is one candidate.
type Tried struct {
	Task   *space.Task
	Trial  int // of the task, from 0, the default schedule
	Point  space.Point
	Result records.Measurement
	// Known says that a record had it: nothing was built or measured.
	Known bool
	// Default and Best are the costs of the task's default schedule and of its best one, 0 where
	// there is none yet.
	Default, Best float64
	// NetworkDefault and NetworkBest are the sums over all stages that have been measured.
	NetworkDefault, NetworkBest float64
	Done                        int           // candidates, this one included
	Elapsed                     time.Duration // since the beginning
	Left                        time.Duration // as far as can be told; 0 if it cannot
}

// Again is a candidate that was measured before, timed beside the default schedule: no trial.
type Again struct {
	Task   *space.Task
	Trial  int // of the task: which one
	Point  space.Point
	Result records.Measurement
	// Default, Best, NetworkDefault and NetworkBest are as in Tried, by all measurements.
	Default, Best, NetworkDefault, NetworkBest float64
}

func (Began) event() {}
func (Tried) event() {}
func (Again) event() {}
