package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ripc/autotune/records"
	"ripc/internal/terminal"
)

// Bounds of a tuner's patience with a job.
const (
	attempts = 12          // requests, without those that resting workers spoiled
	stolen   = 500         // requests that resting workers may spoil
	chances  = 2           // refusals of a worker until it is believed
	lookup   = time.Second // period at which a tuner looks by itself for messages that it missed
)

// asked is a job on its way.
type asked struct {
	*fleet
	job     Job
	header  Header
	blobs   Blobs
	knows   int            // era of the next fields
	next    uint64         // place of the next answer to look at
	queued  uint64         // place of the job in the queue
	offered bool           // it may be in the queue, though nothing has said so
	times   int            // requests
	stolen  int            // requests that a resting worker took
	last    error          // why the last answer was none
	cannot  map[string]int // by worker, how often it said that it cannot do the job
}

// measure looks for an answer; asks; and looks again whenever it is told that one is stored, and
// from time to time.
func (a *asked) measure(ctx context.Context, stored <-chan *nats.Msg) (Result, error) {
	away := time.Time{}
	for {
		r, ok, err := a.step(ctx)
		switch {
		case ctx.Err() != nil:
			return Result{}, ctx.Err()
		case err != nil && (a.nc.IsConnected() || a.nc.IsClosed()) && !isPassing(err):
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
		case <-stored:
		case <-t.C:
		}
		t.Stop()
	}
}

// isPassing reports whether err is one of a connection that comes back, or of a hub that is about
// to be ready.
func isPassing(err error) bool {
	for _, e := range []error{nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected,
		nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, nats.ErrStaleConnection,
		context.DeadlineExceeded, jetstream.ErrNoStreamResponse, jetstream.ErrStreamNotFound,
		jetstream.ErrJetStreamNotEnabled} {
		if errors.Is(err, e) {
			return true
		}
	}
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && api.Code == 503
}

// step looks at the new answers, and asks if nobody has the job. ok is whether there is an answer.
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
			return a.crashedResult(), true, nil
		}
	}
	switch m, err := s.GetLastMsgForSubject(ctx, a.subject()); {
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
			err = a.openQueue(ctx)
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
		m, err := a.stream(streamResults).GetMsg(ctx, a.next,
			jetstream.WithGetMsgSubject(subjectResult+a.pool+"."+a.job.ID+".*"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return Result{}, false, nil
		}
		if err != nil {
			return Result{}, false, err
		}
		a.next = m.Sequence + 1
		worker := lastOf(m.Subject)
		r, err := a.take(m, worker)
		switch {
		case err == nil:
			a.judge(worker, nil)
			for other := range a.cannot { // so the job was not to blame
				a.judge(other, a.last)
			}
			a.forget(ctx)
			return r, true, nil
		case a.times == 0: // those of earlier times were dealt with then
		case errors.As(err, new(faultError)):
			a.last = fmt.Errorf("worker %s: %w", a.name(worker), err)
			a.cannot[worker]++
		default:
			a.last = fmt.Errorf("worker %s: %w", a.name(worker), err)
			if a.judge(worker, err) {
				a.stolen++
			}
		}
	}
}

// faultError is a worker's reason why it could not do a job.
type faultError struct{ error }

// isHopeless reports whether all workers that pull have said that they cannot do the job.
func (a *asked) isHopeless() bool {
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
		return Result{}, faultError{errors.New(terminal.Cut(fault, maxSaid))}
	}
	r, err := DecodeResult(m.Data)
	if err != nil {
		return Result{}, err
	}
	if err := checkPlausible(r, a.job, a.machine, a.unit); err != nil {
		return Result{}, fmt.Errorf("a result that cannot be: %w", err)
	}
	if r.Machine.Host = ""; !r.Machine.Simulated { // where it is simulated does not matter
		r.Machine.Host = a.name(worker)
	}
	return r, nil
}

// ask puts the job into the queue, and its contents onto the hub.
func (a *asked) ask(ctx context.Context) error {
	if a.times-a.stolen >= attempts || a.stolen >= stolen || a.isHopeless() {
		return fmt.Errorf("job %.8s was asked for %d times in vain; the last answer: %w", a.job.ID, a.times,
			cmp.Or(a.last, errors.New("there was none")))
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
	m := nats.NewMsg(a.subject())
	m.Data = text
	m.Header.Set(headerLease, a.f.lease().String())
	a.offered = true
	ack, err := a.js.PublishMsg(ctx, m)
	if api := (jetstream.JetStreamError)(nil); errors.As(err, &api) && api.APIError() != nil &&
		api.APIError().Code < 500 {
		return nil // another tuner was faster: the next step sees the job
	}
	if err != nil {
		return err
	}
	a.queued = ack.Sequence
	a.times++
	return nil
}

// subject is the job's in the queue.
func (a *asked) subject() string { return subjectJob + a.pool + "." + a.job.ID }

// forget takes the library from the hub, which nobody needs again; inputs are shared by many jobs.
func (a *asked) forget(ctx context.Context) {
	if a.times == 0 {
		return
	}
	// or it goes with its age
	_ = a.stream(streamBlobs).Purge(ctx, jetstream.WithPurgeSubject(subjectBlob+a.header.Library+".*"))
	a.mu.Lock()
	delete(a.sent, a.header.Library)
	a.mu.Unlock()
}

// withdraw takes the job out of the queue and away from its worker. A tuner that was interrupted
// does so.
func (a *asked) withdraw() {
	if a.queued == 0 && !a.offered {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// another tuner that waits for it asks again
	_ = a.stream(streamJobs).Purge(ctx, jetstream.WithPurgeSubject(a.subject()))
	_ = a.nc.Publish(subjectDrop+a.pool+"."+a.job.ID, nil)
}

// givenUp reports whether the hub has given the job to workers as often as it may and none ever
// answered.
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

// crashedResult is the result of a job that took all workers with it that had it.
func (a *asked) crashedResult() Result {
	return Result{ID: a.job.ID, Machine: a.machine, Measurement: records.Measurement{Failure: &records.Failure{
		Kind: records.Crashed, Text: fmt.Sprintf("%d workers died or hung while they had it", deliveries)}}}
}
