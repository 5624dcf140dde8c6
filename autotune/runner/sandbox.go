package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ripc/engine"
	"ripc/engine/simulate"
	"ripc/measure"
	"ripc/targets"
)

// sandboxed measures modules of WebAssembly, in this process or in Node, or kernels on a device. It
// measures one at a time.
type sandboxed struct{ *native }

// acceptsSandboxed fails unless a virtual machine runs code for t.
func acceptsSandboxed(t targets.Target) error {
	if engine.VirtualMachine(t.Arch, t.Features) == "" {
		return fmt.Errorf("kernels for %s are no modules of WebAssembly", t.Name)
	}
	return nil
}

func openSandboxed(_ context.Context, _, _ string, t targets.Target, _ Options) (Runner, error) {
	n := newNative(nil)
	n.machine.CPU += ", " + engine.VirtualMachine(t.Arch, t.Features)
	return &sandboxed{n}, nil
}

// acceptsDevice fails unless a device is to run code for t.
func acceptsDevice(t targets.Target) error {
	if engine.Choose(t.Arch, t.Features, engine.Options{}) != engine.Device {
		return fmt.Errorf("kernels for %s run on no device", t.Name)
	}
	return nil
}

func openDevice(_ context.Context, _, _ string, t targets.Target, _ Options) (Runner, error) {
	n := newNative(nil)
	var err error
	n.machine.CPU, err = engine.DeviceName(t.Name, t.Arch, t.Features)
	return &sandboxed{n}, err
}

func (b *sandboxed) Measure(ctx context.Context, j Job) (Result, error) {
	return b.measure(ctx, j, timeByEngine)
}

// timeByEngine times a kernel by the engine for its target.
func timeByEngine(ctx context.Context, j Job, s Settings) (_ timed, err error) {
	if s.Cold {
		return timed{}, errors.New("caches of virtual machines and devices cannot be emptied: measure warm ones")
	}
	e, err := engine.OpenLibrary(j.Library, engine.Options{Threads: s.Threads}) // a limit would slow its code down
	if err != nil {
		return timed{}, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	whole := engine.Job{Inputs: j.Inputs, Last: len(e.Describe().Stages), Fill: blank, Outputs: true}
	first, err := e.Run(ctx, []engine.Job{whole})
	if err != nil {
		return timed{}, err
	}
	again := engine.Job{Last: whole.Last}
	measured, err := sample(func(t simulate.Timing) (times simulate.Times, err error) {
		for begin := time.Now(); len(times.Samples) < t.Samples; {
			if len(times.Samples) > 0 && time.Since(begin) > t.Budget {
				break
			}
			start, inside := time.Now(), time.Duration(0)
			for range t.Calls {
				done, err := e.Run(ctx, []engine.Job{again})
				if err != nil {
					return times, err
				}
				inside += done[0].Counters.Took
			}
			took := measure.Since(start)
			times.GHz = max(times.GHz, took.GHz)
			times.Samples = append(times.Samples, float64(inside.Nanoseconds())/float64(t.Calls))
		}
		return times, nil
	}, s)
	if err != nil {
		return timed{}, err
	}
	again.Outputs = true
	last, err := e.Run(ctx, []engine.Job{again})
	if err != nil {
		return timed{}, err
	}
	return timed{measured, first[0].Outputs, last[0].Outputs}, nil
}
