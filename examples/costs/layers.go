package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"ripc"
	"ripc/compile"
	"ripc/engine"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/measure"
	"ripc/schedule"
	"ripc/schedule/cost"
	"ripc/schedule/cost/measured"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// grid are the layers that are measured by all algorithms: as much of networks' usual shapes as gives each constant its say, cut to a few rows.
func grid() []measured.Layer {
	var all []measured.Layer
	for _, g := range [][5]int{{6, 56, 64, 64, 3}, {6, 28, 128, 128, 3}, {6, 14, 256, 256, 3}, {4, 7, 512, 512, 3}, {6, 28, 32, 32, 3}, {6, 28, 48, 40, 3},
		{6, 28, 128, 128, 1}, {6, 14, 256, 64, 1}, {1, 1, 512, 256, 1}} {
		for _, p := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 1}, {4, 1}, {4, 4}} {
			all = append(all, measured.Layer{Rows: g[0], Cols: g[1], In: g[2], Out: g[3], Kernel: g[4], Activations: p[0], Weights: p[1]})
		}
	}
	return all
}

// fewBits are layers of 1 to 3 bits and of few to many channels, which are measured by what may be chosen for them.
func fewBits() []measured.Layer {
	var all []measured.Layer
	for _, g := range []struct {
		size, filters int
		kernels, in   []int
		floats        bool
	}{
		{28, 64, []int{3}, []int{16, 32, 48, 64, 128}, true},
		{28, 64, []int{1}, []int{32, 64}, true},
		{14, 256, []int{3}, []int{256}, true},
		{28, 64, []int{3}, []int{1, 2, 3, 4, 6, 8, 12, 14, 16, 20, 21, 24, 28, 32, 33, 40, 48, 56, 63, 64, 96, 128}, false},
		{28, 64, []int{5}, []int{1, 3, 6, 8, 12, 16, 20, 24, 32, 40, 48}, false},
		{28, 64, []int{1}, []int{8, 16, 24, 32, 48, 64, 96, 128, 256}, false},
		{28, 32, []int{1, 3}, []int{16, 32, 64}, false},
		{56, 64, []int{3}, []int{64}, false},
		{55, 64, []int{1}, []int{16}, false},
		{28, 128, []int{3}, []int{128}, false},
		{14, 256, []int{3}, []int{256}, false},
		{14, 128, []int{3}, []int{3, 8, 16, 24, 48, 64, 80, 96, 128, 256}, false},
		{14, 128, []int{1}, []int{16, 48, 64, 128, 256, 512}, false},
		{13, 256, []int{1, 3}, []int{32, 64}, false},
		{13, 64, []int{1}, []int{384}, false},
		{7, 256, []int{3}, []int{16, 48, 64, 128, 512}, false},
	} {
		for _, k := range g.kernels {
			for _, in := range g.in {
				for planes := 1; planes <= 3; planes++ {
					all = append(all, measured.Layer{Rows: g.size, Cols: g.size, In: in, Out: g.filters, Kernel: k, Activations: planes, Weights: 1, Floats: g.floats})
				}
			}
		}
	}
	return all
}

// hopeless is how many times the least estimate is that of an algorithm that a layer of fewBits is not measured by, such as one without an instruction.
const hopeless = 3

// algorithms are those that l, a layer of the grid or of fewBits, is measured by on t: one of the grid by all that count or multiply, and one of fewBits where sums are as long as others by those that look up.
func algorithms(l measured.Layer, few bool, t targets.Target) []layout.Algorithm {
	a, x := l.Conv()
	shape, least := layout.Shape(a, &x, t), cost.Estimate(math.Inf(1))
	all := layout.Applying(a, &x)
	for _, by := range all {
		least = min(least, by.Cost(t, shape))
	}
	return slices.DeleteFunc(all, func(by layout.Algorithm) bool {
		channels, _ := by.LooksUp()
		return few && (by.Cost(t, shape) > hopeless*least || !t.ShortSums && channels == 0) || !few && !by.Counts() && !by.ReadsBytes()
	})
}

