package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"ripc"
	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/autotune/space"
	"ripc/codegen"
	"ripc/codegen/board"
	"ripc/codegen/llvm"
	"ripc/codegen/llvm/toolchain"
	"ripc/compile"
	"ripc/examples/networks/zoo"
	"ripc/fusedglue"
	"ripc/ir"
	"ripc/lower"
	"ripc/schedule/machine"
	"ripc/schedule/strategy"
	"ripc/targets"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"
)

// drawnPoint is a schedule of a kernel that was measured, a line of build/learn/TARGET.points.
type drawnPoint struct {
	Model     string          `json:"model,omitempty"` // whose layer it is; "" of a layer that is drawn
	Layer     uint64          `json:"layer"`           // its seed
	MACs      int             `json:"macs"`            // of such layers at most
	Stage     string          `json:"stage"`
	Key       string          `json:"key"` // of the kernel
	Algorithm string          `json:"algorithm,omitempty"`
	Strategy  string          `json:"strategy"`
	Values    strategy.Values `json:"values"`
	Rules     bool            `json:"usual,omitempty"` // it is what the rules of lower and of strategies take
	Taken     bool            `json:"taken,omitempty"` // it is what compile takes
	Cost      float64         `json:"cost"`            // in the unit of the runner
}

// drawnKernel is a kernel of a drawn layer's network.
type drawnKernel struct {
	*space.Space
	rules bool             // they take its algorithm
	taken *strategy.Choice // what compile takes for it, if it takes the kernel
}

// source is where layers are from: drawn, or of a model.
type source struct {
	seed       uint64
	multiplies int    // of a layer that is drawn
	model      string // a file, or the name of a network of examples/networks; "" of a layer that is drawn
}

// modelSource is that of a model.
func modelSource(model string) source {
	h := fnv.New64a()
	h.Write([]byte(model))
	return source{seed: h.Sum64(), model: model}
}

func (s source) write(dir string) (path string, err error) {
	if s.model == "" {
		return writeDrawn(dir, drawLayer(s.seed, s.multiplies))
	}
	if _, err := os.Stat(s.model); err == nil {
		return s.model, nil
	}
	n, err := zoo.Find(s.model)
	if err != nil {
		return "", err
	}
	return n.Write(dir)
}

// lowered are the programs of a source by all algorithms.
type lowered struct {
	target   targets.Target
	programs []*ir.Program // first by the rules, last as compile takes it
	compiled *ripc.Compiled
}

// lower lowers a source by each of its algorithms, and compiles it, with a search, where compiled says so.
func (s source) lower(ctx context.Context, t targets.Target, compiled bool) (*lowered, error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path, err := s.write(dir)
	if err != nil {
		return nil, err
	}
	g, err := ripc.Load(ctx, path)
	if err != nil {
		return nil, err
	}
	if g, err = fusedglue.Fuse(ctx, g, nil, nil); err != nil {
		return nil, err
	}
	l := &lowered{target: t}
	add := func(o lower.Options) error {
		p, err := lower.Program(ctx, g, o)
		l.programs = append(l.programs, p)
		return err
	}
	if err := add(lower.Options{Target: t}); err != nil {
		return nil, err
	}
	for _, choice := range lower.Uniform(lower.Free(g, lower.Options{Target: t})) {
		if err := add(lower.Options{Target: t, Algorithms: choice}); err != nil {
			return nil, err
		}
	}
	if compiled {
		if l.compiled, err = ripc.Compile(ctx, path, ripc.Options{Target: t.Name}); err != nil {
			return nil, err
		}
		l.programs = append(l.programs, l.compiled.Program)
	}
	return l, nil
}

// largest is the layer of the most multiply-accumulates.
func (l *lowered) largest() string {
	stages := l.programs[0].Stages
	return slices.MaxFunc(stages, func(a, b ir.Stage) int { return cmp.Compare(a.MACs, b.MACs) }).Name
}

// layers are the names of layers with weights, equal ones once.
func (l *lowered) layers() []string {
	var names []string
	known := map[string]bool{}
	p := l.programs[0]
	for i, s := range p.Stages {
		key := space.TaskOf(p.FuncByName(s.Func), l.target, s, compile.StageConstants(p, i)).Workload.Key
		if s.MACs > 0 && !known[key] {
			known[key] = true
			names = append(names, s.Name)
		}
	}
	return names
}

