package compile

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"ripc/graph"
	"ripc/internal/need"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/ir/size"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule/costmodel"
	"ripc/schedule/features"
	"ripc/schedule/machine"
	"ripc/schedule/strategy"
	"ripc/targets"
	"ripc/targets/isa"
)

// TestFetched: where code is fetched, a schedule has no more code than elsewhere, and its predicted time is within the model's error.
func TestFetched(t *testing.T) {
	target, model := modelled(t, "wasm32")
	less := 0
	for _, channels := range []int{32, 64, 96} {
		a := &graph.FusedConv{SH: 1, SW: 1, In: channels, Out: channels, KH: 3, KW: 3, Pad: graph.Padding{Mode: graph.PadExplicit, Top: 1, Bottom: 1, Left: 1, Right: 1}}
		a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, channels)}}
		f := testlayer.Integers(a, target, layout.Popcount, ir.Unipolar, 2, 1, 14, 14, ops.Slice{})
		var at [2]found
		for i, fetched := range []bool{false, true} {
			target.Fetched = fetched
			s := &finder{model: model, target: target, known: map[string]found{}}
			all, err := s.best(t.Context(), []*ir.Func{f})
			if err != nil {
				t.Fatal(err)
			}
			at[i] = all[0]
		}
		code := func(k found) int { return size.Written(k.Func.Body, target.VectorBits) }
		if code(at[1]) > code(at[0]) || at[1].time > at[0].time*(1+model.Error.Median) {
			t.Errorf("%d channels: %d instructions and a time of %g, elsewhere %d and %g", channels, code(at[1]), at[1].time, code(at[0]), at[0].time)
		}
		less += code(at[0]) - code(at[1])
	}
	if less <= 0 {
		t.Error("no schedule has less code")
	}
}

// TestFinder: a search gives the same schedules each time, legal ones; equal Funcs are searched
// once and keep their names; kernels that are compared get the schedule that is expected to be the
// best; a search stops. The model is of instructions that are counted, not measured.
func TestFinder(t *testing.T) {
	target, err := targets.Lookup("rpi3-armv7")
	if err != nil {
		t.Fatal(err)
	}
	kernel := func(by layout.Algorithm) *ir.Func {
		a := &graph.FusedConv{SH: 1, SW: 1, In: 64, Out: 64, KH: 3, KW: 3, Pad: graph.Padding{Mode: graph.PadExplicit, Top: 1, Bottom: 1, Left: 1, Right: 1}}
		a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, 64)}}
		return testlayer.Integers(a, target, by, ir.Unipolar, 2, 1, 14, 14, ops.Slice{})
	}
	funcs := []*ir.Func{kernel(layout.Popcount), kernel(layout.Dot), kernel(layout.Table4)}
	model := learned(t, target, funcs, func(f *ir.Func) string { return f.Name })
	search := func(funcs ...*ir.Func) ([]found, *finder) {
		s := &finder{model: model, target: target, known: map[string]found{}}
		all, err := s.best(t.Context(), funcs)
		if err != nil {
			t.Fatal(err)
		}
		return all, s
	}
	first, s := search(funcs...)
	second, _ := search(funcs...)
	least := math.Inf(1)
	for i, k := range first {
		if k.Func == nil {
			continue
		}
		least = min(least, k.time)
		if k.Trace.String() != second[i].Trace.String() || k.cost != second[i].cost {
			t.Errorf("%s: %s, and the second time %s", funcs[i].Name, k.Values, second[i].Values)
		}
		if _, err := applyTrace(funcs[i], choice{Trace: k.Trace}, isa.For(target)); err != nil {
			t.Errorf("%s: %v", funcs[i].Name, err)
		}
	}
	if math.IsInf(least, 1) {
		t.Fatal("no schedule was found")
	}

	ways := []way{{layout.Popcount, funcs[0]}, {layout.Dot, funcs[1]}, {layout.Table4, funcs[2]}}
	all := make([]found, len(funcs))
	for i, f := range funcs {
		if all[i], _ = s.scheduleOf(t.Context(), f); all[i].Func == nil {
			t.Fatalf("%s has no schedule", f.Name)
		}
	}
	differ := s.differences(ways, all, layout.Popcount)
	for name, more := range differ {
		own := model.Terms(model.Scheduled(all[0].Func, all[0].Values))[name]
		next := min(all[1].cost, all[2].cost)
		other := all[1]
		if all[2].cost == next {
			other = all[2]
		}
		if want := model.Terms(model.Scheduled(other.Func, other.Values))[name] - own; math.Abs(want-float64(more)) > 0.5 {
			t.Errorf("%s: the next best takes %d more, not %.0f", name, more, want)
		}
	}
	if len(differ) == 0 || len(differ) > shown || s.differences(ways[:1], all[:1], layout.Popcount) != nil {
		t.Errorf("differences: %v", differ)
	}

	other := *funcs[0]
	other.Name = "other"
	before := len(s.known)
	k, err := s.scheduleOf(t.Context(), &other)
	if err != nil || k.Func.Name != "other" || len(s.known) != before {
		t.Errorf("an equal Func: %s, %v, %d searches more", k.Func.Name, err, len(s.known)-before)
	}

	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.scheduleOf(stopped, kernel(layout.Table6)); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that is stopped: %v", err)
	}
}

