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

// choose gives layers other algorithms than those of usual, the network without a tuner, where that makes the sum of all stages less. What a
// stage costs depends on a layer's algorithm, and on whether levels lie as bytes, which they do where all layers that sum them read
// bytes (lower.Couple): the least sum over all assignments is found by dynamic programming.
func (a *agreement) choose(ctx context.Context, usual *ir.Program) (map[string]layout.Algorithm, error) {
	for _, s := range usual.Stages {
		if m, err := a.cheapest(ctx, usual, usual.FuncByName(s.Func)); err != nil {
			return nil, err
		} else if m == nil {
			a.unknown[placeOf(s)] = true
		}
	}
	c, err := a.newChooser(usual)
	if err != nil {
		return nil, err
	}
	if err := c.fill(ctx, usual); err != nil {
		return nil, err
	}
	factors, sizes := c.factors()
	values, ok := minimize(sizes, factors)
	if !ok {
		values = c.descend(sizes)
	}
	a.inexact = !ok || c.missing
	return c.choice(values), nil
}

// chooser is the choice of algorithms. Its variables are those of layers, then the forms of the Coupling, 1 for bytes, then what minimize
// needs to put forms together.
type chooser struct {
	*agreement
	coupling *lower.Coupling
	layers   []string
	options  [][]layout.Algorithm // of layers; that of the network without a tuner first
	forms    [][]int              // of the Coupling, by places in layers
	stages   []string
	tables   []factor // by stage: NaN is not known yet
	missing  bool     // there was not the time to know all
}

