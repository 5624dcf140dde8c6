// Package space says which schedules a kernel may have: the strategies that apply to it, with the values that their knobs can have,
// and legal steps behind those. Points are made, changed and counted without looking at any code; Build makes the schedule of one, or
// says that it is none, before any tool is run.
package space

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"ripc/compile"
	"ripc/ir/arith"
	"ripc/ir/size"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets/isa"
)

// Point is one place of a Space. Different points may have the same schedule: candidates are the same if their Keys are.
type Point struct {
	Strategy string
	Values   strategy.Values // of all its knobs
	Steps    schedule.Trace  // behind the strategy's
}

// String is the point for people.
func (p Point) String() string {
	var b strings.Builder
	b.WriteString(p.Strategy)
	if len(p.Values) > 0 {
		b.WriteString(" " + p.Values.String())
	}
	for _, s := range p.Steps {
		b.WriteString("; " + s.String())
	}
	return b.String()
}

// Candidate is a point with its schedule.
type Candidate struct {
	Point           Point
	Trace           schedule.Trace
	schedule.Result // what the trace makes of the task's Func
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
		if err != nil {
			return Candidate{}, err
		}
		return Candidate{Point{Strategy: c.Strategy, Values: c.Values}, c.Trace, c.Result}, nil
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

// Size is the number of points without steps behind the strategies'.
func (s *Space) Size() int { return s.size }

// Strategies are the names of the strategies that apply, in order.
func (s *Space) Strategies() []string {
	var names []string
	for _, k := range s.kinds {
		names = append(names, k.Name)
	}
	return names
}

// Knobs are those of a strategy, nil if it does not apply.
func (s *Space) Knobs(strategy string) []strategy.Knob {
	if k := s.kind(strategy); k != nil {
		return k.knobs
	}
	return nil
}

func (s *Space) kind(name string) *kind {
	for i := range s.kinds {
		if s.kinds[i].Name == name {
			return &s.kinds[i]
		}
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

// Index is the inverse of At, and looks at no steps; -1 if p is not of this space.
func (s *Space) Index(p Point) int {
	k := s.kind(p.Strategy)
	if k == nil || len(p.Values) != len(k.knobs) {
		return -1
	}
	i := 0
	for _, knob := range k.knobs {
		v, given := p.Values[knob.Name]
		at := slices.Index(knob.Domain, v)
		if !given || at < 0 {
			return -1
		}
		i = i*len(knob.Domain) + at
	}
	return k.first + i
}

// Contains reports whether p is of this space, whatever its steps are.
func (s *Space) Contains(p Point) bool { return s.Index(p) >= 0 }

// Key is the same for equal points, of this space alone.
func (s *Space) Key(p Point) string { return p.String() }

// Random draws a point: a strategy, whatever the sizes of their spaces, and values of its knobs.
func (s *Space) Random(r *rand.Rand) Point {
	k := s.kinds[r.IntN(len(s.kinds))]
	p := Point{Strategy: k.Name, Values: strategy.Values{}}
	for _, knob := range k.knobs {
		p.Values[knob.Name] = knob.Domain[r.IntN(len(knob.Domain))]
	}
	return p
}

// otherStrategy is how often, out of one, Neighbour changes the strategy where there is a choice.
const otherStrategy = 0.1

// Neighbour is p with another value of one knob, mostly one next to its own; now and then, where there are several, p with another
// strategy, which keeps the values of the knobs that it shares. Where nothing can be changed it is p.
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
	q := Point{Strategy: p.Strategy, Values: maps.Clone(p.Values), Steps: p.Steps}
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

// Cross is a point with the strategy and the steps of p or of q, and each knob's value from either.
func (s *Space) Cross(p, q Point, r *rand.Rand) Point {
	if r.IntN(2) == 0 {
		p, q = q, p
	}
	out := Point{Strategy: p.Strategy, Values: maps.Clone(p.Values), Steps: p.Steps}
	for _, knob := range s.Knobs(p.Strategy) {
		if v, ok := q.Values[knob.Name]; ok && slices.Contains(knob.Domain, v) && r.IntN(2) == 0 {
			out.Values[knob.Name] = v
		}
	}
	return out
}

// Default is the schedule that the task has without a tuner. Its point is where that comes from; Build may refuse it where steps are
// left out that would make too much code.
func (s *Space) Default() (Candidate, error) { return s.usual() }

// Build makes the schedule of p. It runs no tools. It fails with *strategy.PointError if the values do not go together, a step is not
// legal, or there would be too much code.
func (s *Space) Build(p Point) (Candidate, error) {
	k := s.kind(p.Strategy)
	if k == nil {
		return Candidate{}, &strategy.PointError{Strategy: p.Strategy, Values: p.Values, Err: errors.New("it does not apply to the layer")}
	}
	c, err := k.Build(s.layer, p.Values)
	if err != nil {
		return Candidate{}, err
	}
	out := Candidate{Point{p.Strategy, c.Values, p.Steps}, c.Trace, c.Result}
	for _, st := range p.Steps {
		if out.Result, err = s.step(out.Result, st); err != nil {
			return Candidate{}, &strategy.PointError{Strategy: p.Strategy, Values: p.Values, Step: st.String(), Err: err}
		}
	}
	out.Trace = append(out.Trace[:len(out.Trace):len(out.Trace)], p.Steps...)
	return out, nil
}

// step is before after one more step, if that leaves code that can be made.
func (s *Space) step(before schedule.Result, st schedule.Step) (schedule.Result, error) {
	r, err := schedule.Trace{st}.ApplyAll(before.Func, schedule.WithInstrs(isa.For(s.Task.Target)))
	if err != nil {
		return r, err
	}
	if err := size.Check(before.Func.Body, r.Func.Body); err != nil {
		return r, err
	}
	r.Packs = slices.Concat(before.Packs, r.Packs)
	return r, arith.VerifyWidths(r.Func)
}