// TestUnmeasured: a kernel that was measured does not shut out a better one that was not.
func TestUnmeasured(t *testing.T) {
	target, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	measured, other := layerOf(target, layout.Float, 64, 64, 14), layerOf(target, layout.Popcount, 64, 64, 14)
	model := learned(t, target, []*ir.Func{measured, other}, func(f *ir.Func) string {
		if f == measured {
			return f.Key()
		}
		return "no kernel"
	})
	s := &finder{model: model, target: target, known: map[string]found{}}
	all, err := s.best(t.Context(), []*ir.Func{measured, other})
	if err != nil || len(all[0].records) == 0 || all[1].time >= all[0].time {
		t.Fatalf("%v measured, %v predicted: %v", all[0].time, all[1].time, err)
	}
	if k, err := s.scheduleOf(t.Context(), other); err != nil || k.Func == nil {
		t.Error(err)
	}
}

// TestRecords: of kernels that were measured the best schedule is taken, with its cost, and nothing
// else is looked for.
func TestRecords(t *testing.T) {
	target, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	measured, other := layerOf(target, layout.Popcount, 64, 64, 14), layerOf(target, layout.Dot, 64, 64, 14)
	model := learned(t, target, []*ir.Func{measured}, (*ir.Func).Key)
	s := &finder{model: model, target: target, known: map[string]found{}}
	all, err := s.best(t.Context(), []*ir.Func{other, measured})
	records := model.Records(measured.Key())
	if err != nil || all[0].time != math.Inf(1) || all[1].time != records[0].Time {
		t.Fatalf("%v and %v, of %v: %v", all[0].time, all[1].time, records, err)
	}
	k, err := s.scheduleOf(t.Context(), measured)
	if err != nil || k.Strategy != records[0].Strategy || !maps.Equal(k.Values, records[0].Values) || k.cost != records[0].Cost {
		t.Errorf("taken: %s %s, of %v: %v", k.Strategy, k.Values, records, err)
	}
	for _, r := range records {
		if r.Time < records[0].Time || r.Time < r.Cost {
			t.Errorf("%v with all cores, %v on one; the first %v", r.Time, r.Cost, records[0].Time)
		}
	}
	if k, err := s.scheduleOf(t.Context(), other); err != nil || k.Func == nil || k.records != nil {
		t.Errorf("a kernel that was not measured: %v, %v", k.Values, err)
	}
	records = []machine.Record{{Strategy: "old"}, {Strategy: records[0].Strategy, Values: strategy.Values{"old": 1}}}
	if k, err := s.build(t.Context(), measured, records); err != nil || k.Func == nil || k.records != nil {
		t.Errorf("a kernel whose records are of strategies that are other ones now: %v, %v", k.Values, err)
	}
}

// TestSmaller: where code by a schedule is estimated to be less than it is, the back end's count
// decides: the next of what was made is taken of which code can be made, or else the plainest
// schedule. The layer is of floats over many channels of which rows are written out.
func TestSmaller(t *testing.T) {
	target, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	floats := &graph.FusedConv{KH: 7, KW: 7, SH: 1, SW: 1, In: 13, Out: 64, Pad: graph.Padding{Top: 3, Bottom: 3, Left: 3, Right: 3}}
	floats.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Levels: []float32{0.5}}
	f := testlayer.Reals(floats, 1, 9, 28, ops.Slice{})
	l := strategy.LayerOf(f, target)
	build := func(tile int) found {
		c, err := strategy.For(l)[0].Build(l, strategy.Values{"by_lane": 1, "part": 8, "tile_w": tile, "unroll": 1})
		if err != nil {
			t.Fatal(err)
		}
		return found{Choice: c}
	}
	large, small := build(2), found{Choice: must(strategy.Plainest(f, target, 0, nil))}
	for n := 3; !tooLarge(large.Func, target); n++ {
		large = build(n)
	}
	s := &finder{target: target, known: map[string]found{}}
	large.next = []found{large, small}
	if k, err := s.smaller(f, large); err != nil || k.Trace.String() != small.Trace.String() {
		t.Errorf("beside one that fits: %s, %v", k.Values, err)
	}
	large.next = large.next[:1]
	if k, err := s.smaller(f, large); err != nil || tooLarge(k.Func, target) {
		t.Errorf("beside none that fits: %s, %v", k.Values, err)
	}
}

