package compile

import (
	"cmp"
	"context"
	"maps"
	"math"
	"runtime"
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower"
	"ripc/lower/layout"
	"ripc/schedule/machine"

	"golang.org/x/sync/errgroup"
)

// Algorithms chooses algorithms for the layers of g that o leaves open, by least predicted cost of
// the whole network. For a target without a machine.Model it has only the layers that get
// PopcountDense in the place of Popcount.
func Algorithms(ctx context.Context, g *graph.Graph, o lower.Options) (map[string]layout.Choice, error) {
	s, err := newFinder(o.Target, Options{})
	if err != nil {
		return nil, err
	}
	return s.choose(ctx, g, o)
}

// fewerWords chooses PopcountDense for the layers of free where it counts fewer words than
// Popcount, their first algorithm.
func fewerWords(g *graph.Graph, free map[string][]layout.Algorithm) map[string]layout.Choice {
	choices := map[string]layout.Choice{}
	pixels, dense := layout.Counted{Bits: layout.WordBits}, layout.Counted{Dense: true, Bits: layout.WordBits}
	for _, n := range g.Nodes {
		if by := free[n.Name]; len(by) > 0 && by[0] == layout.Popcount && slices.Contains(by, layout.PopcountDense) {
			f := n.Attrs.(*graph.FusedConv)
			if dense.WordsOfSum(f) < pixels.WordsOfSum(f) {
				choices[n.Name] = layout.Choice{Algorithm: layout.PopcountDense, Why: layout.Usual}
			}
		}
	}
	return choices
}

// way is a layer's kernel by an algorithm.
type way struct {
	by layout.Algorithm
	f  *ir.Func
}

// mixes is the number of networks of one algorithm each that are compared with the network of each
// layer's cheapest.
const mixes = 2

// choose is Algorithms. Each layer's kernels by all of its algorithms are compared; then so are the
// whole networks of the most promising choices, since stages between layers count, too.
func (s *finder) choose(ctx context.Context, g *graph.Graph, o lower.Options) (map[string]layout.Choice, error) {
	free := lower.Free(g, o)
	if s.model == nil {
		return fewerWords(g, free), nil
	}
	if len(free) == 0 {
		return nil, nil
	}
	g = lower.ApplyGlue(g, o.Target)
	first := map[string]layout.Choice{}
	for layer, by := range free {
		first[layer] = layout.Choice{Algorithm: by[0], Why: layout.Cheaper}
	}
	lowered := func(choice map[string]layout.Algorithm) (*ir.Program, error) {
		q := o
		q.Sketch, q.Chosen = true, first // of layers that choice leaves open
		q.Algorithms = maps.Clone(choice)
		maps.Copy(q.Algorithms, o.Algorithms)
		return lower.Program(ctx, g, q)
	}
	ways := map[string][]way{}
	uniform := map[layout.Algorithm]map[string]layout.Algorithm{}
	var order []layout.Algorithm
	for by, choice := range lower.Uniform(free) {
		order, uniform[by] = append(order, by), choice
	}
	programs := make([]*ir.Program, len(order))
	var lowering errgroup.Group
	lowering.SetLimit(runtime.GOMAXPROCS(0))
	for i, by := range order {
		lowering.Go(func() (err error) {
			programs[i], err = lowered(uniform[by])
			return err
		})
	}
	if err := lowering.Wait(); err != nil {
		return nil, err
	}
	for i, by := range order {
		p, choice := programs[i], uniform[by]
		index := p.Index()
		for _, st := range p.Stages {
			if _, ok := choice[st.Name]; ok && st.Layer.Algorithm.Name == by.String() {
				ways[st.Name] = append(ways[st.Name], way{by, index.Func(st.Func)})
			}
		}
	}
	layers := slices.Sorted(maps.Keys(free))
	results, err := s.compareLayers(ctx, layers, ways)
	if err != nil {
		return nil, err
	}
	choices, cheapest := map[string]layout.Choice{}, map[string]layout.Algorithm{}
	times := map[string]map[layout.Algorithm]float64{}
	for k, layer := range layers {
		times[layer] = map[layout.Algorithm]float64{}
		c := layout.Choice{Algorithm: free[layer][0], Why: layout.Cheaper, Unit: s.model.Unit}
		for i, w := range ways[layer] {
			r := results[k][i]
			if !math.IsInf(r.cost, 1) {
				c.Estimates = append(c.Estimates,
					layout.Estimated{Algorithm: w.by, Cost: r.cost, Measured: r.isMeasured()})
			}
			if math.IsInf(r.time, 1) { // it promises nothing beside the others
				continue
			}
			times[layer][w.by] = r.time
			if best, ok := cheapest[layer]; !ok || r.time < times[layer][best] {
				cheapest[layer], c.Algorithm = w.by, w.by
			}
		}
		choices[layer] = c
	}
	sum := func(choice map[string]layout.Algorithm) (sum float64) {
		for layer, by := range choice {
			if t, ok := times[layer][by]; ok {
				sum += t
			} else {
				sum = math.Inf(1)
			}
		}
		return sum
	}
	tries := []map[string]layout.Algorithm{cheapest}
	for _, by := range order {
		mixed := maps.Clone(cheapest)
		maps.Copy(mixed, uniform[by])
		if !math.IsInf(sum(mixed), 1) && !maps.Equal(mixed, cheapest) {
			tries = append(tries, mixed)
		}
	}
	slices.SortStableFunc(tries[1:], func(a, b map[string]layout.Algorithm) int { return cmp.Compare(sum(a), sum(b)) })
	least := math.Inf(1)
	for _, choice := range tries[:min(len(tries), 1+mixes)] {
		p, err := lowered(choice)
		if err != nil {
			return nil, err
		}
		total, err := s.total(ctx, p)
		if err != nil {
			return nil, err
		}
		if total < least {
			least = total
			for layer, by := range choice {
				c := choices[layer]
				c.Algorithm = by
				choices[layer] = c
			}
		}
	}
	for k, layer := range layers {
		c := choices[layer]
		c.Terms = s.differences(ways[layer], results[k], c.Algorithm)
		choices[layer] = c
	}
	return choices, nil
}