// measureLayers measures layers by algorithms on targets, and keeps what they cost: those of few bits where sums may be short, or instructions look up for several positions, since that is what is fitted to these.
func measureLayers(ctx context.Context, args []string) error {
	var only string
	var known bool
	names, err := flags("measure", func(f *flag.FlagSet) {
		f.StringVar(&only, "by", "", "measure this algorithm alone, and keep what is known of the others")
		f.BoolVar(&known, "known", false, "keep what is known, and measure what is not")
	}, args)
	if err != nil {
		return err
	}
	all, err := measured.All()
	if err != nil {
		return err
	}
	for _, name := range names {
		s := measured.Set{Target: name, Date: time.Now().Format(time.DateOnly), Unit: "cycles", Layers: grid()}
		few := len(s.Layers)
		t, err := targets.Measured(s.Target)
		if err != nil {
			return err
		}
		if t.ShortSums || t.Lookups(4, targets.OnePosition).Wide > 0 {
			s.Layers = append(s.Layers, fewBits()...)
		}
		for _, old := range all {
			if old.Target == name && (known || only != "") {
				s.Machine, s.Layers = old.Machine, withKnown(s.Layers, old.Layers)
			}
		}
		jobs := jobsOf(t, s.Layers, few, func(l measured.Layer, by layout.Algorithm) bool {
			return only != "" && by.String() != only || known && l.Costs[by.String()] > 0
		})
		if machine, err := sweep(ctx, t, s.Layers, jobs); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		} else if machine != "" {
			s.Machine = machine
		}
		s.Layers = slices.DeleteFunc(s.Layers, func(l measured.Layer) bool { return len(l.Costs) == 0 }) // by one algorithm alone
		kept := all[:0:0]
		for _, old := range all {
			if old.Target != name {
				kept = append(kept, old)
			}
		}
		all = append(kept, s)
		if err := os.WriteFile(measured.File, measured.Write(all), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// withKnown are layers, with what those among old cost that are the same.
func withKnown(layers, old []measured.Layer) []measured.Layer {
	for i, l := range layers {
		if k := slices.IndexFunc(old, func(o measured.Layer) bool { return o.String() == l.String() }); k >= 0 {
			layers[i].Costs = old[k].Costs
		}
	}
	return layers
}

// job is to measure a layer, by its number, by an algorithm.
type job struct {
	layer int
	by    layout.Algorithm
	f     *ir.Func
}

// jobsOf are those of layers on t, of which those from few on have few bits, but for what is left out.
func jobsOf(t targets.Target, layers []measured.Layer, few int, without func(measured.Layer, layout.Algorithm) bool) []job {
	var jobs []job
	for i, l := range layers {
		a, x := l.Conv()
		for _, by := range algorithms(l, i >= few, t) {
			if !without(l, by) {
				f, _ := ops.Conv(layout.NewConv(a, x, t, by), ops.Slice{})
				jobs = append(jobs, job{i, by, f})
			}
		}
	}
	return jobs
}

// sweep fills in the costs of layers on t by jobs, and says what machine they are from.
func sweep(ctx context.Context, t targets.Target, layers []measured.Layer, jobs []job) (machine string, err error) {
	threads := runtime.GOMAXPROCS(0)
	if engine.Choose(t.Arch, t.Features, engine.Options{}) == engine.Native {
		threads = 1 // times of one thing at a time
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	known := map[string]*entry{} // by the text of a Func, since planes of weights are nothing to some algorithms
	var mu sync.Mutex
	next := make(chan job)
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			for j := range next {
				mu.Lock()
				e := known[j.f.String()]
				if e == nil {
					e = &entry{}
					known[j.f.String()] = e
				}
				mu.Unlock()
				e.once.Do(func() { e.cycles, e.machine, e.err = defaultCycles(ctx, j.f, t) })
				if e.err != nil {
					cancel(fmt.Errorf("%s by %s: %w", layers[j.layer], j.by, e.err))
					return
				}
				fmt.Fprintf(os.Stderr, "%s: %s by %s: %.0f\n", t.Name, layers[j.layer], j.by, e.cycles)
				mu.Lock()
				if layers[j.layer].Costs == nil {
					layers[j.layer].Costs = map[string]float64{}
				}
				layers[j.layer].Costs[j.by.String()] = e.cycles
				machine = e.machine
				mu.Unlock()
			}
		})
	}
feed:
	for _, j := range jobs {
		select {
		case next <- j:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return machine, context.Cause(ctx)
}

// entry is what a Func costs.
type entry struct {
	once    sync.Once
	cycles  float64
	machine string
	err     error
}

// defaultCycles measures f with its default schedule.
func defaultCycles(ctx context.Context, f *ir.Func, t targets.Target) (float64, string, error) {
	choice, err := strategy.Default(f, t)
	if err != nil {
		return 0, "", err
	}
	return cycles(ctx, f, choice.Trace, t)
}

// cycles measures f with a schedule: by time and clock on this machine, by estimate on a board.
func cycles(ctx context.Context, f *ir.Func, tr schedule.Trace, t targets.Target) (float64, string, error) {
	u, err := compile.Kernel(ctx, f, tr, t, compile.KernelOptions{})
	if err != nil {
		return 0, "", err
	}
	m, err := u.Measure(ctx, 1, measure.Quick())
	switch {
	case err != nil:
		return 0, "", err
	case m.Network.EstimatedCycles != nil:
		version, err := ripc.LLVM()
		like := ""
		if m.Estimate.Model != t.CPU {
			like = ", taken for " + t.CPU
		}
		return *m.Network.EstimatedCycles, fmt.Sprintf("estimated by LLVM %s's model of %s%s, without caches", version, m.Estimate.Model, like), err
	case m.Network.MinMS != nil:
		return 1e6 * *m.Network.MinMS * *m.GHz, measure.CPU() + ", one thread", nil
	}
	return 0, "", fmt.Errorf("cycles of %s are neither measured nor estimated: %w", t.Name, m.Estimate.Why)
}

// callCycles is what cycles measures on this machine of a kernel that is called and not run.
func callCycles(ctx context.Context, t targets.Target) (cycles float64, err error) {
	a, x := measured.Layer{Rows: 4, Cols: 4, In: 32, Out: 32, Kernel: 1, Activations: 1, Weights: 1}.Conv()
	f, _ := ops.Conv(layout.NewConv(a, x, t, layout.Popcount), ops.Slice{})
	choice, err := strategy.Default(f, t)
	if err != nil {
		return 0, err
	}
	u, err := compile.Kernel(ctx, f, choice.Trace, t, compile.KernelOptions{})
	if err != nil {
		return 0, err
	}
	e, err := u.Open(engine.Options{Threads: 1, Count: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	var runs []measure.Timing
	err = measure.Sample(ctx, measure.Quick(), nil, "", func(warm bool) error {
		results, err := e.Run(ctx, []engine.Job{{}})
		if !warm && err == nil {
			runs = append(runs, measure.Timing{Took: results[0].Counters.Took, GHz: results[0].Counters.GHz})
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return measure.Fastest(runs)[0].Cycles(), nil
}
