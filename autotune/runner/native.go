package runner

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"ripc/autotune/records"
	"ripc/engine/simulate"
	"ripc/measure"
	"ripc/runtime"
	"ripc/targets"
)

const (
	// sampleTime is the least time of a sample's calls together, so that reading the clock does not
	// count.
	sampleTime = 50 * time.Microsecond
	// worse is the ratio to the cost to beat from which on a candidate is clearly worse.
	worse = 1.1
	// maxKept bounds the samples in a measurement.
	maxKept = 24
)

// native measures on this machine, each candidate in a process of its own, and one at a time.
type native struct {
	through []string
	machine records.Machine
	cold    int64               // bytes to touch so that the caches hold nothing else
	turn    *semaphore.Weighted // of the one job that may run
}

func newNative(through []string) *native {
	return &native{through: through, machine: records.Machine{CPU: measure.CPU()}, cold: 2 * measure.Cache(),
		turn: semaphore.NewWeighted(1)}
}

// acceptsLocal fails unless this machine runs code for t.
func acceptsLocal(t targets.Target) error {
	if host := runtime.HostArch(); t.Arch != host {
		return fmt.Errorf("kernels for %s are for %s, this machine is %s", t.Name, t.Arch, host)
	}
	return runtime.CheckFeatures("target "+t.Name, t.CPU, t.Features)
}

func openLocal(_ context.Context, _, _ string, _ targets.Target, o Options) (Runner, error) {
	return newNative(o.Through), nil
}

func (n *native) Machine() records.Machine { return n.machine }
func (n *native) Unit() records.Unit       { return records.Nanoseconds }
func (n *native) Here() bool               { return true }
func (n *native) Slots() int               { return 1 }
func (n *native) Close() error             { return nil }

// library opens a library that program runs, nil for the program of this machine.
func (n *native) library(content, program []byte) (*simulate.Machine, error) {
	return simulate.OpenLibrary(content, simulate.Options{Direct: true, Through: n.through, Program: program})
}

func (n *native) Measure(ctx context.Context, j Job) (Result, error) {
	return n.measure(ctx, j, n.timeProcess)
}

// timed is a kernel's measurement, with the outputs of its first and of its last run.
type timed struct {
	records.Measurement
	first, last [][]byte
}

// measure does a job when it is its turn; run times the kernel.
func (n *native) measure(ctx context.Context, j Job,
	run func(ctx context.Context, j Job, s Settings) (timed, error)) (Result, error) {
	if err := n.turn.Acquire(ctx, 1); err != nil {
		return Result{}, err
	}
	defer n.turn.Release(1)
	s := j.Settings.fillIn(Defaults())
	answer := Result{ID: j.ID, Machine: n.machine}
	ctx, cancel := limitTime(ctx, s.Limit)
	defer cancel()
	t, err := run(ctx, j, s)
	if err != nil {
		return answerFailure(ctx, answer, err, s)
	}
	answer.Measurement, answer.Outputs = t.Measurement, hashes(t.first)
	if last := hashes(t.last); !slices.Equal(answer.Outputs, last) {
		answer.Outputs = append(answer.Outputs, last...)
	}
	return answer, nil
}

// timeProcess times a kernel in a process of its own.
func (n *native) timeProcess(ctx context.Context, j Job, s Settings) (timed, error) {
	m, err := n.library(j.Library, j.Program)
	if err != nil {
		return timed{}, err
	}
	cold := int64(0)
	if s.Cold {
		cold = n.cold
	}
	run := simulate.Job{Inputs: j.Inputs, Last: m.Stages(), Threads: s.Threads}
	run.Workspace, run.Outputs = simulate.Filled(m.Description(), s.Threads, blank)
	p, err := m.Start(ctx, []simulate.Job{run}, cold)
	if err != nil {
		return timed{}, err
	}
	measured, err := sample(p.Time, s)
	left, end := p.Finish()
	if err = cmp.Or(err, end); err != nil {
		return timed{}, err
	}
	measured.Celsius = measure.Celsius()
	return timed{measured, left[0].Outputs, left[1].Outputs}, nil
}

// sample takes samples by run until their interval is narrow, or the candidate is clearly worse
// than the one to beat, or time is up.
func sample(run func(simulate.Timing) (simulate.Times, error), s Settings) (records.Measurement, error) {
	first, err := run(simulate.Timing{Samples: 3, Calls: 1, Budget: s.MinTime})
	if err != nil {
		return records.Measurement{}, err
	}
	calls := 1
	if fastest := max(1, slices.Min(first.Samples)); !s.Cold {
		calls = max(1, int(math.Ceil(float64(sampleTime.Nanoseconds())/fastest)))
	}
	// The clock of a core that was idle takes some milliseconds to rise.
	warm, err := run(simulate.Timing{Samples: simulate.MaxSamples, Calls: calls, Budget: s.MinTime / 2})
	if err != nil {
		return records.Measurement{}, err
	}
	ghz := warm.GHz // the highest that was seen: disturbances make it seem slower
	var samples []float64
	for start := time.Now(); ; {
		round, err := run(simulate.Timing{Samples: simulate.MaxSamples, Calls: calls, Budget: s.MinTime})
		if err != nil {
			return records.Measurement{}, err
		}
		samples, ghz = append(samples, round.Samples...), max(ghz, round.GHz)
		m := reduce(samples)
		took := time.Since(start)
		enough := took >= s.MinTime && len(samples) >= s.MinRuns
		narrow := m.High-m.Low <= s.Interval*m.Cost
		beaten := s.Best > 0 && m.Low > worse*s.Best
		if enough && (narrow || beaten) || took >= s.MaxTime {
			m.GHz = ghz
			return m, nil
		}
	}
}

// reduce returns the median of samples, in nanoseconds, with its 95-percent confidence interval by
// order statistics, which supposes nothing of how times are distributed: of n samples, about half
// plus or minus 0.98 sqrt(n) lie below the median.
func reduce(samples []float64) records.Measurement {
	sorted := slices.Sorted(slices.Values(samples))
	n := len(sorted)
	half, spread := float64(n-1)/2, 0.98*math.Sqrt(float64(n))
	low, high := max(0, int(math.Floor(half-spread))), min(n-1, int(math.Ceil(half+spread)))
	m := records.Measurement{Cost: (sorted[(n-1)/2] + sorted[n/2]) / 2, Unit: records.Nanoseconds, Low: sorted[low],
		High: sorted[high]}
	kept := min(n, maxKept)
	for k := range kept {
		m.Samples = append(m.Samples, samples[k*n/kept])
	}
	return m
}
