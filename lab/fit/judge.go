package fit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"

	"ripc/lab/figures"
	"ripc/schedule/machine"
	"ripc/targets"
)

// firstJudged is the seed of the first layer that no fit sees.
const firstJudged = 1_000_000

// judgeChoices compares compile's choices with the best points of layers that no fit has seen. It
// writes the result to the model.
func judgeChoices(ctx context.Context, t targets.Target, o options) error {
	m, ok, err := machine.Of(t)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("no weights of %s: fit them first", t.Name)
	}
	o.models, o.from = nil, firstJudged+o.from // the fit has seen models
	file := filepath.Join("build", "learn", machine.FileName(t)+".judged")
	if _, err := measureSources(ctx, t, file, nil, o); err != nil {
		return err
	}
	all, err := figures.ReadLines[point](file)
	if err != nil {
		return err
	}
	points, err := describePoints(ctx, t, all)
	if err != nil {
		return err
	}
	taken := map[string]bool{} // groups with a point that compile takes
	for _, p := range points {
		taken[p.Group] = taken[p.Group] || p.Taken
	}
	// a stage around a layer, by other algorithms
	points = slices.DeleteFunc(points, func(p described) bool { return !taken[p.Group] })
	predicted := make([]float64, len(points))
	for i, p := range points {
		predicted[i] = m.Predict(p.Point)
	}
	m.Error = errorsOf(points, predicted)
	shared := slices.Clone(points) // with costs on all cores
	predictedShared := slices.Clone(predicted)
	for i, p := range points {
		predictedShared[i] *= m.Turns(p.Point)
		shared[i].point.Cost *= m.Idle(p.Point)
	}
	fmt.Println("hundredths above the best of a layer's points: mean, p90, worst; on one core")
	m.Choice = judge(points, predicted)
	fmt.Println("on all cores")
	m.Shared = judge(shared, predictedShared)
	return m.Write(machineData())
}

// judge compares the points that compile takes with the best of their layers.
func judge(points []described, predicted []float64) machine.Choice {
	taken := regrets(points, func(i int) float64 {
		if points[i].Taken {
			return 0
		}
		return 1
	}, 1)
	known := regrets(points, func(i int) float64 { return predicted[i] }, 1)
	fmt.Printf("  taken %s\n  were all points predicted %s\n", quantiles(taken), quantiles(known))
	return machine.Choice{Networks: len(taken), Mean: stat.GeometricMean(taken, nil),
		P90: stat.Quantile(0.9, stat.Empirical, taken, nil), Worst: taken[len(taken)-1]}
}

// leastPoints is the number of points that make a pool.
const leastPoints = 8

// pools returns the indices of the points of each group that has at least leastPoints.
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

// regrets returns, for each pool, the ratio of the least cost of the n points of the lowest score
// to the least cost of all. Ratios are sorted.
func regrets(points []described, score func(i int) float64, n int) []float64 {
	var all []float64
	r := rand.New(rand.NewPCG(1, 1))
	for _, pool := range pools(points) {
		r.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] }) // ties would flatter
		slices.SortStableFunc(pool, func(a, b int) int { return cmp.Compare(score(a), score(b)) })
		best, taken := math.Inf(1), math.Inf(1)
		for k, i := range pool {
			best = min(best, points[i].point.Cost)
			if k < n {
				taken = best
			}
		}
		all = append(all, taken/best)
	}
	slices.Sort(all)
	return all
}

// quantiles prints ratios as hundredths above 1: the geometric mean, the 90th percentile and the
// worst.
func quantiles(all []float64) string {
	if len(all) == 0 {
		return "no pools"
	}
	return fmt.Sprintf("%5.1f %5.1f %5.0f", 100*(stat.GeometricMean(all, nil)-1),
		100*(stat.Quantile(0.9, stat.Empirical, all, nil)-1), 100*(all[len(all)-1]-1))
}
