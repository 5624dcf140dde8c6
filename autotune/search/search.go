// Package search proposes which candidates of a kernel to measure next. The target's machine.Model
// predicts the cost of a candidate. Trees learn from the costs that were measured by which factor
// its predictions are wrong, and correct them.
package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"ripc/autotune/space"
	"ripc/compile"
	"ripc/internal/lists"
	"ripc/schedule/costmodel"
	"ripc/schedule/features"
	"ripc/schedule/machine"
)

// Outcome is the cost of a candidate that was measured.
type Outcome struct {
	Candidate space.Candidate
	Cost      float64 // in one unit for all candidates of a search; 0 if it failed
	Failed    bool
}

// The names of searches.
const (
	XGB    = "xgb"    // measures the candidates of least predicted cost, and corrects the predictions; it needs XGBoost
	Random = "random" // draws points
)

// Names lists the names that New takes.
func Names() []string { return []string{XGB, Random} }

// Choose returns the search called name. The name "" stands for XGB where XGBoost is installed, and
// for Random elsewhere: then missing names the missing program. It fails with *NameError or
// UnavailableError.
func Choose(name string) (chosen string, missing, err error) {
	if !slices.Contains(append(Names(), ""), name) {
		return "", nil, &NameError{name}
	}
	if name == Random {
		return Random, nil, nil
	}
	if _, err := costmodel.Open(""); err != nil {
		missing = UnavailableError{err}
	}
	if name == XGB || missing == nil {
		return XGB, nil, missing
	}
	return Random, missing, nil
}

// UnavailableError names a program that a search needs and that is not here.
type UnavailableError struct{ error }

// NameError says that there is no search of that name.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("no search is called %q; there are %s", e.Name, strings.Join(Names(), ", "))
}

// BadInput reports that the input is at fault.
func (*NameError) BadInput() bool { return true }

// Search proposes candidates of one kernel. Its proposals depend on the kernel, the seed and the
// outcomes that it was told, in order.
type Search struct {
	space  *space.Space
	random *rand.Rand
	points map[string]bool // that were built, or cannot be
	traces map[string]bool // of candidates that were proposed, or told

	library  *costmodel.Library // nil: proposals are drawn
	machine  *machine.Model     // nil: the target has none
	defined  machine.Definition
	describe *features.Describer
	begun    bool
	told     []*entry // in order
	under    []*entry // proposed, and not told yet
	pool     []*entry // built, and not proposed
}

// entry is a candidate with its features and its predicted cost.
type entry struct {
	space.Candidate
	key      string // the Candidate's
	features []float32
	expected float64 // logarithm of the model's prediction; 0 without a model
	outcome  Outcome
}

// Parameters of the search.
const (
	first     = 16   // schedules that it begins with, those that the model predicts to be fastest
	enough    = 6    // outcomes that trees learn from, at least
	leaders   = 8    // of the best candidates, to guess neighbours of
	neighbors = 24   // of each
	drawn     = 64   // points that are guessed as well
	shortlist = 3    // candidates that are built for each that is proposed
	atRandom  = 0.05 // share of proposals that are drawn
	keep      = 256  // candidates that stay in the pool
	likeness  = 0.3  // penalty of a proposal that equals another one, in standard deviations of the scores
	sameness  = 0.3  // weight of another candidate's score, by the logarithm of their number
)

// New begins a search. It fails as Choose does.
func New(name string, s *space.Space, seed uint64) (*Search, error) {
	x := &Search{space: s, random: rand.New(rand.NewPCG(seed, 0x72616e64)), points: map[string]bool{},
		traces: map[string]bool{}}
	chosen, _, err := Choose(name)
	if err != nil || chosen == Random {
		return x, err
	}
	if x.library, err = costmodel.Open(""); err != nil {
		return nil, err
	}
	x.describe = features.For(s.Task.Target)
	if x.machine, _, err = machine.Of(s.Task.Target); err != nil {
		return nil, err
	}
	if x.machine != nil {
		x.defined = x.machine.Define(s.Task.Func)
	}
	return x, nil
}

