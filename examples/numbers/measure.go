package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"ripc"
	"ripc/codegen"
	"ripc/codegen/llvm/toolchain"
	"ripc/measure"
	"ripc/measure/provenance"
)

// measured takes all figures, in rounds.
func measured(ctx context.Context, rounds int) (*Numbers, error) {
	tools, err := toolchain.Find()
	if err != nil {
		return nil, err
	}
	n := &Numbers{Cores: runtime.NumCPU(), System: measure.System(), LLVM: tools.Version(), Go: runtime.Version(), Rounds: rounds, Figures: map[string]Figure{}}
	if err := os.MkdirAll("build/numbers", 0o755); err != nil {
		return nil, err
	}
	var clocks []float64
	samples := map[string][]Figure{}
	for round := range rounds {
		for _, b := range benches() {
			f, ghz, err := b.measure(ctx, round == 0)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.command(), err)
			}
			if f.Simulated && round > 0 {
				continue
			}
			if ghz != nil && slices.Contains(networks, b.name) {
				clocks = append(clocks, *ghz)
			}
			samples[b.name] = append(samples[b.name], f)
			fmt.Fprintf(os.Stderr, "%d of %d: %s\n", round+1, rounds, b.name)
		}
		for name, command := range commands() {
			f, err := timed(ctx, command)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", command, err)
			}
			samples[name] = append(samples[name], f)
		}
	}
	for name, fs := range samples {
		n.Figures[name] = merged(fs)
	}
	n.GHz = median(clocks)
	return n, nil
}

// measure takes one figure; what does not change from round to round only if first is set.
func (b bench) measure(ctx context.Context, first bool) (Figure, *float64, error) {
	f := Figure{Command: b.command(), Mark: provenance.Now()}
	o := ripc.Options{Target: b.target}
	if b.schedule != "" {
		traces, err := ripc.ReadSchedule(b.schedule)
		if err != nil {
			return f, nil, err
		}
		o.Schedules = traces
	}
	if first && b.size {
		o := o
		o.Emit = []codegen.Kind{codegen.SO}
		c, err := ripc.Compile(ctx, b.model, o)
		if err != nil {
			return f, nil, err
		}
		f.LibraryBytes, f.WeightBytes = int64(len(c.Files[codegen.SO])), ripc.InspectCompiled(c).WeightBytes
	}
	r, err := ripc.Bench(ctx, ripc.BenchRequest{Path: b.model, Options: o, Threads: 1, PerLayer: b.layer != ""})
	if err != nil {
		return f, nil, err
	}
	if r.Reason != "" {
		return f, nil, errors.New(r.Reason)
	}
	figures := r.Figures
	if f.Simulated, f.MACs = r.Simulated, r.MACs; f.Simulated {
		f.Mark = f.On("counted by qemu")
	}
	if b.layer != "" {
		at := slices.IndexFunc(r.Layers, func(l ripc.LayerBench) bool { return l.Name == b.layer })
		if at < 0 {
			return f, nil, fmt.Errorf("no layer %s", b.layer)
		}
		figures, f.MACs = r.Layers[at].Figures, r.Layers[at].MACs
	}
	f.MinMS, f.MedianMS, f.MACsPerCycle, f.Instructions = figures.MinMS, figures.MedianMS, figures.MACsPerCycle, figures.Instructions
	return f, r.ClockGHz, nil
}

// timed runs a command once in a shell.
func timed(ctx context.Context, command string) (Figure, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return Figure{}, fmt.Errorf("%w\n%s", err, out.String())
	}
	ms := float64(time.Since(start).Microseconds()) / 1000
	return Figure{Command: command, MinMS: &ms, MedianMS: &ms, Mark: provenance.Now("cmd")}, nil
}

// merged makes one figure of those of all rounds.
func merged(fs []Figure) Figure {
	out := fs[0] // sizes and counts
	collect := func(field func(Figure) *float64) []float64 {
		var vs []float64
		for _, f := range fs {
			if v := field(f); v != nil {
				vs = append(vs, *v)
			}
		}
		return vs
	}
	if vs := collect(func(f Figure) *float64 { return f.MinMS }); len(vs) > 0 {
		out.MinMS = new(slices.Min(vs))
	}
	if vs := collect(func(f Figure) *float64 { return f.MedianMS }); len(vs) > 0 {
		out.MedianMS = new(median(vs))
	}
	if vs := collect(func(f Figure) *float64 { return f.MACsPerCycle }); len(vs) > 0 {
		out.MACsPerCycle = new(median(vs))
	}
	return out
}

// median is the middle one of vs, the lower one of two, 0 of none.
func median(vs []float64) float64 {
	if len(vs) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(vs))
	return sorted[(len(sorted)-1)/2]
}
