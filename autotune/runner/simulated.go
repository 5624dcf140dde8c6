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
	"ripc/targets/boards"
)

// simulatedLimit is how long a simulated candidate may take if the settings say nothing: long,
// since a kernel that is well on a busy machine must not fail on it.
const simulatedLimit = 2 * time.Minute

// simulated measures in simulation, by one run of a kernel. The answer depends on the Job alone.
type simulated struct {
	machine records.Machine
	unit    records.Unit
	target  string
}

// acceptsSimulated fails unless qemu-user runs code for t, or LLVM has a model of its core.
func acceptsSimulated(t targets.Target) error {
	_, err := estimate.ModelOf(t.Name)
	if errors.Is(err, estimate.ErrNoModel) && t.QemuCPU != "" {
		return nil
	}
	return err
}

// openQemu makes a runner with the cycles that a model of the target's core estimates as costs or,
// where LLVM has none, with instructions.
func openQemu(_ context.Context, _, _ string, t targets.Target, _ Options) (Runner, error) {
	core, err := estimate.For(t.Name)
	if errors.Is(err, estimate.ErrNoModel) {
		return countInstructions(t), nil
	}
	if err != nil {
		return nil, err
	}
	return &simulated{records.Machine{CPU: core.Model(), Simulated: true}, records.Cycles, t.Name}, nil
}

func acceptsBare(t targets.Target) error {
	if _, ok := boards.Of(t.Name); !ok {
		return fmt.Errorf("no board is known for %s: chips without an operating system have one (ripc targets)", t.Name)
	}
	return nil
}

// openBare makes a runner on a simulated board without an operating system, with instructions as
// costs.
func openBare(_ context.Context, _, _ string, t targets.Target, _ Options) (Runner, error) {
	return countInstructions(t), nil
}

// countInstructions makes a runner with executed instructions as costs.
func countInstructions(t targets.Target) Runner {
	return &simulated{records.Machine{CPU: t.CPU, Simulated: true}, records.Instructions, t.Name}
}

func (q *simulated) Machine() records.Machine { return q.machine }
func (q *simulated) Unit() records.Unit       { return q.unit }
func (q *simulated) Here() bool               { return true }
func (q *simulated) Slots() int               { return runtime.NumCPU() }
func (q *simulated) Close() error             { return nil }

func (q *simulated) Measure(ctx context.Context, j Job) (Result, error) {
	s := j.Settings.fillIn(Settings{Threads: 1, Limit: simulatedLimit})
	ctx, cancel := limitTime(ctx, s.Limit)
	defer cancel()
	answer := Result{ID: j.ID, Machine: q.machine}
	r, err := q.run(ctx, j, s.Threads)
	if err != nil {
		return answerFailure(ctx, answer, err, s)
	}
	cost := float64(r.Counters.Instructions)
	if q.unit == records.Cycles {
		cost = r.Counters.Estimate.Cycles
	}
	answer.Outputs = hashes(r.Outputs)
	answer.Measurement = records.Measurement{Cost: cost, Unit: q.unit, Low: cost, High: cost, Samples: []float64{cost},
		Instructions: r.Counters.Instructions}
	return answer, nil
}

// run runs a kernel once.
func (q *simulated) run(ctx context.Context, j Job, threads int) (r engine.Result, err error) {
	e, err := engine.OpenLibrary(j.Library, engine.Options{Threads: threads, Simulate: true, Count: true})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	d := e.Describe()
	if d.Target != q.target {
		return r, fmt.Errorf("a kernel for %s cannot be measured by a simulator of %s", d.Target, q.target)
	}
	all, err := e.Run(ctx, []engine.Job{{Inputs: j.Inputs, Last: len(d.Stages), Fill: blank, Outputs: true}})
	if err != nil {
		return r, err
	}
	if why := all[0].Counters.Estimate.Why; why != nil && q.unit == records.Cycles {
		return r, why
	}
	return all[0], nil
}