// Propose returns up to n candidates, all different from each other and from those that it proposed
// or was told before; none if there are no others. It fails with ctx's error, or where a model
// cannot be trained.
func (x *Search) Propose(ctx context.Context, n int) ([]space.Candidate, error) {
	var chosen []space.Candidate
	if x.library != nil {
		drawn := 0
		for range n {
			if x.random.Float64() < atRandom {
				drawn++
			}
		}
		if err := x.build(ctx, shortlist*n); err != nil {
			return nil, err
		}
		correction, err := x.learn(ctx)
		if err != nil {
			return nil, err
		}
		for _, e := range x.choose(n-drawn, correction) {
			x.under = append(x.under, e)
			chosen = append(chosen, e.Candidate)
		}
	}
	rest, err := x.draw(ctx, n-len(chosen))
	if x.library != nil {
		for _, c := range rest {
			x.under = append(x.under, x.entry(c))
		}
	}
	return append(chosen, rest...), err
}

// Tell tells the outcomes of candidates, of its own proposals and of others.
func (x *Search) Tell(told []Outcome) {
	for _, o := range told {
		key := o.Candidate.Key()
		x.note(o.Candidate.Point)
		x.traces[key] = true
		if x.library == nil {
			continue
		}
		same := func(e *entry) bool { return e.key == key }
		var e *entry
		if at := slices.IndexFunc(x.under, same); at >= 0 {
			e = x.under[at]
			x.under = slices.Delete(x.under, at, at+1)
		} else {
			e = x.entry(o.Candidate)
			x.pool = slices.DeleteFunc(x.pool, same)
		}
		e.outcome = o
		x.told = append(x.told, e)
	}
}

// entry describes a candidate.
func (x *Search) entry(c space.Candidate) *entry {
	e := &entry{Candidate: c, key: c.Key()}
	if x.machine == nil {
		e.features = x.describe.Of(c.Func, c.Point.Values)
		return e
	}
	p := x.machine.Scheduled(c.Func, c.Point.Values)
	e.features, e.expected = p.After, math.Log(x.machine.Predict(p))
	return e
}

// note notes a point that was built. It reports whether the point is new.
func (x *Search) note(p space.Point) bool { return add(x.points, p.String()) }

// add reports whether key is new.
func add(seen map[string]bool, key string) bool {
	defer func() { seen[key] = true }()
	return !seen[key]
}

// take builds a point; ok reports that it is new, can be built, and has a new schedule.
func (x *Search) take(p space.Point) (c space.Candidate, ok bool) {
	if !x.note(p) {
		return c, false
	}
	c, err := x.space.Build(p)
	return c, err == nil && x.noteCode(c)
}

// noteCode reports whether a schedule is new, and notes it.
func (x *Search) noteCode(c space.Candidate) bool { return add(x.traces, c.Key()) }

