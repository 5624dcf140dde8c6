package autotune

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"ripc/autotune/runner"
)

// work is what a core can be busy with.
type work int

const (
	proposing work = iota
	building
	checking
	measuring
	works
)

// Busy says what cores were used for, in time of one core: each kernel that is built or timed here has one of its own, as has what proposes.
type Busy struct {
	Cores     int           // of this machine
	Proposing time.Duration // models and proposals
	Building  time.Duration // of kernels: schedules, proofs, LLVM's tools
	Checking  time.Duration // the interpreter, which says what is right
	Measuring time.Duration // not on these cores, but in total, where it is done elsewhere
	Elsewhere bool
}

// shop is where candidates are built and measured, as many at a time as there is room for, begun in the order in which they come.
type shop struct {
	cores chan struct{}
	slots chan struct{} // of the runner; those that it has not are taken
	own   int           // slots that it has
	here  bool          // it measures on these cores
	spent [works]atomic.Int64

	jobs  chan job
	stop  context.CancelFunc
	under sync.WaitGroup
}

// job is a trial whose answer somebody waits for.
type job struct {
	trial  trial
	answer chan<- answer
}

// newShop has all cores of this machine, and room for two rounds at the runner: the one under way, and the next one.
func newShop(r runner.Runner, round int) *shop {
	s := &shop{cores: make(chan struct{}, runtime.GOMAXPROCS(0)), slots: make(chan struct{}, 2*round), here: r.Here()}
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
	return s
}

// errOver says that the time was over before a candidate was begun.
var errOver = errors.New("the time is over")

// open begins to work; what is under way ends with the context that it gives.
func (t *tuner) open(ctx context.Context) context.Context {
	ctx, t.stop = context.WithCancel(ctx)
	t.jobs = make(chan job, cap(t.slots))
	for range cap(t.cores) {
		t.serve(ctx)
	}
	t.grow(ctx)
	return ctx
}

// grow takes the slots that the runner has now into use: a fleet has more when workers have joined it.
func (t *tuner) grow(ctx context.Context) {
	for ; t.own < min(max(1, t.Runner.Slots()), cap(t.slots)); t.own++ {
		<-t.slots
		t.serve(ctx)
	}
}

// serve begins to do jobs, one after the other.
func (t *tuner) serve(ctx context.Context) {
	t.under.Go(func() {
		for j := range t.jobs {
			if t.over() {
				j.answer <- answer{err: errOver}
			} else {
				j.answer <- t.try(ctx, j.trial)
			}
		}
	})
}

// close ends what is under way: nobody uses the runner any more when it returns.
func (t *tuner) close() {
	t.stop()
	close(t.jobs)
	t.under.Wait()
}

// working does w on a core when one is free.
func (s *shop) working(ctx context.Context, w work, f func() error) error {
	return within(ctx, s.cores, func() error {
		defer s.clock(w)()
		return f()
	})
}

// clock counts from now until what it gives is called.
func (s *shop) clock(w work) func() {
	began := time.Now()
	return func() { s.spent[w].Add(int64(time.Since(began))) }
}

// busy is what the cores have done until now.
func (s *shop) busy() Busy {
	of := func(w work) time.Duration { return time.Duration(s.spent[w].Load()) }
	return Busy{Cores: cap(s.cores), Proposing: of(proposing), Building: of(building), Checking: of(checking), Measuring: of(measuring), Elsewhere: !s.here}
}

// within calls f when there is room in slots; it fails with ctx's error once that is done.
func within(ctx context.Context, slots chan struct{}, f func() error) error {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return f()
}
