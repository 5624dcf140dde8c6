// Package strategy gives every Func of lower/ops a schedule. A strategy is a way to compute a layer, with a few knobs (tile
// sizes, lanes, unrolling), each with its domain; a tuner draws values, and the default is the strategy that schedule/cost
// takes for the cheapest, with the values that it gives. Strategies find loops by their axes and the buffers that they fill,
// and instructions by what they mean; they know no names, neither of loops nor of instructions, and no architecture.
package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"ripc/ir"
	"ripc/ir/size"
	"ripc/schedule"
	"ripc/targets"
)

// Knob is a free choice of a strategy.
type Knob struct {
	Name   string
	Text   string // for people
	Domain []int  // what it can be; never empty
	// Default is the value for a target that nothing has been measured for, one of Domain.
	Default int
}

// Values of knobs, by name.
type Values map[string]int

// Strategy is a way to compute a layer.
type Strategy struct {
	Name string
	Text string // for people
	// Applies reports whether the layer can be computed so, and if not, why.
	Applies func(l *Layer) (ok bool, why string)
	// Knobs lists the choices that there are for the layer. Callers share the list, and do not change it.
	Knobs func(l *Layer) []Knob
	// Cost estimates the operations of a row of the output (schedule/cost); strategies for the same layer compare.
	Cost func(l *Layer, v Values) float64
	// build writes the trace.
	build func(b *builder, v Values)
}

// LeftOut is a step that would have made the layer faster, and is not legal for it or makes too much code.
type LeftOut struct {
	Step string `json:"step"`
	Why  string `json:"why"`
}

// Choice is a schedule with where it comes from.
type Choice struct {
	Strategy string
	Values   Values
	Trace    schedule.Trace
	LeftOut  []LeftOut
	// Result is what the trace makes of the Func. Of a trace that was read, such as a recorded one, it has none.
	schedule.Result
}

// All lists the strategies. Of those that cost the same, the first is the default.
func All() []Strategy {
	all := []Strategy{words(), pairs(), carryTree(), carrySave(), byteLanes(), tables(), across(), dots(), floats(), windows(), plain()}
	for i, s := range all {
		all[i].Knobs = func(l *Layer) []Knob { return l.known.knobs.get(s.Name, func() []Knob { return s.Knobs(l) }) }
	}
	return all
}

// For lists the strategies that apply to a layer.
func For(l *Layer) []Strategy {
	var out []Strategy
	for _, s := range All() {
		if ok, _ := s.Applies(l); ok {
			out = append(out, s)
		}
	}
	return out
}

// PointError says that knobs have values that do not go together, that a step which a strategy needs is not legal, or that
// no code can be made of what the steps leave.
type PointError struct {
	Strategy string
	Values   Values
	Step     string // the step, "" if none was reached
	Err      error
}

func (e *PointError) Error() string {
	at := ""
	if e.Step != "" {
		at = e.Step + ": "
	}
	return fmt.Sprintf("strategy %s (%s): %s%v", e.Strategy, e.Values, at, e.Err)
}

// Unwrap gives the cause.
func (e *PointError) Unwrap() error { return e.Err }

// Build makes the schedule of a layer at a point of the strategy's space. Knobs without a value have the default. It fails
// with *PointError.
func (s Strategy) Build(l *Layer, v Values) (Choice, error) { return s.buildWith(newBuilder(l), l, v) }

// buildWith is Build with b.
func (s Strategy) buildWith(b *builder, l *Layer, v Values) (Choice, error) {
	all := Values{}
	for _, k := range s.Knobs(l) {
		all[k.Name] = k.Default
		if n, ok := v[k.Name]; ok {
			if all[k.Name] = n; !slices.Contains(k.Domain, n) {
				return Choice{}, &PointError{Strategy: s.Name, Values: v, Err: fmt.Errorf("%s is one of %d", k.Name, k.Domain)}
			}
		}
	}
	for n := range v {
		if _, ok := all[n]; !ok {
			return Choice{}, &PointError{Strategy: s.Name, Values: v, Err: fmt.Errorf("there is no knob %s", n)}
		}
	}
	b.average(all)
	s.build(b, all)
	b.averaged()
	b.judge()
	if b.err != nil {
		return Choice{}, &PointError{s.Name, all, b.failed, b.err}
	}
	return Choice{s.Name, all, b.trace, b.left, schedule.Result{Func: b.f, Packs: b.packs}}, nil
}

