package autotune

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"ripc/autotune/runner"
)

// work is a kind of work of a core.
type work int

const (
	proposing work = iota
	building
	checking
	measuring
	works
)

// Busy says how cores were used, in time of one core: each kernel that is built or timed here has a
// core of its own, as has the search.
type Busy struct {
	Cores     int           // of this machine
	Proposing time.Duration // models and proposals
	Building  time.Duration // of kernels: schedules, proofs, LLVM's tools
	Checking  time.Duration // the interpreter, for the right outputs
	Measuring time.Duration // not on these cores, but in total, where it is done elsewhere
	Elsewhere bool
}

// shop builds and measures candidates, several at a time if there is room.
type shop struct {
	cores int
	room  int                 // slots of the runner at most
	own   int                 // slots that it has; the others are taken
	here  bool                // it measures on these cores
	seats *semaphore.Weighted // for trials under way: one for each core and each slot
	desks *semaphore.Weighted // one for each core
	slots *semaphore.Weighted
	spent [works]atomic.Int64

	stop  context.CancelFunc
	under sync.WaitGroup
}

// newShop has all cores of this machine, and room for two rounds at the runner: the one under way,
// and the next one.
func newShop(r runner.Runner, round int) *shop {
	s := &shop{cores: runtime.GOMAXPROCS(0), room: 2 * round, here: r.Here()}
	s.seats, s.desks, s.slots = semaphore.NewWeighted(int64(s.cores+s.room)), semaphore.NewWeighted(int64(s.cores)),
		semaphore.NewWeighted(int64(s.room))
	s.seats.TryAcquire(int64(s.room))
	s.slots.TryAcquire(int64(s.room))
	return s
}

// errOver says that the time was over before a candidate was begun.
var errOver = errors.New("the time is over")

// open begins to work; trials under way end with the context that it returns.
func (t *tuner) open(ctx context.Context) context.Context {
	ctx, t.stop = context.WithCancel(ctx)
	t.grow()
	return ctx
}

// grow takes the slots that the runner has now into use: a fleet has more when workers have joined
// it.
func (t *tuner) grow() {
	for ; t.own < min(max(1, t.Runner.Slots()), t.room); t.own++ {
		t.slots.Release(1)
		t.seats.Release(1)
	}
}

// serve tries a candidate when there is a seat, and sends the result.
func (t *tuner) serve(ctx context.Context, tr trial, to chan<- answer) {
	t.under.Go(func() {
		var a answer
		err := withRoom(ctx, t.seats, func() error {
			if t.isOver() {
				return errOver
			}
			a = t.try(ctx, tr)
			return a.err
		})
		a.err = err
		to <- a
	})
}

// close ends the trials under way: nobody uses the runner any more when it returns.
func (t *tuner) close() {
	t.stop()
	t.under.Wait()
}

// working does w on a core when one is free.
func (s *shop) working(ctx context.Context, w work, f func() error) error {
	return withRoom(ctx, s.desks, func() error {
		defer s.clock(w)()
		return f()
	})
}

// clock counts from now until the returned function is called.
func (s *shop) clock(w work) func() {
	began := time.Now()
	return func() { s.spent[w].Add(int64(time.Since(began))) }
}

// busy returns the work of the cores until now.
func (s *shop) busy() Busy {
	of := func(w work) time.Duration { return time.Duration(s.spent[w].Load()) }
	return Busy{Cores: s.cores, Proposing: of(proposing), Building: of(building), Checking: of(checking),
		Measuring: of(measuring), Elsewhere: !s.here}
}

// withRoom calls f when there is room; it fails with ctx's error once that is done.
func withRoom(ctx context.Context, room *semaphore.Weighted, f func() error) error {
	if err := room.Acquire(ctx, 1); err != nil {
		return err
	}
	defer room.Release(1)
	return f()
}