// compareLayers finds the schedules of each layer's kernels. Layers of the same kernels are
// searched once, several layers at a time. Layers that share some of their kernels are searched in
// order, because the schedule of a kernel depends on its first comparison.
func (s *finder) compareLayers(ctx context.Context, layers []string, ways map[string][]way) ([][]found, error) {
	results := make([][]found, len(layers))
	group := map[string]*[]int{} // of layers that share kernels, by the kernels' keys
	var order []*[]int
	for i, layer := range layers {
		own := &[]int{i}
		for _, w := range ways[layer] {
			key := w.f.Key()
			if other, ok := group[key]; ok && other != own {
				merged := append(*other, *own...)
				slices.Sort(merged)
				*other, *own = merged, nil
				for k, g := range group {
					if g == own {
						group[k] = other
					}
				}
				own = other
			}
			group[key] = own
		}
		order = append(order, own)
	}
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	begun := map[*[]int]bool{}
	for _, together := range order {
		if begun[together] {
			continue
		}
		begun[together] = true
		work.Go(func() (err error) {
			for _, i := range *together {
				var funcs []*ir.Func
				for _, w := range ways[layers[i]] {
					funcs = append(funcs, w.f)
				}
				if results[i], err = s.best(ctx, funcs); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return results, work.Wait()
}

// shown is the number of terms of a difference.
const shown = 3

// differences are the largest terms, by feature, that the cheapest other algorithm costs more than
// the taken one.
func (s *finder) differences(ways []way, results []found, taken layout.Algorithm) map[string]int64 {
	at, next := -1, -1
	for i, w := range ways {
		switch {
		case results[i].counts == nil: // it promises nothing, or was measured
		case w.by == taken:
			at = i
		case next < 0 || results[i].cost < results[next].cost:
			next = i
		}
	}
	if at < 0 || next < 0 {
		return nil
	}
	terms := func(k found) map[string]float64 { return s.model.Terms(machine.Point{Counts: k.counts}) }
	more := terms(results[next])
	for name, cost := range terms(results[at]) {
		more[name] -= cost
	}
	size := func(name string) float64 { return math.Abs(more[name]) }
	names := slices.SortedFunc(maps.Keys(more), func(a, b string) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a, b))
	})
	out := map[string]int64{}
	for _, name := range names[:min(len(names), shown)] {
		if n := int64(math.Round(more[name])); n != 0 {
			out[name] = n
		}
	}
	return out
}

// total is the predicted cost of a program's stages.
func (s *finder) total(ctx context.Context, p *ir.Program) (sum float64, err error) {
	index := p.Index()
	for _, st := range p.Stages {
		k, err := s.best(ctx, []*ir.Func{index.Func(st.Func)})
		if err != nil {
			return 0, err
		}
		sum += k[0].time
	}
	return sum, nil
}
