package runner

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"ripc/autotune/records"
	"ripc/engine/estimate"
	"ripc/engine/simulate"
	"ripc/targets"
)

// simulatedLimit is how long a simulated candidate may take if the settings say nothing: long, since what is still well on a
// busy machine must not become a failure on it.
const simulatedLimit = 2 * time.Minute

// qemu measures in simulation: one run, whose cycles are estimated by a model of the target's core. What it says depends on
// the Job alone.
type qemu struct {
	target  targets.Target
	core    *estimate.Estimator
	machine records.Machine
}

// acceptsModelled fails unless LLVM has a model of the pipeline of t's core.
func acceptsModelled(t targets.Target) error {
	_, err := estimate.ModelOf(t.Name)
	return err
}

func openQemu(_ context.Context, _, _ string, t targets.Target, _ Options) (Runner, error) {
	core, err := estimate.For(t.Name)
	if err != nil {
		return nil, err
	}
	return &qemu{target: t, core: core, machine: records.Machine{CPU: core.Model(), Simulated: true}}, nil
}

func (q *qemu) Machine() records.Machine { return q.machine }
func (q *qemu) Unit() records.Unit       { return records.Cycles }
func (q *qemu) Here() bool               { return true }
func (q *qemu) Slots() int               { return runtime.NumCPU() }
func (q *qemu) Close() error             { return nil }

func (q *qemu) Measure(ctx context.Context, j Job) (Result, error) {
	s := j.Settings.or(Settings{Threads: 1, Limit: simulatedLimit})
	m, err := simulate.OpenLibrary(j.Library, simulate.Options{Count: true})
	if err != nil {
		return Result{}, err
	}
	if d := m.Description(); d.Target != q.target.Name {
		return Result{}, fmt.Errorf("a kernel for %s cannot be measured by a simulator of %s", d.Target, q.target.Name)
	}
	answer := Result{ID: j.ID, Machine: q.machine}
	ctx, cancel := limited(ctx, s.Limit)
	defer cancel()
	done, err := m.Run(ctx, []simulate.Job{whole(m, j, s.Threads)})
	if err != nil {
		return failed(ctx, answer, err, s)
	}
	all, err := q.core.Jobs(ctx, m.Code, []*simulate.Profile{done[0].Profile})
	if err != nil {
		return failed(ctx, answer, err, s)
	}
	cycles := all[0].Cycles
	answer.Outputs = hashes(done[0].Outputs)
	answer.Measurement = records.Measurement{Cost: cycles, Unit: records.Cycles, Low: cycles, High: cycles, Samples: []float64{cycles}, Instructions: done[0].Instructions}
	return answer, nil
}
