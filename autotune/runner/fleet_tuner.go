package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ripc/autotune/records"
	"ripc/engine/estimate"
	"ripc/targets"
)

const (
	// mistakes is how many answers may be no good until a worker is told to rest.
	mistakes = 3
	// request is the limit of one request to the hub.
	request = 5 * time.Second
)

// fleet is the Runner that measures on the workers of a hub.
type fleet struct {
	f       Fleet
	nc      *nats.Conn
	js      jetstream.JetStream
	pool    string
	program []byte // runs libraries on the workers' machines; nil for workers that simulate
	machine records.Machine
	unit    records.Unit

	mu       sync.Mutex
	back     bool                 // the hub was away, and may have lost its contents
	era      int                  // of the streams' contents
	members  map[string]Member    // of the pool, by ID
	heard    time.Time            // of a worker of the pool, last
	mistakes map[string]int       // by worker, since its last good answer
	rested   map[string]time.Time // by worker, when its rest began
	lost     map[uint64]bool      // jobs given up by the hub, by their place in the queue
	lostSeq  uint64               // of the next message to read of them
	sent     map[string]time.Time // blobs, when
	streams  map[string]jetstream.Stream
}

// Open makes a Runner of the workers that can measure for t and have the same CPU; of several CPUs,
// of the one that most have. It waits a while for one, and fails with *LostError if there is none.
func (f Fleet) Open(ctx context.Context, t targets.Target) (Runner, error) {
	r := &fleet{f: f, streams: map[string]jetstream.Stream{}, members: map[string]Member{}, mistakes: map[string]int{},
		rested: map[string]time.Time{},
		lost:   map[uint64]bool{}, lostSeq: 1, sent: map[string]time.Time{}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var err error
	r.nc, _, err = f.connect(f.endRefused(cancel),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				f.log("the hub is away: %v", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			f.log("the hub is back")
			r.mu.Lock()
			r.back = true
			r.mu.Unlock()
		}))
	if err != nil {
		return nil, f.lostError(err)
	}
	if err := r.open(ctx, t); err != nil {
		r.nc.Close()
		return nil, f.lostError(cmp.Or(context.Cause(ctx), err))
	}
	return r, nil
}

func openFleet(ctx context.Context, name, _ string, t targets.Target, o Options) (Runner, error) {
	r, err := Fleet{URL: name, Key: o.Key, Log: o.Log}.Open(ctx, t)
	if lost := (*LostError)(nil); errors.As(err, &lost) {
		return nil, lost.Err // Open names the runner
	}
	return r, err
}

// endRefused cancels the work under way when the hub says that the key does not allow it; otherwise
// it waits for ever.
func (f Fleet) endRefused(cancel context.CancelCauseFunc) nats.Option {
	return nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		f.log("%v", err)
		if errors.Is(err, nats.ErrPermissionViolation) {
			cancel(fmt.Errorf("the key does not allow that; a tuner's does: %w", err))
		}
	})
}

func (r *fleet) open(ctx context.Context, t targets.Target) error {
	var err error
	if r.js, err = jetstream.New(r.nc, jetstream.WithDefaultTimeout(request)); err != nil {
		return err
	}
	if err := r.find(ctx); err != nil {
		return err
	}
	p, err := r.choose(ctx, t)
	if err != nil {
		return err
	}
	r.pool = p.id()
	if p.Simulates != "" {
		core, err := estimate.For(t.Name)
		if err != nil {
			return err
		}
		r.machine, r.unit = records.Machine{CPU: core.Model(), Simulated: true}, records.Cycles
	} else {
		if r.program, err = r.f.program(ctx, p.Arch); err != nil {
			return err
		}
		r.machine, r.unit = records.Machine{CPU: p.CPU}, records.Nanoseconds
	}
	if err := r.openQueue(ctx); err != nil {
		return err
	}
	if _, err := r.nc.Subscribe(subjectWorker+"*", func(m *nats.Msg) {
		if one, ok := decodeMember(m.Subject, m.Data); ok && one.pool() == p {
			r.meet(one)
		}
	}); err != nil {
		return err
	}
	return r.nc.FlushTimeout(request)
}

// find makes the missing streams and gets hold of all. If they are new, all that was known of their
// contents is void.
func (r *fleet) find(ctx context.Context) error {
	if err := SetUpFleet(ctx, r.js); err != nil {
		return err
	}
	for _, c := range fleetStreams() {
		s, err := r.js.Stream(ctx, c.Name)
		if err != nil {
			return err
		}
		r.mu.Lock()
		if old := r.streams[c.Name]; old == nil || !old.CachedInfo().Created.Equal(s.CachedInfo().Created) {
			r.streams[c.Name] = s
			r.era++
			r.lost, r.lostSeq, r.sent = map[uint64]bool{}, 1, map[string]time.Time{}
		}
		r.mu.Unlock()
	}
	return nil
}

// stream is one of fleetStreams.
func (r *fleet) stream(name string) jetstream.Stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.streams[name]
}

