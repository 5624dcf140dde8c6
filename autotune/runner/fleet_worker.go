package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"ripc/engine/simulate"
	"ripc/internal/terminal"
)

// Fleet says how a fleet is reached and how long is waited for it.
type Fleet struct {
	// URL is nats://HOST[:PORT] of the hub.
	URL string
	// Key is the path of a file that `ripc hub keys` made; "" for a hub without keys.
	Key string
	// Lease is how long a worker may be silent before the job that it has is given to another; 0 is
	// 15 s. Tuners decide it.
	Lease time.Duration
	// Patience is how long a tuner waits for a hub that is away and for a worker that fits; 0 is 1
	// min.
	Patience time.Duration
	// Heartbeat is how often a worker says that it is there; 0 is 2 s.
	Heartbeat time.Duration
	// Log is told the events of the connection and of jobs; nil is nobody.
	Log func(text string)
	// Program makes the program that runs libraries on the workers' machines (Job.Program), for an
	// architecture; nil is simulate.Program.
	Program func(ctx context.Context, arch string) ([]byte, error)
}

func (f Fleet) program(ctx context.Context, arch string) ([]byte, error) {
	if f.Program != nil {
		return f.Program(ctx, arch)
	}
	return simulate.Program(ctx, arch)
}

func (f Fleet) lease() time.Duration     { return cmp.Or(f.Lease, 15*time.Second) }
func (f Fleet) patience() time.Duration  { return cmp.Or(f.Patience, time.Minute) }
func (f Fleet) heartbeat() time.Duration { return cmp.Or(f.Heartbeat, 2*time.Second) }
func (f Fleet) reconnect() time.Duration { return f.heartbeat() / 2 }

func (f Fleet) log(format string, args ...any) {
	if f.Log != nil {
		f.Log(fmt.Sprintf(format, args...))
	}
}

// Member is a worker's message about itself, sent every few seconds.
type Member struct {
	Announcement
	ID       string    `json:"id"`   // its public key, or a name of its own
	Host     string    `json:"host"` // the machine's name
	Since    time.Time `json:"since"`
	Job      string    `json:"job,omitempty"`     // that it measures right now
	Measured int       `json:"measured"`          // jobs since then
	Faults   int       `json:"faults"`            // failed jobs, since then
	Resting  string    `json:"resting,omitempty"` // why it pulls no jobs
	Seen     time.Time `json:"-"`                 // by the hub's clock, when it said this
	Alive    bool      `json:"-"`                 // that is not long ago
}

// HangError says that a measurement neither ended nor could be ended. A worker cannot go on then.
type HangError struct{ After time.Duration }

func (e *HangError) Error() string {
	return fmt.Sprintf("a measurement did not end within %v, and could not be ended", e.After)
}

