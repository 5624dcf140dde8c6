package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ripc/autotune/search"
	"ripc/autotune/space"
	"ripc/measure/provenance"
)

// batch is the number of candidates that a search proposes at once.
const batch = 8

// result is a task's.
type result struct {
	Task      string  `json:"task"`
	Points    int     `json:"points"`    // of the space
	Reference int     `json:"reference"` // schedules that were measured to compare with
	Default   float64 `json:"default"`
	Best      float64 `json:"best"` // of the reference
	// Curves are, by search and seed, the lowest cost after each trial; trial 0 is the default.
	Curves map[string][][]float64 `json:"curves"`
	provenance.Mark
	// Seconds is the time of proposals, by search, over all seeds; the first search computes each
	// candidate's features.
	Seconds map[string]float64 `json:"-"`
}

// compare runs the searches on a task.
func (s settings) compare(ctx context.Context, t *task) (*result, error) {
	ref := &t.ref
	res := &result{Mark: t.mark(), Task: t.Name, Points: t.space.Size(), Reference: len(ref.points), Default: ref.def,
		Best: ref.best, Curves: map[string][][]float64{}, Seconds: map[string]float64{}}
	for _, name := range s.searches {
		for seed := range s.seeds {
			var curve []float64
			var err error
			start := time.Now()
			var spent time.Duration
			if name == search.Random {
				curve = ref.random(uint64(seed+1), s.trials)
			} else {
				curve, spent, err = s.search(ctx, t, name, uint64(seed+1))
			}
			res.Seconds[name] += spent.Seconds()
			if err != nil {
				return nil, err
			}
			res.Curves[name] = append(res.Curves[name], curve)
			last := curve[len(curve)-1]
			fmt.Printf("%s: %s, seed %d: %.1f %% above the best after %d trials (%.0f s)\n", t.Name, name, seed+1,
				100*(last/ref.best-1), len(curve)-1, time.Since(start).Seconds())
		}
	}
	return res, nil
}

// random is the curve of a search that draws from the reference at random.
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

// search is the curve of a search.
func (s settings) search(ctx context.Context, t *task, name string, seed uint64) ([]float64, time.Duration, error) {
	var spent time.Duration
	start := time.Now()
	find, err := search.New(name, t.space, seed)
	if err != nil {
		return nil, 0, err
	}
	d, err := t.space.Default()
	if err != nil {
		return nil, 0, err
	}
	find.Tell([]search.Outcome{{Candidate: d, Cost: t.ref.def}})
	spent += time.Since(start)
	best := t.ref.def
	curve := []float64{best}
	var known, under []search.Outcome // a tuner proposes a batch while the one before is under way
	for len(curve) <= s.trials {
		start := time.Now()
		find.Tell(known)
		xs, err := find.Propose(ctx, min(batch, s.trials+1-len(curve)))
		if err != nil {
			return nil, 0, err
		}
		spent += time.Since(start)
		if len(xs) == 0 {
			break
		}
		found, err := t.costs.costAll(ctx, xs, s.jobs)
		if err != nil {
			return nil, 0, err
		}
		known, under = under, nil
		for i, x := range xs {
			under = append(under, search.Outcome{Candidate: x, Cost: found[i], Failed: found[i] == 0})
			if found[i] > 0 {
				best = min(best, found[i])
			}
			curve = append(curve, best)
		}
	}
	return curve, spent, nil
}

// costAll returns the costs of candidates, with jobs measured at once.
func (c *costs) costAll(ctx context.Context, xs []space.Candidate, jobs int) ([]float64, error) {
	out := make([]float64, len(xs))
	var all errgroup.Group
	all.SetLimit(jobs)
	for i, x := range xs {
		all.Go(func() (err error) {
			out[i], err = c.cost(ctx, x)
			return err
		})
	}
	return out, all.Wait()
}

// median is the median of curves at a trial; a curve that ended has its last value.
func median(curves [][]float64, trial int) float64 {
	var at []float64
	for _, c := range curves {
		at = append(at, c[min(trial, len(c)-1)])
	}
	slices.Sort(at)
	if n := len(at); n%2 == 0 {
		return (at[n/2-1] + at[n/2]) / 2
	}
	return at[len(at)/2]
}
