package search_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"ripc/autotune/search"
	"ripc/autotune/space"
	"ripc/graph"
	"ripc/internal/need"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/ops"
	"ripc/schedule/features"
	"ripc/targets"
)

// small is the space of a layer of few points.
func small(t testing.TB) *space.Space {
	t.Helper()
	target, err := targets.Lookup("rpi3")
	need.OK(t, err)
	f := testlayer.Reals(&graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: 3, Out: 8}, 1, 3, 4, ops.Slice{})
	s, err := space.New(space.TaskOf(f, target, ir.Stage{Name: "layer"}, nil))
	need.OK(t, err)
	return s
}

// TestSearches: whatever the search and its seed, it proposes each schedule once, none that it was told, the same ones again for the same
// seed, and comes to an end.
func TestSearches(test *testing.T) {
	s := small(test)
	d, err := s.Default()
	need.OK(test, err)
	for _, name := range append(search.Names(), "") {
		for seed, n := range map[uint64]int{1: 23, 1 << 40: 40} {
			run := func() []string {
				find, err := search.New(name, s, seed)
				if err != nil {
					test.Fatal(err)
				}
				find.Tell([]search.Outcome{{Candidate: d, Cost: 100}})
				keys := []string{d.Key()}
				for {
					cs, err := find.Propose(test.Context(), n)
					if err != nil || len(cs) > n {
						test.Fatalf("%d candidates of %d, %v", len(cs), n, err)
					}
					if len(cs) == 0 {
						return keys
					}
					var told []search.Outcome
					for i, c := range cs {
						if slices.Contains(keys, c.Key()) {
							test.Fatalf("again %v", c.Point)
						}
						keys = append(keys, c.Key())
						told = append(told, search.Outcome{Candidate: c, Cost: float64(i%7 + 1)})
						if i%5 == 4 {
							told[i].Cost, told[i].Failed = 0, true
						}
					}
					find.Tell(told)
				}
			}
			keys := run()
			if len(keys) < 10 || !slices.Equal(keys, run()) {
				test.Fatalf("%q: %d candidates of %d points, or others the next time", name, len(keys), s.Size())
			}
		}
	}
	var bad *search.NameError
	if _, err := search.New("none", s, 0); !errors.As(err, &bad) {
		test.Errorf("no search: %v", err)
	}
}

// TestAhead: where costs can be learned, xgb finds better candidates than random in as many trials, with a machine.Model and without.
func TestAhead(t *testing.T) {
	for _, name := range []string{"rpi3", "without a model"} {
		target, err := targets.Lookup("rpi3")
		need.OK(t, err)
		target.Name = name
		f := testlayer.Reals(&graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: 16, Out: 24}, 1, 12, 12, ops.Slice{})
		s, err := space.New(space.TaskOf(f, target, ir.Stage{Name: "layer"}, nil))
		need.OK(t, err)
		describe := features.For(target)
		cost := func(c space.Candidate) float64 {
			x := describe.Of(c.Func, c.Point.Values)
			at := func(name string) float64 { return float64(x[slices.Index(features.Names(), name)]) }
			return math.Exp2(at("total.instructions")) * (1 + at("registers.share")/4)
		}
		sum := map[string]float64{}
		for seed := range uint64(3) {
			for _, name := range search.Names() {
				find, err := search.New(name, s, seed)
				need.OK(t, err)
				best := math.Inf(1)
				for range 6 {
					cs, err := find.Propose(t.Context(), 8)
					need.OK(t, err)
					var told []search.Outcome
					for _, c := range cs {
						told = append(told, search.Outcome{Candidate: c, Cost: cost(c)})
						best = min(best, cost(c))
					}
					find.Tell(told)
				}
				sum[name] += best
			}
		}
		t.Log(name, sum)
		if sum[search.XGB] >= sum[search.Random] {
			t.Errorf("%s: costs that were found: %v", name, sum)
		}
	}
}
