// Package meter measures single kernels on a target: times on this machine, estimated cycles on a
// simulated board, instructions on a simulated microcontroller.
package meter

import (
	"context"
	"errors"

	"ripc"
	"ripc/autotune/runner"
	"ripc/autotune/space"
	"ripc/codegen"
	"ripc/compile"
	"ripc/engine/bareboard"
	"ripc/targets"
)

// Meter measures on one target. It has to be closed.
type Meter struct {
	runner.Runner
	Target   targets.Target
	backends []codegen.Backend
}

// Open returns a meter of a target.
func Open(ctx context.Context, t targets.Target) (*Meter, error) {
	backend, _, err := compile.Prepare(ctx, t)
	if err != nil {
		return nil, err
	}
	run, err := runner.Open(ctx, ripc.RunnerFor(t), t, runner.Options{})
	return &Meter{run, t, []codegen.Backend{backend}}, err
}

// Cost returns the cost of a kernel with a schedule, in the unit of the runner.
func (m *Meter) Cost(ctx context.Context, k *space.Task, x space.Candidate) (float64, error) {
	u, err := compile.Kernel(ctx, k.Func, x.Trace, m.Target,
		compile.KernelOptions{Stage: k.Stage, Constants: k.Constants, Result: x.Result, With: m.backends})
	if err != nil {
		return 0, err
	}
	r, err := m.Measure(ctx, runner.NewJob(u.Files[codegen.Runnable], u.Inputs(0), runner.Settings{}))
	switch {
	case err != nil:
		return 0, err
	case r.Measurement.Failure != nil:
		return 0, errors.New(r.Measurement.Failure.Text)
	}
	return r.Measurement.Cost, nil
}

// Ends reports whether an error of Cost is no candidate's: nothing more can be measured.
func Ends(ctx context.Context, err error) bool {
	var tool *bareboard.ToolError
	var lost *runner.LostError
	return ctx.Err() != nil || errors.As(err, &tool) || errors.As(err, &lost)
}
