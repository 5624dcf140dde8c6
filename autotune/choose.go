package autotune

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"ripc/graph"
	"ripc/internal/lists"
	"ripc/ir"
	"ripc/lower/layout"
)

// choose gives layers other algorithms than they have without a tuner, where that makes the sum of
// all stages less. programs are the program without a tuner, then one for each algorithm. Stages
// depend on each other by levels, which lie as bytes where all layers that sum them read bytes. So
// it begins with these programs, and with each layer's cheapest stage: of all algorithms, of those
// that read bytes, and of the others. From each, the cheapest first, it changes one layer at a
// time, or all that read one tensor, as long as that helps.
func (a *agreement) choose(ctx context.Context, programs []*ir.Program) (map[string]layout.Algorithm, error) {
	c := &chooser{agreement: a, usual: algorithmsOf(programs[0]), unknown: map[place]bool{},
		stages: map[string]map[layout.Algorithm]float64{}, costs: map[string]float64{}}
	for _, s := range programs[0].Stages {
		if m, err := a.cheapest(ctx, programs[0], programs[0].FuncByName(s.Func)); err != nil {
			return nil, err
		} else if m == nil {
			c.unknown[placeOf(s)] = true
		}
	}
	for _, p := range programs {
		if _, err := c.learn(ctx, p, algorithmsOf(p)); err != nil {
			return nil, err
		}
	}
	begin := append([]assignment{c.cheapestStages(func(layout.Algorithm) bool { return true }),
		c.cheapestStages(layout.Algorithm.ReadsBytes),
		c.cheapestStages(func(by layout.Algorithm) bool { return !by.ReadsBytes() })},
		lists.Map(programs, algorithmsOf)...)
	for _, at := range begin {
		if _, err := c.cost(ctx, at); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(begin, func(a, b assignment) int {
		return cmp.Compare(c.costs[fmt.Sprint(a)], c.costs[fmt.Sprint(b)])
	})
	moves := c.moves()
	best, least := c.usual, math.Inf(1)
	for _, at := range begin {
		at, cost, err := c.descend(ctx, at, moves)
		if err != nil {
			return nil, err
		}
		if cost < least {
			best, least = at, cost
		}
	}
	return c.changes(best), nil
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

// chooser is the choice of algorithms.
type chooser struct {
	*agreement
	usual   assignment
	unknown map[place]bool // stages without a tuner that were not measured
	// stages are the costs of layers' stages by algorithm, of the others: the least in any program.
	stages  map[string]map[layout.Algorithm]float64
	costs   map[string]float64 // of programs, by their assignments
	lowered int                // programs, beside those that were given
}

// maxLowerings bounds the programs that are lowered: each takes some ten milliseconds.
const maxLowerings = 80

// changes are the algorithms that layers do not have without a tuner.
func (c *chooser) changes(by assignment) assignment {
	all := maps.Clone(by)
	maps.DeleteFunc(all, func(layer string, by layout.Algorithm) bool { return by == c.usual[layer] })
	return all
}

// cheapestStages gives each layer the accepted algorithm with the cheapest stage, if there is one.
func (c *chooser) cheapestStages(accepts func(layout.Algorithm) bool) assignment {
	all := maps.Clone(c.usual)
	for layer, costs := range c.stages {
		least := math.Inf(1)
		for _, by := range slices.Sorted(maps.Keys(costs)) {
			if accepts(by) && costs[by] < least {
				all[layer], least = by, costs[by]
			}
		}
	}
	return all
}

// moves are changes of single layers that read levels which may lie as bytes, and of all that read
// one tensor of such levels. The stages of other layers depend on their own algorithms alone.
func (c *chooser) moves() (all []assignment) {
	g := c.network.Graph
	readers := map[string][]string{}
	for _, n := range g.Nodes {
		if c.stages[n.Name] == nil {
			continue
		}
		if x := g.Value(n.Inputs[0]); x.Bits >= layout.MinBytes || x.View == graph.Bytes {
			readers[x.Name] = append(readers[x.Name], n.Name)
		}
	}
	for _, tensor := range slices.Sorted(maps.Keys(readers)) {
		for _, by := range layout.Algorithms() {
			together := assignment{}
			for _, layer := range readers[tensor] {
				if _, ok := c.stages[layer][by]; ok {
					all, together[layer] = append(all, assignment{layer: by}), by
				}
			}
			if len(together) > 1 {
				all = append(all, together)
			}
		}
	}
	return all
}

// descend makes the moves that make the cost less, until none does.
func (c *chooser) descend(ctx context.Context, at assignment, moves []assignment) (assignment, float64, error) {
	least, err := c.cost(ctx, at)
	for before := math.Inf(1); err == nil && least < before; {
		before = least
		for _, move := range moves {
			next := maps.Clone(at)
			maps.Copy(next, move)
			cost, err := c.cost(ctx, next)
			if err != nil {
				return nil, 0, err
			}
			if cost < least {
				at, least = next, cost
			}
		}
	}
	return at, least, err
}

// learn returns and notes the cost of p, which has the algorithms of by. A stage that was not
// measured without a tuner costs nothing.
func (c *chooser) learn(ctx context.Context, p *ir.Program, by assignment) (sum float64, err error) {
	for _, s := range p.Stages {
		m, err := c.cheapest(ctx, p, p.FuncByName(s.Func))
		unknown, cost := c.unknown[placeOf(s)], math.Inf(1)
		switch {
		case err != nil:
			return 0, err
		case unknown:
			cost = 0
		case m != nil:
			cost = m.cost
		}
		sum += cost
		if algorithm, ok := by[s.Name]; ok && !unknown {
			if c.stages[s.Name] == nil {
				c.stages[s.Name] = map[layout.Algorithm]float64{}
			}
			if known, ok := c.stages[s.Name][algorithm]; !ok || cost < known {
				c.stages[s.Name][algorithm] = cost
			}
		}
	}
	c.costs[fmt.Sprint(by)] = sum
	return sum, nil
}

// cost is the sum of the costs of all stages by the algorithms of by; +Inf once too many programs
// were lowered.
func (c *chooser) cost(ctx context.Context, by assignment) (float64, error) {
	if cost, ok := c.costs[fmt.Sprint(by)]; ok {
		return cost, nil
	}
	if c.lowered >= maxLowerings {
		return math.Inf(1), nil
	}
	c.lowered++
	p, err := c.network.lowered(ctx, c.changes(by))
	if err != nil {
		return 0, err
	}
	return c.learn(ctx, p, by)
}
