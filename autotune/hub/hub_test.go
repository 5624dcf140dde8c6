package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"ripc/autotune/hub"
	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/targets"
)

// Environment of a test's worker in a process of its own.
const (
	workerURL  = "RIPC_TEST_WORKER_URL"
	workerKey  = "RIPC_TEST_WORKER_KEY"
	workerMode = "RIPC_TEST_WORKER_MODE"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(workerURL); url != "" {
		f := quick(url, os.Getenv(workerKey))
		err := f.Work(context.Background(), board(), func(ctx context.Context, j runner.Job) (runner.Result, error) {
			fmt.Println("has", j.ID) // who reads it kills this process or stops it
			if os.Getenv(workerMode) == "hold" {
				select {}
			}
			return honest(ctx, j)
		})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// quick is a fleet whose times are for tests.
func quick(url, key string) runner.Fleet {
	return runner.Fleet{URL: url, Key: key, Lease: time.Second, Heartbeat: 200 * time.Millisecond, Patience: 20 * time.Second,
		Program: func(context.Context, string) ([]byte, error) { return []byte("program"), nil }}
}

func rpi3(t testing.TB) targets.Target {
	t.Helper()
	target, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// board is what a worker says of itself that measures for rpi3.
func board() runner.Announcement {
	target, err := targets.Lookup("rpi3")
	if err != nil {
		panic(err)
	}
	return runner.Announcement{Version: "test", Arch: target.Arch, CPU: "Cortex-A53", Features: target.Features}
}

// outputs are what the job's "kernel" computes: the hashes of its inputs turned round.
func outputs(j runner.Job) []string {
	var all []string
	for _, in := range j.Inputs {
		all = append(all, runner.Hash(append(in, j.Library...)))
	}
	return all
}

func honest(_ context.Context, j runner.Job) (runner.Result, error) {
	cost := float64(len(j.Library))
	return runner.Result{ID: j.ID, Outputs: outputs(j), Machine: records.Machine{CPU: "Cortex-A53"},
		Measurement: records.Measurement{Cost: cost, Unit: records.Nanoseconds, Low: cost, High: cost, Samples: []float64{cost}}}, nil
}

func job(n int) runner.Job {
	return runner.NewJob([]byte(fmt.Sprintf("library %d", n)), [][]byte{[]byte("input"), {}}, runner.Settings{Limit: 300 * time.Millisecond})
}

// start starts a hub that ends with the test.
func start(t *testing.T, o hub.Options) *hub.Hub {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	o.Log = func(text string) { t.Log("hub: " + text) }
	h, err := hub.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// work starts a worker in this process that ends with the test.
func work(t *testing.T, f runner.Fleet, a runner.Announcement, measure func(context.Context, runner.Job) (runner.Result, error)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := f.Work(ctx, a, measure); err != nil {
			t.Errorf("worker: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); wait.Wait() })
}

func open(t *testing.T, f runner.Fleet) runner.Runner {
	t.Helper()
	f.Log = func(text string) { t.Log("tuner: " + text) }
	r, err := f.Open(t.Context(), rpi3(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// measureAll has n jobs measured, a few at a time, and checks all results.
func measureAll(t *testing.T, r runner.Runner, from, n int) {
	t.Helper()
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := range n {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			j := job(from + i)
			got, err := r.Measure(t.Context(), j)
			if err != nil {
				t.Errorf("job %d: %v", from+i, err)
				return
			}
			if got.ID != j.ID || fmt.Sprint(got.Outputs) != fmt.Sprint(outputs(j)) || got.Measurement.Cost != float64(len(j.Library)) {
				t.Errorf("job %d: %+v", from+i, got)
			}
		})
	}
	wait.Wait()
}

func TestFleet(t *testing.T) {
	h := start(t, hub.Options{})
	f := quick(h.URL(), "")
	var done atomic.Int32
	count := func(ctx context.Context, j runner.Job) (runner.Result, error) { done.Add(1); return honest(ctx, j) }
	for range 2 {
		work(t, f, board(), count)
	}
	r := open(t, f)
	if m := r.Machine(); m.CPU != "Cortex-A53" || m.Simulated || r.Unit() != records.Nanoseconds || r.Slots() < 2 {
		t.Errorf("machine %+v, unit %s, %d slots", m, r.Unit(), r.Slots())
	}
	measureAll(t, r, 0, 40)
	if n := done.Load(); n != 40 {
		t.Errorf("%d measurements for 40 jobs", n)
	}
	// What is there is not measured again, by this tuner or another.
	measureAll(t, r, 20, 20)
	measureAll(t, open(t, f), 0, 20)
	if n := done.Load(); n != 40 {
		t.Errorf("%d measurements for 40 jobs that were asked for twice", n)
	}
	s, err := f.Status(t.Context())
	for end := time.Now().Add(10 * time.Second); err == nil && s.Running > 0 && time.Now().Before(end); s, err = f.Status(t.Context()) {
		time.Sleep(10 * time.Millisecond) // a worker acknowledges a job behind its result, which the tuner may have first
	}
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for _, m := range s.Members {
		measured += m.Measured
		if !m.Alive || m.CPU != "Cortex-A53" || m.Seen.IsZero() {
			t.Errorf("member %+v", m)
		}
	}
	if len(s.Members) != 2 || measured > 40 || measured < 38 || s.Queued != 0 || s.Running != 0 || s.Results != 40 {
		t.Errorf("status %+v", s)
	}
}

// TestBigBlobs sends contents of many messages.
func TestBigBlobs(t *testing.T) {
	f := quick(start(t, hub.Options{}).URL(), "")
	work(t, f, board(), honest)
	r := open(t, f)
	big := make([]byte, 3<<20+17)
	for i := range big {
		big[i] = byte(i * 7 >> 3)
	}
	j := runner.NewJob(big, [][]byte{big[:1<<20], big[1:], nil}, runner.Settings{})
	got, err := r.Measure(t.Context(), j)
	if err != nil || fmt.Sprint(got.Outputs) != fmt.Sprint(outputs(j)) {
		t.Errorf("%+v, %v", got, err)
	}
}

// child starts a worker in a process of its own. has gives the IDs of the jobs that it begins.
func child(t *testing.T, h *hub.Hub, key, mode string) (p *os.Process, has <-chan string) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), workerURL+"="+h.URL(), workerKey+"="+key, workerMode+"="+mode)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	go func() {
		for {
			var id string
			if _, err := fmt.Fscanf(out, "has %s\n", &id); err != nil {
				return
			}
			lines <- id
		}
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c.Process, lines
}

func next(t *testing.T, has <-chan string) {
	t.Helper()
	select {
	case <-has:
	case <-time.After(20 * time.Second):
		t.Fatal("the worker got no job")
	}
}

// garbage answers at once, with what cannot be.
func garbage(n *atomic.Int32) func(context.Context, runner.Job) (runner.Result, error) {
	return func(ctx context.Context, j runner.Job) (runner.Result, error) {
		r, _ := honest(ctx, j)
		switch n.Add(1) % 5 {
		case 0:
			r.ID = strings.Repeat("ab", 32)
		case 1:
			r.Measurement.Cost = 1e30
		case 2:
			r.Measurement.Unit = "feet"
		case 3:
			r.Outputs = []string{"none"}
		case 4:
			r.Machine.CPU = "something else"
		}
		return r, nil
	}
}

// TestLossAndGarbage has one worker killed in mid-job, one stopped in mid-job, and one that gives garbage, beside one that is well.
// Nothing is lost, and what is wrong is not taken.
func TestLossAndGarbage(t *testing.T) {
	dir := t.TempDir()
	o := hub.Options{Dir: dir}
	keys := map[string]string{}
	for _, name := range []string{"tuner", "good", "killed", "stopped", "garbage"} {
		keys[name] = filepath.Join(dir, name+".key")
		role := hub.Worker
		if name == "tuner" {
			role = hub.Tuner
		}
		if _, err := hub.NewKey(o.Dir, role, name, keys[name]); err != nil {
			t.Fatal(err)
		}
	}
	h := start(t, o)
	killed, killedHas := child(t, h, keys["killed"], "hold")
	stopped, stoppedHas := child(t, h, keys["stopped"], "hold")
	var lies atomic.Int32
	f := quick(h.URL(), keys["tuner"])
	r := open(t, f) // which waits for the first
	finished := make(chan struct{})
	go func() { measureAll(t, r, 0, 30); close(finished) }()
	next(t, killedHas)
	if err := killed.Kill(); err != nil {
		t.Fatal(err)
	}
	next(t, stoppedHas)
	if err := stopped.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	work(t, quick(h.URL(), keys["garbage"]), board(), garbage(&lies))
	for lies.Load() < 3 {
		time.Sleep(10 * time.Millisecond)
	}
	work(t, quick(h.URL(), keys["good"]), board(), honest)
	select {
	case <-finished:
	case <-time.After(30 * time.Second):
		t.Fatal("the run does not end")
	}
	if n := lies.Load(); n < 3 || n > 20 {
		t.Errorf("%d answers that are garbage; it should have been told to rest", n)
	}
}

// jetStream is a connection to the server at url, until t ends.
func jetStream(t *testing.T, url string) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

// TestStubborn has a worker that answers at once with what is no result, and does not rest when it is told to: on a hub without keys, which cannot
// keep it out, the others do the jobs nevertheless.
func TestStubborn(t *testing.T) {
	h := start(t, hub.Options{})
	f := quick(h.URL(), "")
	work(t, f, board(), honest)
	r := open(t, f)
	measureAll(t, r, 0, 1) // so that the queue is there
	nc, js := jetStream(t, h.URL())
	jobs, err := js.Stream(t.Context(), "ripc-jobs")
	if err != nil {
		t.Fatal(err)
	}
	pool := <-jobs.ConsumerNames(t.Context()).Name()
	var lies atomic.Int32
	for range 25 { // pull more often than who is honest
		queue, err := jobs.Consumer(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		pulled, err := queue.Consume(func(m jetstream.Msg) {
			lies.Add(1)
			id := strings.Split(m.Subject(), ".")
			_ = nc.Publish("ripc.result."+id[2]+"."+id[3]+".stubborn", []byte("garbage"))
			_ = m.Ack()
		}, jetstream.PullMaxMessages(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pulled.Stop)
	}
	measureAll(t, r, 1, 12)
	if n := lies.Load(); n < 12 {
		t.Errorf("it pulled %d jobs alone", n)
	}
}

// TestHangingMeasurement wants a worker to give up that cannot end a measurement, and the job to be done by another.
func TestHangingMeasurement(t *testing.T) {
	f := quick(start(t, hub.Options{}).URL(), "")
	hung := make(chan error, 1)
	go func() {
		hung <- f.Work(t.Context(), board(), func(context.Context, runner.Job) (runner.Result, error) { select {} })
	}()
	r := open(t, f)
	finished := make(chan struct{})
	go func() { measureAll(t, r, 0, 1); close(finished) }()
	select {
	case err := <-hung:
		if hang := (*runner.HangError)(nil); !errors.As(err, &hang) {
			t.Fatalf("the worker ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the worker hangs")
	}
	work(t, f, board(), honest)
	<-finished
}

// TestDeadlyJob wants a job that is lost again and again to be a failure of its candidate, and the next to be measured.
func TestDeadlyJob(t *testing.T) {
	f := quick(start(t, hub.Options{}).URL(), "")
	f.Lease = 200 * time.Millisecond
	nc, err := nats.Connect(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	defer func() { cancel(); wait.Wait() }()
	wait.Go(func() { // is there, takes jobs, and never says a word about them
		text, err := json.Marshal(runner.Member{ID: "silent", Announcement: board()})
		if err != nil {
			t.Error(err)
		}
		for ctx.Err() == nil {
			if err := nc.Publish("ripc.worker.silent", text); err != nil {
				t.Error(err)
			}
			if s, err := js.Stream(ctx, "ripc-jobs"); err == nil {
				for name := range s.ConsumerNames(ctx).Name() {
					if c, err := s.Consumer(ctx, name); err == nil {
						_, _ = c.FetchNoWait(1)
					}
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	r := open(t, f)
	got, err := r.Measure(t.Context(), job(0))
	if err != nil || got.Measurement.Failure == nil || got.Measurement.Failure.Kind != records.Crashed || got.ID != job(0).ID {
		t.Fatalf("%+v, %v", got, err)
	}
	cancel()
	wait.Wait()
	work(t, f, board(), honest)
	measureAll(t, r, 1, 3)
}

func TestHubRestarts(t *testing.T) {
	o := hub.Options{Dir: t.TempDir()}
	h := start(t, o)
	f := quick(h.URL(), "")
	o.Listen = strings.TrimPrefix(h.URL(), "nats://")
	slow := func(ctx context.Context, j runner.Job) (runner.Result, error) {
		time.Sleep(20 * time.Millisecond)
		return honest(ctx, j)
	}
	for range 2 {
		work(t, f, board(), slow)
	}
	r := open(t, f)
	finished := make(chan struct{})
	go func() { measureAll(t, r, 0, 60); close(finished) }()
	time.Sleep(300 * time.Millisecond)
	h.Close()
	time.Sleep(300 * time.Millisecond)
	h = start(t, o)
	time.Sleep(300 * time.Millisecond)
	// Once more, and this time the hub forgets all.
	h.Close()
	if err := os.RemoveAll(o.Dir); err != nil {
		t.Fatal(err)
	}
	start(t, o)
	select {
	case <-finished:
	case <-time.After(30 * time.Second):
		t.Fatal("the run does not end")
	}
}

// TestFaults wants a worker that cannot do jobs not to stand in the way of one that can, and a job that none can do to fail.
func TestFaults(t *testing.T) {
	f := quick(start(t, hub.Options{}).URL(), "")
	broken := errors.New("no disk")
	work(t, f, board(), func(context.Context, runner.Job) (runner.Result, error) { return runner.Result{}, broken })
	r := open(t, f)
	var lost *runner.LostError
	if _, err := r.Measure(t.Context(), job(100)); !errors.As(err, &lost) || !strings.Contains(err.Error(), "no disk") {
		t.Errorf("a job that none can do: %v", err)
	}
	work(t, f, board(), honest)
	measureAll(t, r, 0, 10)
}

func TestNoWorker(t *testing.T) {
	f := quick(start(t, hub.Options{}).URL(), "")
	f.Patience = 500 * time.Millisecond
	weak := board()
	weak.Features = nil
	work(t, f, weak, honest)
	_, err := f.Open(t.Context(), rpi3(t))
	var none *runner.NoWorkerError
	var lost *runner.LostError
	if !errors.As(err, &none) || !errors.As(err, &lost) || none.Target != "rpi3" {
		t.Errorf("%v", err)
	}
	if _, err := runner.Open(t.Context(), "nats://127.0.0.1:1", rpi3(t), runner.Options{}); !errors.As(err, &lost) || lost.Runner != "nats://127.0.0.1:1" || errors.As(lost.Err, &lost) {
		t.Errorf("no hub, opened by name: %v", err)
	}
	f.URL = "nats://127.0.0.1:1"
	if _, err := f.Open(t.Context(), rpi3(t)); !errors.As(err, &lost) {
		t.Errorf("no hub: %v", err)
	}
}

// TestCancel wants a tuner that is interrupted to take its jobs back, and the worker to end the one that it has.
func TestCancel(t *testing.T) {
	f := quick(start(t, hub.Options{}).URL(), "")
	began, ended := make(chan struct{}, 10), make(chan struct{}, 10)
	work(t, f, board(), func(ctx context.Context, j runner.Job) (runner.Result, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return runner.Result{}, ctx.Err()
	})
	r := open(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, err := r.Measure(ctx, job(0)); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	<-began
	cancel()
	wait.Wait()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("the worker goes on")
	}
	if s, err := f.Status(t.Context()); err != nil || s.Queued > 0 || s.Results > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestRights tries what a worker's key does not allow.
func TestRights(t *testing.T) {
	dir := t.TempDir()
	o := hub.Options{Dir: dir}
	path := filepath.Join(dir, "w.key")
	key, err := hub.NewKey(o.Dir, hub.Worker, "w", path)
	if err != nil {
		t.Fatal(err)
	}
	tunerPath := filepath.Join(dir, "t.key")
	if _, err := hub.NewKey(o.Dir, hub.Tuner, "t", tunerPath); err != nil {
		t.Fatal(err)
	}
	h := start(t, o)
	f := quick(h.URL(), path)
	f.Patience = 300 * time.Millisecond
	if _, err := f.Open(t.Context(), rpi3(t)); err == nil {
		t.Error("a worker's key opens a tuner's runner")
	}
	if _, err := f.Status(t.Context()); err == nil {
		t.Error("a worker's key asks for the status")
	}
	for name, f := range map[string]runner.Fleet{
		"no key":                   quick(h.URL(), ""),
		"a key of another hub":     quick(h.URL(), stranger(t)),
		"a key for another's cert": quick(h.URL(), swapped(t, path)),
	} {
		f.Patience = 300 * time.Millisecond
		if _, err := f.Open(t.Context(), rpi3(t)); err == nil {
			t.Errorf("%s: is let in", name)
		}
	}
	k, err := runner.ReadFleetKey(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 100)
	nc := connect(t, h.URL(), k, refused)
	for _, subject := range []string{"ripc.job.x.y", "ripc.blob.x.0", "ripc.result.x.y.other", "ripc.worker.other", "ripc.rest." + key.Public, "$JS.API.STREAM.LIST", "$JS.API.STREAM.DELETE.ripc-jobs",
		"$JS.API.CONSUMER.CREATE.ripc-jobs.x", "$JS.API.DIRECT.GET.ripc-results.ripc.result.x", "$JS.API.STREAM.MSG.DELETE.ripc-jobs", "$SYS.REQ.SERVER.PING"} {
		if err := nc.Publish(subject, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, refused, "publishes to "+subject)
	}
	for _, subject := range []string{">", "ripc.>", "ripc.inbox.>", "_INBOX.>", "ripc.job.>", "ripc.stored.>", "$JS.>", "$SYS.>"} {
		if _, err := nc.Subscribe(subject, func(*nats.Msg) {}); err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, refused, "subscribes to "+subject)
	}
	// It does what a worker does, and no longer when its line is gone.
	work(t, quick(h.URL(), path), board(), honest)
	measureAll(t, open(t, quick(h.URL(), tunerPath)), 0, 3)
	keys := filepath.Join(dir, "keys")
	text, err := os.ReadFile(keys)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keys, []byte(strings.Replace(string(text), "worker "+key.Public, "# ", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if nc, err := dial(h.URL(), k); err == nil {
		nc.Close()
		t.Error("a key is let in that was taken out")
	}
}

func wantRefusal(t *testing.T, refused <-chan error, what string) {
	t.Helper()
	select {
	case err := <-refused:
		if !errors.Is(err, nats.ErrPermissionViolation) && !strings.Contains(err.Error(), "ermissions") {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(5 * time.Second):
		t.Errorf("a worker %s", what)
	}
}

// stranger is the path of a key of another hub, with this test's certificate in it or not: it does not matter.
func stranger(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.key")
	if _, err := hub.NewKey(dir, hub.Tuner, "s", path); err != nil {
		t.Fatal(err)
	}
	return path
}

// swapped is a good key with another hub's certificate.
func swapped(t *testing.T, path string) string {
	t.Helper()
	good, err := runner.ReadFleetKey(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := runner.ReadFleetKey(stranger(t))
	if err != nil {
		t.Fatal(err)
	}
	good.Certificate = other.Certificate
	out := filepath.Join(t.TempDir(), "swapped.key")
	if err := os.WriteFile(out, good.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOpenHub(t *testing.T) {
	for listen, ok := range map[string]bool{"127.0.0.1:0": true, "localhost:0": true, "[::1]:0": true, "0.0.0.0:0": false, ":0": false, "example.com:0": false} {
		h, err := hub.Start(t.Context(), hub.Options{Listen: listen, Dir: t.TempDir()})
		if h != nil {
			h.Close()
		}
		refused := (*hub.OpenHubError)(nil)
		if errors.As(err, &refused) == ok {
			t.Errorf("%s: %v", listen, err)
		}
	}
}

// TestRefused: a worker that the hub does not let in says so, and the hub does.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	var said, logged []string
	o := hub.Options{Dir: dir, Listen: "127.0.0.1:0", Log: func(text string) { mu.Lock(); logged = append(logged, text); mu.Unlock() }}
	path := filepath.Join(dir, "w.key")
	key, err := hub.NewKey(o.Dir, hub.Worker, "w", path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := hub.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := os.WriteFile(filepath.Join(dir, "keys"), nil, 0o600); err != nil { // taken out again
		t.Fatal(err)
	}
	f := quick(h.URL(), path)
	f.Log = func(text string) { mu.Lock(); said = append(said, text); mu.Unlock() }
	work(t, f, board(), honest)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		mu.Lock()
		here, there := strings.Join(said, "\n"), strings.Join(logged, "\n")
		mu.Unlock()
		if strings.Contains(here, "the hub does not let this worker in") && strings.Contains(there, "key "+key.Public+" is not one of this hub's") {
			if strings.Count(here, "does not let") != 1 {
				t.Errorf("it says so again and again:\n%s", here)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the worker says:\n%s\nthe hub says:\n%s", here, there)
		}
	}
}

// TestReplies: the answers to a worker's requests reach nobody else, whatever subject it asks for them on. The server would send them
// there in its own name, which may do anything.
func TestReplies(t *testing.T) {
	dir := t.TempDir()
	o := hub.Options{Dir: dir}
	nkey := func(role hub.Role, name string) runner.FleetKey {
		path := filepath.Join(dir, name+".key")
		if _, err := hub.NewKey(o.Dir, role, name, path); err != nil {
			t.Fatal(err)
		}
		k, err := runner.ReadFleetKey(path)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	worker, other, tuner := nkey(hub.Worker, "w"), nkey(hub.Worker, "o"), nkey(hub.Tuner, "t")
	h := start(t, o)
	public := func(k runner.FleetKey) string {
		pair, err := nkeys.FromSeed(k.Seed)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	heard := make(chan string, 100)
	listen := func(k runner.FleetKey, subjects ...string) {
		nc := connect(t, h.URL(), k, make(chan error, 100))
		for _, s := range subjects {
			if _, err := nc.Subscribe(s, func(m *nats.Msg) { heard <- m.Subject }); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	listen(tuner, "ripc.>", "_INBOX.>", "$JS.API.STREAM.>")
	listen(other, "ripc.rest."+public(other), "ripc.inbox."+public(other)+".>")
	nc := connect(t, h.URL(), worker, make(chan error, 100))
	own, err := nc.SubscribeSync("ripc.inbox." + public(worker) + ".>")
	if err != nil {
		t.Fatal(err)
	}
	requests := []string{"$JS.API.DIRECT.GET.ripc-blobs.ripc.blob.x.0", "$JS.API.CONSUMER.MSG.NEXT.ripc-jobs.x", "ripc.result.x.y." + public(worker), "$JS.ACK.ripc-jobs.x"}
	for _, subject := range requests {
		for _, reply := range []string{"ripc.job.x.y", "ripc.worker." + public(other), "ripc.rest." + public(other), "ripc.inbox." + public(other) + ".1", "_INBOX.x", "$JS.API.STREAM.PURGE.ripc-jobs"} {
			if err := nc.PublishRequest(subject, reply, []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Its own are answered, and behind the others.
	if err := nc.PublishRequest(requests[0], "ripc.inbox."+public(worker)+".1", nil); err != nil {
		t.Fatal(err)
	}
	if m, err := own.NextMsg(5 * time.Second); err != nil || m.Header.Get("Status") != "404" {
		t.Errorf("the answer to its own request: %v %v", m, err)
	}
	time.Sleep(300 * time.Millisecond)
	for len(heard) > 0 {
		if s := <-heard; !strings.HasPrefix(s, "ripc.result.x.y.") && !strings.HasPrefix(s, "ripc.stored.x.y.") && !strings.HasPrefix(s, "$JS.API.STREAM.INFO") {
			t.Errorf("somebody else hears of %s", s)
		}
	}
}
