package autotune

import (
	"context"
	"maps"
	"math"
	"slices"

	"ripc/ir"
	"ripc/lower/layout"
)

// choose gives layers other algorithms than those of usual, the network without a tuner, where that makes the sum of all stages less.
// Mostly what a layer is by an algorithm does not depend on the others', and the least of each layer is the least of all. Where it does
// (tensors that lie as bytes if all that read them can), sets of layers are changed together as long as that helps.
func (a *agreement) choose(ctx context.Context, usual *ir.Program) (map[string]layout.Algorithm, error) {
	free := a.network.free()
	costs := map[place]map[layout.Algorithm]float64{}
	for _, by := range layout.Algorithms() {
		choice := uniform(free, by)
		if len(choice) == 0 || !a.tells(by) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := a.network.lowered(ctx, choice)
		if err != nil {
			return nil, err
		}
		for _, s := range p.Stages {
			if choice[s.Name] != by || s.Layer.Algorithm.Name != by.String() {
				continue
			}
			m, err := a.cheapest(ctx, p, p.FuncByName(s.Func))
			if err != nil {
				return nil, err
			}
			if m != nil {
				at := placeOf(s)
				if costs[at] == nil {
					costs[at] = map[layout.Algorithm]float64{}
				}
				costs[at][by] = m.cost
			}
		}
	}
	choice, promised := map[string]layout.Algorithm{}, 0.0
	for _, s := range usual.Stages {
		m, err := a.cheapest(ctx, usual, usual.FuncByName(s.Func))
		if err != nil {
			return nil, err
		}
		if m == nil {
			a.unknown[placeOf(s)] = true
			continue
		}
		least := m.cost
		for _, by := range layout.Algorithms() {
			if c, ok := costs[placeOf(s)][by]; ok && c < least && s.Layer.Algorithm.Name != "" {
				least, choice[s.Name] = c, by
			}
		}
		promised += least
	}
	if len(choice) == 0 {
		return nil, nil
	}
	return a.together(ctx, usual, choice, promised, free)
}

// tells says that the records have costs of an algorithm.
func (a *agreement) tells(by layout.Algorithm) bool {
	for _, r := range a.set.Records {
		if r.Candidate.Algorithm == by.String() {
			return true
		}
	}
	return false
}

// maxAssignments is how many assignments of algorithms to layers are all looked at: each takes a lowering.
const maxAssignments = 64

// together is the best of the assignments of algorithms to layers where these depend on each other: of all, if there are few; else of
// what the network is without a tuner, of one algorithm for all layers, of choice, and of what comes of these by changing layers to
// choice, one after the other, as long as that helps.
func (a *agreement) together(ctx context.Context, usual *ir.Program, choice map[string]layout.Algorithm, promised float64, free map[string][]layout.Algorithm) (map[string]layout.Algorithm, error) {
	total, err := a.costOf(ctx, choice)
	if err != nil || total <= promised*(1+1e-9) { // sums in another order
		return choice, err
	}
	best := map[string]layout.Algorithm{}
	least, err := a.cost(ctx, usual)
	if err != nil {
		return nil, err
	}
	try := func(next map[string]layout.Algorithm) (bool, error) {
		total, err := a.costOf(ctx, next)
		if err != nil || total >= least {
			return false, err
		}
		best, least = maps.Clone(next), total
		return true, nil
	}
	layers, options := slices.Sorted(maps.Keys(free)), map[string][]layout.Algorithm{}
	assignments := 1
	for _, l := range layers {
		options[l] = slices.DeleteFunc(slices.Clone(free[l]), func(by layout.Algorithm) bool { return !a.tells(by) })
		assignments = min(maxAssignments+1, assignments*max(1, len(options[l])))
	}
	if assignments <= maxAssignments {
		for i := range assignments {
			next := map[string]layout.Algorithm{}
			for _, l := range layers {
				if n := len(options[l]); n > 0 {
					next[l] = options[l][i%n]
					i /= n
				}
			}
			if _, err := try(next); err != nil {
				return nil, err
			}
		}
		return best, nil
	}
	starts := []map[string]layout.Algorithm{choice}
	for _, by := range layout.Algorithms() {
		if all := uniform(free, by); len(all) > 0 && a.tells(by) {
			starts = append(starts, all)
		}
	}
	for _, next := range starts {
		if _, err := try(next); err != nil {
			return nil, err
		}
	}
	for better := true; better; {
		better = false
		for _, l := range slices.Sorted(maps.Keys(choice)) {
			next := maps.Clone(best)
			if by, ok := best[l]; ok && by == choice[l] {
				continue
			}
			next[l] = choice[l]
			helps, err := try(next)
			if err != nil {
				return nil, err
			}
			better = better || helps
		}
	}
	return best, nil
}

// costOf is the cost of the network with the algorithms of choice.
func (a *agreement) costOf(ctx context.Context, choice map[string]layout.Algorithm) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	p, err := a.network.lowered(ctx, choice)
	if err != nil {
		return 0, err
	}
	return a.cost(ctx, p)
}

// cost is that of all stages of p. What has not been measured counts nothing if that is so without a tuner, too, else without end.
func (a *agreement) cost(ctx context.Context, p *ir.Program) (float64, error) {
	total := 0.0
	for _, s := range p.Stages {
		m, err := a.cheapest(ctx, p, p.FuncByName(s.Func))
		switch {
		case err != nil:
			return 0, err
		case m != nil:
			total += m.cost
		case !a.unknown[placeOf(s)]:
			return math.Inf(1), nil
		}
	}
	return total, nil
}
