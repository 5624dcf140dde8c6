package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"ripc/autotune/records"
	"ripc/engine/bareboard"
	"ripc/engine/estimate"
	"ripc/engine/simulate"
	"ripc/internal/files"
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
	// run returns the outputs of a run and its cost.
	run func(ctx context.Context, j Job, threads int) (left simulate.Result, cost float64, err error)
}

// checkTarget fails unless a kernel is for t.
func checkTarget(kernel string, t targets.Target) error {
	if kernel != t.Name {
		return fmt.Errorf("a kernel for %s cannot be measured by a simulator of %s", kernel, t.Name)
	}
	return nil
}

// acceptsModelled fails unless LLVM has a model of the pipeline of t's core.
func acceptsModelled(t targets.Target) error {
	_, err := estimate.ModelOf(t.Name)
	return err
}

// openQemu makes a runner with the cycles that a model of the target's core estimates as costs.
func openQemu(_ context.Context, _, _ string, t targets.Target, _ Options) (Runner, error) {
	core, err := estimate.For(t.Name)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, j Job, threads int) (left simulate.Result, cost float64, err error) {
		m, err := simulate.OpenLibrary(j.Library, simulate.Options{Count: true})
		if err == nil {
			err = checkTarget(m.Description().Target, t)
		}
		if err != nil {
			return left, 0, err
		}
		done, err := m.Run(ctx, []simulate.Job{wholeRun(m.Description(), j, threads)})
		if err != nil {
			return left, 0, err
		}
		all, err := core.Jobs(ctx, m.Code, []*simulate.Profile{done[0].Profile})
		if err != nil {
			return left, 0, err
		}
		return done[0], all[0].Cycles, nil
	}
	return &simulated{records.Machine{CPU: core.Model(), Simulated: true}, records.Cycles, t.Name, run}, nil
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
	run := func(ctx context.Context, j Job, _ int) (left simulate.Result, cost float64, err error) {
		dir, remove, err := files.TempDir("")
		if err != nil {
			return left, 0, err
		}
		defer remove()
		path := filepath.Join(dir, "kernel.elf")
		if err := os.WriteFile(path, j.Library, 0o600); err != nil {
			return left, 0, err
		}
		m, err := bareboard.Open(path, bareboard.Options{Count: true})
		if err == nil {
			err = checkTarget(m.Description().Target, t)
		}
		if err != nil {
			return left, 0, err
		}
		done, err := m.Run(ctx, []simulate.Job{wholeRun(m.Description(), j, 1)})
		if err != nil {
			return left, 0, err
		}
		return done[0], float64(done[0].Instructions), nil
	}
	return &simulated{records.Machine{CPU: t.CPU, Simulated: true}, records.Instructions, t.Name, run}, nil
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
	left, cost, err := q.run(ctx, j, s.Threads)
	if err != nil {
		return answerFailure(ctx, answer, err, s)
	}
	answer.Outputs = hashes(left.Outputs)
	answer.Measurement = records.Measurement{Cost: cost, Unit: q.unit, Low: cost, High: cost, Samples: []float64{cost},
		Instructions: left.Instructions}
	return answer, nil
}
