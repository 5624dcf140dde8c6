package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"ripc/autotune/records"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/schedule/costmodel"
	"ripc/schedule/machine"
	"ripc/targets"
)

// machineData returns the folder of the models.
func machineData() string { return filepath.Join("schedule", "machine", "data") }

// fitPoints fits t's model to measured points, and writes it.
func fitPoints(ctx context.Context, t targets.Target, by origin, raw []point, o options) (err error) {
	defer stop.Catch(&err)
	points := stop.Must(describePoints(ctx, t, raw))
	l := stop.Must(costmodel.Open(""))
	var all []machine.Point
	layers := map[uint64]bool{}
	for _, p := range points {
		all, layers[p.Layer] = append(all, p.Point), true
	}
	mark := figures.Now("", "engine", "lab/fit")
	mark.CPU = by.CPU
	switch {
	case by.unit == records.Instructions:
		mark.CPU = "qemu, " + by.CPU
	case by.Simulated:
		mark = mark.Estimated(by.CPU)
	}
	w := machine.Weights{Target: machine.FileName(t), Unit: string(by.unit), Date: mark.Date, Commit: mark.Commit,
		Tool: mark.CPU, Networks: len(layers), Points: len(all)}
	if old, ok, err := machine.Of(t); err == nil && ok && old.Target == w.Target {
		w.Choice, w.Shared, w.Error, w.Sieve = old.Choice, old.Shared, old.Error, old.Sieve
		if o.layers == 0 && len(o.models) == 0 { // its points were measured before, maybe elsewhere
			w.Tool = old.Tool
		}
	}
	if o.check {
		w.Error = stop.Must(checkHeld(ctx, l, t, points))
	}
	m := stop.Must(machine.Learn(ctx, l, t, w, all))
	if !o.sieve {
		return m.Write(machineData())
	}
	guesses := stop.Must(drawGuesses(ctx, t, m))
	m.Sieve = stop.Must(m.SieveError(ctx, l, guesses, func(layer string) bool { return strings.HasSuffix(layer, "0") }))
	fmt.Printf("%d points for the sieve, which is off by %.3f for layers that were held out\n", len(guesses), m.Sieve)
	stop.Check(m.LearnSieve(ctx, l, guesses))
	return m.Write(machineData())
}

// checkHeld predicts layers that a fit has not seen, and prints how good choices by these
// predictions are.
func checkHeld(ctx context.Context, l *costmodel.Library, t targets.Target, points []described) (machine.Error, error) {
	linear, predicted, err := predictHeld(ctx, l, t, points)
	if err != nil {
		return machine.Error{}, err
	}
	fmt.Printf("%d points; hundredths above the best of a layer, of layers that were held out: mean, p90, worst\n",
		len(points))
	show := func(what string, score []float64, n ...int) {
		var text []string
		for _, n := range n {
			text = append(text, fmt.Sprintf("best of %d: %s", n, quantiles(regrets(points, func(i int) float64 {
				return score[i]
			}, n))))
		}
		fmt.Printf("%-10s %s\n", what, strings.Join(text, "   "))
	}
	show("prices", linear, 1)
	show("trees", predicted, 1, 4, 8)
	printWorst(points, predicted, func(i int) float64 { return predicted[i] })
	return errorsOf(points, predicted), nil
}

// errorsOf returns how far predictions are off.
func errorsOf(points []described, predicted []float64) machine.Error {
	var errors []float64
	for i, p := range points {
		errors = append(errors, math.Abs(predicted[i]/p.Point.Cost-1))
	}
	slices.Sort(errors)
	return machine.Error{Median: stat.Quantile(0.5, stat.Empirical, errors, nil),
		P90: stat.Quantile(0.9, stat.Empirical, errors, nil)}
}

// heldParts is the number of parts of the layers. Each is predicted by a fit to the others.
const heldParts = 5

// predictHeld predicts the points of each part of the layers by a fit to the others: by prices
// alone, and with trees.
func predictHeld(ctx context.Context, l *costmodel.Library, t targets.Target,
	points []described) (linear, predicted []float64, err error) {
	linear, predicted = make([]float64, len(points)), make([]float64, len(points))
	for part := range uint64(heldParts) {
		var seen []machine.Point
		for _, p := range points {
			if p.Layer%heldParts != part {
				seen = append(seen, p.Point)
			}
		}
		m, err := machine.Learn(ctx, l, t, machine.Weights{Target: machine.FileName(t)}, seen)
		if err != nil {
			return nil, nil, err
		}
		for i, p := range points {
			if p.Layer%heldParts == part {
				linear[i], predicted[i] = m.Linear(p.Point), m.Predict(p.Point)
			}
		}
	}
	return linear, predicted, nil
}

// printWorst prints the choices by score, the lowest of a pool, that are farthest from the best.
func printWorst(points []described, predicted []float64, score func(i int) float64) {
	const printed = 8
	type miss struct {
		ratio       float64
		taken, best int
	}
	full := func(i int) float64 { return points[i].point.Cost + points[i].around }
	var all []miss
	for _, g := range pools(points) {
		taken := slices.MinFunc(g, func(a, b int) int { return cmp.Compare(score(a), score(b)) })
		best := slices.MinFunc(g, func(a, b int) int { return cmp.Compare(full(a), full(b)) })
		all = append(all, miss{full(taken) / full(best), taken, best})
	}
	slices.SortFunc(all, func(a, b miss) int { return cmp.Compare(b.ratio, a.ratio) })
	for _, m := range all[:min(printed, len(all))] {
		text := func(i int) string {
			p := points[i].point
			return fmt.Sprintf("%s %s %s: %.0f, predicted %.0f", p.Algorithm, p.Strategy, p.Values, p.Cost,
				predicted[i])
		}
		fmt.Printf("layer %s: %.2f times the best\n  taken %s\n  best  %s\n", points[m.taken].Group, m.ratio,
			text(m.taken), text(m.best))
	}
}
