// Package strategy gives every Func of lower/ops a schedule. A strategy is a way to compute a layer, with a few knobs (tile
// sizes, lanes, unrolling), each with its domain: a search or a tuner takes values. Strategies find loops by their axes and the buffers that they fill,
// and instructions by what they mean; they know no names, neither of loops nor of instructions, and no architecture.
package strategy

import (
	"cmp"
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
	Domain []int  // what it can be, the plainest first; never empty
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

// All lists the strategies, plain ones before those that do the same in a special way.
func All() []Strategy {
	all := []Strategy{words(), pairs(), carryTree(), carrySave(), byteLanes(), tables(), across(), dots(), floats(), plain()}
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

// Build makes the schedule of a layer at a point of the strategy's space. A knob without a value has the first of its domain. It fails
// with *PointError.
func (s Strategy) Build(l *Layer, v Values) (Choice, error) { return s.buildWith(newBuilder(l), l, v) }

// buildWith is Build with b.
func (s Strategy) buildWith(b *builder, l *Layer, v Values) (Choice, error) {
	all := Values{}
	for _, k := range s.Knobs(l) {
		all[k.Name] = k.Domain[0]
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

// Random draws a point. What it draws may not go together: Build says so.
func (s Strategy) Random(l *Layer, r *rand.Rand) Values {
	v := Values{}
	for _, k := range s.Knobs(l) {
		v[k.Name] = k.Domain[r.IntN(len(k.Domain))]
	}
	return v
}

// Plainest is the schedule of f by the first strategy that applies and can be built at the first values of its knobs. By estimate it has at most so many instructions,
// 0 for any, or else size.Sure: steps that only make the code faster are left out beyond. It stands where nothing says which schedule is fast.
func Plainest(f *ir.Func, t targets.Target, most int) (Choice, error) {
	l := LayerOf(f, t)
	all := For(l)
	if len(all) == 0 {
		return Choice{}, errors.New("no strategy applies to " + f.Name)
	}
	var first error
	for _, limit := range []int{most, size.Sure} {
		for _, s := range all {
			b := newBuilder(l)
			b.most = limit
			c, err := s.buildWith(b, l, nil)
			if err == nil && (limit > 0 || size.Of(c.Func.Body) <= size.Sure) {
				return c, nil
			}
			first = cmp.Or(first, err)
		}
	}
	return Choice{}, first
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
