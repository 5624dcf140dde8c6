package search

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"ripc/autotune/space"
	"ripc/schedule/costmodel"
)

// xgb measures what a model takes for the best. To build a candidate takes milliseconds, so there are two models: one of the values of
// knobs, by which simulated annealing goes through thousands of points, and one of the features of kernels, which can know more, also
// from other tasks, and which chooses among the few that are built.
type xgb struct {
	*Fresh
	r       *rand.Rand
	library *costmodel.Library
	base    *costmodel.Model // of other tasks; nil if there is none
	where   *coordinates
	start   []space.Point
	look    *looker
	effort

	told  []*entry     // in order
	under []*entry     // proposed, and not told yet
	pool  []*entry     // built, and not proposed
	taken map[int]bool // numbers of places that were built, or cannot be
}

// entry is a candidate with what models ask about it.
type entry struct {
	space.Candidate
	key      string // the Candidate's
	place    place
	inside   bool // it has a place: no steps behind its strategy's
	features []float32
	outcome  Outcome
}

// streamOfXGB sets the numbers of this search apart.
const streamOfXGB = 0x786762

// measured is the group of what was measured.
const measured = "measured"

// What the search goes by.
const (
	enough     = 6    // candidates that have to be measured before a model of them is asked
	chains     = 128  // of the annealing
	walk       = 500  // steps of a chain at most
	patience   = 60   // steps of all chains after which no better points are expected
	atRandom   = 0.05 // share of proposals that no model chooses
	firstTurns = 2    // rounds of building before anything is measured, with a model of other tasks
	keep       = 256  // candidates that stay in the pool
	longer     = 6    // for so many that are built, there is one with more steps
	leaders    = 6    // of which these are
	likeness   = 0.3  // what being like one that is chosen already counts, in deviations of the scores
	sameness   = 0.3  // what having the score of others that are measured or chosen counts, by the logarithm of their number
)

// effort is how much is built to choose from.
type effort struct {
	shortlist int // points for each that is proposed
	firstPool int // candidates for a model of other tasks, before anything is measured
}

// effortOf is what o asks for: with half as much to choose from, proposals take a third less time, and a search that has few trials may find less.
func effortOf(o Options) effort {
	if o.Thorough {
		return effort{2, 48}
	}
	return effort{1, 32}
}

func openXGB(s *space.Space, o Options) (Search, error) {
	l, err := costmodel.Open("")
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(o.Seed, streamOfXGB))
	look, err := newLooker(s)
	if err != nil {
		return nil, err
	}
	base := o.Model
	if base == nil && !o.Alone {
		if base, err = Shipped(); err != nil {
			return nil, err
		}
	}
	return &xgb{Fresh: NewFresh(s, o), r: r, library: l, base: base, taken: map[int]bool{}, where: newCoordinates(s), start: startOf(s, o, r), look: look, effort: effortOf(o)}, nil
}

func (x *xgb) Propose(ctx context.Context, n int) ([]space.Candidate, error) {
	chosen, err := x.propose(ctx, n)
	if err != nil {
		return nil, err
	}
	x.under = append(x.under, chosen...)
	var out []space.Candidate
	for _, e := range chosen {
		out = append(out, e.Candidate)
	}
	return out, nil
}

// looked are the entries of candidates.
func (x *xgb) looked(cs []space.Candidate, err error) ([]*entry, error) {
	var all []*entry
	for _, c := range cs {
		all = append(all, x.entry(c))
	}
	return all, err
}

