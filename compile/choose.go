package compile

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower"
	"ripc/lower/layout"
	"ripc/schedule/cost"
	"ripc/schedule/machine"
	"ripc/targets"
)

// choose finds algorithms for the layers that o leaves open, those with the least predicted cost of the whole network. It is nil for a
// target without a machine. The candidates are each algorithm for all layers that it applies to, and each layer's cheapest. Stages
// between layers count, too.
func choose(ctx context.Context, g *graph.Graph, o lower.Options) (map[string]layout.Choice, error) {
	m, ok, err := machine.Of(o.Target)
	free := lower.Free(g, o)
	if err != nil || !ok || len(free) == 0 {
		return nil, err
	}
	p := &predictor{model: m, target: o.Target, known: map[string]float64{}}
	estimates := map[string][]layout.Estimated{}
	least, best := math.Inf(1), map[string]layout.Algorithm(nil)
	try := func(choice map[string]layout.Algorithm) (stages map[string]float64, err error) {
		q := o
		q.Algorithms = maps.Clone(choice)
		maps.Copy(q.Algorithms, o.Algorithms)
		program, err := lower.Program(ctx, g, q)
		if err != nil {
			return nil, err
		}
		stages, sum, err := p.stages(ctx, program)
		if err == nil && sum < least {
			least, best = sum, choice
		}
		return stages, err
	}
	for by, choice := range lower.Uniform(free) {
		stages, err := try(choice)
		if err != nil {
			return nil, err
		}
		for layer := range choice {
			estimates[layer] = append(estimates[layer], layout.Estimated{Algorithm: by, Cost: cost.Estimate(stages[layer])})
		}
	}
	cheapest := map[string]layout.Algorithm{}
	for layer, all := range estimates {
		cheapest[layer] = slices.MinFunc(all, func(a, b layout.Estimated) int { return cmp.Compare(a.Cost, b.Cost) }).Algorithm
	}
	if _, err := try(cheapest); err != nil {
		return nil, err
	}
	choices := map[string]layout.Choice{}
	for layer, by := range free {
		c := layout.Choice{Algorithm: by[0], Why: layout.Cheaper, Estimates: estimates[layer], Unit: m.Unit}
		if a, ok := best[layer]; ok {
			c.Algorithm = a
		}
		choices[layer] = c
	}
	return choices, nil
}

// predictor predicts the costs of default schedules, of equal Funcs once.
type predictor struct {
	model  *machine.Model
	target targets.Target
	known  map[string]float64 // by text
}

// stages are the predicted costs of a program's stages, those of a name together, and their sum.
func (p *predictor) stages(ctx context.Context, program *ir.Program) (by map[string]float64, sum float64, err error) {
	by = map[string]float64{}
	index := program.Index()
	for _, s := range program.Stages {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		f := index.Func(s.Func)
		text := f.String()
		c, known := p.known[text]
		if !known {
			choice, err := Default(f, p.target)
			if err != nil {
				return nil, 0, &InternalError{"default schedule of " + f.Name, err}
			}
			c = p.model.Cost(choice.Func)
			p.known[text] = c
		}
		by[s.Name] += c
		sum += c
	}
	return by, sum, nil
}
