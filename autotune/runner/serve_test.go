package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/runtime"
)

// fake answers jobs by their library: "wait" until it is stopped, "fail" with an error, all else with a cost of 7.
type fake struct {
	jobs    []runner.Job
	stopped chan struct{}
}

func (f *fake) Machine() records.Machine { return records.Machine{CPU: "fake", Simulated: true} }
func (f *fake) Unit() records.Unit       { return records.Nanoseconds }
func (f *fake) Here() bool               { return true }
func (f *fake) Slots() int               { return 1 }
func (f *fake) Close() error             { return nil }

func (f *fake) Measure(ctx context.Context, j runner.Job) (runner.Result, error) {
	f.jobs = append(f.jobs, j)
	switch string(j.Library) {
	case "wait":
		<-ctx.Done()
		close(f.stopped)
		return runner.Result{}, ctx.Err()
	case "fail":
		return runner.Result{}, errors.New("no such kernel")
	}
	return runner.Result{ID: j.ID, Outputs: []string{runner.Hash(j.Library)}, Measurement: records.Measurement{Cost: 7}}, nil
}

// counter counts what is written.
type counter struct {
	io.WriteCloser
	bytes int
}

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return c.WriteCloser.Write(p)
}

// serve starts a worker, and returns a client and what it says when it ends.
func serve(t *testing.T, f *fake) (runner.Client, *counter, chan error) {
	t.Helper()
	in, toWorker := io.Pipe()
	fromWorker, out := io.Pipe()
	end := make(chan error, 1)
	go func() {
		_, _ = io.WriteString(out, "Welcome to the board!\n") // by a login shell
		end <- runner.Serve(t.Context(), f, runner.Announce(f), in, out)
		out.Close()
	}()
	sent := &counter{WriteCloser: toWorker}
	c, err := runner.NewClient(fromWorker, sent)
	if err != nil {
		t.Fatal(err)
	}
	return c, sent, end
}

func TestServe(t *testing.T) {
	f := &fake{stopped: make(chan struct{})}
	c, sent, end := serve(t, f)
	w := c.Worker()
	if w.CPU != "fake" || w.Simulates != "" || w.Arch != runtime.HostArch() || len(w.Version) != 64 || w.Memory == 0 || !reflect.DeepEqual(w.Features, runtime.HostFeatures()) {
		t.Errorf("%+v", w)
	}
	in := [][]byte{bytes.Repeat([]byte{1}, 1<<20), {}}
	for k, library := range []string{"one", "two", "one"} {
		before := sent.bytes
		j := runner.NewJob([]byte(library), in, runner.Settings{Threads: k})
		j.Program = []byte("program")
		got, err := c.Measure(j)
		if err != nil || got.ID != j.ID || got.Measurement.Cost != 7 || !reflect.DeepEqual(f.jobs[k], j) {
			t.Errorf("%+v, %v", got, err)
		}
		if n := sent.bytes - before; n > 1<<20 != (k == 0) {
			t.Errorf("job %d: %d bytes were sent", k, n)
		}
	}
	var said *runner.WorkerError
	if _, err := c.Measure(runner.NewJob([]byte("fail"), in, runner.Settings{})); !errors.As(err, &said) || !strings.Contains(said.Text, "no such kernel") {
		t.Errorf("%v", err)
	}
	if _, err := c.Measure(runner.NewJob([]byte("three"), in, runner.Settings{})); err != nil {
		t.Errorf("behind an error: %v", err)
	}
	// The end of the connection stops what is being measured.
	go func() {
		time.Sleep(50 * time.Millisecond)
		sent.Close()
	}()
	if _, err := c.Measure(runner.NewJob([]byte("wait"), in, runner.Settings{})); !errors.Is(err, io.EOF) {
		t.Errorf("a connection that ends: %v", err)
	}
	<-f.stopped
	if err := <-end; err != nil {
		t.Errorf("the worker ends with %v", err)
	}
}