func must(c strategy.Choice, err error) strategy.Choice {
	if err != nil {
		panic(err)
	}
	return c
}

// layerOf returns the kernel of a layer of 3x3 windows over size x size x in levels of 2 bits.
func layerOf(target targets.Target, by layout.Algorithm, in, out, size int) *ir.Func {
	a := &graph.FusedConv{SH: 1, SW: 1, In: in, Out: out, KH: 3, KW: 3}
	a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, out)}}
	return testlayer.Integers(a, target, by, ir.Unipolar, 2, 1, size, size, ops.Slice{})
}

// learned is a model of random schedules of Funcs, whose cost is the number of their instructions.
func learned(t *testing.T, target targets.Target, funcs []*ir.Func, key func(*ir.Func) string) *machine.Model {
	l, err := costmodel.Open("")
	need.OK(t, err)
	d, r := features.For(target), rand.New(rand.NewPCG(3, 4))
	var points []machine.Point
	for _, f := range funcs {
		for range 20 {
			c, err := testlayer.Random(f, target, r)
			if err != nil {
				t.Fatal(err)
			}
			p := machine.Describe(target, d, f, c.Func, c.Strategy, c.Values)
			p.Group, p.Kernel = f.Name, key(f)
			for _, n := range p.Counts {
				p.Cost += n
			}
			points = append(points, p)
		}
	}
	m, err := machine.Learn(t.Context(), l, target, machine.Weights{Target: target.Name}, points)
	if err != nil {
		t.Fatal(err)
	}
	var guesses []machine.Guess
	for _, p := range points {
		guesses = append(guesses, m.Guess(p))
	}
	if err := m.LearnSieve(t.Context(), l, guesses); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestEffort: of the schedules that are promising so many are built and simulated, and the best of
// those is taken, with what it cost; a search stops while they are tried. Chips without an
// operating system have none that could be tried.
func TestEffort(t *testing.T) {
	need.Tool(t, "qemu-aarch64")
	target, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	funcs := []*ir.Func{layerOf(target, layout.Popcount, 64, 64, 14), layerOf(target, layout.Dot, 64, 64, 14)}
	s := &finder{model: learned(t, target, funcs, func(f *ir.Func) string { return f.Name }), target: target, known: map[string]found{}}
	tried := 0
	if s.checker, err = newChecker(target, Options{Effort: 3, Tried: func(n int) { tried = n }}); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.best(stopped, funcs); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that is stopped: %v", err)
	}
	all, err := s.best(t.Context(), funcs)
	if err != nil || tried != 3 {
		t.Fatalf("%d schedules were tried: %v", tried, err)
	}
	best := slices.MinFunc(all, byTime)
	for i, k := range all {
		if k.measured > 0 && k.measured < best.measured && k.time/k.cost <= best.time/best.cost {
			t.Errorf("%s takes %v cycles, and %v were taken", funcs[i].Name, k.measured, best.measured)
		}
	}
	u, err := Kernel(t.Context(), funcs[best.kernel], best.Trace, target, KernelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if cost, err := s.checker.measure(t.Context(), u); err != nil || cost != best.measured {
		t.Errorf("taken: %v cycles, and once more %v: %v", best.measured, cost, err)
	}
	var none *EffortError
	if _, err := newFinder(targets.Target{Name: "none"}, Options{Effort: 1}); !errors.As(err, &none) {
		t.Errorf("an effort for a target without a model: %v", err)
	}
}

// modelled returns a target and its model.
func modelled(t *testing.T, name string) (targets.Target, *machine.Model) {
	t.Helper()
	target, err := targets.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	model, ok, err := machine.Of(target)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return target, model
}

// TestFewerWords: without a model, words are packed anew where that makes fewer: of few channels.
func TestFewerWords(t *testing.T) {
	conv := func(name string, in int) *graph.Node {
		return &graph.Node{Name: name, Attrs: &graph.FusedConv{KH: 5, KW: 5, SH: 1, SW: 1, In: in, Out: 32}}
	}
	g := &graph.Graph{Nodes: []*graph.Node{conv("colours", 3), conv("wide", 64), conv("bytes", 3)}}
	both := []layout.Algorithm{layout.Popcount, layout.PopcountDense}
	free := map[string][]layout.Algorithm{"colours": both, "wide": both, "bytes": {layout.Dot, layout.PopcountDense}}
	want := map[string]layout.Choice{"colours": {Algorithm: layout.PopcountDense, Why: layout.Usual}}
	if got := fewerWords(g, free); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
