package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// Bounds of what a tuner puts up with.
const (
	attempts = 12              // times that a job is asked for
	mistakes = 3               // answers that are no good until a worker is told to rest
	chances  = 2               // times that a worker may say that it cannot do a job until it is believed
	lookup   = time.Second     // period at which a tuner looks by itself for what it was not told
	request  = 5 * time.Second // limit of one request to the hub
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
	back     bool                       // the hub was away, and may have lost what it kept
	era      int                        // of the streams' contents
	waiting  map[string][]chan struct{} // by job: who is to look for answers
	members  map[string]Member          // of the pool, by ID
	heard    time.Time                  // of a worker of the pool, last
	mistakes map[string]int             // by worker, since its last good answer
	lost     map[uint64]bool            // jobs given up by the hub, by their place in the queue
	lostSeq  uint64                     // of the next message to read of them
	sent     map[string]time.Time       // blobs, when
	streams  map[string]jetstream.Stream
}

// Open makes a Runner of the workers that can measure for t and have the same CPU; of several CPUs, of the one that most have. It waits
// a while for one, and fails with *LostError if there is none.
func (f Fleet) Open(ctx context.Context, t targets.Target) (Runner, error) {
	r := &fleet{f: f, streams: map[string]jetstream.Stream{}, waiting: map[string][]chan struct{}{}, members: map[string]Member{}, mistakes: map[string]int{},
		lost: map[uint64]bool{}, lostSeq: 1, sent: map[string]time.Time{}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var err error
	r.nc, _, err = f.connect(f.refused(cancel),
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
			r.wakeAll()
		}))
	if err != nil {
		return nil, f.lost(err)
	}
	if err := r.open(ctx, t); err != nil {
		r.nc.Close()
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, f.lost(err)
	}
	return r, nil
}

func openFleet(ctx context.Context, name, _ string, t targets.Target, o Options) (Runner, error) {
	r, err := Fleet{URL: name, Key: o.Key, Log: o.Log}.Open(ctx, t)
	if lost := (*LostError)(nil); errors.As(err, &lost) {
		return nil, lost.Err // Open says what was lost
	}
	return r, err
}

// refused ends what is being done when the hub says that the key does not allow it; no answer would come.
func (f Fleet) refused(cancel context.CancelCauseFunc) nats.Option {
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
	if err := r.serveable(ctx); err != nil {
		return err
	}
	for subject, handle := range map[string]nats.MsgHandler{
		subjectStored + r.pool + ".*.*": func(m *nats.Msg) { r.wake(strings.Split(m.Subject, ".")[3]) },
		subjectLost + r.pool:            func(*nats.Msg) { r.wakeAll() },
		subjectWorker + "*": func(m *nats.Msg) {
			if one, ok := decodeMember(m.Subject, m.Data); ok && one.pool() == p {
				r.meet(one)
			}
		},
	} {
		if _, err := r.nc.Subscribe(subject, handle); err != nil {
			return err
		}
	}
	return r.nc.FlushTimeout(request)
}

// find makes what the hub lacks and gets hold of the streams. If they are not those of before, all that was known of their contents is void.
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