func TestServeRefusals(t *testing.T) {
	h, _ := runner.NewJob([]byte("library"), nil, runner.Settings{}).Pack()
	text, err := runner.EncodeHeader(h)
	if err != nil {
		t.Fatal(err)
	}
	ask := runner.Frame('J', fmt.Appendf(nil, `{"measure":%s}`, text))
	for what, in := range map[string][]byte{
		"kind":           []byte("X\x00\x00\x00\x00"),
		"length":         []byte("J\xff\xff\xff\xff"),
		"no JSON":        runner.Frame('J', []byte("hello")),
		"nothing":        runner.Frame('J', []byte("{}")),
		"a blob":         runner.Frame('B', []byte("x")),
		"a new message":  runner.Frame('J', []byte(`{"format":"disk"}`)),
		"another job":    runner.Frame('J', bytes.Replace(fmt.Appendf(nil, `{"measure":%s}`, text), []byte(`"threads":0`), []byte(`"threads":1`), 1)),
		"another blob":   append(bytes.Clone(ask), runner.Frame('B', []byte("x"))...),
		"no blob at all": append(bytes.Clone(ask), ask...),
	} {
		var bad *runner.MessageError
		if err := runner.Serve(t.Context(), &fake{}, runner.Announcement{}, bytes.NewReader(in), io.Discard); !errors.As(err, &bad) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, in := range map[string][]byte{"in a length": []byte("J\x00"), "in a message": runner.Frame('J', []byte("{}"))[:6]} {
		if err := runner.Serve(t.Context(), &fake{}, runner.Announcement{}, bytes.NewReader(in), io.Discard); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("an end %s: %v", what, err)
		}
	}
	if _, err := runner.NewClient(strings.NewReader(strings.Repeat("banner ", 1<<16)), io.Discard); err == nil || !strings.Contains(err.Error(), "banner") {
		t.Errorf("what is no worker: %v", err)
	}
	if _, err := runner.NewClient(strings.NewReader(runner.Magic+string(runner.Frame('J', []byte(`{"worker":{"protocol":"ripc.worker/0"}}`)))), io.Discard); err == nil {
		t.Error("another protocol: no error")
	}
}

func TestStore(t *testing.T) {
	s := runner.NewStore(10)
	s.Put("a", []byte("1234"))
	s.Put("b", []byte("1234"))
	s.Get("a")
	s.Put("c", []byte("1234"))   // b is the oldest
	s.Put("d", make([]byte, 11)) // never fits
	for hash, want := range map[string]bool{"a": true, "b": false, "c": true, "d": false} {
		if _, ok := s.Get(hash); ok != want {
			t.Errorf("%s is there: %v", hash, ok)
		}
	}
}

// session is what a client sends, and what a worker answers.
func session(f testing.TB) (client, worker []byte) {
	j := runner.NewJob([]byte("library"), [][]byte{[]byte("in")}, runner.Settings{})
	h, _ := j.Pack()
	text, err := runner.EncodeHeader(h)
	if err != nil {
		f.Fatal(err)
	}
	client = runner.Frame('J', fmt.Appendf(nil, `{"measure":%s}`, text))
	client = append(append(client, runner.Frame('B', j.Library)...), runner.Frame('B', j.Inputs[0])...)
	answered, end := io.Pipe() // which keeps the connection open until the answer is there
	out := &answer{end: end}
	me := runner.Announcement{Protocol: runner.Protocol}
	if err := runner.Serve(context.Background(), &fake{}, me, io.MultiReader(bytes.NewReader(client), answered), out); err != nil {
		f.Fatal(err)
	}
	return client, out.Bytes()
}

// answer ends a connection when there is a result.
type answer struct {
	bytes.Buffer
	end io.Closer
}

func (a *answer) Write(p []byte) (int, error) {
	if n, err := a.Buffer.Write(p); err != nil {
		return n, err
	}
	if bytes.Contains(a.Bytes(), []byte(`{"result"`)) {
		return len(p), a.end.Close()
	}
	return len(p), nil
}

// FuzzServe gives a worker anything.
func FuzzServe(f *testing.F) {
	client, _ := session(f)
	f.Add(client)
	f.Add([]byte("J\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.ReplaceAll(data, []byte("wait"), nil)
		var bad *runner.MessageError
		err := runner.Serve(t.Context(), &fake{}, runner.Announcement{}, bytes.NewReader(data), io.Discard)
		if err != nil && !errors.As(err, &bad) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v", err)
		}
	})
}

// FuzzClient lets a worker answer anything.
func FuzzClient(f *testing.F) {
	_, worker := session(f)
	f.Add(worker)
	f.Add([]byte(runner.Magic))
	j := runner.NewJob([]byte("library"), [][]byte{[]byte("in")}, runner.Settings{})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := runner.NewClient(bytes.NewReader(data), io.Discard)
		if err != nil {
			return
		}
		if r, err := c.Measure(j); err == nil && (r.ID != j.ID || r.Measurement.Cost <= 0 && r.Measurement.Failure == nil) {
			t.Errorf("%+v", r)
		}
	})
}