// Work serves a fleet until ctx ends, whatever becomes of the connection: it pulls a job, does it
// by measure, answers, and pulls the next. The hub need not be there yet. a describes the machine.
// It fails with *KeyError, with *LostError if there can be no such hub, and with *HangError.
func (f Fleet) Work(ctx context.Context, a Announcement, measure func(context.Context, Job) (Result, error)) error {
	host, _ := os.Hostname()
	w := &fleetWorker{f: f, measure: measure, blobs: newStore(storeLimit()), wake: make(chan struct{}, 1)}
	nc, id, err := f.connect(
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if ctx.Err() == nil {
				f.log("the hub is away: %v", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { f.log("the hub is back"); poke(w.wake) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { w.logRefusal(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { f.log("%v", err) }),
		nats.RetryOnFailedConnect(true), nats.ConnectHandler(func(*nats.Conn) {
			f.log("connected to %s", f.URL)
			poke(w.wake)
		}))
	if err != nil {
		return f.lostError(err)
	}
	defer nc.Close()
	w.nc = nc
	if w.js, err = nc.JetStream(nats.MaxWait(request)); err != nil {
		return f.lostError(err)
	}
	w.member = Member{Announcement: a, ID: id, Host: host, Since: time.Now().UTC()}
	for subject, handle := range map[string]nats.MsgHandler{
		subjectRest + id: func(m *nats.Msg) { w.beginRest(string(m.Data)) },
		subjectDrop + w.member.pool().id() + ".*": func(m *nats.Msg) { w.endJob(lastOf(m.Subject)) },
	} {
		if _, err := nc.Subscribe(subject, handle); err != nil {
			return f.lostError(err)
		}
	}
	beats, stop := context.WithCancel(ctx)
	defer stop()
	var wait sync.WaitGroup
	wait.Go(func() { w.beat(beats) })
	err = w.serve(ctx)
	stop()
	wait.Wait()
	return err
}

func (f Fleet) lostError(err error) error {
	if key := (*KeyError)(nil); errors.As(err, &key) || errors.Is(err, os.ErrNotExist) {
		return err
	}
	return &LostError{Runner: f.URL, Err: err}
}

// fleetWorker is one run of Work.
type fleetWorker struct {
	f       Fleet
	nc      *nats.Conn
	js      nats.JetStreamContext
	measure func(context.Context, Job) (Result, error)
	blobs   *store
	wake    chan struct{} // when there is a reason to say something or to pull again

	mu     sync.Mutex
	member Member
	until  time.Time               // of rest
	drop   context.CancelCauseFunc // ends the measurement under way; nil if nothing is
	// refusal is why the hub did not let it in last, "" if it did so far.
	refusal string
}

// logRefusal says why the hub cannot be reached or lets no one in with this key, once for each
// reason: it is tried for ever.
func (w *fleetWorker) logRefusal(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := err.Error(); text != w.refusal {
		w.refusal = text
		if errors.Is(err, nats.ErrAuthorization) {
			text = "its key is not one that the hub knows, or the worker is to rest; the hub's messages say which (" +
				text + ")"
		}
		w.f.log("the hub does not let this worker in, it tries again: %s", text)
	}
}

// errDropped is the cause of the end of a job that nobody waits for any more.
var errDropped = errors.New("nobody waits for it any more")

// endJob ends a job, if it is the one at hand.
func (w *fleetWorker) endJob(job string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.member.Job == job && w.drop != nil {
		w.drop(errDropped)
	}
}

// change changes the worker's message about itself, and has it sent.
func (w *fleetWorker) change(f func(m *Member)) {
	w.mu.Lock()
	f(&w.member)
	w.mu.Unlock()
	poke(w.wake)
}

func (w *fleetWorker) beginRest(why string) {
	why = terminal.Cut(why, maxSaid)
	w.f.log("told to rest for %v: %s", Resting, why)
	w.change(func(m *Member) { m.Resting, w.until = why, time.Now().Add(Resting) })
}

func (w *fleetWorker) rests() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Now().Before(w.until) {
		return true
	}
	w.member.Resting = ""
	return false
}

// beat sends the worker's state, every few seconds and when it changes.
func (w *fleetWorker) beat(ctx context.Context) {
	t := time.NewTicker(w.f.heartbeat())
	defer t.Stop()
	for {
		w.mu.Lock()
		text, err := json.Marshal(w.member)
		w.mu.Unlock()
		if err == nil && w.nc.IsConnected() {
			_ = w.nc.Publish(subjectWorker+w.member.ID, text) // a lost message is sent again
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-w.wake:
		}
	}
}

// serve pulls and does jobs.
func (w *fleetWorker) serve(ctx context.Context) error {
	sub, err := w.js.PullSubscribe("", "", nats.Bind(streamJobs, w.member.pool().id()), nats.SkipConsumerLookup())
	if err != nil {
		return w.f.lostError(err)
	}
	faults := 0 // one after the other
	for {
		if ctx.Err() != nil {
			return nil
		}
		m := (*nats.Msg)(nil)
		if !w.rests() {
			m = w.pull(ctx, sub)
		}
		if m == nil {
			pause(ctx, w.f.heartbeat()/8)
			continue
		}
		good, err := w.do(ctx, m)
		switch {
		case err != nil:
			return err
		case good:
			faults = 0
		default:
			faults++
			pause(ctx, min(time.Duration(faults)*w.f.heartbeat()/2, time.Minute)) // others may do better
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// pull asks for one job and waits for a while. It gives nil if there is none: then it may be asked
// again after a moment.
func (w *fleetWorker) pull(ctx context.Context, sub *nats.Subscription) *nats.Msg {
	if !w.nc.IsConnected() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*w.f.heartbeat())
	defer cancel()
	jobs, err := sub.Fetch(1, nats.Context(ctx))
	if err != nil || len(jobs) == 0 {
		return nil // nothing to do, or nobody ever asked for this pool
	}
	return jobs[0]
}

// do does one job: good is whether its result is stored, or nobody wants it. It fails with
// *HangError alone.
func (w *fleetWorker) do(ctx context.Context, m *nats.Msg) (good bool, err error) {
	parts := strings.Split(m.Subject, ".")
	if len(parts) != 4 || !strings.HasPrefix(m.Subject, subjectJob) {
		_ = m.Term() // no answer could name it
		return false, nil
	}
	id := parts[3]
	lease, err := time.ParseDuration(m.Header.Get(headerLease))
	if err != nil || lease <= 0 {
		lease = w.f.lease()
	}
	work, drop := context.WithCancelCause(ctx)
	defer drop(nil)
	w.change(func(m *Member) { m.Job, w.drop = id, drop })
	answer := nats.NewMsg(subjectResult + parts[2] + "." + id + "." + w.member.ID)
	result, err := w.result(work, m, id, lease)
	if err == nil {
		answer.Data, err = EncodeResult(result)
	}
	if hang := (*HangError)(nil); errors.As(err, &hang) {
		w.f.log("job %.8s: %v", id, err)
		return false, err
	}
	if err != nil && context.Cause(work) == errDropped {
		w.change(func(m *Member) { m.Job, w.drop = "", nil })
		return true, nil
	}
	if ctx.Err() != nil {
		_ = m.Nak() // another may have it now
		_ = w.nc.FlushTimeout(time.Second)
		return false, nil
	}
	if err != nil {
		w.f.log("job %.8s could not be done: %v", id, err)
		answer.Header.Set(headerFault, oneLine(err.Error()))
	}
	stored := w.answer(ctx, m, answer)
	w.change(func(m *Member) {
		m.Job, w.drop = "", nil
		if err == nil {
			m.Measured++
		} else {
			m.Faults++
		}
	})
	return stored && err == nil, nil
}

// oneLine is text as it may stand in a header.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), 1000)]
}

// answer stores the answer and takes the job from the queue. If it cannot, the job is another's
// when the lease ends.
func (w *fleetWorker) answer(ctx context.Context, job, answer *nats.Msg) (stored bool) {
	end := time.Now().Add(w.f.patience())
	for {
		limited, cancel := context.WithTimeout(ctx, request)
		_, err := w.js.PublishMsg(answer, nats.Context(limited))
		cancel()
		if err == nil {
			break
		}
		if ctx.Err() != nil || time.Now().After(end) {
			w.f.log("an answer could not be stored: %v", err)
			return false
		}
		pause(ctx, w.f.reconnect())
	}
	_ = job.Ack() // if it gets lost, the job is done twice
	return true
}

// result fetches a job's content, has it measured, and keeps the lease meanwhile.
func (w *fleetWorker) result(ctx context.Context, m *nats.Msg, id string, lease time.Duration) (Result, error) {
	alive := time.NewTicker(lease / 3)
	defer alive.Stop()
	type outcome struct {
		result Result
		err    error
	}
	h, err := DecodeHeader(m.Data)
	if err != nil {
		return Result{}, err
	}
	if h.ID != id {
		return Result{}, &MessageError{Msg: "a job under another's ID"}
	}
	limit := 2*cmp.Or(h.Settings.Limit, simulatedLimit) + 2*lease
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		j, err := h.Job(func(hash string) ([]byte, error) { return w.blob(ctx, hash) })
		if err != nil {
			done <- outcome{err: err}
			return
		}
		r, err := w.measure(ctx, j)
		done <- outcome{r, err}
	}()
	ended := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case o := <-done:
			return o.result, o.err
		case <-alive.C:
			if ended != nil {
				_ = m.InProgress()
			}
		case <-ended:
			ended, late = nil, time.After(lease)
		case <-late:
			return Result{}, &HangError{After: limit}
		}
	}
}

// blob gets a blob's content, from the hub if it is not here: inputs are the same in job after job.
func (w *fleetWorker) blob(ctx context.Context, hash string) ([]byte, error) {
	if content, ok := w.blobs.get(hash); ok {
		return content, nil
	}
	content, err := getBlob(ctx, w.js, hash)
	if err == nil && Hash(content) == hash {
		w.blobs.put(hash, content)
	}
	return content, err
}

// poke has who waits on c look, now or when it waits again.
func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
