package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"ripc/autotune/records"
	"ripc/engine/bareboard"
	"ripc/internal/files"
	"ripc/targets"
	"ripc/targets/boards"
)

// bare measures on a simulated board without an operating system, which counts instructions. The answer depends on the Job alone.
type bare struct {
	target  targets.Target
	machine records.Machine
}

// noBoardError says that a target has no board.
type noBoardError struct{ target string }

func (e *noBoardError) Error() string {
	return fmt.Sprintf("no board is known for %s: chips without an operating system have one (ripc targets)", e.target)
}

func acceptsBare(t targets.Target) error {
	if _, ok := boards.Of(t.Name); !ok {
		return &noBoardError{t.Name}
	}
	return nil
}

func openBare(_ context.Context, _, _ string, t targets.Target, _ Options) (Runner, error) {
	return &bare{target: t, machine: records.Machine{CPU: t.CPU, Simulated: true}}, nil
}

func (b *bare) Machine() records.Machine { return b.machine }
func (b *bare) Unit() records.Unit       { return records.Instructions }
func (b *bare) Here() bool               { return true }
func (b *bare) Slots() int               { return runtime.NumCPU() }
func (b *bare) Close() error             { return nil }

func (b *bare) Measure(ctx context.Context, j Job) (Result, error) {
	s := j.Settings.or(Settings{Threads: 1, Limit: simulatedLimit})
	dir, remove, err := files.TempDir("")
	if err != nil {
		return Result{}, err
	}
	defer remove()
	path := filepath.Join(dir, "kernel.elf")
	if err := os.WriteFile(path, j.Library, 0o600); err != nil {
		return Result{}, err
	}
	m, err := bareboard.Open(path, bareboard.Options{Count: true})
	if err != nil {
		return Result{}, err
	}
	if d := m.Description(); d.Target != b.target.Name {
		return Result{}, fmt.Errorf("a kernel for %s cannot be measured on a board with %s", d.Target, b.target.Name)
	}
	ctx, cancel := limited(ctx, s.Limit)
	defer cancel()
	blank := func(n int) []byte { return Blank(int64(n)) }
	answer := Result{ID: j.ID, Machine: b.machine}
	done, err := m.Run(ctx, []bareboard.Job{{Bring: m.NewMemory(j.Inputs, blank), Whole: true, Keep: true}})
	if err != nil {
		return failedBare(ctx, answer, err, s)
	}
	n := float64(done[0].Instructions)
	answer.Outputs = hashes(done[0].Memory.Outputs)
	answer.Measurement = records.Measurement{Cost: n, Unit: records.Instructions, Low: n, High: n, Samples: []float64{n}, Instructions: done[0].Instructions}
	return answer, nil
}

// failedBare is failed, for errors of boards.
func failedBare(ctx context.Context, answer Result, err error, s Settings) (Result, error) {
	var died *bareboard.RunError
	var overrun *bareboard.OverrunError
	switch {
	case ctx.Err() != nil:
	case errors.As(err, &died):
		answer.Measurement = records.Measurement{Failure: &records.Failure{Kind: records.Crashed, Text: died.Cause()}}
		return answer, nil
	case errors.As(err, &overrun):
		answer.Measurement = records.Measurement{Failure: &records.Failure{Kind: records.Crashed, Text: "it wrote beyond the end of " + overrun.What}}
		return answer, nil
	}
	return failed(ctx, answer, err, s)
}
