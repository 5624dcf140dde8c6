package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"ripc"
	"ripc/autotune/records"
	"ripc/autotune/space"
	"ripc/compile"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/lab/meter"
	"ripc/schedule/strategy"
	"ripc/targets"

	"golang.org/x/sync/errgroup"
)

// point is a measured schedule of a kernel, a line of build/learn/TARGET.points.
type point struct {
	Model     string          `json:"model,omitempty"` // of a layer that was not drawn
	Layer     uint64          `json:"layer"`           // the source's seed
	MACs      int             `json:"macs"`            // of a drawn layer at most
	Stage     string          `json:"stage"`
	Key       string          `json:"key"` // of the kernel
	Algorithm string          `json:"algorithm,omitempty"`
	Strategy  string          `json:"strategy"`
	Values    strategy.Values `json:"values"`
	Taken     bool            `json:"taken,omitempty"` // compile takes this schedule
	Cost      float64         `json:"cost"`            // in the unit of the runner
}

// promisingOfKernel is the number of schedules that are built of a kernel to find its most
// promising ones.
const promisingOfKernel = 12

// stagesAround is the number of measured kernels of the stages around a layer. Each has one or two
// schedules.
const stagesAround = 4

// collector measures points of layers on a target.
type collector struct {
	options
	*meter.Meter
	known map[string][]point // by kernel
}

// compilation returns the options by which layers are compiled.
func (c *collector) compilation() *ripc.Options {
	return &ripc.Options{Target: c.Target.Name, Effort: c.effort}
}

// openCollector returns a collector that measures on t. It has to be closed.
func openCollector(ctx context.Context, t targets.Target, o options) (*collector, error) {
	m, err := meter.Open(ctx, t)
	return &collector{o, m, map[string][]point{}}, err
}

// origin is the machine of measured points.
type origin struct {
	unit records.Unit
	records.Machine
}

// measureSources measures the layers of o.models or, if there are none, o.layers drawn ones from
// seed o.from on. It skips layers that have points in known or in file, and appends the new points
// to file.
func measureSources(ctx context.Context, t targets.Target, file string, known []point,
	o options) (by origin, err error) {
	defer stop.Catch(&err)
	fresh := stop.Must(figures.ReadLines[point](file))
	known = slices.Concat(known, fresh)
	c := stop.Must(openCollector(ctx, t, o))
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, p := range known {
		c.known[p.Key] = append(c.known[p.Key], p)
	}
	by = origin{c.Unit(), c.Machine()}
	all := stop.Must(c.layersOf(ctx, known))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(c.Slots())
	var mu sync.Mutex
	done := 0
	for _, l := range all {
		work.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			points, err := l.measure(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			fmt.Fprintf(os.Stderr, "%s: %s, %d of %d: %d points\n", t.Name, l.name, done, len(all), len(points))
			return figures.AppendLines(file, points)
		})
	}
	return by, work.Wait()
}

// layer is a layer that is to be measured.
type layer struct {
	name    string
	measure func(ctx context.Context) ([]point, error)
}

// wants reports whether points of a strategy are to be measured.
func (o options) wants(strategy string) bool { return o.strategy == "" || o.strategy == strategy }

// layersOf returns the layers that have no points in known.
func (c *collector) layersOf(ctx context.Context, known []point) (all []layer, err error) {
	for _, model := range c.models {
		from := modelSource(model)
		l, err := from.lower(ctx, c.Target, c.compilation())
		if err != nil {
			return nil, err
		}
		for _, name := range l.layers() {
			if slices.ContainsFunc(known, func(p point) bool {
				return p.Model == model && p.Stage == name && c.wants(p.Strategy)
			}) {
				continue
			}
			all = append(all, layer{model + ": layer " + name, func(ctx context.Context) ([]point, error) {
				kernels, main, err := l.kernels(name)
				if err != nil {
					return nil, err
				}
				return c.kernels(ctx, from, kernels[:main], main)
			}})
		}
	}
	for i := range c.layers {
		seed := c.from + uint64(i)
		if len(c.models) > 0 || slices.ContainsFunc(known, func(p point) bool { return p.Layer == seed }) {
			continue
		}
		all = append(all, layer{fmt.Sprint("layer ", seed), func(ctx context.Context) ([]point, error) {
			kernels, main, err := drawnKernels(ctx, c.Target, seed, c.multiplies, c.compilation())
			if err != nil {
				return nil, err
			}
			return c.kernels(ctx, source{seed: seed, multiplies: c.multiplies}, kernels, main)
		}})
	}
	return all, nil
}

