// Package runner measures kernels for the tuner, wherever they can run: here in a child process, in
// a simulator, on a board behind ssh, on the workers of a fleet. All of these speak one protocol
// with one worker.
package runner

import (
	"context"
	"time"

	"ripc/autotune/records"
)

// Job asks for the measurement of one kernel.
type Job struct {
	// ID is the content's hash: of the library, the inputs and the settings. A runner may answer a
	// job that it has seen from memory.
	ID string
	// Library is an artifact of one stage (compile.Unit's codegen.Runnable).
	Library []byte
	// Inputs are the contents of the kernel's inputs, in order.
	Inputs   [][]byte
	Settings Settings
	// Program runs the library where it is measured, in a process of its own, if that is another
	// machine: runners that reach one fill it in. It does not count for ID.
	Program []byte
}

// Settings say how a kernel is measured. The zero value stands for Defaults.
type Settings struct {
	Threads int `json:"threads"`
	// Limit is how long all of the measurement may take; a kernel that does not end in time is
	// killed.
	Limit time.Duration `json:"limit"`
	// MinRuns and MinTime are the least that is measured behind the warm-up, MaxTime the most.
	MinRuns int           `json:"min_runs"`
	MinTime time.Duration `json:"min_time"`
	MaxTime time.Duration `json:"max_time"`
	// Interval is the width of the 95-percent confidence interval of the cost, as a share of it, at
	// which measuring ends.
	Interval float64 `json:"interval"`
	// Best is the cost to beat: a candidate that is clearly worse is not measured for longer. 0 is
	// none.
	Best float64 `json:"best"`
	// Cold empties the caches before each run.
	Cold bool `json:"cold,omitempty"`
	// Repeat tells measurements of one kernel apart, where results are kept by request (the
	// fleet's).
	Repeat int `json:"repeat,omitempty"`
}

// Result is the answer to a Job.
type Result struct {
	ID string `json:"id"`
	// Outputs are the SHA-256 of each output, in order, in hexadecimal: of the first run and, if
	// that one differs, of the last. Who asked compares them with those of the interpreter; a
	// worker is never told the right ones.
	Outputs     []string            `json:"outputs,omitempty"`
	Measurement records.Measurement `json:"measurement"` // its Failure says that the candidate failed, not the runner
	Machine     records.Machine     `json:"machine"`
}

// Runner measures kernels for one target. It may be used by several goroutines.
type Runner interface {
	// Machine describes the machine that measures; before the first job, the expected one.
	Machine() records.Machine
	// Unit is the unit of costs.
	Unit() records.Unit
	// Slots is how many jobs it makes sense to have under way at once: 1 for a core that is timed,
	// more for simulators and fleets.
	Slots() int
	// Here says that jobs take cores of this machine.
	Here() bool
	// Measure does one job. It fails with *LostError if the machine is lost, and with ctx's error
	// if that ends first: then nothing is known of the candidate. Mistakes of the candidate are in
	// the Result.
	Measure(ctx context.Context, j Job) (Result, error)
	// Close ends the processes and connections of the runner.
	Close() error
}

// LostError says that a runner can measure no more, or could not begin to.
type LostError struct {
	Runner string // "local", "ssh:pi@board"
	Err    error
}

func (e *LostError) Error() string { return "runner " + e.Runner + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *LostError) Unwrap() error { return e.Err }
