package search

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/autotune/space"
	"ripc/graph"
	"ripc/internal/need"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/ops"
	"ripc/schedule/costmodel"
	"ripc/schedule/features"
	"ripc/targets"
)

// reals is the space of a float layer with some thousands of points.
func reals(t testing.TB, target string, in, out int) *space.Space {
	t.Helper()
	m, err := targets.Lookup(target)
	need.OK(t, err)
	f := testlayer.Reals(&graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: in, Out: out}, 1, 12, 12, ops.Slice{})
	s, err := space.New(space.TaskOf(f, m, ir.Stage{Name: "layer"}, nil))
	need.OK(t, err)
	return s
}

// cost is one that features tell.
func cost(s *space.Space, c space.Candidate) float64 {
	x := features.For(s.Task.Target).Of(c.Func, c.Point.Values)
	at := func(name string) float64 { return float64(x[slices.Index(features.Names(), name)]) }
	return math.Exp2(at("total.instructions")) * (1 + at("registers.share")/4)
}

// found is the lowest cost after so many trials.
func found(t *testing.T, s *space.Space, name string, o Options, trials int) float64 {
	t.Helper()
	find, err := New(name, s, o)
	need.OK(t, err)
	d, err := s.Default()
	need.OK(t, err)
	find.Tell([]Outcome{{Candidate: d, Cost: cost(s, d)}})
	best := math.Inf(1)
	for n := 0; n < trials; {
		cs, err := find.Propose(t.Context(), min(8, trials-n))
		if err != nil || len(cs) == 0 {
			t.Fatalf("%s: %d candidates, %v", name, len(cs), err)
		}
		var told []Outcome
		for _, c := range cs {
			told = append(told, Outcome{Candidate: c, Cost: cost(s, c)})
			best = min(best, told[len(told)-1].Cost)
		}
		find.Tell(told)
		n += len(cs)
	}
	return best
}

// TestAhead: where costs can be learned, xgb finds better candidates than evolve, and that better ones than random, at equal trials.
func TestAhead(t *testing.T) {
	s := reals(t, "rpi3", 16, 24)
	sum := map[string]float64{}
	for seed := range uint64(3) {
		for _, name := range []string{"xgb", "evolve", "random"} {
			sum[name] += found(t, s, name, Options{Seed: seed, Alone: true}, 48)
		}
	}
	t.Log(sum)
	if sum["xgb"] >= sum["random"] || sum["evolve"] >= sum["random"] {
		t.Errorf("costs that were found: %v", sum)
	}
}

// TestTransfer: what was learned of one layer on one target makes the first candidates for another better.
func TestTransfer(t *testing.T) {
	l, err := costmodel.Open("")
	need.OK(t, err)
	from := reals(t, "rpi4", 24, 32)
	var m Measured
	m.Space = from
	drawn, err := New("random", from, Options{Seed: 5})
	need.OK(t, err)
	cs, err := drawn.Propose(t.Context(), 150)
	need.OK(t, err)
	for _, c := range cs {
		m.Outcomes = append(m.Outcomes, Outcome{Candidate: c, Cost: cost(from, c)})
	}
	model, err := Learn(t.Context(), l, nil, []Measured{m})
	need.OK(t, err)
	s := reals(t, "rpi3", 16, 24)
	with, without := 0.0, 0.0
	for seed := range uint64(3) {
		with += found(t, s, "xgb", Options{Seed: seed, Model: model}, 8)
		without += found(t, s, "xgb", Options{Seed: seed, Alone: true}, 8)
	}
	t.Log(with, without)
	if with >= without {
		t.Errorf("costs after 8 trials: %.0f with a model of another layer, %.0f without", with, without)
	}
}

func TestShipped(t *testing.T) {
	m, err := Shipped()
	if err != nil {
		t.Fatalf("%v (make bench-tuner says how to make it anew)", err)
	}
	if len(m.Importance()) < 10 {
		t.Errorf("it asks for %v", m.Importance())
	}
}

// TestCoordinates: places are the points of the space, by the same numbers, and neighbours are places.
func TestCoordinates(test *testing.T) {
	s := reals(test, "rpi3", 16, 24)
	c := newCoordinates(s)
	rapid.Check(test, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p := c.random(r)
		for range 10 {
			n := c.number(p)
			point := s.At(n)
			q, ok := c.of(point)
			if n < 0 || n >= s.Size() || !ok || c.number(q) != n || s.Index(point) != n || alike(p, q) != 1 || alike(p, c.place(n)) != 1 {
				t.Fatalf("place %v is number %d, point %v, place %v", p, n, point, q)
			}
			if x := c.features(p); len(x) != len(c.names) {
				t.Fatalf("%d features, %d names", len(x), len(c.names))
			}
			p = c.neighbour(p, r)
		}
	})
}

// TestAnnealing: what it finds is nearly as good as what there is.
func TestAnnealing(t *testing.T) {
	l, err := costmodel.Open("")
	need.OK(t, err)
	s := reals(t, "rpi3", 16, 24)
	c := newCoordinates(s)
	r := rand.New(rand.NewPCG(1, 1))
	var samples []costmodel.Sample
	for range 200 {
		p := c.random(r)
		v := s.At(c.number(p)).Values
		samples = append(samples, costmodel.Sample{Features: c.features(p), Cost: math.Abs(float64(v["tile_w"]-5)) + math.Abs(float64(v["tile_h"]-9)) + float64(v["lanes"]) + 1})
	}
	m, err := l.Train(t.Context(), samples, costmodel.Defaults(c.names))
	need.OK(t, err)
	all := &annealing{where: c, model: m, r: r, scores: map[int]float64{}, top: ranking{most: 20}, skip: func(n int) bool { return n%2 == 1 }}
	all.all(s.Size())
	walks := &annealing{where: c, model: m, r: r, scores: map[int]float64{}, top: ranking{most: 20}, skip: all.skip}
	var from []place
	for range chains {
		from = append(from, c.random(r))
	}
	need.OK(t, walks.run(t.Context(), from))
	if len(walks.top.best) != 20 || !slices.IsSortedFunc(walks.top.best, func(a, b scored) int { return cmp.Compare(b.score, a.score) }) {
		t.Errorf("not the best first: %v", walks.top.best)
	}
	for i, b := range walks.top.best {
		if b.number%2 == 1 {
			t.Errorf("number %d is one that is skipped", b.number)
		}
		if all.top.best[i].score-b.score > 0.2*spread(slices.Collect(maps.Values(all.scores))) {
			t.Errorf("number %d of the best has the score %v, and %v of all", i, b.score, all.top.best[i].score)
		}
	}
}

// TestRankingTellsApart: of places that a model cannot tell apart there are few, whatever the order in which they come, and better ones have room.
func TestRankingTellsApart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var all []scored
	for i := range 300 {
		all = append(all, scored{i, float64(i % 6)})
	}
	for range 20 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		top := ranking{most: 8, same: 2}
		for _, s := range all {
			top.offer(s)
		}
		var scores []float64
		for _, s := range top.best {
			scores = append(scores, s.score)
		}
		if want := []float64{5, 5, 4, 4, 3, 3, 2, 2}; !slices.Equal(scores, want) {
			t.Fatalf("%v, want %v", scores, want)
		}
	}
}