// kernels measures the first main kernels, those of a layer of the source, and some of the others.
func (c *collector) kernels(ctx context.Context, from source, kernels []kernel, main int) ([]point, error) {
	s := sampler{collector: c, from: from, r: rand.New(rand.NewPCG(from.seed, 3)), seen: map[string]int{},
		best: map[string]point{}}
	if err := s.sample(ctx, kernels[:main], c.points); err != nil {
		return nil, err
	}
	others := kernels[main:]
	s.r.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	for _, k := range others[:min(len(others), stagesAround)] {
		if err := s.sample(ctx, []kernel{k}, 1+s.r.IntN(2)); err != nil {
			return nil, err
		}
	}
	return s.points, nil
}

// sampler draws schedules of the kernels of one layer, and measures them.
type sampler struct {
	*collector
	from   source
	r      *rand.Rand
	points []point
	seen   map[string]int   // the index in points of a kernel's code, -1 if it could not be measured
	best   map[string]point // the cheapest point of each kernel, by key
}

// sample measures the schedule that compile finds for each kernel, then the most promising ones of
// all, then others at random, until there are n points.
func (s *sampler) sample(ctx context.Context, kernels []kernel, n int) (err error) {
	defer stop.Catch(&err)
	start := len(s.points)
	for _, k := range kernels {
		x := stop.Must(k.Default())
		stop.Check(s.try(ctx, k, x, false))
		if k.taken != nil {
			stop.Check(s.try(ctx, k, space.CandidateOf(*k.taken), true))
		}
	}
	stop.Check(s.promising(ctx, kernels, n/2))
	const tries = 4 // for each point, since some schedules cannot be built
	for left := tries * n; len(s.points) < start+n && left > 0; left-- {
		k := kernels[s.r.IntN(len(kernels))]
		x, err := k.Build(s.draw(k))
		if err != nil {
			continue
		}
		stop.Check(s.try(ctx, k, x, false))
	}
	return nil
}

// draw returns a random point of k's space or, half of the time, one near the cheapest that was
// measured. A strategy that is newer than the known points has knobs of the cheapest of these.
func (s *sampler) draw(k kernel) space.Point {
	const steps = 4 // at most, from the cheapest
	best, ok := s.best[k.key()]
	if old := s.known[k.key()]; s.strategy != "" && len(old) > 0 && s.r.IntN(2) == 0 {
		p, like := k.Random(s.r), slices.MinFunc(old, func(a, b point) int { return cmp.Compare(a.Cost, b.Cost) })
		for name := range p.Values {
			if v, has := like.Values[name]; has && s.r.IntN(4) > 0 {
				p.Values[name] = v
			}
		}
		return p
	}
	if !ok || s.r.IntN(2) == 0 {
		return k.Random(s.r)
	}
	p := space.Point{Strategy: best.Strategy, Values: best.Values}
	for range 1 + s.r.IntN(steps) {
		p = k.Neighbour(p, s.r)
	}
	return p
}

// promising measures the n schedules, of all kernels together, that the target's model predicts to
// be fastest.
func (s *sampler) promising(ctx context.Context, kernels []kernel, n int) (err error) {
	defer stop.Catch(&err)
	type hope struct {
		kernel
		compile.Promise
	}
	var all []hope
	for _, k := range kernels {
		some := stop.Must(compile.Promising(ctx, k.Task.Func, s.Target, promisingOfKernel))
		for _, p := range some {
			if s.wants(p.Strategy) {
				all = append(all, hope{k, p})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b hope) int { return cmp.Compare(a.Time, b.Time) })
	for _, h := range all[:min(n, len(all))] {
		stop.Check(s.try(ctx, h.kernel, space.CandidateOf(h.Choice), false))
	}
	return nil
}

// try measures a schedule of k, unless it is not wanted or the same code was measured. taken says
// that compile takes it.
func (s *sampler) try(ctx context.Context, k kernel, x space.Candidate, taken bool) error {
	if !s.wants(x.Point.Strategy) {
		return nil
	}
	code := k.key() + x.Key()
	if i, ok := s.seen[code]; ok {
		if i >= 0 && taken {
			s.points[i].Taken = true
		}
		return nil
	}
	s.seen[code] = -1
	cost, err := s.Cost(ctx, k.Task, x)
	if err != nil && meter.Ends(ctx, err) {
		return err
	}
	if err != nil { // LLVM may refuse schedules that estimates accept
		fmt.Fprintf(os.Stderr, "layer %d, %s %s: %v\n", s.from.seed, k.Task.Algorithm, x.Point, err)
		return nil
	}
	p := point{Model: s.from.model, Layer: s.from.seed, MACs: s.from.multiplies, Stage: k.Task.Stage.Name, Key: k.key(),
		Algorithm: k.Task.Algorithm,
		Strategy:  x.Point.Strategy, Values: x.Point.Values, Taken: taken, Cost: cost}
	if best, ok := s.best[p.Key]; !ok || p.Cost < best.Cost {
		s.best[p.Key] = p
	}
	s.seen[code] = len(s.points)
	s.points = append(s.points, p)
	return nil
}