// Defaults are the default values of a strategy's knobs.
func (s Strategy) Defaults(l *Layer) Values {
	v := Values{}
	for _, k := range s.Knobs(l) {
		v[k.Name] = k.Default
	}
	return v
}

// Random draws a point. What it draws may not go together: Build says so.
func (s Strategy) Random(l *Layer, r *rand.Rand) Values {
	v := Values{}
	for _, k := range s.Knobs(l) {
		v[k.Name] = k.Domain[r.IntN(len(k.Domain))]
	}
	return v
}

// Default is the schedule of f for a target that nothing has been measured for: at their defaults, the cheapest strategy's of which code
// can be made; where that is none, or more than size.Sure by estimate, the cheapest one's without the steps that make it too much, rather one whose sums stay vectors.
func Default(f *ir.Func, t targets.Target) (Choice, error) {
	return usual(f, t, []int{0, size.Sure})
}

// Within is Default without the steps that make the code more than most by estimate, for what the back end, which counts, found to be too much.
func Within(f *ir.Func, t targets.Target, most int) (Choice, error) {
	return usual(f, t, []int{most})
}

// usual is the schedule at the defaults of the cheapest strategy of which code can be made, within the first limit by which there is any; 0 for none. One whose sums
// are no vectors, so that the code is not too large, gives way to the next that costs no more than vectorsWorth times as much.
func usual(f *ir.Func, t targets.Target, limits []int) (Choice, error) {
	l := LayerOf(f, t)
	all := For(l)
	if len(all) == 0 {
		return Choice{}, errors.New("no strategy applies to " + f.Name)
	}
	costs := map[string]float64{}
	for _, s := range all {
		costs[s.Name] = s.Cost(l, s.Defaults(l))
	}
	slices.SortStableFunc(all, func(a, b Strategy) int { return cmp.Compare(costs[a.Name], costs[b.Name]) })
	var first error
	for _, most := range limits {
		var oneByOne *Choice // the cheapest, if its sums are no vectors
		for _, s := range all {
			b := newBuilder(l)
			b.most = most
			c, err := s.buildWith(b, l, nil)
			if err == nil && most == 0 && size.Of(c.Func.Body) > size.Sure {
				break
			}
			switch {
			case err != nil:
				first = cmp.Or(first, err)
			case !b.oneByOne && (oneByOne == nil || costs[s.Name] <= vectorsWorth*costs[oneByOne.Strategy]):
				return c, nil
			case oneByOne == nil:
				oneByOne = &c
			}
		}
		if oneByOne != nil {
			return *oneByOne, nil
		}
	}
	return Choice{}, first
}

// vectorsWorth is how many times as dear a schedule may be, by costs that take vectors for granted, and still be better than one whose sums are none: these take 8 to 13 times what they cost on a Zen 5 with vectors of 512 bits.
const vectorsWorth = 4

// maxDraws bounds how often Random draws: the strategies for sums of words and of floats can be built at nearly all points.
const maxDraws = 1000

// Random is the schedule of f at a point that is drawn: any strategy, any values; where none can be built, without the steps that make
// too much code.
func Random(ctx context.Context, f *ir.Func, t targets.Target, r *rand.Rand) (Choice, error) {
	l := LayerOf(f, t)
	all := For(l)
	if len(all) == 0 {
		return Choice{}, errors.New("no strategy applies to " + f.Name)
	}
	var last error
	for _, most := range []int{0, size.Sure} {
		for range maxDraws {
			if err := ctx.Err(); err != nil {
				return Choice{}, err
			}
			s := all[r.IntN(len(all))]
			b := newBuilder(l)
			b.most = most
			c, err := s.buildWith(b, l, s.Random(l, r))
			if err == nil {
				return c, nil
			}
			last = err
		}
	}
	return Choice{}, last
}

// String is the values by name.
func (v Values) String() string {
	var b strings.Builder
	for i, n := range sortedKeys(v) {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%d", n, v[n])
	}
	return b.String()
}