func (x *xgb) propose(ctx context.Context, n int) ([]*entry, error) {
	if x.All() && len(x.pool) == 0 {
		return nil, nil
	}
	best := x.best()
	if x.base == nil && len(best) < enough {
		return x.looked(x.begin(ctx, n, &x.start, x.r))
	}
	if x.base != nil && len(best) < enough { // what the model is to choose from
		first, err := x.looked(x.begin(ctx, max(x.shortlist*n, x.firstPool)-len(x.pool), &x.start, x.r))
		if err != nil {
			return nil, err
		}
		x.pool = append(x.pool, first...)
	}
	model, err := x.model(ctx)
	if err != nil {
		return nil, err
	}
	turns := 1
	if len(x.told)+len(x.under) < enough { // nothing is known yet but what the model says, so it is asked more often, once
		turns = firstTurns
	}
	for range turns {
		if err := x.build(ctx, x.shortlist*n, best, model); err != nil {
			return nil, err
		}
	}
	var others []*entry
	for range n { // some that nobody expects anything of
		if x.r.Float64() < atRandom {
			e, err := x.looked(x.draw(ctx, 1, x.r))
			if err != nil {
				return nil, err
			}
			others = append(others, e...)
		}
	}
	if x.base != nil && len(best) < enough { // what other tasks say may be wrong of this one
		e, err := x.looked(x.begin(ctx, n/2, &x.start, x.r))
		if err != nil {
			return nil, err
		}
		others = append(others, e...)
	}
	x.pool, others = append(x.pool, others[min(n, len(others)):]...), others[:min(n, len(others))]
	out := append(x.choose(n-len(others), model), others...)
	rest, err := x.looked(x.draw(ctx, n-len(out), x.r))
	return append(out, rest...), err
}

// build adds n candidates to the pool that may be better than those that are there, and some of the best with steps behind them.
func (x *xgb) build(ctx context.Context, n int, best []*entry, model *costmodel.Model) error {
	places, err := x.promising(ctx, n, best, model)
	if err != nil {
		return err
	}
	var points []space.Point
	for _, p := range places {
		number := x.where.number(p)
		x.taken[number] = true
		points = append(points, x.Space.At(number))
	}
	built, err := x.looked(x.takeAll(ctx, points))
	if err != nil {
		return err
	}
	x.pool = append(x.pool, built...)
	if len(best) == 0 {
		return nil
	}
	for range n / longer {
		most := min(len(best), leaders)
		if p, ok := x.Space.Extend(best[min(x.r.IntN(most), x.r.IntN(most))].Point, x.r); ok {
			if c, ok := x.Take(p); ok {
				x.pool = append(x.pool, x.entry(c))
			}
		}
	}
	return nil
}

// entry looks at a candidate.
func (x *xgb) entry(c space.Candidate) *entry {
	e := &entry{Candidate: c, key: c.Key(), features: x.look.features(c)}
	e.place, e.inside = x.where.of(c.Point)
	if e.inside = e.inside && len(c.Point.Steps) == 0; e.inside {
		x.taken[x.where.number(e.place)] = true
	}
	return e
}

// best are those that did not fail, the best first.
func (x *xgb) best() []*entry {
	all := slices.DeleteFunc(slices.Clone(x.told), func(e *entry) bool { return e.outcome.Failed })
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(a.outcome.Cost, b.outcome.Cost) })
	return all
}

// model is of the kernels that were measured, and of other tasks.
func (x *xgb) model(ctx context.Context) (*costmodel.Model, error) {
	if len(x.told) < enough && x.base != nil {
		return x.base, nil
	}
	var samples []costmodel.Sample
	for _, e := range x.told {
		samples = append(samples, e.outcome.sample(e.features, measured))
	}
	o := costmodel.Defaults(x.look.names)
	o.Depth, o.Base = 3, x.base // of few samples
	return x.library.Train(ctx, samples, o)
}

// sketch is a model of the values of knobs: of what was measured, and of what the other model says of what is built; nil of nothing.
func (x *xgb) sketch(ctx context.Context, model *costmodel.Model) (*costmodel.Model, error) {
	var samples []costmodel.Sample
	for _, e := range x.told {
		if e.inside {
			samples = append(samples, e.outcome.sample(x.where.features(e.place), measured))
		}
	}
	if x.base != nil {
		for i, score := range model.Predict(rowsOf(x.pool)) {
			if e := x.pool[i]; e.inside {
				samples = append(samples, costmodel.Sample{Features: x.where.features(e.place), Cost: math.Exp(-score), Group: "expected"})
			}
		}
	}
	if len(samples) == 0 { // all of them have steps behind their strategies
		return nil, nil
	}
	o := costmodel.Defaults(x.where.names)
	o.Rounds, o.Depth = 40, 5 // few features, each of which counts
	return x.library.Train(ctx, samples, o)
}