func (a *agreement) newChooser(usual *ir.Program) (*chooser, error) {
	coupling, err := lower.Couple(a.network.Graph, a.network.options(nil))
	if err != nil {
		return nil, err
	}
	c := &chooser{agreement: a, coupling: coupling}
	free, at := lower.Free(a.network.Graph, a.network.options(nil)), map[string]int{}
	for _, s := range usual.Stages {
		by, err := layout.ParseAlgorithm(s.Layer.Algorithm.Name)
		if _, twice := at[s.Name]; err != nil || twice { // it has no algorithm, or copies what the layer made
			continue
		}
		options := []layout.Algorithm{by}
		if !a.unknown[placeOf(s)] {
			for _, other := range free[s.Name] {
				if other != by && a.tells(other) {
					options = append(options, other)
				}
			}
		}
		at[s.Name] = len(c.layers)
		c.layers, c.options = append(c.layers, s.Name), append(c.options, options)
	}
	for _, layers := range coupling.Forms {
		var form []int
		for _, l := range layers {
			form = append(form, at[l])
		}
		c.forms = append(c.forms, form)
	}
	sizes := c.sizes()
	for _, name := range slices.Sorted(maps.Keys(coupling.Scopes)) {
		var f factor
		for _, l := range coupling.Scopes[name].Layers {
			f.vars = append(f.vars, at[l])
		}
		slices.Sort(f.vars)
		for _, form := range coupling.Scopes[name].Forms {
			f.vars = append(f.vars, len(c.layers)+form)
		}
		n := sizeOf(sizes, f.vars)
		if n > maxTable {
			c.missing = true
			continue
		}
		f.costs = slices.Repeat([]float64{math.NaN()}, n)
		c.stages, c.tables = append(c.stages, name), append(c.tables, f)
	}
	return c, nil
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

// sizes are the numbers of values of layers and of forms.
func (c *chooser) sizes() []int {
	var sizes []int
	for _, o := range c.options {
		sizes = append(sizes, len(o))
	}
	return append(sizes, slices.Repeat([]int{2}, len(c.forms))...)
}

// reads says that a layer reads bytes by one of its options.
func (c *chooser) reads(layer, option int) bool { return c.options[layer][option].ReadsBytes() }

// choice gives each layer the algorithm of values that is not that of the network without a tuner.
func (c *chooser) choice(values []int) map[string]layout.Algorithm {
	choice := map[string]layout.Algorithm{}
	for i, l := range c.layers {
		if values[i] > 0 {
			choice[l] = c.options[i][values[i]]
		}
	}
	return choice
}

// withForms are the values of layers, with those of the forms that follow.
func (c *chooser) withForms(layers []int) []int {
	values := slices.Clone(layers[:len(c.layers)])
	for _, form := range c.forms {
		bytes := 1
		for _, l := range form {
			if !c.reads(l, values[l]) {
				bytes = 0
			}
		}
		values = append(values, bytes)
	}
	return values
}

// maxLowerings is how often a network is lowered to know what its stages cost: each takes some ten milliseconds, and tells of all stages.
const maxLowerings = 512

// fill finds out what stages cost, by looking at programs that have as much as possible of what is not known yet. What no program can
// have, and what was not measured, has no end.
func (c *chooser) fill(ctx context.Context, usual *ir.Program) error {
	if err := c.learn(ctx, usual, c.withForms(make([]int, len(c.layers)))); err != nil {
		return err
	}
	sizes := c.sizes()
	at := make([]int, len(sizes))
	for range maxLowerings {
		plan, any := c.newWish(), false
		for _, f := range c.tables {
			for _, v := range f.vars {
				at[v] = 0
			}
			for i, cost := range f.costs {
				if math.IsNaN(cost) {
					switch {
					case !c.newWish().add(f.vars, at):
						f.costs[i] = math.Inf(1)
					case plan.add(f.vars, at):
						any = true
					}
				}
				next(sizes, f.vars, at)
			}
		}
		if !any {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		values := c.withForms(plan.layers())
		p, err := c.network.lowered(ctx, c.choice(values))
		if err == nil {
			err = c.learn(ctx, p, values)
		}
		if err != nil {
			return err
		}
	}
	c.missing = true
	for _, f := range c.tables {
		for i, cost := range f.costs {
			if math.IsNaN(cost) {
				f.costs[i] = math.Inf(1)
			}
		}
	}
	return nil
}

// learn notes what the stages of p cost, the program of values. What has not been measured counts nothing if that is so without a tuner,
// too, else without end.
func (c *chooser) learn(ctx context.Context, p *ir.Program, values []int) error {
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
	sizes := c.sizes()
	for i, f := range c.tables {
		f.costs[index(sizes, f.vars, values)] = costs[c.stages[i]]
	}
	return nil
}

// wish is what a program is to have: values of some variables, -1 for any.
type wish struct {
	*chooser
	values []int
}

func (c *chooser) newWish() *wish {
	return &wish{c, slices.Repeat([]int{-1}, len(c.layers)+len(c.forms))}
}

// add wishes for the values at of vars, too, if some program has all that was wished for.
func (w *wish) add(vars []int, at []int) bool {
	before := slices.Clone(w.values)
	for _, v := range vars {
		if w.values[v] >= 0 && w.values[v] != at[v] {
			w.values = before
			return false
		}
		w.values[v] = at[v]
	}
	for i, v := range w.withForms(w.layers()) {
		if w.values[i] >= 0 && w.values[i] != v {
			w.values = before
			return false
		}
	}
	return true
}

// layers are values of layers that have all that was wished for, if any have. A layer sums levels of one form.
func (w *wish) layers() []int {
	values := slices.Clone(w.values[:len(w.chooser.layers)])
	for i, form := range w.forms {
		want := w.values[len(values)+i]
		planes := want != 0 // some layer keeps them from being bytes, or none need
		for _, l := range form {
			planes = planes || values[l] >= 0 && !w.reads(l, values[l])
		}
		for _, l := range form {
			for o := range w.options[l] {
				if values[l] < 0 && (want == 1 && w.reads(l, o) || !planes && !w.reads(l, o)) {
					values[l], planes = o, true
				}
			}
		}
	}
	for l := range values {
		values[l] = max(0, values[l])
	}
	return values
}

// factors are the tables, and what makes forms what their layers say: behind each layer of a form a variable says whether all up to it read
// bytes, the last of which is the form's own.
func (c *chooser) factors() (factors []factor, sizes []int) {
	sizes, factors = c.sizes(), slices.Clone(c.tables)
	for i, form := range c.forms {
		if len(form) == 0 {
			factors = append(factors, factor{[]int{len(c.layers) + i}, []float64{math.Inf(1), 0}})
		}
		f := factor{}
		for k, l := range form {
			now := len(c.layers) + i
			if k < len(form)-1 {
				now = len(sizes)
				sizes = append(sizes, 2)
			}
			f.vars, f.costs = append(f.vars, l, now), nil
			for _, yes := range []bool{false, true}[3-len(f.vars):] { // none is before the first

				for o := range c.options[l] {
					if yes && c.reads(l, o) {
						f.costs = append(f.costs, math.Inf(1), 0)
					} else {
						f.costs = append(f.costs, 0, math.Inf(1))
					}
				}
			}
			factors, f = append(factors, f), factor{vars: []int{now}}
		}
	}
	return factors, sizes
}

// descend is what comes of the network without a tuner by changing one layer after the other, as long as that helps: where minimize
// would take too much.
func (c *chooser) descend(sizes []int) []int {
	best := c.withForms(make([]int, len(c.layers)))
	least := sum(sizes, c.tables, best)
	for better := true; better; {
		better = false
		for l := range c.layers {
			for o := range c.options[l] {
				next := slices.Clone(best)
				next[l] = o
				next = c.withForms(next)
				if n := sum(sizes, c.tables, next); n < least {
					best, least, better = next, n, true
				}
			}
		}
	}
	return best
}
