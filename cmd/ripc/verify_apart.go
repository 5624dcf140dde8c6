package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"ripc"
	"ripc/internal/files"
)

// Native code that is wrong can end its process. `ripc verify` therefore starts itself once more,
// as a worker with the same arguments. The worker verifies and writes verifyEvents to standard
// output, a line each. The command prints the results, and names the stage if the worker dies or
// hangs in compiled code.

// verifyEvent is a message of a worker.
type verifyEvent struct {
	Progress *verifyProgress    `json:",omitempty"`
	Watch    *verifyWatch       `json:",omitempty"`
	Report   *ripc.VerifyReport `json:",omitempty"` // the final one
	End      bool               `json:",omitempty"` // the last event before an orderly end
}

type verifyProgress struct {
	Done, Total int
	What        string
}

// verifyWatch is a call of VerifyRequest.Watch.
type verifyWatch struct {
	Report  *ripc.VerifyReport
	Running *ripc.VerifyRunning
}

// workerVariable is the environment variable that workers have.
const workerVariable = "RIPC_VERIFY_WORKER"

func isVerifyWorker() bool { return os.Getenv(workerVariable) != "" }

// verifyWorker verifies as a worker. It ends when life does; the command holds the other end.
func verifyWorker(ctx context.Context, life io.Reader, out io.Writer, r ripc.VerifyRequest) error {
	go func() {
		_, _ = io.Copy(io.Discard, life)
		os.Exit(exitFailure)
	}()
	e := json.NewEncoder(out)
	say := func(v verifyEvent) { _ = e.Encode(v) } // without a reader, life has ended, too
	defer say(verifyEvent{End: true})
	r.Progress = func(done, total int, what string) { say(verifyEvent{Progress: &verifyProgress{done, total, what}}) }
	r.Watch = func(rep *ripc.VerifyReport, at *ripc.VerifyRunning) { say(verifyEvent{Watch: &verifyWatch{rep, at}}) }
	rep, err := ripc.Verify(ctx, r)
	if err == nil {
		say(verifyEvent{Report: rep})
	}
	return err
}

// verifyApart verifies in a worker. limit is the longest time in compiled code without an event.
func verifyApart(ctx context.Context, limit time.Duration,
	progress func(done, total int, what string)) (*ripc.VerifyReport, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot start a process to verify in: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dir, remove, err := files.TempDir("")
	if err != nil {
		return nil, err
	}
	defer remove() // with the files that a crash leaves there
	cmd := exec.CommandContext(ctx, self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), workerVariable+"=1", "TMPDIR="+dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // lets it end simulations and remove files
	cmd.WaitDelay = 2 * time.Second
	stderr := &head{max: 1 << 20}
	cmd.Stderr = stderr
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("cannot start a process to verify in: %w", err)
	}
	defer life.Close()
	events, out := io.Pipe()
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start a process to verify in: %w", err)
	}
	w := &watcher{limit: limit, progress: progress, stop: func() { cancel(errLimit) }}
	read := make(chan struct{})
	go func() {
		defer close(read)
		w.read(events)
	}()
	err = cmd.Wait()
	out.Close()
	<-read
	stopped := errors.Is(context.Cause(ctx), errLimit)
	if !stopped && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return w.result(err, stopped, stderr.buf.Bytes())
}

// errLimit says that a worker was stopped because it took too long.
var errLimit = errors.New("time is up")

// watcher follows a worker.
type watcher struct {
	limit    time.Duration
	progress func(done, total int, what string)
	stop     func()
	report   *ripc.VerifyReport  // as far as it is known
	running  *ripc.VerifyRunning // in compiled code now; nil if none runs
	last     *ripc.VerifyRunning // its last value
	final    bool                // report is complete
	end      bool                // the worker ended in order
}

// read receives a worker's events.
func (w *watcher) read(events io.Reader) {
	defer func() { _, _ = io.Copy(io.Discard, events) }() // other output must not block the worker
	timer := time.AfterFunc(w.limit, w.stop)
	timer.Stop()
	defer timer.Stop()
	for d := json.NewDecoder(events); ; {
		var e verifyEvent
		if d.Decode(&e) != nil {
			return
		}
		switch {
		case e.Progress != nil:
			w.progress(e.Progress.Done, e.Progress.Total, e.Progress.What)
		case e.Watch != nil:
			timer.Stop()
			w.report, w.running = e.Watch.Report, e.Watch.Running
			if w.running != nil {
				w.last = w.running
				timer.Reset(w.limit)
			}
		case e.Report != nil:
			w.report, w.final = e.Report, true
		case e.End:
			w.end = true
		}
	}
}

// result returns the report of a worker that ended with err, or that was stopped.
func (w *watcher) result(err error, stopped bool, said []byte) (*ripc.VerifyReport, error) {
	crash := func(how string) (*ripc.VerifyReport, error) {
		w.report.OK = false
		w.report.Crash = &ripc.VerifyCrash{Running: *w.last, How: how}
		return w.report, nil
	}
	switch {
	case stopped && w.last != nil:
		return crash(ripc.VerifyTimedOut(w.limit))
	case w.end && w.final:
		return w.report, nil
	case w.end: // it has said why
		_, _ = stderr().Write(said)
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == exitUsage {
			return nil, &usageError{}
		}
		return nil, errFailed
	case w.running != nil:
		return crash("crashed (" + cause(err, said) + ")")
	case w.last != nil: // damaged memory may crash it later
		return crash("let the process crash afterwards (" + cause(err, said) + ")")
	}
	_, _ = stderr().Write(said)
	return nil, fmt.Errorf("the process that was to verify ended without a result: %v", err)
}

// cause returns the reason why a worker ended. Go's runtime turns signals into text and an exit
// code.
func cause(err error, stderr []byte) string {
	for _, s := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGILL, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGTRAP,
		syscall.SIGABRT} {
		name := map[syscall.Signal]string{syscall.SIGSEGV: "SIGSEGV", syscall.SIGILL: "SIGILL",
			syscall.SIGBUS: "SIGBUS",
			syscall.SIGFPE: "SIGFPE", syscall.SIGTRAP: "SIGTRAP", syscall.SIGABRT: "SIGABRT"}[s]
		if regexp.MustCompile(`(?m)^(\[signal )?` + name + `: `).Match(stderr) {
			return "signal: " + s.String()
		}
	}
	if m := regexp.MustCompile(`(?m)^(fatal error|panic): .*$`).Find(stderr); m != nil {
		return string(m)
	}
	if err == nil {
		return "it ended the process"
	}
	return err.Error()
}

// head keeps the first bytes written to it.
type head struct {
	buf bytes.Buffer
	max int
}

func (h *head) Write(p []byte) (int, error) {
	h.buf.Write(p[:min(len(p), h.max-h.buf.Len())])
	return len(p), nil
}
