package ripc

import (
	"context"
	"fmt"
	"time"

	"ripc/engine/simulate"
	"ripc/internal/tensorio"
	"ripc/ir"
	"ripc/measure"
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

// Figures are one measurement.
type Figures = measure.Figures

// noMCA is why there is no estimate of cycles for code of other machines.
const noMCA = "llvm-mca estimates straight-line code: it knows neither how often a loop runs nor the caches, so its cycles do not add up to those of a layer"

// Bench measures a network, from the caller's inputs to its outputs: warm, with inputs filled from seed 0. With PerLayer
// the stages are also timed one by one, in order, so that each finds the caches as in a whole run. If ctx ends on the
// way, what was measured until then is returned with ctx's error.
func Bench(ctx context.Context, r BenchRequest) (*BenchResult, error) {
	m, err := openMachine(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		return nil, err
	}
	defer m.close()
	feed, err := tensorio.Load(m.desc.Inputs, nil, 0)
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
	var whole []measure.Timing
	err = measure.Sample(ctx, r.Progress, "measuring", func(warm bool) error {
		start := time.Now()
		err := s.Run(ctx)
		if err == nil && !warm {
			whole = append(whole, measure.Since(start))
		}
		return err
	})
	layers := make([][]measure.Timing, len(res.Layers))
	if err == nil && r.PerLayer {
		err = measure.Sample(ctx, r.Progress, "measuring layers", func(warm bool) error {
			return timeStages(ctx, s, layers, warm)
		})
	}
	ghz := measure.Middle(measure.Fastest(whole), func(t measure.Timing) float64 { return t.GHz })
	res.ClockGHz = &ghz
	res.Runs = len(whole)
	res.Figures = measure.Reduce(whole, res.MACs)
	for i := range res.Layers {
		res.Layers[i].Figures = measure.Reduce(layers[i], res.Layers[i].MACs)
	}
	return err
}

func timeStages(ctx context.Context, s *runtime.Session, layers [][]measure.Timing, warm bool) error {
	for i := range layers {
		start := time.Now()
		if err := s.RunStages(ctx, i, i+1); err != nil {
			return err
		}
		if !warm {
			layers[i] = append(layers[i], measure.Since(start))
		}
	}
	return nil
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