// kernels are the kernels by all algorithms, those of a layer first: main of them.
func (l *lowered) kernels(layer string) (all []drawnKernel, main int, err error) {
	known, taken := map[string]bool{}, map[string]*strategy.Choice{}
	var others []drawnKernel
	for k, p := range l.programs {
		for i, s := range p.Stages {
			task := space.TaskOf(p.FuncByName(s.Func), l.target, s, compile.StageConstants(p, i))
			key := task.Workload.Key
			if l.compiled != nil && k == len(l.programs)-1 {
				choice := l.compiled.Choices[s.Func]
				taken[key] = &choice
			}
			if known[key] {
				continue
			}
			known[key] = true
			sp, err := space.New(task)
			if err != nil {
				return nil, 0, err
			}
			if s.Name == layer {
				all = append(all, drawnKernel{sp, k == 0, nil})
			} else {
				others = append(others, drawnKernel{sp, k == 0, nil})
			}
		}
	}
	main = len(all)
	all = append(all, others...)
	for i := range all {
		all[i].taken = taken[all[i].Task.Workload.Key]
	}
	return all, main, nil
}

// kernelsOfDrawn are the kernels of a drawn layer and of the stages around it.
func kernelsOfDrawn(ctx context.Context, t targets.Target, seed uint64, multiplies int, compiled bool) (all []drawnKernel, main int, err error) {
	l, err := source{seed: seed, multiplies: multiplies}.lower(ctx, t, compiled)
	if err != nil {
		return nil, 0, err
	}
	return l.kernels(l.largest())
}

// builtOfKernel is how many schedules of a kernel are built to take the most promising ones.
const builtOfKernel = 12

// stagesAround is how many kernels of the stages around a layer are measured, by one schedule or two.
const stagesAround = 4

// collector measures points of drawn layers on a target.
type collector struct {
	target     targets.Target
	multiplies int
	points     int // of a layer
	run        runner.Runner
	backends   []codegen.Backend
}

// layer measures one drawn layer: the default schedules of its kernels, and schedules drawn at random.
func (c *collector) layer(ctx context.Context, seed uint64) ([]drawnPoint, error) {
	kernels, main, err := kernelsOfDrawn(ctx, c.target, seed, c.multiplies, true)
	if err != nil {
		return nil, err
	}
	return c.kernels(ctx, source{seed: seed, multiplies: c.multiplies}, kernels, main)
}

// models measures the layers of models, and none that is in known.
func (c *collector) models(ctx context.Context, file string, known []drawnPoint, models []string) error {
	for _, model := range models {
		from := modelSource(model)
		l, err := from.lower(ctx, c.target, true)
		if err != nil {
			return err
		}
		layers := slices.DeleteFunc(l.layers(), func(layer string) bool {
			return slices.ContainsFunc(known, func(p drawnPoint) bool { return p.Model == model && p.Stage == layer })
		})
		name := func(i int) string { return model + ": layer " + layers[i] }
		if err := c.each(ctx, file, len(layers), name, func(ctx context.Context, i int) ([]drawnPoint, error) {
			kernels, main, err := l.kernels(layers[i])
			if err != nil {
				return nil, err
			}
			return c.kernels(ctx, from, kernels[:main], main)
		}); err != nil {
			return err
		}
	}
	return nil
}

// each measures n layers, several at a time, and appends the points of each to file.
func (c *collector) each(ctx context.Context, file string, n int, name func(i int) string, measure func(ctx context.Context, i int) ([]drawnPoint, error)) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(c.run.Slots())
	var mu sync.Mutex
	done := 0
	for i := range n {
		work.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			points, err := measure(ctx, i)
			if err != nil {
				return fmt.Errorf("%s: %w", name(i), err)
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			fmt.Fprintf(os.Stderr, "%s: %s, %d of %d: %d points\n", c.target.Name, name(i), done, n, len(points))
			return appendLines(file, points)
		})
	}
	return work.Wait()
}

