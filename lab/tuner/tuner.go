// Package tuner compares the searches of the tuner: the cost of the best candidate after each
// trial, on layers where the default is not the best one.
package tuner

import (
	"context"
	"errors"
	"math/rand/v2"
	"regexp"

	"github.com/spf13/pflag"

	"ripc/autotune/search"
	"ripc/autotune/space"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/lab/meter"
	"ripc/lab/task"
)

// batch is the number of candidates that a search proposes at once.
const batch = 8

// settings are the flags.
type settings struct {
	points, trials, seeds int
	searches              []string
}

// Task returns the task.
func Task() *task.Task {
	s := &settings{}
	return &task.Task{
		Name: "tuner", Code: []string{"autotune", "lab/tuner"},
		Short: "the searches of the tuner beside each other: docs/bench-tuner.md",
		Flags: func(f *pflag.FlagSet) {
			f.IntVar(&s.points, "points", 2000, "random points to compare with, or all where there are no more")
			f.IntVar(&s.trials, "trials", 128, "trials of a search")
			f.IntVar(&s.seeds, "seeds", 5, "runs of a search")
			f.StringSliceVar(&s.searches, "searches", search.Names(), "searches to compare")
		},
		Cases: func(context.Context, *regexp.Regexp) (all []task.Case, err error) {
			rows, err := rows()
			for _, r := range rows {
				all = append(all, task.Case{Key: figures.Key{Subject: r.Name, Target: r.Target},
					Measure: func(ctx context.Context, m figures.Mark) ([]figures.Figure, error) {
						return s.measure(ctx, r, m)
					}})
			}
			return all, err
		},
		Pages: pages,
	}
}

// reference is the costs that searches of a layer are compared with.
type reference struct {
	points    []space.Candidate // drawn at random
	costs     []float64
	def, best float64 // of the default, and of all
}

// measure runs the searches on a layer.
func (s *settings) measure(ctx context.Context, r row, m figures.Mark) (all []figures.Figure, err error) {
	defer stop.Catch(&err)
	l := stop.Must(r.open())
	store := stop.Must(figures.Open("build/tuner/" + r.Name + ".jsonl"))
	on := stop.Must(meter.Open(ctx, l.space.Task.Target))
	defer func() { err = errors.Join(err, on.Close()) }()
	c := &costs{layer: l, Meter: on, store: store}
	ref := stop.Must(s.reference(ctx, l, c))
	if !on.Target.Native() {
		m = m.Estimated(on.Target.CPU)
	}
	of := map[string]float64{"points": float64(l.space.Size()), "reference": float64(len(ref.points)),
		"default_cost": ref.def, "best_cost": ref.best}
	all = []figures.Figure{{Values: of, Mark: m}}
	for _, name := range s.searches {
		f := figures.Figure{Key: figures.Key{Subject: r.Name, Variant: name, Target: r.Target}, Values: of, Mark: m}
		for seed := range uint64(s.seeds) {
			curve := ref.random(seed+1, s.trials)
			if name != search.Random {
				curve = stop.Must(s.search(ctx, l, c, ref.def, name, seed+1))
			}
			f.Curves = append(f.Curves, curve)
		}
		all = append(all, f)
	}
	return all, nil
}

// reference measures the default and points that are drawn at random, as far as their costs are not
// known.
func (s *settings) reference(ctx context.Context, l *layer, c *costs) (_ *reference, err error) {
	defer stop.Catch(&err)
	d := stop.Must(l.space.Default())
	ref := &reference{}
	ref.points = stop.Must(l.points(ctx, s.points))
	ref.costs = stop.Must(c.costAll(ctx, append(ref.points, d)...))
	ref.def = ref.costs[len(ref.points)]
	ref.best = ref.def
	for _, cost := range ref.costs {
		if cost > 0 {
			ref.best = min(ref.best, cost)
		}
	}
	return ref, nil
}

// points draws n schedules at random, or all, as far as draws find them.
func (l *layer) points(ctx context.Context, n int) ([]space.Candidate, error) {
	var out []space.Candidate
	r, seen := rand.New(rand.NewPCG(1, 1)), map[string]bool{}
	const draws = 50 // for each, where most points are none, or have the same schedule
	for i := 0; i < draws*n && len(out) < n; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := l.space.Random(r)
		if seen[p.String()] {
			continue
		}
		seen[p.String()] = true
		if c, err := l.space.Build(p); err == nil && !seen[c.Key()] {
			seen[c.Key()] = true
			out = append(out, c)
		}
	}
	return out, nil
}

// random is the curve of a search that draws from the reference.
func (r *reference) random(seed uint64, trials int) []float64 {
	best := r.def
	curve := []float64{best}
	for _, i := range rand.New(rand.NewPCG(seed, 7)).Perm(len(r.points)) {
		if len(curve) > trials {
			break
		}
		if r.costs[i] > 0 {
			best = min(best, r.costs[i])
		}
		curve = append(curve, best)
	}
	return curve
}

// search is the curve of a search: the lowest cost after each trial. Trial 0 is the default.
func (s *settings) search(ctx context.Context, l *layer, c *costs, def float64, name string,
	seed uint64) (_ []float64, err error) {
	defer stop.Catch(&err)
	find := stop.Must(search.New(name, l.space, seed))
	d := stop.Must(l.space.Default())
	best := def
	curve := []float64{best}
	// a tuner proposes a batch while the one before is under way
	known, under := []search.Outcome{{Candidate: d, Cost: def}}, []search.Outcome(nil)
	for len(curve) <= s.trials {
		find.Tell(known)
		xs := stop.Must(find.Propose(ctx, min(batch, s.trials+1-len(curve))))
		if len(xs) == 0 {
			break
		}
		found := stop.Must(c.costAll(ctx, xs...))
		known, under = under, nil
		for i, x := range xs {
			under = append(under, search.Outcome{Candidate: x, Cost: found[i], Failed: found[i] == 0})
			if found[i] > 0 {
				best = min(best, found[i])
			}
			curve = append(curve, best)
		}
	}
	return curve, nil
}
