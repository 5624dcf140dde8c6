package fit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"

	"ripc/compile"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/schedule/machine"
	"ripc/targets"
)

// firstJudged is the seed of the first layer that no fit sees.
const firstJudged = 1_000_000

// judgeChoices compares compile's choices with the best points of layers that no fit has seen. It
// writes the result to the model, unless compile tried schedules.
func judgeChoices(ctx context.Context, t targets.Target, o options) (err error) {
	defer stop.Catch(&err)
	m, ok := stop.Must2(machine.Of(t))
	if !ok {
		return fmt.Errorf("no weights of %s: fit them first", t.Name)
	}
	if m.Target != machine.FileName(t) {
		return fmt.Errorf("%s takes the model of %s: judge that", t.Name, m.Target)
	}
	o.models, o.from = nil, firstJudged+o.from // the fit has seen models
	file := filepath.Join("build", "learn", machine.FileName(t)+".judged")
	if o.effort > 0 {
		file += fmt.Sprint(o.effort)
	}
	stop.Must(measureSources(ctx, t, file, nil, o))
	all := stop.Must(figures.ReadLines[point](file))
	points := stop.Must(describePoints(ctx, t, all))
	points = stop.Must(addAround(ctx, t, m, points))
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
		shared[i].around = p.aroundShared
	}
	fmt.Println("hundredths above the best of a layer's points: mean, p90, worst; on one core")
	m.Choice = judge(points, predicted)
	printWorst(points, predicted, func(i int) float64 { return takenFirst(points[i]) })
	fmt.Println("on all cores")
	m.Shared = judge(shared, predictedShared)
	if o.effort == 0 {
		stop.Check(m.WriteWeights(machineData()))
	}
	return os.Remove(file) // another model takes other points
}

// judge compares the points that compile takes with the best of their layers.
func judge(points []described, predicted []float64) machine.Choice {
	taken := regrets(points, func(i int) float64 { return takenFirst(points[i]) }, 1)
	known := regrets(points, func(i int) float64 { return predicted[i] + points[i].around }, 1)
	fmt.Printf("  taken %s\n  were all points predicted %s\n", quantiles(taken), quantiles(known))
	return machine.Choice{Networks: len(taken), Mean: stat.GeometricMean(taken, nil),
		P90: stat.Quantile(0.9, stat.Empirical, taken, nil), Worst: taken[len(taken)-1]}
}

// takenFirst is the score of a point by compile's choice.
func takenFirst(p described) float64 {
	if p.Taken {
		return 0
	}
	return 1
}

// surroundings are the predicted costs of a program's stages but one, on one core and on all.
type surroundings struct{ cost, shared float64 }

// addAround returns the points of the groups in which compile takes one. Kernels by other
// algorithms may read and write other layouts, so the stages around them cost more or less: a
// point's around is that difference to the group's least.
func addAround(ctx context.Context, t targets.Target, m *machine.Model, points []described) (_ []described, err error) {
	defer stop.Catch(&err)
	taken, sources := map[string]bool{}, map[uint64]source{}
	for _, p := range points {
		taken[p.Group] = taken[p.Group] || p.Taken
		sources[p.Layer] = source{p.Layer, p.MACs, p.Model}
	}
	points = slices.DeleteFunc(points, func(p described) bool { return !taken[p.Group] })
	around := map[string]surroundings{} // by group and kernel
	for _, from := range sources {
		l := stop.Must(from.vary(ctx, t))
		stop.Check(l.predictAround(ctx, m, from.seed, around))
	}
	least := map[string]surroundings{}
	for i, p := range points {
		a := around[p.Group+" "+p.Key]
		points[i].around, points[i].aroundShared = a.cost, a.shared
		if l, ok := least[p.Group]; ok {
			a = surroundings{min(l.cost, a.cost), min(l.shared, a.shared)}
		}
		least[p.Group] = a
	}
	for i, p := range points {
		points[i].around -= least[p.Group].cost
		points[i].aroundShared -= least[p.Group].shared
	}
	return points, nil
}

// predictAround adds the surroundings of each stage of the programs. Of programs with the same
// kernel in a stage, the cheapest counts.
func (l *lowered) predictAround(ctx context.Context, m *machine.Model, seed uint64,
	around map[string]surroundings) error {
	known := map[string]surroundings{} // of each kernel alone
	for _, p := range l.programs {
		var keys []string
		var all surroundings
		for i := range p.Stages {
			key := l.task(p, i).Workload.Key
			if _, ok := known[key]; !ok {
				best, err := compile.Promising(ctx, p.FuncByName(p.Stages[i].Func), l.target, 1)
				if err != nil {
					return err
				}
				if len(best) == 0 {
					return fmt.Errorf("layer %d: stage %s has no schedule", seed, p.Stages[i].Name)
				}
				x := m.Scheduled(best[0].Func, best[0].Values)
				cost := m.Predict(x)
				known[key] = surroundings{cost, cost * m.Idle(x)}
			}
			keys = append(keys, key)
			all.cost, all.shared = all.cost+known[key].cost, all.shared+known[key].shared
		}
		for i, key := range keys {
			at := fmt.Sprintf("%d %s %s", seed, p.Stages[i].Name, key)
			a := surroundings{all.cost - known[key].cost, all.shared - known[key].shared}
			if b, ok := around[at]; !ok || a.cost < b.cost {
				around[at] = a
			}
		}
	}
	return nil
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
			best = min(best, points[i].point.Cost+points[i].around)
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
