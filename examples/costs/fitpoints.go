package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"ripc/autotune/space"
	"ripc/measure/provenance"
	"ripc/schedule/costmodel"
	"ripc/schedule/features"
	"ripc/schedule/machine"
	"ripc/targets"
)

// described is a measured point with its features.
type described struct {
	drawnPoint
	machine.Point
}

// describePoints builds the schedules of points again, and describes them.
func describePoints(ctx context.Context, t targets.Target, points []drawnPoint) ([]described, error) {
	byLayer := map[uint64][]drawnPoint{}
	for _, p := range points {
		byLayer[p.Layer] = append(byLayer[p.Layer], p)
	}
	d := features.For(t)
	return eachLayer(slices.Sorted(maps.Keys(byLayer)), func(seed uint64) ([]described, error) {
		return describeLayer(ctx, t, d, byLayer[seed])
	})
}

// eachLayer is what f gives for layers, in order, several at a time.
func eachLayer[T any](seeds []uint64, f func(seed uint64) ([]T, error)) ([]T, error) {
	parts := make([][]T, len(seeds))
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i, seed := range seeds {
		work.Go(func() (err error) {
			parts[i], err = f(seed)
			return err
		})
	}
	err := work.Wait()
	return slices.Concat(parts...), err
}

// A sieve learns of so many layers, of all sizes, from so many points of each of so many kernels.
const guessedLayers, guessesOfKernel, guessedKernels = 500, 6, 6

// Then the neighbours of so many of the best are added in so many rounds.
const near, rounds = 2, 3

// drawGuesses builds points of layers at random, and says what m expects of them. Nothing is measured, so layers may be large.
func drawGuesses(ctx context.Context, t targets.Target, m *machine.Model) ([]machine.Guess, error) {
	d := features.For(t)
	seeds := make([]uint64, guessedLayers)
	for i := range seeds {
		seeds[i] = unmeasured + uint64(i)
	}
	return eachLayer(seeds, func(seed uint64) ([]machine.Guess, error) {
		r := rand.New(rand.NewPCG(seed, 4))
		const decades = 2.7
		kernels, _, err := kernelsOfDrawn(ctx, t, seed, int(sizes(t).guessed*math.Pow(10, decades*r.Float64())), false)
		if err != nil {
			return nil, err
		}
		var all []machine.Guess
		r.Shuffle(len(kernels), func(i, j int) { kernels[i], kernels[j] = kernels[j], kernels[i] })
		for _, k := range kernels[:min(guessedKernels, len(kernels))] {
			all = append(all, guessesOf(t, d, m, k, fmt.Sprint(seed), r)...)
		}
		return all, nil
	})
}

// unmeasured is the seed of the first layer of which schedules are built and not measured.
const unmeasured = 2_000_000

