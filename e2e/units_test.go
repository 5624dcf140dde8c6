package e2e_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ripc"
	"ripc/compile"
	"ripc/internal/need"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/measure"
	"ripc/schedule"
	"ripc/targets"
	"ripc/verify"
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
	choice, err := compile.Default(f, t)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	traces := []schedule.Trace{choice.Trace}
	seen := map[string]bool{traces[0].String(): true}
	r := rand.New(rand.NewPCG(1, 2))
	for tries := 0; len(traces) <= n && tries < 50*n; tries++ {
		choice, err := testlayer.Random(f, t, r)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		if tr := choice.Trace; !seen[tr.String()] {
			seen[tr.String()] = true
			traces = append(traces, tr)
		}
	}
	return traces
}

// measured builds one schedule, compares it with the definition, and measures it: nanoseconds here, estimated cycles of a board.
func measured(t testing.TB, f *ir.Func, tr schedule.Trace, target targets.Target, o compile.KernelOptions) float64 {
	t.Helper()
	u, err := compile.Kernel(t.Context(), f, tr, target, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, tr)
	}
	r, err := verify.Verify(t.Context(), verify.KernelInput(u, 1))
	need.OK(t, err)
	if !r.OK {
		t.Errorf("%+v; the schedule is\n%s", r, tr)
	}
	m, err := u.Measure(t.Context(), 1, measure.Quick())
	need.OK(t, err)
	return m.Cost()
}

// TestTuneOneLayer is what a tuner does: it takes one layer of a network, draws 20 schedules, and builds, checks and
// measures each as a unit.
func TestTuneOneLayer(t *testing.T) {
	t.Parallel()
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
				cost = append(cost, measured(t, f, tr, target, o))
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
				cost = append(cost, measured(b, f, tr, host, o))
			}
			at := slices.Index(cost, slices.Min(cost))
			usual := cost[0]
			for b.Loop() {
				usual = min(usual, measured(b, f, traces[0], host, o))
			}
			b.ReportMetric(usual/cost[at], "default/best")
			b.ReportMetric(cost[at], "best-ns")
			b.ReportMetric(float64(len(traces)), "traces")
			b.Logf("the best schedule:\n%s", traces[at])
		})
	}
}
