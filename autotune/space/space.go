// Package space says which schedules a kernel may have: the strategies that apply to it, with the
// values that their knobs can have. Points are made, changed and counted without looking at any
// code; Build makes the schedule of one, or says that it is none, before any tool is run.
package space

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"ripc/compile"
	"ripc/schedule"
	"ripc/schedule/strategy"
)

// Point is one place of a Space. Different points may have the same schedule: candidates are the
// same if their Keys are.
type Point struct {
	Strategy string
	Values   strategy.Values // of all its knobs
}

// String is the point for people.
func (p Point) String() string {
	if len(p.Values) == 0 {
		return p.Strategy
	}
	return p.Strategy + " " + p.Values.String()
}

// Candidate is a point with its schedule.
type Candidate struct {
	Point           Point
	Trace           schedule.Trace
	schedule.Result // the task's Func, scheduled by the trace
}

// CandidateOf is a choice as a candidate.
func CandidateOf(c strategy.Choice) Candidate {
	return Candidate{Point{c.Strategy, c.Values}, c.Trace, c.Result}
}

// Key is the text of the trace: candidates with the same one are the same code.
func (c Candidate) Key() string { return c.Trace.String() }

// Space is that of one task. It may be used by several goroutines.
type Space struct {
	Task  *Task
	layer *strategy.Layer
	kinds []kind
	size  int
	usual func() (Candidate, error) // Default, built once
}

// kind is a strategy with its knobs, and the number of points of those before it.
type kind struct {
	strategy.Strategy
	knobs []strategy.Knob
	first int
}

// New is the space of t. It fails if no strategy applies.
func New(t *Task) (*Space, error) {
	s := &Space{Task: t, layer: strategy.LayerOf(t.Func, t.Target)}
	s.usual = sync.OnceValues(func() (Candidate, error) {
		c, err := compile.Default(t.Func, t.Target)
		return CandidateOf(c), err
	})
	for _, st := range strategy.For(s.layer) {
		k := kind{st, st.Knobs(s.layer), s.size}
		s.kinds = append(s.kinds, k)
		n := 1
		for _, knob := range k.knobs {
			n *= len(knob.Domain)
		}
		s.size += n
	}
	if len(s.kinds) == 0 {
		return nil, fmt.Errorf("no strategy applies to %s", t.Func.Name)
	}
	return s, nil
}

// Size is the number of points.
func (s *Space) Size() int { return s.size }

func (s *Space) kind(name string) *kind {
	if i := slices.IndexFunc(s.kinds, func(k kind) bool { return k.Name == name }); i >= 0 {
		return &s.kinds[i]
	}
	return nil
}

// At is the point number i, from 0 to Size()-1.
func (s *Space) At(i int) Point {
	k := len(s.kinds) - 1
	for s.kinds[k].first > i {
		k--
	}
	p := Point{Strategy: s.kinds[k].Name, Values: strategy.Values{}}
	i -= s.kinds[k].first
	for _, knob := range slices.Backward(s.kinds[k].knobs) {
		p.Values[knob.Name] = knob.Domain[i%len(knob.Domain)]
		i /= len(knob.Domain)
	}
	return p
}

// Random draws a point: a strategy, whatever the sizes of their spaces, and values of its knobs.
func (s *Space) Random(r *rand.Rand) Point {
	k := s.kinds[r.IntN(len(s.kinds))]
	return Point{Strategy: k.Name, Values: k.Random(s.layer, r)}
}

// otherStrategy is how often, out of one, Neighbour changes the strategy where there is a choice.
const otherStrategy = 0.1

// Neighbour is p with another value of one knob, mostly one next to its own; now and then, where
// there are several, p with another strategy, which keeps the values of the knobs that it shares.
// Where nothing can be changed it is p.
func (s *Space) Neighbour(p Point, r *rand.Rand) Point {
	k := s.kind(p.Strategy)
	var free []strategy.Knob
	if k != nil {
		free = slices.DeleteFunc(slices.Clone(k.knobs), func(k strategy.Knob) bool { return len(k.Domain) < 2 })
	}
	if len(s.kinds) > 1 && (len(free) == 0 || r.Float64() < otherStrategy) {
		return s.otherKind(p, r)
	}
	if len(free) == 0 {
		return p
	}
	q := Point{Strategy: p.Strategy, Values: maps.Clone(p.Values)}
	knob := free[r.IntN(len(free))]
	at := max(0, slices.Index(knob.Domain, p.Values[knob.Name]))
	to := r.IntN(len(knob.Domain) - 1) // any other
	if to >= at {
		to++
	}
	if near := at + 1 - 2*r.IntN(2); r.IntN(2) == 0 && near >= 0 && near < len(knob.Domain) {
		to = near
	}
	q.Values[knob.Name] = knob.Domain[to]
	return q
}

// otherKind is p with another strategy.
func (s *Space) otherKind(p Point, r *rand.Rand) Point {
	others := slices.DeleteFunc(slices.Clone(s.kinds), func(k kind) bool { return k.Name == p.Strategy })
	k := others[r.IntN(len(others))]
	q := Point{Strategy: k.Name, Values: strategy.Values{}}
	for _, knob := range k.knobs {
		q.Values[knob.Name] = knob.Domain[0]
		if v, ok := p.Values[knob.Name]; ok && slices.Contains(knob.Domain, v) {
			q.Values[knob.Name] = v
		}
	}
	return q
}

// Default is the schedule that the task has without a tuner. Its point is where that comes from;
// Build may refuse it where steps are left out that would make too much code.
func (s *Space) Default() (Candidate, error) { return s.usual() }

// Build makes the schedule of p. It runs no tools. It fails with *strategy.PointError if the values
// do not go together, or there would be too much code.
func (s *Space) Build(p Point) (Candidate, error) {
	k := s.kind(p.Strategy)
	if k == nil {
		return Candidate{}, &strategy.PointError{Strategy: p.Strategy, Values: p.Values,
			Err: errors.New("it does not apply to the layer")}
	}
	c, err := k.Build(s.layer, p.Values)
	return CandidateOf(c), err
}