// serveable lets the workers of the pool pull.
func (r *fleet) serveable(ctx context.Context) error {
	_, err := r.js.CreateOrUpdateConsumer(ctx, streamJobs, jetstream.ConsumerConfig{
		Durable: r.pool, FilterSubject: subjectJob + r.pool + ".*", AckPolicy: jetstream.AckExplicitPolicy, AckWait: r.f.lease(), MaxDeliver: deliveries,
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
		var pools []pool
		for p := range have {
			pools = append(pools, p)
		}
		if len(pools) > 0 {
			slices.SortFunc(pools, func(a, b pool) int {
				if have[a] != have[b] {
					return have[b] - have[a]
				}
				return strings.Compare(a.Arch+a.CPU+a.Simulates, b.Arch+b.CPU+b.Simulates)
			})
			best := pools[0]
			for id, m := range r.members {
				if m.pool() != best {
					delete(r.members, id)
				}
			}
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

// meet takes note of what a worker of the pool says of itself.
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

// wake has all who wait for a job look for answers.
func (r *fleet) wake(job string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.waiting[job] {
		poke(c)
	}
}

func (r *fleet) wakeAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, all := range r.waiting {
		for _, c := range all {
			poke(c)
		}
	}
}

// poke has who waits on c look, now or when it waits again.
func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (r *fleet) wait(job string) (c chan struct{}, done func()) {
	c = make(chan struct{}, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[job] = append(r.waiting[job], c)
	return c, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting[job] = slices.DeleteFunc(r.waiting[job], func(o chan struct{}) bool { return o == c })
		if len(r.waiting[job]) == 0 {
			delete(r.waiting, job)
		}
	}
}

// Measure has a worker do the job, unless one did it before: then its answer counts.
func (r *fleet) Measure(ctx context.Context, j Job) (Result, error) {
	j.Program = r.program
	wake, done := r.wait(j.ID)
	defer done()
	a := asked{fleet: r, job: j, next: 1, cannot: map[string]int{}}
	a.header, a.blobs = j.Pack()
	answer, err := a.measure(ctx, wake)
	if ctx.Err() != nil && err != nil {
		a.withdraw()
		return Result{}, ctx.Err()
	}
	if err != nil {
		return Result{}, r.f.lost(err)
	}
	return answer, nil
}

// asked is a job on its way.
type asked struct {
	*fleet
	job    Job
	header Header
	blobs  Blobs
	knows  int            // era of what follows
	next   uint64         // place of the next answer to look at
	queued uint64         // place of the job in the queue
	times  int            // that it was asked for
	last   error          // why the last answer was none
	cannot map[string]int // by worker, how often it said that it cannot do the job
}

// measure looks for an answer; asks; and looks again whenever it is told that there is something, and from time to time.
func (a *asked) measure(ctx context.Context, wake <-chan struct{}) (Result, error) {
	away := time.Time{}
	for {
		r, ok, err := a.step(ctx)
		switch {
		case ctx.Err() != nil:
			return Result{}, ctx.Err()
		case err != nil && (a.nc.IsConnected() || a.nc.IsClosed()) && !passing(err):
			return Result{}, err
		case err != nil: // the hub is away, or just back
			if away.IsZero() {
				away = time.Now()
			}
			if time.Since(away) > a.f.patience() {
				return Result{}, fmt.Errorf("the hub is away: %w", err)
			}
			pause(ctx, a.f.reconnect())
			continue
		case ok:
			return r, nil
		}
		away = time.Time{}
		t := time.NewTimer(lookup)
		select {
		case <-ctx.Done():
		case <-wake:
		case <-t.C:
		}
		t.Stop()
	}
}

// passing reports whether err is one of a connection that comes back, or of a hub that is about to be ready.
func passing(err error) bool {
	for _, e := range []error{nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, nats.ErrStaleConnection,
		context.DeadlineExceeded, jetstream.ErrNoStreamResponse, jetstream.ErrStreamNotFound, jetstream.ErrJetStreamNotEnabled} {
		if errors.Is(err, e) {
			return true
		}
	}
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && api.Code == 503
}

// step looks at what was answered meanwhile, and asks if nobody has the job. ok is whether there is an answer.
func (a *asked) step(ctx context.Context) (r Result, ok bool, err error) {
	if err := a.catchUp(ctx); err != nil {
		return Result{}, false, err
	}
	if r, ok, err = a.answers(ctx); err != nil || ok {
		return r, ok, err
	}
	s := a.stream(streamJobs)
	if a.queued != 0 {
		gone, err := a.givenUp(ctx)
		if err != nil {
			return Result{}, false, err
		}
		if gone {
			_ = s.DeleteMsg(ctx, a.queued) // another tuner may have done it
			return a.failed(), true, nil
		}
	}
	switch m, err := s.GetLastMsgForSubject(ctx, subjectJob+a.pool+"."+a.job.ID); {
	case err == nil: // in the queue, perhaps put there by another tuner
		a.queued = m.Sequence
		a.mu.Lock()
		silent := time.Since(a.heard)
		a.mu.Unlock()
		if silent > a.f.patience()+a.f.lease() {
			return Result{}, false, fmt.Errorf("no worker was heard of for %v", silent.Round(time.Second))
		}
		return Result{}, false, nil
	case !errors.Is(err, jetstream.ErrMsgNotFound):
		return Result{}, false, err
	}
	// It may have been answered since the first look.
	if r, ok, err := a.answers(ctx); err != nil || ok {
		return r, ok, err
	}
	return Result{}, false, a.ask(ctx)
}

// catchUp finds the streams again after the hub was away.
func (a *asked) catchUp(ctx context.Context) error {
	a.mu.Lock()
	back := a.back
	a.back = false
	a.mu.Unlock()
	if back {
		err := a.find(ctx)
		if err == nil {
			err = a.serveable(ctx)
		}
		a.mu.Lock()
		a.back = a.back || err != nil
		a.heard = time.Now() // workers come back as well, a moment later
		a.mu.Unlock()
		if err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.knows != a.era {
		a.knows, a.next, a.queued = a.era, 1, 0
	}
	return nil
}

// answers looks at all answers that were not looked at yet, and takes the first that can be.
func (a *asked) answers(ctx context.Context) (Result, bool, error) {
	for {
		m, err := a.stream(streamResults).GetMsg(ctx, a.next, jetstream.WithGetMsgSubject(subjectResult+a.pool+"."+a.job.ID+".*"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return Result{}, false, nil
		}
		if err != nil {
			return Result{}, false, err
		}
		a.next = m.Sequence + 1
		worker := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
		r, err := a.take(m, worker)
		var fault *faultError
		switch {
		case err == nil:
			a.judge(worker, nil)
			for other := range a.cannot { // so the job was not to blame
				a.judge(other, a.last)
			}
			a.forget(ctx)
			return r, true, nil
		case a.times == 0: // those of earlier times were dealt with then
		case errors.As(err, &fault):
			a.last = fmt.Errorf("worker %s: %w", a.name(worker), err)
			a.cannot[worker]++
		default:
			a.last = fmt.Errorf("worker %s: %w", a.name(worker), err)
			a.judge(worker, err)
		}
	}
}

// faultError is what a worker said that could not do a job.
type faultError struct{ text string }

func (e *faultError) Error() string { return e.text }

// hopeless reports whether all workers that pull have said that they cannot do the job.
func (a *asked) hopeless() bool {
	if len(a.cannot) == 0 {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, m := range a.members {
		if a.pulls(m) && a.cannot[id] < chances {
			return false
		}
	}
	return true
}

// take reads an answer.
func (a *asked) take(m *jetstream.RawStreamMsg, worker string) (Result, error) {
	if fault := m.Header.Get(headerFault); fault != "" {
		return Result{}, &faultError{fault}
	}
	r, err := DecodeResult(m.Data)
	if err != nil {
		return Result{}, err
	}
	if err := plausible(r, a.job, a.machine, a.unit); err != nil {
		return Result{}, fmt.Errorf("a result that cannot be: %w", err)
	}
	if r.Machine.Host = ""; !r.Machine.Simulated { // where it is simulated does not matter
		r.Machine.Host = a.name(worker)
	}
	return r, nil
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

// judge counts what is wrong with a worker's answers, and tells one to rest that gives bad ones again and again: it would take
// job after job away from those who do well.
func (r *fleet) judge(worker string, err error) {
	r.mu.Lock()
	if err == nil {
		delete(r.mistakes, worker)
	} else {
		r.mistakes[worker]++
	}
	n := r.mistakes[worker]
	r.mu.Unlock()
	if err == nil {
		return
	}
	r.f.log("worker %s: %v", r.name(worker), err)
	if n >= mistakes {
		_ = r.nc.Publish(subjectRest+worker, []byte(oneLine(err.Error()))) // said again at the next mistake
	}
}

// ask puts the job into the queue, and its contents onto the hub.
func (a *asked) ask(ctx context.Context) error {
	if a.times >= attempts || a.hopeless() {
		return fmt.Errorf("job %.8s was asked for %d times in vain; the last answer: %w", a.job.ID, a.times, cmp.Or(a.last, errNotThere))
	}
	for hash, content := range a.blobs {
		a.mu.Lock()
		fresh := a.times == 0 && time.Since(a.sent[hash]) < time.Hour
		a.mu.Unlock()
		if fresh {
			continue
		}
		if err := putBlob(ctx, a.js, a.stream(streamBlobs), hash, content); err != nil {
			return err
		}
		a.mu.Lock()
		a.sent[hash] = time.Now()
		a.mu.Unlock()
	}
	text, err := EncodeHeader(a.header)
	if err != nil {
		return err
	}
	m := nats.NewMsg(subjectJob + a.pool + "." + a.job.ID)
	m.Data = text
	m.Header.Set(headerLease, a.f.lease().String())
	ack, err := a.js.PublishMsg(ctx, m)
	if api := (jetstream.JetStreamError)(nil); errors.As(err, &api) && api.APIError() != nil && api.APIError().Code < 500 {
		return nil // another tuner was faster: the next step sees the job
	}
	if err != nil {
		return err
	}
	a.queued = ack.Sequence
	a.times++
	return nil
}

// forget takes the library from the hub, which nobody needs again; inputs are shared by many jobs.
func (a *asked) forget(ctx context.Context) {
	if a.times == 0 {
		return
	}
	_ = a.stream(streamBlobs).Purge(ctx, jetstream.WithPurgeSubject(subjectBlob+a.header.Library+".*")) // or it goes with its age
	a.mu.Lock()
	delete(a.sent, a.header.Library)
	a.mu.Unlock()
}

// withdraw takes the job out of the queue and away from who has it. It is what a tuner that was interrupted does.
func (a *asked) withdraw() {
	if a.queued == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = a.stream(streamJobs).DeleteMsg(ctx, a.queued) // another tuner that waits for it asks again
	_ = a.nc.Publish(subjectDrop+a.pool+"."+a.job.ID, nil)
}

// givenUp reports whether the hub has given the job to workers as often as it may and none ever answered.
func (a *asked) givenUp(ctx context.Context) (bool, error) {
	for {
		a.mu.Lock()
		next, gone := a.lostSeq, a.lost[a.queued]
		a.mu.Unlock()
		if gone {
			return true, nil
		}
		m, err := a.stream(streamLost).GetMsg(ctx, next, jetstream.WithGetMsgSubject(subjectLost+a.pool))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		var advice struct {
			Seq uint64 `json:"stream_seq"`
		}
		err = json.Unmarshal(m.Data, &advice)
		a.mu.Lock()
		if err == nil {
			a.lost[advice.Seq] = true
		}
		a.lostSeq = max(a.lostSeq, m.Sequence+1)
		a.mu.Unlock()
	}
}

// failed is the result of a job that took all workers with it that had it.
func (a *asked) failed() Result {
	return Result{ID: a.job.ID, Machine: a.machine, Measurement: records.Measurement{Failure: &records.Failure{
		Kind: records.Crashed, Text: fmt.Sprintf("%d workers died or hung while they had it", deliveries)}}}
}