// guessesOf are points of a kernel at random, then neighbours of those of which m expects most.
func guessesOf(t targets.Target, d *features.Describer, m *machine.Model, k drawnKernel, group string, r *rand.Rand) []machine.Guess {
	var points []space.Point
	var all, none []machine.Guess
	define := m.Define(k.Task.Func)
	try := func(p space.Point) {
		x, err := k.Build(p)
		if err != nil {
			none = append(none, m.Unbuilt(group, define.Sketch(p.Strategy, p.Values)))
			return
		}
		g := machine.Point{Group: group, Sketch: define.Sketch(p.Strategy, p.Values)}
		g.Counts, g.After = d.Describe(x.Func, p.Values)
		points, all = append(points, p), append(all, m.Guess(g))
	}
	for range min(guessesOfKernel, k.Size()) {
		try(k.Random(r))
	}
	for range rounds {
		order := make([]int, len(points))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].Label, all[b].Label) })
		for _, i := range order[:min(near, len(order))] {
			for range near {
				try(k.Neighbour(points[i], r))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	most := slices.MaxFunc(all, func(a, b machine.Guess) int { return cmp.Compare(a.Label, b.Label) })
	for _, g := range none { // as dear as anything
		g.Label = most.Label
		all = append(all, g)
	}
	return all
}

// describeLayer describes the points of one source.
func describeLayer(ctx context.Context, t targets.Target, d *features.Describer, points []drawnPoint) ([]described, error) {
	from := source{points[0].Layer, points[0].MACs, points[0].Model}
	l, err := from.lower(ctx, t, false)
	if err != nil {
		return nil, fmt.Errorf("layer %d: %w", from.seed, err)
	}
	kernels, _, err := l.kernels("")
	if err != nil {
		return nil, fmt.Errorf("layer %d: %w", from.seed, err)
	}
	var all []described
	for _, p := range points {
		i := slices.IndexFunc(kernels, func(k drawnKernel) bool { return k.Task.Workload.Key == p.Key })
		if i < 0 {
			continue // the kernel is another one now
		}
		k := kernels[i]
		x, err := k.Build(space.Point{Strategy: p.Strategy, Values: p.Values})
		if err != nil {
			continue
		}
		m := machine.Describe(t, d, k.Task.Func, x.Func, p.Strategy, p.Values)
		m.Group, m.Kernel, m.Cost = fmt.Sprintf("%d %s", p.Layer, p.Stage), p.Key, p.Cost
		all = append(all, described{p, m})
	}
	return all, nil
}

// leastPoints is how many points of a layer make a pool to choose from.
const leastPoints = 8

// pools are the points of each group that has enough, by number.
func pools(points []described) [][]int {
	groups := map[string][]int{}
	for i, p := range points {
		groups[p.Group] = append(groups[p.Group], i)
	}
	var all [][]int
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		if len(groups[g]) >= leastPoints {
			all = append(all, groups[g])
		}
	}
	return all
}

// regrets are, of each pool, how many times the least cost the first n points by score cost at best.
func regrets(points []described, score func(i int) float64, n int) []float64 {
	var all []float64
	r := rand.New(rand.NewPCG(1, 1))
	for _, at := range pools(points) {
		r.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] }) // ties would flatter
		slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(score(a), score(b)) })
		best, taken := math.Inf(1), math.Inf(1)
		for k, i := range at {
			best = min(best, points[i].drawnPoint.Cost)
			if k < n {
				taken = best
			}
		}
		all = append(all, taken/best)
	}
	slices.Sort(all)
	return all
}

// quantiles is how far a choice is above the best: by geometric mean, for a tenth of the layers, and at worst, in hundredths.
func quantiles(all []float64) string {
	if len(all) == 0 {
		return "no pools"
	}
	return fmt.Sprintf("%5.1f %5.1f %5.0f", 100*(stat.GeometricMean(all, nil)-1), 100*(stat.Quantile(0.9, stat.Empirical, all, nil)-1), 100*(all[len(all)-1]-1))
}

// parts is the number of parts of the layers, each of which is predicted from the others.
const parts = 5

// fitPoints fits t's model to what was measured, and writes it.
func fitPoints(ctx context.Context, t targets.Target, by origin, raw []drawnPoint, o learnOptions) error {
	points, err := describePoints(ctx, t, raw)
	if err != nil {
		return err
	}
	l, err := costmodel.Open("")
	if err != nil {
		return err
	}
	var all []machine.Point
	layers := map[uint64]bool{}
	for _, p := range points {
		all, layers[p.Layer] = append(all, p.Point), true
	}
	mark := provenance.Now("engine", "examples/costs")
	mark = mark.On(by.CPU)
	if by.Simulated {
		mark = mark.Estimated(by.CPU)
	}
	w := machine.Weights{Target: machine.FileName(t), Unit: string(by.unit), Date: mark.Date, Commit: mark.Commit, Tool: mark.CPU, Networks: len(layers), Points: len(all)}
	if old, ok, err := machine.Of(t); err == nil && ok {
		w.Choice, w.Shared, w.Error = old.Choice, old.Shared, old.Error
	}
	if o.check {
		if w.Error, err = checkHeld(ctx, l, t, points); err != nil {
			return err
		}
	}
	m, err := machine.Learn(ctx, l, t, w, all)
	if err != nil {
		return err
	}
	if !o.sieve {
		return m.Write(machineData)
	}
	guesses, err := drawGuesses(ctx, t, m)
	if err != nil {
		return err
	}
	off, err := m.SieveError(ctx, l, guesses, func(layer string) bool { return strings.HasSuffix(layer, "0") })
	if err != nil {
		return err
	}
	fmt.Printf("%d points for the sieve, which is off by %.3f for layers that were held out\n", len(guesses), off)
	if err := m.LearnSieve(ctx, l, guesses); err != nil {
		return err
	}
	return m.Write(machineData)
}

