package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"ripc/autotune/space"
	"ripc/schedule/features"
	"ripc/schedule/machine"
	"ripc/targets"
)

// The points that a sieve is fitted to: layers of all sizes, and points of some kernels of each.
const (
	guessedLayers  = 500
	guessedKernels = 6 // of a layer
	guessedPoints  = 6 // of a kernel, at random
	guessedRounds  = 3 // in which neighbours of the best points are added
	guessedNear    = 2 // best points of a round, and neighbours of each
)

// firstGuessed is the seed of the first layer that a sieve is fitted to. Nothing of it is measured.
const firstGuessed = 2_000_000

// drawGuesses builds points of random layers and predicts their costs by m. Nothing is measured, so
// layers may be large.
func drawGuesses(ctx context.Context, t targets.Target, m *machine.Model) ([]machine.Guess, error) {
	d := features.For(t)
	seeds := make([]uint64, guessedLayers)
	for i := range seeds {
		seeds[i] = firstGuessed + uint64(i)
	}
	return eachLayer(seeds, func(seed uint64) ([]machine.Guess, error) {
		r := rand.New(rand.NewPCG(seed, 4))
		const decades = 2.7
		kernels, _, err := drawnKernels(ctx, t, seed, int(sizes(t).guessed*math.Pow(10, decades*r.Float64())), nil)
		if err != nil {
			return nil, err
		}
		var all []machine.Guess
		r.Shuffle(len(kernels), func(i, j int) { kernels[i], kernels[j] = kernels[j], kernels[i] })
		for _, k := range kernels[:min(guessedKernels, len(kernels))] {
			all = append(all, guessPoints(d, m, k, fmt.Sprint(seed), r)...)
		}
		return all, nil
	})
}

// guessPoints predicts points of k at random, then neighbours of those that m predicts to be
// fastest. Points that cannot be built get the largest cost.
func guessPoints(d *features.Describer, m *machine.Model, k kernel, group string, r *rand.Rand) []machine.Guess {
	var points []space.Point
	var all, unbuilt []machine.Guess
	define := m.Define(k.Task.Func)
	try := func(p space.Point) {
		x, err := k.Build(p)
		if err != nil {
			unbuilt = append(unbuilt, m.Unbuilt(group, define.Sketch(p.Strategy, p.Values)))
			return
		}
		g := machine.Point{Group: group, Sketch: define.Sketch(p.Strategy, p.Values)}
		g.Counts, g.After = d.Describe(x.Func, p.Values)
		points, all = append(points, p), append(all, m.Guess(g))
	}
	for range min(guessedPoints, k.Size()) {
		try(k.Random(r))
	}
	for range guessedRounds {
		order := make([]int, len(points))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].Label, all[b].Label) })
		for _, i := range order[:min(guessedNear, len(order))] {
			for range guessedNear {
				try(k.Neighbour(points[i], r))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	most := slices.MaxFunc(all, func(a, b machine.Guess) int { return cmp.Compare(a.Label, b.Label) })
	for _, g := range unbuilt {
		g.Label = most.Label
		all = append(all, g)
	}
	return all
}
