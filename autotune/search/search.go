// Package search proposes which candidates of a space to measure next, from what those measured before cost.
package search

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"ripc/autotune/space"
	"ripc/schedule/costmodel"
)

// Outcome is what a candidate turned out to cost.
type Outcome struct {
	Candidate space.Candidate
	Cost      float64 // in whatever unit all costs of one search have; 0 if it failed
	Failed    bool
}

// sample is what a model learns from an outcome, beside those of its group.
func (o Outcome) sample(features []float32, group string) costmodel.Sample {
	s := costmodel.Sample{Features: features, Cost: o.Cost, Group: group}
	if o.Failed {
		s.Cost = 0
	}
	return s
}

// Search proposes candidates of one task. It depends on nothing but its options and what it was told, in order.
type Search interface {
	// Propose gives up to n candidates, all different from each other and from those that it proposed or was told before; none if there
	// are no others. It fails with ctx's error, or where what it needs is missing.
	Propose(ctx context.Context, n int) ([]space.Candidate, error)
	// Tell says what candidates cost, of its own proposals and of others.
	Tell([]Outcome)
}

// Options are for all searches. The zero value is fine.
type Options struct {
	Seed uint64
	// Model is what xgb knows from other tasks, of ModelFeatures (Learn); nil stands for the one that comes with ripc.
	Model *costmodel.Model
	// Start are points to begin with, the most promising first; without any, a search begins at the first values of each strategy's knobs and at points that are drawn.
	Start []space.Point
	// Alone says that it knows nothing.
	Alone bool
	// Thorough has more built to choose from, which is worth its time where measuring takes longer than that, as simulating does.
	Thorough bool
	// Beside does work on a core that is free, and reports true, or reports false; nil stands for as many as Go uses.
	Beside func(work func()) bool
}

// kind is one way to search.
type kind struct {
	name, text string
	needs      func() error // nil if nothing
	open       func(s *space.Space, o Options) (Search, error)
	whole      bool // it proposes all points, and none a second time
}

func kinds() []kind {
	return []kind{
		{"xgb", "measures what a cost model takes for the best", needsLibrary, openXGB, false},
		{"evolve", "crosses and changes the best so far", nil, openEvolve, false},
		{"random", "draws points", nil, openRandom, false},
		{"grid", "goes through all points, spread over the space however early it ends", nil, openGrid, true},
		{"exhaustive", "goes through all points in order", nil, openExhaustive, true},
	}
}

// Names lists what New takes.
func Names() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// Whole says that a search goes through the whole space and then ends, so that better ones may come as late as any.
func Whole(name string) bool {
	return slices.ContainsFunc(kinds(), func(k kind) bool { return k.name == name && k.whole })
}

// Default is the search that New takes for "": the first that has here what it needs.
func Default() string {
	all := kinds()
	return all[slices.IndexFunc(all, func(k kind) bool { return k.needs == nil || k.needs() == nil })].name
}

// Available fails, with *UnavailableError, where what a search needs is missing.
func Available(name string) error {
	for _, k := range kinds() {
		if k.name == name && k.needs != nil {
			if err := k.needs(); err != nil {
				return &UnavailableError{Search: name, Err: err}
			}
		}
	}
	return nil
}

// UnavailableError says what a search needs that is not here.
type UnavailableError struct {
	Search string
	Err    error // *costmodel.MissingError
}

func (e *UnavailableError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

func needsLibrary() error {
	_, err := costmodel.Open("")
	return err
}

// NameError says that there is no search of that name.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("no search is called %q; there are %s", e.Name, strings.Join(Names(), ", "))
}

// New begins a search. It fails with *NameError, or where what the search needs is missing.
func New(name string, s *space.Space, o Options) (Search, error) {
	for _, k := range kinds() {
		if k.name == cmp.Or(name, Default()) {
			return k.open(s, o)
		}
	}
	return nil, &NameError{name}
}

// Fresh builds points of a space and lets each schedule pass once.
type Fresh struct {
	Space  *space.Space
	points map[string]bool // that were built
	plain  int             // those of them without steps behind their strategies
	traces map[string]bool // that have passed
	beside func(work func()) bool
}

// NewFresh has let nothing pass yet. Of o it takes Beside.
func NewFresh(s *space.Space, o Options) *Fresh {
	f := &Fresh{Space: s, points: map[string]bool{}, traces: map[string]bool{}, beside: o.Beside}
	if f.beside == nil {
		f.beside = func(work func()) bool {
			go work()
			return true
		}
	}
	return f
}

// Take builds p; ok says that it can be built and that its schedule is new.
func (f *Fresh) Take(p space.Point) (c space.Candidate, ok bool) {
	key := f.Space.Key(p)
	if f.points[key] {
		return c, false
	}
	f.note(p, key)
	c, err := f.Space.Build(p)
	if err != nil || f.traces[c.Key()] {
		return c, false
	}
	f.traces[c.Key()] = true
	return c, true
}

// Seen says that the schedule of c is not new any more.
func (f *Fresh) Seen(c space.Candidate) {
	f.note(c.Point, f.Space.Key(c.Point))
	f.traces[c.Key()] = true
}

// Tell says that the schedules of candidates are not new any more, whatever they cost.
func (f *Fresh) Tell(told []Outcome) {
	for _, o := range told {
		f.Seen(o.Candidate)
	}
}

func (f *Fresh) note(p space.Point, key string) {
	if !f.points[key] && len(p.Steps) == 0 {
		f.plain++
	}
	f.points[key] = true
}

// All reports whether all points without steps behind them have been built, as far as they were drawn one by one.
func (f *Fresh) All() bool { return f.plain >= f.Space.Size() }

// random draws points.
type random struct {
	*Fresh
	r *rand.Rand
}

func openRandom(s *space.Space, o Options) (Search, error) {
	return &random{NewFresh(s, o), rand.New(rand.NewPCG(o.Seed, streamOfRandom))}, nil
}

// streamOfRandom sets the numbers of this search apart from those that others draw from the same seed.
const streamOfRandom = 0x72616e64

func (s *random) Propose(ctx context.Context, n int) ([]space.Candidate, error) {
	return s.drawn(ctx, n, s.r)
}
