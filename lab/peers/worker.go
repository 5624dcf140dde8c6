package peers

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/runtime/npy"
)

// A worker is a process that has loaded one model with one engine, and runs it on command. It
// describes its model in its first line, a greeting; for each order that it then reads it writes a
// report. Both sides are JSON, one object a line; lab/peers/python/worker.py is the other
// implementation.
type (
	greeting struct {
		Error    string           `json:"error,omitempty"` // why it cannot run the model
		Version  string           `json:"version,omitempty"`
		Inputs   [][]int          `json:"inputs,omitempty"` // shapes, as the engine has them
		Types    []string         `json:"types,omitempty"`  // of ripc's inputs
		Outputs  [][]int          `json:"outputs,omitempty"`
		MACs     int64            `json:"macs,omitempty"`     // where the engine knows them
		Products map[string]int64 `json:"products,omitempty"` // by limit; sums of bits have one for each pair of bits
		// Sample are numbers of the first output, evenly spread, in the order of NHWC. The input is
		// picture's.
		Sample numbers `json:"sample,omitempty"`
	}
	order struct {
		Runs int `json:"runs,omitempty"`
		// Inputs are .npy files, one for each of the model's inputs, Outputs the file to write: the
		// first output for each element.
		Inputs  []string `json:"inputs,omitempty"`
		Outputs string   `json:"outputs,omitempty"`
		// Count asks for one run that qemu's counter counts.
		Count bool `json:"count,omitempty"`
	}
	report struct {
		NS    []int64 `json:"ns"`
		Maps  string  `json:"maps,omitempty"`  // Linux's list of the process's memory, behind Count
		Error string  `json:"error,omitempty"` // why it has no outputs
	}
)

// numbers are null in JSON where they are not finite, and NaN when they come back.
type numbers []float64

func (n numbers) MarshalJSON() ([]byte, error) {
	return json.Marshal(lists.Map(n, func(x float64) *float64 {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		return &x
	}))
}

func (n *numbers) UnmarshalJSON(data []byte) error {
	var all []*float64
	err := json.Unmarshal(data, &all)
	*n = lists.Map(all, func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	})
	return err
}

// worker is this side's end of one.
type worker struct {
	entry Entry
	greeting
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	errors *bytes.Buffer
	one    time.Duration // estimated time of a run
	times  []time.Duration
}

// start starts a worker and waits until it has run its model once. An engine that cannot run it is
// an *unfitError.
func start(ctx context.Context, e Entry, command []string, threads int, variables ...string) (_ *worker, err error) {
	defer stop.Catch(&err)
	w := &worker{entry: e, errors: &bytes.Buffer{}}
	w.cmd = exec.CommandContext(ctx, command[0], command[1:]...)
	w.cmd.Env = append(append(os.Environ(), fmt.Sprintf("OMP_NUM_THREADS=%d", threads), "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONHASHSEED=0"), variables...)
	w.cmd.Stderr = w.errors
	// A signal from the terminal is for the parent, which then ends its workers.
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	w.in = stop.Must(w.cmd.StdinPipe())
	out := stop.Must(w.cmd.StdoutPipe())
	w.out = bufio.NewScanner(out)
	w.out.Buffer(nil, 1<<24)
	stop.Check(w.cmd.Start())
	err = w.answer(&w.greeting)
	if err == nil && w.Error != "" {
		err = &unfitError{w.Error}
	}
	if err != nil {
		return nil, errors.Join(err, w.stop())
	}
	return w, nil
}

// unfitError says why an engine cannot run a model, in the engine's words.
type unfitError struct{ why string }

func (e *unfitError) Error() string { return e.why }

// answer reads the worker's next line.
func (w *worker) answer(to any) error {
	if !w.out.Scan() {
		err := cmp.Or(w.out.Err(), io.ErrUnexpectedEOF)
		_, _ = w.cmd.Process.Kill(), w.cmd.Wait() // behind that, all that it printed is there
		return &unfitError{"its process ended: " + cmp.Or(lastLine(w.errors.String()), err.Error())}
	}
	return json.Unmarshal(w.out.Bytes(), to)
}

// ask sends an order, and reads the answer.
func (w *worker) ask(o order, to any) error {
	if err := json.NewEncoder(w.in).Encode(o); err != nil {
		return err
	}
	return w.answer(to)
}

// run runs the model n times.
func (w *worker) run(n int) ([]time.Duration, error) {
	var r report
	if err := w.ask(order{Runs: n}, &r); err != nil {
		return nil, err
	}
	if len(r.NS) != n {
		return nil, fmt.Errorf("%s: %d runs, want %d", w.entry.Engine, len(r.NS), n)
	}
	times := make([]time.Duration, n)
	for i, ns := range r.NS {
		times[i] = time.Duration(ns)
	}
	return times, nil
}

// outputs returns the first output for each element of the .npy files inputs, one behind the other.
func (w *worker) outputs(inputs []string, scratch string) (*npy.Array, error) {
	var r report
	if err := w.ask(order{Inputs: inputs, Outputs: scratch}, &r); err != nil {
		return nil, err
	}
	if r.Error != "" {
		return nil, &unfitError{r.Error}
	}
	return npy.ReadFile(scratch)
}

// hold stops the process where it is, and with it the threads that some engines let spin after a
// run; release lets it go on.
func (w *worker) hold() error    { return w.cmd.Process.Signal(syscall.SIGSTOP) }
func (w *worker) release() error { return w.cmd.Process.Signal(syscall.SIGCONT) }

// stop ends the process.
func (w *worker) stop() error {
	err := w.in.Close()
	if errors.Is(err, os.ErrClosed) { // the process has ended before
		err = nil
	}
	_ = w.cmd.Process.Kill() // it may hang or be held; its exit status says nothing
	_ = w.cmd.Wait()
	return err
}

// lastLine is the last line of text that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// oneLine puts a text of several lines on one.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")), " ")
}
