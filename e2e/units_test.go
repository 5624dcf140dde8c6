package e2e_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"ripc"
	"ripc/compile"
	"ripc/engine"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/schedule"
	"ripc/schedule/template"
	"ripc/targets"
)

// layerOf compiles SqueezeNet's pipeline up to its schedules and picks the Func of a layer, with the layer's own weights.
func layerOf(t testing.TB, target, layer string) (*ir.Func, compile.KernelOptions, targets.Target) {
	t.Helper()
	c, err := ripc.Compile(t.Context(), "../examples/squeezenet/squeezenet.json", ripc.Options{Target: target})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Program.Stages, func(s ir.Stage) bool { return s.Name == layer })
	if i < 0 {
		t.Fatalf("SqueezeNet has no layer %s", layer)
	}
	return c.Program.FuncByName(c.Program.Stages[i].Func), compile.KernelOptions{Constants: compile.StageConstants(c.Program, i)}, c.Target
}

// drawn are the default schedule of f and n different random ones.
func drawn(f *ir.Func, t targets.Target, n int) []schedule.Trace {
	traces := []schedule.Trace{template.Default(f, t)}
	seen := map[string]bool{traces[0].String(): true}
	r := rand.New(rand.NewPCG(1, 2))
	for tries := 0; len(traces) <= n && tries < 50*n; tries++ {
		if tr := template.Random(f, t, r); !seen[tr.String()] {
			seen[tr.String()] = true
			traces = append(traces, tr)
		}
	}
	return traces
}

// measured builds one schedule, compares it with the definition, and measures it: nanoseconds here, instructions of a board.
func measured(t testing.TB, ctx context.Context, f *ir.Func, tr schedule.Trace, target targets.Target, o compile.KernelOptions) float64 {
	t.Helper()
	u, err := compile.Kernel(ctx, f, tr, target, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, tr)
	}
	e, err := u.Open(engine.Options{Count: true})
	need.OK(t, err)
	defer e.Close()
	jobs := []engine.Job{{Inputs: u.Inputs(1), Last: 1, Outputs: true}}
	got, err := e.Run(ctx, jobs)
	if err != nil {
		t.Fatalf("%v\n%s", err, tr)
	}
	want, err := u.Definition().Run(ctx, jobs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want[0].Outputs {
		if !bytes.Equal(got[0].Outputs[i], want[0].Outputs[i]) {
			t.Errorf("output %d differs from the definition's; the schedule is\n%s", i, tr)
		}
	}
	if e.Kind() == engine.Simulated {
		return float64(got[0].Counters.Instructions)
	}
	best := got[0].Counters.Took
	again := []engine.Job{{Last: 1}}
	for range 20 {
		r, err := e.Run(ctx, again)
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, r[0].Counters.Took)
	}
	return float64(best.Nanoseconds())
}

// TestTuneOneLayer is what a tuner does: it takes one layer of a network, draws 20 schedules, and builds, checks and
// measures each as a unit.
func TestTuneOneLayer(t *testing.T) {
	for _, name := range []string{targets.HostName, "rpi3"} {
		t.Run(name, func(t *testing.T) {
			f, o, target := layerOf(t, name, "fire8_squeeze")
			n := 20
			if name != targets.HostName {
				n = 4
			}
			traces := drawn(f, target, n)
			if len(traces) < n/2 {
				t.Fatalf("%d different schedules", len(traces))
			}
			var cost []float64
			for _, tr := range traces {
				cost = append(cost, measured(t, t.Context(), f, tr, target, o))
			}
			at := slices.Index(cost, slices.Min(cost))
			if cost[at] <= 0 || slices.Max(cost) == cost[at] {
				t.Errorf("the costs are %v", cost)
			}
			t.Logf("the default costs %.0f, the best of %d %.0f", cost[0], len(traces), cost[at])
		})
	}
}

// BenchmarkDefaultAgainstRandom measures what a tuner that only draws knobs could gain: the time of the default schedule
// over that of the best of 200 random ones, on this machine and one thread.
func BenchmarkDefaultAgainstRandom(b *testing.B) {
	for _, layer := range []string{"conv1", "fire4_expand3", "fire8_squeeze", "conv10"} {
		b.Run(layer, func(b *testing.B) {
			f, o, host := layerOf(b, targets.HostName, layer)
			traces := drawn(f, host, 200)
			var cost []float64
			for _, tr := range traces {
				cost = append(cost, measured(b, b.Context(), f, tr, host, o))
			}
			at := slices.Index(cost, slices.Min(cost))
			usual := cost[0]
			for b.Loop() {
				usual = min(usual, measured(b, b.Context(), f, traces[0], host, o))
			}
			b.ReportMetric(usual/cost[at], "default/best")
			b.ReportMetric(cost[at], "best-ns")
			b.ReportMetric(float64(len(traces)), "traces")
			b.Logf("the best schedule:\n%s", traces[at])
		})
	}
}
