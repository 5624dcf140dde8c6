package autotune

import (
	"context"
	"maps"
	"math"
	"slices"

	"ripc/ir"
	"ripc/lower"
	"ripc/lower/layout"
)

// choose gives layers other algorithms than they have without a tuner, where that makes the sum of
// all stages less. programs are the program without a tuner, then one for each algorithm. It
// descends from each of them: one layer is changed at a time, or all layers that read levels of one
// form, as long as that helps.
func (a *agreement) choose(ctx context.Context, programs []*ir.Program) (map[string]layout.Algorithm, error) {
	c, err := a.newChooser(ctx, programs)
	if err != nil {
		return nil, err
	}
	var best assignment
	least := math.Inf(1)
	for _, p := range programs {
		at, cost, err := c.descend(ctx, algorithmsOf(p))
		if err != nil {
			return nil, err
		}
		if best == nil || cost < least {
			best, least = at, cost
		}
	}
	return c.changes(best), nil
}

// changes are the algorithms that layers do not have without a tuner.
func (c *chooser) changes(by assignment) assignment {
	all := maps.Clone(by)
	maps.DeleteFunc(all, func(layer string, by layout.Algorithm) bool { return by == c.usual[layer] })
	return all
}

// assignment is the algorithms of layers.
type assignment = map[string]layout.Algorithm

func algorithmsOf(p *ir.Program) assignment {
	all := assignment{}
	for _, s := range p.Stages {
		if by, err := layout.ParseAlgorithm(s.Layer.Algorithm.Name); err == nil {
			all[s.Name] = by
		}
	}
	return all
}

// chooser is the choice of algorithms. A stage's cost depends on the algorithms of some layers, and
// on whether levels lie as bytes, which they do where all layers that sum them read bytes
// (lower.Coupling).
type chooser struct {
	*agreement
	coupling *lower.Coupling
	usual    assignment
	unknown  map[place]bool // stages without a tuner that were not measured
	stages   []string
	costs    map[state]float64 // of programs that were lowered
	moves    []assignment
	lowered  int // programs, beside those that it began with
}

// maxLowerings bounds them: each takes some ten milliseconds.
const maxLowerings = 64

// state is a stage, by its number, with all that its cost depends on: algorithms, and whether
// levels lie as bytes.
type state struct {
	stage int
	of    string
}

func (a *agreement) newChooser(ctx context.Context, programs []*ir.Program) (*chooser, error) {
	c := &chooser{agreement: a, usual: algorithmsOf(programs[0]), unknown: map[place]bool{}, costs: map[state]float64{}}
	o := a.network.options(nil)
	var err error
	if c.coupling, err = lower.Couple(a.network.Graph, o); err != nil {
		return nil, err
	}
	c.stages = slices.Sorted(maps.Keys(c.coupling.Scopes))
	for _, s := range programs[0].Stages {
		if m, err := a.cheapest(ctx, programs[0], programs[0].FuncByName(s.Func)); err != nil {
			return nil, err
		} else if m == nil {
			c.unknown[placeOf(s)] = true
		}
	}
	for _, p := range programs {
		if err := c.learn(ctx, p, algorithmsOf(p)); err != nil {
			return nil, err
		}
	}
	free := lower.Free(a.network.Graph, o)
	maps.DeleteFunc(free, func(layer string, _ []layout.Algorithm) bool {
		return !slices.ContainsFunc(programs[0].Stages, func(s ir.Stage) bool { // it may be part of another stage
			return s.Name == layer && !c.unknown[placeOf(s)]
		})
	})
	for _, layer := range slices.Sorted(maps.Keys(free)) {
		for _, by := range free[layer] {
			c.moves = append(c.moves, assignment{layer: by})
		}
	}
	for _, layers := range c.coupling.Forms {
		of := map[string][]layout.Algorithm{}
		for _, l := range layers {
			of[l] = free[l]
		}
		for _, move := range lower.Uniform(of) {
			c.moves = append(c.moves, move)
		}
	}
	return c, nil
}

// learn notes the costs of the stages of p. by has the algorithms of its layers. A stage that was
// not measured costs nothing if that is so without a tuner, too.
func (c *chooser) learn(ctx context.Context, p *ir.Program, by assignment) error {
	costs := map[string]float64{}
	for _, s := range p.Stages {
		m, err := c.cheapest(ctx, p, p.FuncByName(s.Func))
		switch {
		case err != nil:
			return err
		case m != nil:
			costs[s.Name] += m.cost
		case !c.unknown[placeOf(s)]:
			costs[s.Name] = math.Inf(1)
		}
	}
	for _, st := range c.states(by) {
		c.costs[st] = costs[c.stages[st.stage]]
	}
	return nil
}

// descend makes the moves that help, until none does.
func (c *chooser) descend(ctx context.Context, at assignment) (assignment, float64, error) {
	least, err := c.cost(ctx, at, math.Inf(1))
	for idle := 0; idle < len(c.moves); {
		for _, move := range c.moves {
			next := maps.Clone(at)
			maps.Copy(next, move)
			cost, err := c.cost(ctx, next, least)
			if err != nil {
				return nil, 0, err
			}
			if idle++; cost < least {
				at, least, idle = next, cost, 0
			}
		}
	}
	return at, least, err
}

// cost is the sum of the costs of all stages that depend on algorithms; +Inf where it is not known
// to be less than most. The network is lowered where a stage is new.
func (c *chooser) cost(ctx context.Context, by assignment, most float64) (float64, error) {
	sum, fresh := 0.0, false
	for _, st := range c.states(by) {
		cost, ok := c.costs[st]
		sum, fresh = sum+cost, fresh || !ok
	}
	if !fresh {
		return sum, nil
	}
	if sum >= most || c.lowered == maxLowerings {
		return math.Inf(1), nil
	}
	c.lowered++
	p, err := c.network.lowered(ctx, c.changes(by))
	if err != nil {
		return 0, err
	}
	if err := c.learn(ctx, p, by); err != nil {
		return 0, err
	}
	return c.cost(ctx, by, most)
}

// states are those of all stages.
func (c *chooser) states(by assignment) []state {
	bytes := make([]byte, len(c.coupling.Forms))
	for i, layers := range c.coupling.Forms {
		if !slices.ContainsFunc(layers, func(l string) bool { return !by[l].ReadsBytes() }) {
			bytes[i] = 1
		}
	}
	var all []state
	for i, stage := range c.stages {
		var of []byte
		for _, l := range c.coupling.Scopes[stage].Layers {
			of = append(of, byte(by[l]))
		}
		for _, form := range c.coupling.Scopes[stage].Forms {
			of = append(of, bytes[form])
		}
		all = append(all, state{i, string(of)})
	}
	return all
}