// checkHeld says how good a model is on layers that are held out.
func checkHeld(ctx context.Context, l *costmodel.Library, t targets.Target, points []described) (machine.Error, error) {
	linear, predicted, err := held(ctx, l, t, points)
	if err != nil {
		return machine.Error{}, err
	}
	fmt.Printf("%d points; hundredths above the best of a layer, of layers that were held out: mean, p90, worst\n", len(points))
	show := func(what string, score func(int) float64, n ...int) {
		var text []string
		for _, n := range n {
			text = append(text, fmt.Sprintf("best of %d: %s", n, quantiles(regrets(points, score, n))))
		}
		fmt.Printf("%-10s %s\n", what, strings.Join(text, "   "))
	}
	show("rules", func(i int) float64 { return first(points[i].Rules) }, 1)
	show("prices", func(i int) float64 { return linear[i] }, 1)
	show("trees", func(i int) float64 { return predicted[i] }, 1, 4, 8)
	worst(points, predicted)

	return errorsOf(points, predicted), nil
}

// errorsOf is how far off predictions are.
func errorsOf(points []described, predicted []float64) machine.Error {
	var errors []float64
	for i, p := range points {
		errors = append(errors, math.Abs(predicted[i]/p.Point.Cost-1))
	}
	slices.Sort(errors)
	return machine.Error{Median: stat.Quantile(0.5, stat.Empirical, errors, nil), P90: stat.Quantile(0.9, stat.Empirical, errors, nil)}
}

// machineData is the folder of what is fitted.
var machineData = filepath.Join("schedule", "machine", "data")

// first is what comes first in an order by numbers.
func first(yes bool) float64 {
	if yes {
		return 0
	}
	return 1
}

// held predicts the points of each part of the layers from the others: by prices alone, and with trees.
func held(ctx context.Context, l *costmodel.Library, t targets.Target, points []described) (linear, predicted []float64, err error) {
	linear, predicted = make([]float64, len(points)), make([]float64, len(points))
	for k := range parts {
		var seen []machine.Point
		for _, p := range points {
			if p.Layer%parts != uint64(k) {
				seen = append(seen, p.Point)
			}
		}
		m, err := machine.Learn(ctx, l, t, machine.Weights{Target: machine.FileName(t)}, seen)
		if err != nil {
			return nil, nil, err
		}
		for i, p := range points {
			if p.Layer%parts == uint64(k) {
				linear[i], predicted[i] = m.Linear(p.Point), m.Predict(p.Point)
			}
		}
	}
	return linear, predicted, nil
}

// worst prints the choices that are farthest from the best.
func worst(points []described, predicted []float64) {
	type miss struct {
		ratio       float64
		taken, best int
	}
	var all []miss
	for _, g := range pools(points) {
		taken := slices.MinFunc(g, func(a, b int) int { return cmp.Compare(predicted[a], predicted[b]) })
		best := slices.MinFunc(g, func(a, b int) int { return cmp.Compare(points[a].drawnPoint.Cost, points[b].drawnPoint.Cost) })
		all = append(all, miss{points[taken].drawnPoint.Cost / points[best].drawnPoint.Cost, taken, best})
	}
	slices.SortFunc(all, func(a, b miss) int { return cmp.Compare(b.ratio, a.ratio) })
	for _, m := range all[:min(8, len(all))] {
		text := func(i int) string {
			p := points[i]
			return fmt.Sprintf("%s %s %s: %.0f, predicted %.0f", p.Algorithm, p.drawnPoint.Strategy, p.Values, p.drawnPoint.Cost, predicted[i])
		}
		fmt.Printf("layer %s: %.2f times the best\n  taken %s\n  best  %s\n", points[m.taken].Group, m.ratio, text(m.taken), text(m.best))
	}
}
