package engine

import (
	"context"
	"time"

	"ripc/measure"
)

// Measurement is the result of Measure.
type Measurement struct {
	Kind    Kind
	Runs    int // of the network as a whole
	Network measure.Figures
	Stages  []measure.Figures // if asked for
	GHz     *float64          // clock of one core, directly behind the fastest runs; nil for simulated code
	// Estimate is that of the network as a whole, for simulated code.
	Estimate Estimate
}

// Cost is one number to compare by: the nanoseconds of the fastest run; of simulated code the
// estimated cycles, or, for a core that LLVM has no model of, the instructions. It is 0 if none is
// known.
func (m *Measurement) Cost() float64 {
	cost, unit := m.Network.Cost()
	if unit == measure.Milliseconds {
		return 1e6 * cost
	}
	return cost
}

// MeasureOptions selects the measurements of Measure. The zero value is fine.
type MeasureOptions struct {
	// Stages asks for the stages one by one, too, in order, so that each finds the caches as in a
	// whole run.
	Stages bool
	Budget measure.Budget // of native code; the zero value stands for measure.Thorough
	// Progress, if not nil, is called now and then.
	Progress func(done, total int, what string)
}

// Measure measures a network on inputs: the time of native code, warm and over many runs; the
// instructions and estimated cycles of simulated code, once. e must be opened with Options.Count.
// If ctx ends before, it returns the measurements so far with ctx's error.
func Measure(ctx context.Context, e Engine, inputs [][]byte, o MeasureOptions) (*Measurement, error) {
	if o.Budget == (measure.Budget{}) {
		o.Budget = measure.Thorough()
	}
	switch e.Kind() {
	case Native, Sandboxed, Device:
		return measureNative(ctx, e, inputs, o)
	case Remote:
		return measureBatches(ctx, e, inputs, o)
	}
	stages := e.Describe().Stages
	n := len(stages)
	jobs := []Job{{Last: n, Inputs: inputs}}
	for i := 0; o.Stages && i < n; i++ {
		j := Job{First: i, Last: i + 1}
		if i == 0 {
			j.Inputs = inputs
		}
		jobs = append(jobs, j)
	}
	if o.Progress != nil {
		o.Progress(0, len(jobs), "counting instructions")
	}
	results, err := e.Run(ctx, jobs)
	if err != nil {
		return &Measurement{Kind: e.Kind()}, err
	}
	m := &Measurement{Kind: e.Kind(), Runs: 1, Network: countedFigures(results[0], e.Describe().MACs()),
		Estimate: results[0].Counters.Estimate}
	for i, r := range results[1:] {
		m.Stages = append(m.Stages, countedFigures(r, stages[i].MACs))
	}
	return m, nil
}

// countedFigures returns the figures of a simulated job, which has no meaningful time.
func countedFigures(r Result, macs int64) measure.Figures {
	var f measure.Figures
	if n := r.Counters.Instructions; n > 0 {
		f.Instructions = &n
		if macs > 0 {
			f.MACsPerInstruction = new(float64(macs) / float64(n))
		}
	}
	if cycles := r.Counters.Estimate.Cycles; cycles > 0 {
		f.EstimatedCycles = &cycles
		if macs > 0 {
			f.MACsPerEstimatedCycle = new(float64(macs) / cycles)
		}
	}
	return f
}

// measureTimes makes a measurement of the times that sample takes of jobs: of the network, and, if
// they are asked for, of its stages.
func measureTimes(e Engine, o MeasureOptions,
	sample func(jobs []Job, what string) ([][]measure.Timing, error)) (*Measurement, error) {
	stages := e.Describe().Stages
	var each []Job
	for i := range stages {
		each = append(each, Job{First: i, Last: i + 1})
	}
	timings, err := sample([]Job{{Last: len(stages)}}, "measuring")
	ghz := measure.Median(measure.Fastest(timings[0]), func(t measure.Timing) float64 { return t.GHz })
	m := &Measurement{Kind: e.Kind(), Runs: len(timings[0]),
		Network: measure.Reduce(timings[0], e.Describe().MACs()), GHz: &ghz}
	if e.Kind() == Device {
		m.GHz = nil // the clock of a core says nothing of it
	}
	if err != nil || !o.Stages {
		return m, err
	}
	timings, err = sample(each, "measuring layers")
	for i, t := range timings {
		m.Stages = append(m.Stages, measure.Reduce(t, stages[i].MACs))
	}
	return m, err
}

// measureNative measures times in this process.
func measureNative(ctx context.Context, e Engine, inputs [][]byte, o MeasureOptions) (*Measurement, error) {
	if _, err := e.Run(ctx, []Job{{Inputs: inputs}}); err != nil { // brings the inputs, which the jobs go on with
		return &Measurement{Kind: Native}, err
	}
	return measureTimes(e, o, func(jobs []Job, what string) ([][]measure.Timing, error) {
		timings := make([][]measure.Timing, len(jobs))
		err := measure.Sample(ctx, o.Budget, o.Progress, what, func(warm bool) error {
			results, err := e.Run(ctx, jobs)
			for i, r := range results {
				if !warm {
					timings[i] = append(timings[i], measure.Timing{Took: r.Counters.Took, GHz: r.Counters.GHz})
				}
			}
			return err
		})
		return timings, err
	})
}

// maxBatch bounds the jobs of a batch, as each takes memory.
const maxBatch = 2000

// measureBatches measures times on another machine, many runs per batch. Time between batches does
// not count.
func measureBatches(ctx context.Context, e Engine, inputs [][]byte, o MeasureOptions) (*Measurement, error) {
	// The first batch, one round of jobs, estimates the time of a round. The budget then gives the
	// number of rounds; each batch starts with a tenth more to warm up.
	return measureTimes(e, o, func(round []Job, what string) ([][]measure.Timing, error) {
		timings := make([][]measure.Timing, len(round))
		run := func(warm, rounds int) (time.Duration, error) {
			jobs := []Job{{Inputs: inputs}}
			for range warm + rounds {
				jobs = append(jobs, round...)
			}
			results, err := e.Run(ctx, jobs)
			if err != nil {
				return 0, err
			}
			var took time.Duration
			for k, r := range results[1+warm*len(round):] {
				timings[k%len(round)] = append(timings[k%len(round)],
					measure.Timing{Took: r.Counters.Took, GHz: r.Counters.GHz})
				took += r.Counters.Took
			}
			return took, nil
		}
		if o.Progress != nil {
			o.Progress(0, o.Budget.Runs, what)
		}
		took, err := run(1, 1)
		if err != nil {
			return timings, err
		}
		each := max(took, time.Microsecond)
		// fewer runs of very short jobs
		rounds := max(o.Budget.Runs, min(int(o.Budget.Time/each), 5*maxBatch/len(round)))
		if most := int(o.Budget.Limit / each); rounds > most {
			rounds = max(o.Budget.Few, most)
		}
		clear(timings)
		for done := 0; done < rounds; {
			now := min(rounds-done, max(1, maxBatch/len(round)))
			if _, err := run(1+now/10, now); err != nil {
				return timings, err
			}
			done += now
			if o.Progress != nil {
				o.Progress(done, rounds, what)
			}
		}
		return timings, nil
	})
}
