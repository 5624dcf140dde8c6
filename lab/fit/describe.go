package fit

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"ripc/autotune/space"
	"ripc/schedule/features"
	"ripc/schedule/machine"
	"ripc/targets"
)

// described is a measured point with its features.
type described struct {
	point
	machine.Point
	// by how much the stages around it cost more than those of another kernel, on one core and on
	// all
	around, aroundShared float64
}

// describePoints builds the schedules of points again, and describes them. It leaves out points of
// kernels and strategies that changed, and of models that are files of another machine.
func describePoints(ctx context.Context, t targets.Target, points []point) ([]described, error) {
	byLayer := map[uint64][]point{}
	for _, p := range points {
		byLayer[p.Layer] = append(byLayer[p.Layer], p)
	}
	d := features.For(t)
	return eachLayer(slices.Sorted(maps.Keys(byLayer)), func(seed uint64) ([]described, error) {
		return describeLayer(ctx, t, d, byLayer[seed])
	})
}

// eachLayer returns the results of f for layers, in order. It calls f for several layers at a time.
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

// describeLayer describes the points of one source.
func describeLayer(ctx context.Context, t targets.Target, d *features.Describer, points []point) ([]described, error) {
	from := source{points[0].Layer, points[0].MACs, points[0].Model}
	if from.isElsewhere() {
		fmt.Fprintf(os.Stderr, "%d points are left out: %s is on another machine\n", len(points), from.model)
		return nil, nil
	}
	l, err := from.lower(ctx, t, nil)
	if err != nil {
		return nil, fmt.Errorf("layer %d: %w", from.seed, err)
	}
	kernels, _, err := l.kernels("")
	if err != nil {
		return nil, fmt.Errorf("layer %d: %w", from.seed, err)
	}
	var all []described
	for _, p := range points {
		i := slices.IndexFunc(kernels, func(k kernel) bool { return k.key() == p.Key })
		if i < 0 {
			continue
		}
		k := kernels[i]
		x, err := k.Build(space.Point{Strategy: p.Strategy, Values: p.Values})
		if err != nil {
			continue
		}
		m := machine.Describe(t, d, k.Task.Func, x.Func, p.Strategy, p.Values)
		m.Group, m.Kernel, m.Cost = fmt.Sprintf("%d %s", p.Layer, p.Stage), p.Key, p.Cost
		all = append(all, described{point: p, Point: m})
	}
	return all, nil
}