// draw takes n candidates at random, and the last ones of a small space one by one.
func (x *Search) draw(ctx context.Context, n int) ([]space.Candidate, error) {
	const (
		draws = 50      // of each candidate, at most: many points may be the same schedule, or none
		small = 1 << 13 // points of a space
	)
	var out []space.Candidate
	size := x.space.Size()
	try := func(p space.Point) error {
		if c, ok := x.take(p); ok {
			out = append(out, c)
		}
		return ctx.Err()
	}
	for i := 0; i < draws*n && len(out) < n && len(x.points) < size; i++ {
		if err := try(x.space.Random(x.random)); err != nil {
			return nil, err
		}
	}
	if n > 0 && size <= small {
		from := x.random.IntN(size)
		for i := 0; i < size && len(out) < n && len(x.points) < size; i++ {
			if err := try(x.space.At((from + i) % size)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// build adds candidates to the pool: at first those that the model predicts to be fastest, then n
// of the least guesses among the neighbours of the best candidates and points that are drawn.
func (x *Search) build(ctx context.Context, n int) error {
	if !x.begun {
		x.begun = true
		promising, err := compile.Promising(ctx, x.space.Task.Func, x.space.Task.Target, first)
		if err != nil {
			return err
		}
		for _, p := range promising {
			c := space.CandidateOf(p.Choice)
			if x.note(c.Point) && x.noteCode(c) {
				x.pool = append(x.pool, x.entry(c))
			}
		}
	}
	for _, p := range x.guess() {
		if n == 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if c, ok := x.take(p); ok {
			x.pool, n = append(x.pool, x.entry(c)), n-1
		}
	}
	return nil
}

// guess are points that were not built, those of the least guesses first.
func (x *Search) guess() []space.Point {
	var points []space.Point
	seen := map[string]bool{}
	note := func(p space.Point) {
		if key := p.String(); !x.points[key] && add(seen, key) {
			points = append(points, p)
		}
	}
	for _, e := range x.best() {
		for range neighbors {
			p := x.space.Neighbour(e.Point, x.random)
			for x.random.IntN(3) == 0 {
				p = x.space.Neighbour(p, x.random)
			}
			note(p)
		}
	}
	for range drawn {
		note(x.space.Random(x.random))
	}
	if x.machine == nil {
		return points
	}
	sketches := lists.Map(points, func(p space.Point) machine.Sketch { return x.defined.Sketch(p.Strategy, p.Values) })
	order, sorted := make([]int, len(points)), make([]space.Point, len(points))
	floats.ArgsortStable(x.machine.Sift(sketches), order)
	for i, at := range order {
		sorted[i] = points[at]
	}
	return sorted
}

// best are the candidates of least cost.
func (x *Search) best() []*entry {
	all := slices.DeleteFunc(slices.Clone(x.told), func(e *entry) bool { return e.outcome.Failed })
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(a.outcome.Cost, b.outcome.Cost) })
	return all[:min(len(all), leaders)]
}

// learn trains the correction: the logarithm of measured over predicted cost. It is nil of too few
// outcomes. A candidate that failed counts as worse than all others.
func (x *Search) learn(ctx context.Context) (*costmodel.Model, error) {
	var samples []costmodel.Sample
	worst := math.Inf(-1)
	for _, e := range x.told {
		s := costmodel.Sample{Features: e.features}
		if !e.outcome.Failed {
			s.Label = float32(math.Log(e.outcome.Cost) - e.expected)
			worst = max(worst, float64(s.Label))
		}
		samples = append(samples, s)
	}
	if len(samples) < enough || math.IsInf(worst, 0) {
		return nil, nil
	}
	for i, e := range x.told {
		if e.outcome.Failed {
			samples[i].Label = float32(worst + 1)
		}
	}
	return x.library.Train(ctx, samples, costmodel.Options{Names: features.Names(), Rounds: 60,
		Depth: 3, Rate: 0.2})
}

// scores are the logarithms of corrected predictions.
func scores(entries []*entry, correction *costmodel.Model) []float64 {
	out := make([]float64, len(entries))
	var rows [][]float32
	for i, e := range entries {
		out[i], rows = e.expected, append(rows, e.features)
	}
	if correction != nil {
		for i, c := range correction.Predict(rows) {
			out[i] += c
		}
	}
	return out
}

// choose takes n candidates of the pool: those of the least scores that differ from each other and
// from the candidates under way. Candidates that the model cannot tell from one that is measured or
// chosen come later: a knob may make no difference.
func (x *Search) choose(n int, correction *costmodel.Model) []*entry {
	type ranked struct {
		*entry
		score, like float64
	}
	costs := scores(x.pool, correction)
	all := make([]ranked, len(x.pool))
	for i, e := range x.pool {
		all[i] = ranked{entry: e, score: costs[i]}
		for _, u := range x.under {
			all[i].like = max(all[i].like, countEqual(e.Point, u.Point))
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.score, b.score) })
	all = all[:min(len(all), keep)]
	same := map[float64]int{}
	for _, s := range scores(slices.Concat(x.told, x.under), correction) {
		same[s]++
	}
	deviation := stat.PopStdDev(costs, nil)
	value := func(r ranked) float64 {
		return r.score + deviation*(likeness*r.like+sameness*math.Log1p(float64(same[r.score])))
	}
	var out []*entry
	for len(out) < n && len(all) > 0 {
		at := 0
		for i := range all {
			if value(all[i]) < value(all[at]) {
				at = i
			}
		}
		chosen := all[at]
		all = slices.Delete(all, at, at+1)
		out = append(out, chosen.entry)
		same[chosen.score]++
		for i := range all {
			all[i].like = max(all[i].like, countEqual(all[i].Point, chosen.Point))
		}
	}
	x.pool = lists.Map(all, func(r ranked) *entry { return r.entry })
	return out
}

// countEqual is the share of equal knobs; 0 of different strategies.
func countEqual(p, q space.Point) float64 {
	if p.Strategy != q.Strategy {
		return 0
	}
	n := 0
	for knob, v := range p.Values {
		if q.Values[knob] == v {
			n++
		}
	}
	return float64(n) / float64(max(1, len(p.Values)))
}
