package ripc

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"ripc/engine/simulate"
	"ripc/ir"
	"ripc/runtime"
)

// BenchRequest says what to measure.
type BenchRequest struct {
	Path     string  // model or artifact
	Options  Options // for models; Emit is ignored
	Threads  int     // at least 1; simulated artifacts take 1 only
	PerLayer bool
	Progress func(done, total int, what string) // may be nil
}

// BenchResult is what was measured. Pointers are nil where there is no such figure: simulated code has instruction
// counts and no times, native code the reverse.
type BenchResult struct {
	Model     string `json:"model"`
	Target    string `json:"target"`
	Threads   int    `json:"threads"`
	Simulated bool   `json:"simulated,omitempty"`
	Runs      int    `json:"runs"`
	Figures
	ClockGHz  *float64     `json:"clock_ghz"`        // of one core, directly behind the fastest runs
	Reason    string       `json:"reason,omitempty"` // why instructions are missing
	MCAReason string       `json:"mca_reason,omitempty"`
	MACs      int64        `json:"macs"`
	Layers    []LayerBench `json:"layers,omitempty"`
}

// LayerBench is the share of one stage.
type LayerBench struct {
	Name   string `json:"name"`
	Op     string `json:"op"`
	Kernel string `json:"kernel"`
	MACs   int64  `json:"macs"`
	Figures
}

// Figures are one measurement. MACsPerCycle counts all threads together: MACs over the middle number of
// cycles of the fastest tenth of runs, each by the clock directly behind it.
type Figures struct {
	MinMS        *float64 `json:"min_ms"`
	MedianMS     *float64 `json:"median_ms"`
	MACsPerCycle *float64 `json:"macs_per_cycle"`
	Instructions *uint64  `json:"instructions"`
	MCACycles    *float64 `json:"mca_cycles"` // always nil: BenchResult.MCAReason
}

// noMCA is why there is no estimate of cycles for code of other machines.
const noMCA = "llvm-mca estimates straight-line code: it knows neither how often a loop runs nor the caches, so its cycles do not add up to those of a layer"

// How long Bench measures: until both bounds of the first line are reached, but no longer than the second allows.
const (
	benchRuns, benchTime = 20, time.Second
	benchFew, benchLimit = 3, 30 * time.Second
)

// Bench measures a network, from the caller's inputs to its outputs: warm, with inputs filled from seed 0. With PerLayer
// the stages are also timed one by one, in order, so that each finds the caches as in a whole run. If ctx ends on the
// way, what was measured until then is returned with ctx's error.
func Bench(ctx context.Context, r BenchRequest) (*BenchResult, error) {
	m, err := openMachine(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		return nil, err
	}
	defer m.close()
	feed, err := LoadInputs(m.desc.Inputs, nil, 0)
	if err != nil {
		return nil, err
	}
	res := &BenchResult{Model: m.desc.Name, Target: m.desc.Target, Threads: r.Threads}
	for _, s := range m.desc.Stages {
		res.MACs += s.MACs
		if r.PerLayer {
			res.Layers = append(res.Layers, LayerBench{Name: s.Name, Op: s.Op, Kernel: s.Kernel, MACs: s.MACs})
		}
	}
	if m.sim != nil {
		return res, m.count(ctx, r, feed.Run(0), res)
	}
	return res, m.time(ctx, r, feed.Run(0), res)
}

// time measures on this machine.
func (m *machine) time(ctx context.Context, r BenchRequest, inputs [][]byte, res *BenchResult) error {
	s, err := m.mod.NewSession(r.Threads)
	if err != nil {
		return err
	}
	defer s.Close()
	for i, data := range inputs {
		if err := s.SetInput(i, data); err != nil {
			return err
		}
	}
	var whole []timing
	err = sample(ctx, r.Progress, "measuring", func(warm bool) error {
		start := time.Now()
		err := s.Run(ctx)
		if err == nil && !warm {
			whole = append(whole, timed(start))
		}
		return err
	})
	layers := make([][]timing, len(res.Layers))
	if err == nil && r.PerLayer {
		err = sample(ctx, r.Progress, "measuring layers", func(warm bool) error {
			return timeStages(ctx, s, layers, warm)
		})
	}
	ghz := middle(fastest(whole), func(t timing) float64 { return t.ghz })
	res.ClockGHz = &ghz
	res.Runs = len(whole)
	res.Figures = figures(whole, res.MACs)
	for i := range res.Layers {
		res.Layers[i].Figures = figures(layers[i], res.Layers[i].MACs)
	}
	return err
}

func timeStages(ctx context.Context, s *runtime.Session, layers [][]timing, warm bool) error {
	for i := range layers {
		start := time.Now()
		if err := s.RunStages(ctx, i, i+1); err != nil {
			return err
		}
		if !warm {
			layers[i] = append(layers[i], timed(start))
		}
	}
	return nil
}

// sample calls run until the bounds above are reached; the first calls, up to a tenth of the time, are to warm up.
func sample(ctx context.Context, progress func(int, int, string), what string, run func(warm bool) error) error {
	start := time.Now()
	for warm := 0; warm == 0 || (warm < benchRuns && time.Since(start) < benchTime/10); warm++ {
		if err := run(true); err != nil {
			return err
		}
	}
	start = time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= benchTime && n >= benchRuns || took >= benchLimit && n >= benchFew {
			return nil
		}
		if progress != nil && n%64 == 0 {
			progress(min(n, benchRuns), benchRuns, what)
		}
		if err := run(false); err != nil {
			return err
		}
	}
}

// figures reduces runs to the fastest and the middle one, and to the cycles of the fastest ones.
func figures(runs []timing, macs int64) Figures {
	if len(runs) == 0 {
		return Figures{}
	}
	ms := func(ns float64) *float64 { v := ns / 1e6; return &v }
	took := func(t timing) float64 { return float64(t.took.Nanoseconds()) }
	f := Figures{MinMS: ms(took(slices.MinFunc(runs, func(a, b timing) int { return cmp.Compare(a.took, b.took) }))), MedianMS: ms(middle(runs, took))}
	if cycles := middle(fastest(runs), timing.cycles); macs > 0 && cycles > 0 {
		v := float64(macs) / cycles
		f.MACsPerCycle = &v
	}
	return f
}

// count counts instructions in simulation: of a whole run, and of a run stage by stage.
func (m *machine) count(ctx context.Context, r BenchRequest, inputs [][]byte, res *BenchResult) error {
	res.Simulated, res.MCAReason = true, noMCA
	if r.Threads != 1 {
		return &ir.Error{Op: fmt.Sprintf("--threads %d", r.Threads), Msg: "instructions of simulated code are counted with one thread", Help: "leave --threads out"}
	}
	counter, err := simulate.Open(m.path, simulate.Options{Count: true})
	if err != nil {
		res.Reason = err.Error()
		return nil
	}
	jobs := []simulate.Job{{Inputs: inputs, Last: m.sim.Stages(), Threads: 1}}
	for i := range res.Layers {
		j := simulate.Job{Inputs: inputs, First: i, Last: i + 1, Threads: 1}
		if i > 0 {
			j.Inputs, j.Continue = nil, true
		}
		jobs = append(jobs, j)
	}
	if r.Progress != nil {
		r.Progress(0, len(jobs), "counting instructions")
	}
	results, err := counter.Run(ctx, jobs)
	if err != nil {
		return err
	}
	res.Runs = 1
	res.Instructions = &results[0].Instructions
	for i := range res.Layers {
		res.Layers[i].Instructions = &results[i+1].Instructions
	}
	return nil
}
