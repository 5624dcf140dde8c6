// Package strategy schedules the Funcs of lower/ops. A strategy is a way to compute a layer, with a
// few knobs (tile sizes, lanes, unrolling). Each knob has a domain, from which a search or a tuner
// takes values. Strategies find loops by axis and by the buffer that they write, and instructions
// by meaning. They know no names of loops or instructions, and no architecture.
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
	Domain []int  // its values, the plainest first; never empty
}

// Values of knobs, by name.
type Values map[string]int

// Strategy is a way to compute a layer.
type Strategy struct {
	Name string
	Text string // for people
	// Machine is the kind of machine that it is for.
	Machine Machine
	// Applies reports whether the strategy can compute the layer, and if not, why.
	Applies func(l *Layer) (ok bool, why string)
	// Knobs lists the knobs for the layer. Callers share the list and must not change it.
	Knobs func(l *Layer) []Knob
	// build writes the trace.
	build func(b *builder, v Values)
}

// Machine is a kind of machine, with loops of its own.
type Machine uint8

// Machines.
const (
	CPU    Machine = iota // threads share parallel loops; lanes of vectors
	Device                // blocks of threads
)

// machineOf returns the kind of a target.
func machineOf(t targets.Target) Machine {
	if t.IsDevice() {
		return Device
	}
	return CPU
}

// LeftOut is an optional step that is not legal for the layer, or makes too much code.
type LeftOut struct {
	Step string `json:"step"`
	Why  string `json:"why"`
}

// Choice is a schedule and its origin.
type Choice struct {
	Strategy string
	Values   Values
	Trace    schedule.Trace
	LeftOut  []LeftOut
	Origin   string // why a network takes it: Measured, Predicted or Simplest
	// Result is the result of the trace. A trace that was read, such as a recorded one, has none.
	schedule.Result
}

// The origins of a Choice.
const (
	Measured  = "measured"  // the best that was measured; "on" and a target if on another one
	Predicted = "predicted" // the best by the model of the machine
	Simplest  = "plainest"  // no model compared any
)

// All lists the strategies, general ones before special cases of the same method.
func All() []Strategy {
	all := []Strategy{words(), pairs(), carryTree(), carrySave(), byteLanes(), tables(), acrossTables(), dots(),
		dotChannels(), floats(), fmaRows(),
		plain(), oneBlock(), splitSums(), tiles(), rows(), pairRows(), pixels(), channelLanes(), kernels()}
	for i, s := range all {
		all[i].Applies = func(l *Layer) (bool, string) {
			if s.Machine != machineOf(l.Target) {
				return false, "it is for another kind of machine"
			}
			return s.Applies(l)
		}
		all[i].Knobs = func(l *Layer) []Knob { return l.known.knobs.get(s.Name, func() []Knob { return s.Knobs(l) }) }
	}
	return all
}

// For lists the strategies that apply to a layer.
func For(l *Layer) []Strategy {
	return slices.DeleteFunc(All(), func(s Strategy) bool {
		ok, _ := s.Applies(l)
		return !ok
	})
}

// PointError is the refusal of a point: values that contradict each other, a required step that is
// not legal, or a result without code.
type PointError struct {
	Strategy string
	Values   Values
	Step     string // the refused step, or ""
	Err      error
}

func (e *PointError) Error() string {
	at := ""
	if e.Step != "" {
		at = e.Step + ": "
	}
	return fmt.Sprintf("strategy %s (%s): %s%v", e.Strategy, e.Values, at, e.Err)
}

// Unwrap returns the cause.
func (e *PointError) Unwrap() error { return e.Err }

// Build returns the schedule of a layer at a point of the strategy's space. A knob without a value
// has the first of its domain. It fails with *PointError.
func (s Strategy) Build(l *Layer, v Values) (Choice, error) { return s.buildWith(newBuilder(l), l, v) }

// buildWith is Build with a given builder.
func (s Strategy) buildWith(b *builder, l *Layer, v Values) (Choice, error) {
	all := Values{}
	for _, k := range s.Knobs(l) {
		all[k.Name] = k.Domain[0]
		if n, ok := v[k.Name]; ok {
			if all[k.Name] = n; !slices.Contains(k.Domain, n) {
				return Choice{}, &PointError{Strategy: s.Name, Values: v,
					Err: fmt.Errorf("%s is one of %d", k.Name, k.Domain)}
			}
		}
	}
	for n := range v {
		if _, ok := all[n]; !ok {
			return Choice{}, &PointError{Strategy: s.Name, Values: v, Err: fmt.Errorf("there is no knob %s", n)}
		}
	}
	if s.Machine == CPU {
		b.placeMean(all)
	}
	s.build(b, all)
	if s.Machine == CPU {
		b.scheduleMean()
	}
	b.judge()
	if b.err != nil {
		return Choice{}, &PointError{s.Name, all, b.failed, b.err}
	}
	return Choice{Strategy: s.Name, Values: all, Trace: b.trace, LeftOut: b.left,
		Result: schedule.Result{Func: b.f, Packs: b.packs}}, nil
}

// Random draws a point. Build may refuse it.
func (s Strategy) Random(l *Layer, r *rand.Rand) Values {
	v := Values{}
	for _, k := range s.Knobs(l) {
		v[k.Name] = k.Domain[r.IntN(len(k.Domain))]
	}
	return v
}

// Plainest returns the schedule of f by the first strategy that can be built at the first values of
// its knobs. Its estimated size is at most `most` instructions, if most is not 0, or else
// size.Sure. Optional steps beyond the limit are left out. takes, if not nil,
// refuses schedules; if it refuses every one, the first is returned. Callers use Plainest where no
// model says which schedule is fast.
func Plainest(f *ir.Func, t targets.Target, most int, takes func(*ir.Func) bool) (Choice, error) {
	l := LayerOf(f, t)
	all := For(l)
	if len(all) == 0 {
		return Choice{}, errors.New("no strategy applies to " + f.Name)
	}
	var first error
	var refused Choice
	for _, limit := range []int{most, size.Sure} {
		for _, s := range all {
			b := newBuilder(l)
			b.most = limit
			c, err := s.buildWith(b, l, nil)
			switch {
			case err != nil:
				first = cmp.Or(first, err)
			case limit == 0 && size.Of(c.Func.Body) > size.Sure:
			case takes == nil || takes(c.Func):
				return c, nil
			case refused.Strategy == "":
				refused = c
			}
		}
	}
	if refused.Strategy != "" {
		return refused, nil
	}
	return Choice{}, first
}

// String prints the values, sorted by name.
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