func rowsOf(entries []*entry) [][]float32 {
	var rows [][]float32
	for _, e := range entries {
		rows = append(rows, e.features)
	}
	return rows
}

// promising lists n points that are not built yet, those that the sketch takes for the best first.
func (x *xgb) promising(ctx context.Context, n int, best []*entry, model *costmodel.Model) ([]place, error) {
	const few = 1 << 12 // points, which are all asked about
	size := x.Space.Size()
	if size <= few && len(x.taken) >= size {
		return nil, nil
	}
	sketch, err := x.sketch(ctx, model)
	if err != nil || sketch == nil {
		return nil, err
	}
	a := &annealing{where: x.where, model: sketch, r: x.r, scores: map[int]float64{}, top: ranking{most: n, same: max(2, n/8)}, skip: func(number int) bool { return x.taken[number] }}
	if size <= few {
		a.all(size)
		return a.places(), nil
	}
	var from []place
	for _, e := range best[:min(len(best), chains/2)] {
		if e.inside {
			from = append(from, e.place)
		}
	}
	for len(from) < chains {
		from = append(from, x.where.random(x.r))
	}
	if err := a.run(ctx, from); err != nil {
		return nil, err
	}
	return a.places(), nil
}

// choose takes n of the pool, those of the highest score that are not too much like others, nor, for all that the model knows, what has been
// measured or is under way: loops of many lengths that make no difference would be tried one after the other.
func (x *xgb) choose(n int, model *costmodel.Model) []*entry {
	scores := model.Predict(rowsOf(x.pool))
	type ranked struct {
		*entry
		score, like float64
	}
	all := make([]ranked, len(x.pool))
	for i, e := range x.pool {
		all[i] = ranked{e, scores[i], 0}
		for _, u := range x.under {
			all[i].like = max(all[i].like, alike(e.place, u.place))
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	all = all[:min(len(all), keep)]
	deviation := spread(scores)
	same := map[float64]int{}
	for _, s := range model.Predict(rowsOf(slices.Concat(x.told, x.under))) {
		same[s]++
	}
	var out []*entry
	for len(out) < n && len(all) > 0 {
		at := 0
		value := func(r ranked) float64 {
			return r.score - deviation*(likeness*r.like+sameness*math.Log1p(float64(same[r.score])))
		}
		for i, r := range all {
			if value(r) > value(all[at]) {
				at = i
			}
		}
		chosen := all[at]
		out = append(out, chosen.entry)
		same[chosen.score]++
		all = slices.Delete(all, at, at+1)
		for i := range all {
			all[i].like = max(all[i].like, alike(all[i].place, chosen.place))
		}
	}
	x.pool = x.pool[:0]
	for _, r := range all {
		x.pool = append(x.pool, r.entry)
	}
	return out
}

// spread is the standard deviation.
func spread(v []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, x := range v {
		sum += x
		squares += x * x
	}
	n := float64(max(1, len(v)))
	return math.Sqrt(max(0, squares/n-sum*sum/n/n))
}

func (x *xgb) Tell(told []Outcome) {
	for _, o := range told {
		x.Seen(o.Candidate)
		key := o.Candidate.Key()
		var e *entry
		if at := slices.IndexFunc(x.under, func(u *entry) bool { return u.key == key }); at >= 0 {
			e = x.under[at]
			x.under = slices.Delete(x.under, at, at+1)
		} else {
			e = x.entry(o.Candidate)
			x.pool = slices.DeleteFunc(x.pool, func(p *entry) bool { return p.key == key })
		}
		e.outcome = o
		x.told = append(x.told, e)
	}
}