// openQueue lets the workers of the pool pull.
func (r *fleet) openQueue(ctx context.Context) error {
	_, err := r.js.CreateOrUpdateConsumer(ctx, streamJobs, jetstream.ConsumerConfig{
		Durable: r.pool, FilterSubject: subjectJob + r.pool + ".*", AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: r.f.lease(), MaxDeliver: deliveries,
	})
	return err
}

// choose waits for workers that can measure for t, and takes the CPU that most of them have.
func (r *fleet) choose(ctx context.Context, t targets.Target) (pool, error) {
	end := time.Now().Add(r.f.patience())
	said := false
	for {
		all, err := members(ctx, r.js, r.f.heartbeat())
		if err != nil {
			return pool{}, err
		}
		have := map[pool]int{}
		for _, m := range all {
			if m.Alive && m.Resting == "" && m.Measures(t) {
				have[m.pool()]++
				r.meet(m)
			}
		}
		if len(have) > 0 {
			best := slices.MinFunc(slices.Collect(maps.Keys(have)), func(a, b pool) int {
				return cmp.Or(have[b]-have[a], strings.Compare(a.Arch+a.CPU+a.Simulates, b.Arch+b.CPU+b.Simulates))
			})
			maps.DeleteFunc(r.members, func(_ string, m Member) bool { return m.pool() != best })
			return best, nil
		}
		if time.Now().After(end) {
			return pool{}, &NoWorkerError{Target: t.Name, Others: all}
		}
		if !said {
			r.f.log("waiting for a worker that measures for %s", t.Name)
			said = true
		}
		pause(ctx, r.f.heartbeat()/4)
		if ctx.Err() != nil {
			return pool{}, ctx.Err()
		}
	}
}

// NoWorkerError says that no worker of a fleet can measure for a target.
type NoWorkerError struct {
	Target string
	Others []Member // workers that there are or were
}

func (e *NoWorkerError) Error() string {
	n := 0
	for _, m := range e.Others {
		if m.Alive {
			n++
		}
	}
	return fmt.Sprintf("no worker measures for %s (workers that do not: %d)", e.Target, n)
}

func (r *fleet) Machine() records.Machine { return r.machine }
func (r *fleet) Unit() records.Unit       { return r.unit }
func (r *fleet) Here() bool               { return false }

// meet notes a message of a worker of the pool about itself.
func (r *fleet) meet(m Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.Seen = time.Now()
	r.members[m.ID] = m
	if m.Resting == "" {
		r.heard = m.Seen
	}
}

// Slots is one more than there are workers that pull, so that none waits for the next job.
func (r *fleet) Slots() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 1
	for _, m := range r.members {
		if r.pulls(m) {
			n++
		}
	}
	return n
}

// pulls reports whether a worker is there and takes jobs.
func (r *fleet) pulls(m Member) bool {
	return m.Resting == "" && time.Since(m.Seen) < lives*r.f.heartbeat()
}

func (r *fleet) Close() error {
	r.nc.Close()
	return nil
}

// Measure has a worker do the job, unless one did it before: then its answer counts.
func (r *fleet) Measure(ctx context.Context, j Job) (Result, error) {
	j.Program = r.program
	stored := make(chan *nats.Msg, 64)
	sub, err := r.nc.ChanSubscribe(subjectStored+r.pool+"."+j.ID+".*", stored)
	if err != nil {
		return Result{}, r.f.lostError(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	a := asked{fleet: r, job: j, next: 1, cannot: map[string]int{}}
	a.header, a.blobs = j.Pack()
	answer, err := a.measure(ctx, stored)
	if ctx.Err() != nil && err != nil {
		a.withdraw()
		return Result{}, ctx.Err()
	}
	if err != nil {
		return Result{}, r.f.lostError(err)
	}
	return answer, nil
}

// name is a worker's name for people.
func (r *fleet) name(worker string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, ok := r.members[worker]; ok && m.Host != "" {
		return m.Host
	}
	return worker
}

// judge counts the mistakes of a worker, and tells one to rest that gives bad answers again and
// again: it would take job after job away from those who do well. rests says that it should be
// resting; one that comes back from its rest is judged as any other.
func (r *fleet) judge(worker string, err error) (rests bool) {
	r.mu.Lock()
	if err == nil {
		delete(r.mistakes, worker)
		delete(r.rested, worker)
		r.mu.Unlock()
		return false
	}
	r.mistakes[worker]++
	n := r.mistakes[worker]
	began, told := r.rested[worker]
	rests = told && time.Since(began) < Resting
	if n >= mistakes && !rests {
		r.rested[worker] = time.Now()
	}
	r.mu.Unlock()
	if !rests {
		r.f.log("worker %s: %v", r.name(worker), err)
	}
	if n >= mistakes {
		_ = r.nc.Publish(subjectRest+worker, []byte(oneLine(err.Error()))) // said again at the next mistake
	}
	return rests
}
