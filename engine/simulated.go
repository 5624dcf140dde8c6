package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ripc/engine/simulate"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// simulated runs an artifact under qemu, one process for a batch.
type simulated struct {
	o    Options
	m    *simulate.Machine
	last *Memory // after the last job
}

func openSimulated(path string, o Options) (Engine, error) {
	if o.Count && o.Threads != 1 {
		return nil, &ThreadsError{Threads: o.Threads, Most: 1, Why: "instructions of simulated code are counted with one thread"}
	}
	m, err := simulate.Open(path, simulate.Options{Count: o.Count})
	if err != nil {
		return nil, err
	}
	return &simulated{o: o, m: m}, nil
}

func (s *simulated) Describe() *describe.Artifact { return s.m.Description() }
func (s *simulated) Kind() Kind                   { return Simulated }
func (s *simulated) Close() error                 { return nil }

func (s *simulated) Run(ctx context.Context, jobs []Job) ([]Result, error) {
	batch := make([]simulate.Job, len(jobs))
	inputs := make([][][]byte, len(jobs))
	stages := 0
	for k, j := range jobs {
		b := simulate.Job{First: j.First, Last: j.Last, Threads: s.o.Threads, KeepWorkspace: j.Keep || k == len(jobs)-1}
		from := j.From
		if from == nil && j.Inputs == nil && k == 0 {
			if from = s.last; from == nil {
				return nil, fmt.Errorf("engine: the first job of %s has no inputs", s.Describe().Name)
			}
		}
		switch {
		case from != nil:
			b.Inputs, b.Outputs, b.Workspace = from.Inputs, from.Outputs, from.Work
		case j.Inputs == nil:
			b.Continue, inputs[k] = true, inputs[k-1]
		default:
			if err := checkInputs(s.Describe(), j.Inputs); err != nil {
				return nil, err
			}
			b.Inputs = j.Inputs
			s.fill(&b, j.Fill)
		}
		if b.Inputs != nil {
			inputs[k] = b.Inputs
		}
		batch[k] = b
		stages += 1 + j.Last - j.First
	}
	start := time.Now()
	done, err := s.run(ctx, batch, stages)
	if err != nil {
		return nil, err
	}
	took := time.Since(start) / time.Duration(max(1, len(jobs)))
	results := make([]Result, len(jobs))
	for k, d := range done {
		r := &results[k]
		r.Counters = Counters{Took: took, Instructions: d.Instructions}
		if jobs[k].Outputs {
			r.Outputs = d.Outputs
		}
		if batch[k].KeepWorkspace {
			s.last = &Memory{Inputs: inputs[k], Outputs: d.Outputs, Work: d.Workspace}
		}
		if jobs[k].Keep {
			r.Memory = s.last
		}
	}
	return results, nil
}

// fill gives j a workspace and outputs full of a pattern.
func (s *simulated) fill(j *simulate.Job, seed byte) {
	if seed == 0 {
		return
	}
	d := s.Describe()
	j.Workspace = fill(make([]byte, d.ArenaBytes+int64(s.o.Threads)*d.ScratchBytes), seed)
	for _, t := range d.Outputs {
		n, _ := runtime.TensorBytes(t) // runtime.ReadDescription has checked it
		j.Outputs = append(j.Outputs, fill(make([]byte, n), seed))
	}
}

// maxLimit bounds the time for one simulated process, whatever number of stages it runs.
const maxLimit = 10 * time.Minute

// errLimit says that a simulated process was stopped because it took too long.
var errLimit = errors.New("time is up")

// limited is ctx for a process that runs stages, each of which may take limit; 0 is no limit.
func limited(ctx context.Context, limit time.Duration, stages int) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, min(time.Duration(1+stages)*limit, max(maxLimit, limit)), errLimit)
}

// run runs the jobs, for not longer than their stages may take.
func (s *simulated) run(ctx context.Context, jobs []simulate.Job, stages int) ([]simulate.Result, error) {
	ctx, cancel := limited(ctx, s.o.Limit, stages)
	defer cancel()
	results, err := s.m.Run(ctx, jobs)
	if err != nil && context.Cause(ctx) == errLimit {
		err = &FaultError{Fault: TimedOut, Limit: s.o.Limit, Err: err}
	}
	return results, fault(err)
}

// fault makes a FaultError of what compiled code is to blame for.
func fault(err error) error {
	var f *FaultError
	var died *simulate.RunError
	var overrun *simulate.OverrunError
	var status *runtime.StatusError
	switch {
	case errors.As(err, &f):
	case errors.As(err, &died):
		cause := died.Status
		if died.Hint != "" {
			cause += ": " + died.Hint
		}
		return &FaultError{Fault: Crashed, Cause: cause, Err: err}
	case errors.As(err, &overrun):
		return &FaultError{Fault: Overran, Err: err}
	case errors.As(err, &status):
		return &FaultError{Fault: Failed, Err: err}
	}
	return err
}

// checkInputs fails unless there are as many inputs as d has; their sizes are up to who takes them.
func checkInputs(d *describe.Artifact, inputs [][]byte) error {
	if len(inputs) != len(d.Inputs) {
		return fmt.Errorf("%s: %d inputs given, %d needed", d.Name, len(inputs), len(d.Inputs))
	}
	return nil
}
