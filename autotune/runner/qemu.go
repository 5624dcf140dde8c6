package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"ripc/autotune/records"
	"ripc/engine"
	"ripc/engine/estimate"
	"ripc/targets"
)

// simulatedLimit is how long a simulated candidate may take if the settings say nothing: long, since what is still well on a
// busy machine must not become a failure on it.
const simulatedLimit = 2 * time.Minute

// qemu measures in simulation: one run, whose cycles are estimated by a model of the target's core. What it says depends on
// the Job alone.
type qemu struct {
	target  targets.Target
	machine records.Machine
}

func openQemu(_ context.Context, _, _ string, t targets.Target, _ Options) (Runner, error) {
	core, err := estimate.For(t.Name)
	if err != nil {
		return nil, err
	}
	return &qemu{target: t, machine: records.Machine{CPU: core.Model(), Simulated: true}}, nil
}

func (q *qemu) Machine() records.Machine { return q.machine }
func (q *qemu) Unit() records.Unit       { return records.Cycles }
func (q *qemu) Slots() int               { return runtime.NumCPU() }
func (q *qemu) Close() error             { return nil }

func (q *qemu) Measure(ctx context.Context, j Job) (Result, error) {
	s := j.Settings.or(Settings{Threads: 1, Limit: simulatedLimit})
	e, err := engine.OpenLibrary(j.Library, engine.Options{Threads: s.Threads, Simulate: true, Count: true, Limit: s.Limit / 2}) // of a stage, and of what is around it
	if err != nil {
		return Result{}, err
	}
	r, err := q.run(ctx, e, j, s)
	return r, errors.Join(err, e.Close())
}

func (q *qemu) run(ctx context.Context, e engine.Engine, j Job, s Settings) (Result, error) {
	d := e.Describe()
	if d.Target != q.target.Name {
		return Result{}, fmt.Errorf("a kernel for %s cannot be measured by a simulator of %s", d.Target, q.target.Name)
	}
	answer := Result{ID: j.ID, Machine: q.machine}
	done, err := e.Run(ctx, []engine.Job{{Last: len(d.Stages), Inputs: j.Inputs, Fill: fillPattern, Outputs: true}})
	if err != nil {
		failure := failureOf(err, s)
		if failure == nil {
			return Result{}, err
		}
		answer.Measurement.Failure = failure
		return answer, nil
	}
	c := done[0].Counters
	if c.Estimate.Why != nil {
		return Result{}, &LostError{Runner: "qemu", Err: c.Estimate.Why}
	}
	cycles := c.Estimate.Cycles
	answer.Outputs = hashes(done[0].Outputs)
	answer.Measurement = records.Measurement{Cost: cycles, Unit: records.Cycles, Low: cycles, High: cycles, Samples: []float64{cycles}, Instructions: c.Instructions}
	return answer, nil
}

// fillPattern is what outputs and workspace hold before a kernel runs (engine.Job.Fill).
const fillPattern = 0x5A

// failureOf is what err says of a candidate; nil if it says nothing of it.
func failureOf(err error, s Settings) *records.Failure {
	var fault *engine.FaultError
	if !errors.As(err, &fault) {
		return nil
	}
	f := &records.Failure{Kind: records.Crashed, Text: "the compiled code " + fault.How()}
	if fault.Fault == engine.TimedOut {
		f.Kind, f.Text = records.TimedOut, fmt.Sprintf("it did not return within %v", s.Limit)
	}
	return f
}
