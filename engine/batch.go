package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"ripc/engine/simulate"
	"ripc/engine/wasm"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// batches is the common part of engines that start a process per batch. Memory outlives a batch in
// this process only.
type batches struct {
	o    Options
	last *Memory // after the last job
}

// step is a job of a batch, with its initial memory; nil continues with the memory of the step
// before.
type step struct {
	Job
	start *Memory
	keep  bool // asks for stepResult.memory, all of it
}

// stepResult is the result of a step. memory has outputs if they were asked for, and Inputs only if
// the engine can read them back.
type stepResult struct {
	memory   *Memory
	counters Counters // Took may be 0
}

// run runs jobs as one batch of the network d. fresh makes the initial memory of a job with Inputs.
// process runs the steps, and stops them when its context ends. Faults of the compiled code are
// *FaultError.
func (b *batches) run(ctx context.Context, d *describe.Artifact, jobs []Job, fresh func(Job) *Memory,
	process func(context.Context, []step) ([]stepResult, error)) ([]Result, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	steps := make([]step, len(jobs))
	inputs := make([][][]byte, len(jobs))
	stages := 0
	for k, j := range jobs {
		s := step{Job: j, start: j.From, keep: j.Keep || k == len(jobs)-1}
		switch {
		case j.From != nil:
		case j.Inputs != nil:
			if err := checkInputs(d, j.Inputs); err != nil {
				return nil, err
			}
			s.start = fresh(j)
		case k > 0:
			inputs[k] = inputs[k-1]
		default:
			if s.start = b.last; s.start == nil {
				return nil, fmt.Errorf("engine: the first job of %s has no inputs", d.Name)
			}
		}
		if s.start != nil {
			inputs[k] = s.start.Inputs
		}
		steps[k] = s
		stages += j.Last - j.First
	}
	ctx, cancel := withLimit(ctx, b.o.Limit, stages)
	defer cancel()
	began := time.Now()
	done, err := process(ctx, steps)
	if err != nil && context.Cause(ctx) == errLimit {
		return nil, &FaultError{Fault: TimedOut, Limit: b.o.Limit, Err: errLimit}
	}
	if err != nil {
		return nil, FaultOf(err)
	}
	took := time.Since(began) / time.Duration(len(jobs))
	results := make([]Result, len(jobs))
	for k, l := range done {
		r := &results[k]
		r.Counters = l.counters
		r.Counters.Took = cmp.Or(l.counters.Took, took)
		if l.memory == nil {
			continue
		}
		if l.memory.Inputs == nil {
			l.memory.Inputs = inputs[k]
		}
		if jobs[k].Outputs {
			r.Outputs = l.memory.Outputs
		}
		if jobs[k].Keep {
			r.Memory = l.memory
		}
		if steps[k].keep {
			b.last = l.memory
		}
	}
	return results, nil
}

// maxLimit bounds the time for one simulated process, whatever number of stages it runs.
const maxLimit = 10 * time.Minute

// errLimit says that a simulated process was stopped because it took too long.
var errLimit = errors.New("time is up")

// withLimit returns ctx with a timeout for a process that runs stages, for up to limit each; 0 is
// no limit. It waits in parts. So a machine that stands still for a while, as a virtual one may,
// takes the time of one part.
func withLimit(ctx context.Context, limit time.Duration, stages int) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return ctx, func() {}
	}
	const parts = 20
	part := min(time.Duration(1+stages)*limit, max(maxLimit, limit)) / parts
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for range parts {
			select {
			case <-ctx.Done():
				return
			case <-time.After(part):
			}
		}
		cancel(errLimit)
	}()
	return ctx, func() { cancel(nil) }
}

// FaultOf returns a *FaultError for an error of compiled code, as simulators and loaders say it.
// Other errors stay as they are.
func FaultOf(err error) error {
	var died *simulate.RunError
	var overrun *simulate.OverrunError
	var status *runtime.StatusError
	var trap *wasm.TrapError
	switch {
	case errors.As(err, &trap):
		return &FaultError{Fault: Crashed, Cause: trap.Cause, Err: err}
	case errors.As(err, &died):
		return &FaultError{Fault: Crashed, Cause: died.Cause(), Err: err}
	case errors.As(err, &overrun):
		return &FaultError{Fault: Overran, Err: err}
	case errors.As(err, &status):
		return &FaultError{Fault: Failed, Err: err}
	}
	return err
}

// checkInputs checks the number of inputs; their sizes are checked later.
func checkInputs(d *describe.Artifact, inputs [][]byte) error {
	if len(inputs) != len(d.Inputs) {
		return fmt.Errorf("%s: %d inputs given, %d needed", d.Name, len(inputs), len(d.Inputs))
	}
	return nil
}