// kernels measures the kernels of a layer, main of them, and of stages around it.
func (c *collector) kernels(ctx context.Context, from source, kernels []drawnKernel, main int) ([]drawnPoint, error) {
	seed := from.seed
	r := rand.New(rand.NewPCG(seed, 3))
	seen := map[string]int{} // its point, -1 if it has none
	var points []drawnPoint
	try := func(k drawnKernel, x space.Candidate, rules, taken bool) error {
		key := k.Task.Workload.Key + x.Key()
		if i, ok := seen[key]; ok {
			if i >= 0 && taken {
				points[i].Taken = true
			}
			return nil
		}
		seen[key] = -1
		cost, err := c.measure(ctx, k.Task, x)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // LLVM may refuse what estimates let pass
			fmt.Fprintf(os.Stderr, "layer %d, %s %s: %v\n", seed, k.Task.Algorithm, x.Point, err)
			return nil
		}
		seen[key] = len(points)
		points = append(points, drawnPoint{from.model, seed, from.multiplies, k.Task.Stage.Name, k.Task.Workload.Key, k.Task.Algorithm, x.Point.Strategy, x.Point.Values, rules && k.rules, taken, cost})
		return nil
	}
	// promising measures what the model that there is takes for good, of all kernels together.
	promising := func(kernels []drawnKernel, n int) error {
		type hope struct {
			k drawnKernel
			compile.Promise
		}
		var all []hope
		for _, k := range kernels {
			some, err := compile.Promising(ctx, k.Task.Func, c.target, builtOfKernel)
			if err != nil {
				return err
			}
			for _, p := range some {
				all = append(all, hope{k, p})
			}
		}
		slices.SortStableFunc(all, func(a, b hope) int { return cmp.Compare(a.Time, b.Time) })
		for _, h := range all[:min(n, len(all))] {
			if err := try(h.k, candidateOf(h.Choice), false, false); err != nil {
				return err
			}
		}
		return nil
	}
	some := func(kernels []drawnKernel, n int) error {
		start := len(points)
		for _, k := range kernels {
			usual, err := strategy.Default(k.Task.Func, c.target)
			if err != nil {
				return err
			}
			all := []strategy.Choice{usual}
			if k.taken != nil {
				all = append(all, *k.taken)
			}
			for i, x := range all {
				if err := try(k, candidateOf(x), i == 0, i > 0); err != nil {
					return err
				}
			}
		}
		if err := promising(kernels, n/2); err != nil {
			return err
		}
		const tries = 4 // of which some cannot be built
		for until, left := start+n, tries*n; len(points) < until && left > 0; left-- {
			k := kernels[r.IntN(len(kernels))]
			p := k.Random(r)
			if r.IntN(2) == 0 { // near what is good by what is known
				if x, err := strategy.Default(k.Task.Func, c.target); err == nil {
					p = candidateOf(x).Point
					for range 1 + r.IntN(4) {
						p = k.Neighbour(p, r)
					}
				}
			}
			x, err := k.Build(p)
			if err != nil {
				continue
			}
			if err := try(k, x, false, false); err != nil {
				return err
			}
		}
		return nil
	}
	if err := some(kernels[:main], c.points); err != nil {
		return nil, err
	}
	r.Shuffle(len(kernels)-main, func(i, j int) { kernels[main+i], kernels[main+j] = kernels[main+j], kernels[main+i] })
	for _, k := range kernels[main:min(len(kernels), main+stagesAround)] {
		if err := some([]drawnKernel{k}, 1+r.IntN(2)); err != nil {
			return nil, err
		}
	}
	return points, nil
}

// candidateOf is a choice as a candidate of a space.
func candidateOf(c strategy.Choice) space.Candidate {
	return space.Candidate{Point: space.Point{Strategy: c.Strategy, Values: c.Values}, Trace: c.Trace, Result: c.Result}
}

// measure is the cost of a kernel with a schedule: estimated cycles of a simulated board, or time.
func (c *collector) measure(ctx context.Context, k *space.Task, x space.Candidate) (float64, error) {
	u, err := compile.Kernel(ctx, k.Func, x.Trace, c.target, compile.KernelOptions{Stage: k.Stage, Constants: k.Constants, Result: x.Result, With: c.backends})
	if err != nil {
		return 0, err
	}
	r, err := c.run.Measure(ctx, runner.NewJob(u.Files[codegen.Runnable], u.Inputs(0), runner.Settings{}))
	switch {
	case err != nil:
		return 0, err
	case r.Measurement.Failure != nil:
		return 0, errors.New(r.Measurement.Failure.Text)
	}
	return r.Measurement.Cost, nil
}

// drawn measures drawn layers, and none that is in known.
func (c *collector) drawn(ctx context.Context, file string, known []drawnPoint, layers []uint64) error {
	layers = slices.DeleteFunc(slices.Clone(layers), func(l uint64) bool {
		return slices.ContainsFunc(known, func(p drawnPoint) bool { return p.Layer == l })
	})
	name := func(i int) string { return fmt.Sprint("layer ", layers[i]) }
	return c.each(ctx, file, len(layers), name, func(ctx context.Context, i int) ([]drawnPoint, error) { return c.layer(ctx, layers[i]) })
}

// openCollector gets ready to measure on t.
func openCollector(ctx context.Context, t targets.Target, multiplies, points int) (*collector, error) {
	var backend codegen.Backend = board.Backend{}
	if !t.Bare {
		tools, err := toolchain.Find()
		if err != nil {
			return nil, err
		}
		backend = llvm.Backend{Tools: tools}
	}
	run, err := runner.Open(ctx, ripc.RunnerFor(t), t, runner.Options{})
	if err != nil {
		return nil, err
	}
	return &collector{target: t, multiplies: multiplies, points: points, run: run, backends: []codegen.Backend{backend}}, nil
}

// learnLayers measures drawn layers, and fits the target's model to all that is known of such.
func learnLayers(ctx context.Context, t targets.Target, o learnOptions) error {
	known, err := readStore(t)
	if err != nil {
		return err
	}
	file := filepath.Join("build", "learn", machine.FileName(t)+".points")
	by, err := measureSources(ctx, t, file, known, o)
	if err != nil {
		return err
	}
	fresh, err := readLines[drawnPoint](file)
	if err != nil {
		return err
	}
	all := slices.Concat(known, fresh)
	if err := writeStore(t, all); err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if !o.fit {
		return nil
	}
	return fitPoints(ctx, t, by, all, o)
}

// unseen is the seed of the first layer that no fit sees.
const unseen = 1_000_000

// judgeChoices compares what compile takes with the best of the points of layers that the fit has not seen, and notes the result.
func judgeChoices(ctx context.Context, t targets.Target, o learnOptions) error {
	m, ok, err := machine.Of(t)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("no weights of %s: fit them first", t.Name)
	}
	o.models, o.from = nil, unseen+o.from // the fit has seen models
	file := filepath.Join("build", "learn", machine.FileName(t)+".judged")
	if _, err := measureSources(ctx, t, file, nil, o); err != nil {
		return err
	}
	all, err := readLines[drawnPoint](file)
	if err != nil {
		return err
	}
	points, err := describePoints(ctx, t, all)
	if err != nil {
		return err
	}
	chosen := map[string]bool{}
	for _, p := range points {
		chosen[p.Group] = chosen[p.Group] || p.Taken
	}
	points = slices.DeleteFunc(points, func(p described) bool { return !chosen[p.Group] }) // a stage around a layer, by other algorithms
	predicted := make([]float64, len(points))
	for i, p := range points {
		predicted[i] = m.Predict(p.Point)
	}
	m.Error = errorsOf(points, predicted)
	judge := func(points []described) machine.Choice {
		taken := regrets(points, func(i int) float64 { return first(points[i].Taken) }, 1)
		rules := regrets(points, func(i int) float64 { return first(points[i].Rules) }, 1)
		known := regrets(points, func(i int) float64 { return predicted[i] }, 1)
		fmt.Printf("  taken %s\n  rules %s\n  were all points predicted %s\n", quantiles(taken), quantiles(rules), quantiles(known))
		return machine.Choice{Networks: len(taken), Mean: stat.GeometricMean(taken, nil), P90: stat.Quantile(0.9, stat.Empirical, taken, nil), Worst: taken[len(taken)-1], Usual: stat.GeometricMean(rules, nil)}
	}
	shared := slices.Clone(points) // their costs on all cores
	for i, p := range points {
		predicted[i] *= m.Turns(p.Point)
		shared[i].drawnPoint.Cost *= m.Idle(p.Point)
	}
	fmt.Println("hundredths above the best of a layer's points: mean, p90, worst; on one core")
	m.Choice = judge(points)
	fmt.Println("on all cores")
	m.Shared = judge(shared)
	return m.Write(machineData)
}

// origin is what measured points.
type origin struct {
	unit records.Unit
	records.Machine
}

// measureSources measures the layers of o.models or, if there are none, o.layers drawn ones from seed o.from on. It skips layers that have
// points in known or in file, and appends the new points to file.
func measureSources(ctx context.Context, t targets.Target, file string, known []drawnPoint, o learnOptions) (by origin, err error) {
	fresh, err := readLines[drawnPoint](file)
	if err != nil {
		return by, err
	}
	known = slices.Concat(known, fresh)
	c, err := openCollector(ctx, t, o.multiplies, o.points)
	if err != nil {
		return by, err
	}
	defer func() { err = errors.Join(err, c.run.Close()) }()
	by = origin{c.run.Unit(), c.run.Machine()}
	if len(o.models) > 0 {
		return by, c.models(ctx, file, known, o.models)
	}
	var seeds []uint64
	for i := range o.layers {
		seeds = append(seeds, o.from+uint64(i))
	}
	return by, c.drawn(ctx, file, known, seeds)
}
