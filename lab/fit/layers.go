package fit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"ripc"
	"ripc/autotune/space"
	"ripc/compile"
	"ripc/examples/networks/zoo"
	"ripc/fusedglue"
	"ripc/graph"
	"ripc/internal/stop"
	"ripc/ir"
	"ripc/lower"
	"ripc/lower/layout"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// source is a drawn layer or a model.
type source struct {
	seed       uint64 // of the drawn layer; a hash of the model's name
	multiplies int    // of the drawn layer at most
	model      string // a file, perhaps of models, or the name of a network of examples/networks; "" of a drawn layer
}

// modelSource is the source of a model.
func modelSource(model string) source {
	h := fnv.New64a()
	h.Write([]byte(model))
	return source{seed: h.Sum64(), model: model}
}

// models is the folder of models that points were measured of; points may name it by an older path.
const models = "lab/fit/models"

// isElsewhere reports whether the model is a file of another machine, by its full path.
func (s source) isElsewhere() bool {
	if !filepath.IsAbs(s.model) {
		return false
	}
	_, err := os.Stat(s.model)
	return errors.Is(err, fs.ErrNotExist)
}

// write returns the path of the source's model, which it writes to dir if there is no such file
// yet.
func (s source) write(dir string) (path string, err error) {
	defer stop.Catch(&err)
	if s.model == "" {
		path = filepath.Join(dir, "drawn.json")
		text := stop.Must(json.Marshal(DrawLayer(s.seed, s.multiplies)))
		return path, os.WriteFile(path, text, 0o600)
	}
	for _, path := range []string{s.model, filepath.Join(models, filepath.Base(s.model))} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	n := stop.Must(zoo.Find(s.model))
	return n.Write(dir)
}

// lowered has the programs of a source by all algorithms.
type lowered struct {
	target   targets.Target
	programs []*ir.Program // the last is that of compiled, if there is one
	compiled *ripc.Compiled
}

// lower lowers the source by each of its algorithms. If with is not nil, it compiles the source
// with these options, too.
func (s source) lower(ctx context.Context, t targets.Target, with *ripc.Options) (l *lowered, err error) {
	l = &lowered{target: t}
	return l, s.load(ctx, func(path string, g *graph.Graph) error {
		choices := []map[string]layout.Algorithm{nil}
		for _, choice := range lower.Uniform(lower.Free(g, lower.Options{Target: t})) {
			choices = append(choices, choice)
		}
		if err := l.add(ctx, g, choices); err != nil || with == nil {
			return err
		}
		if l.compiled, err = ripc.Compile(ctx, path, *with); err != nil {
			return err
		}
		l.programs = append(l.programs, l.compiled.Program)
		return nil
	})
}

// vary lowers the source by the algorithms that compile takes, and by each other algorithm of one
// layer.
func (s source) vary(ctx context.Context, t targets.Target) (l *lowered, err error) {
	l = &lowered{target: t}
	return l, s.load(ctx, func(_ string, g *graph.Graph) error {
		o := lower.Options{Target: t}
		taken, err := compile.Algorithms(ctx, g, o)
		if err != nil {
			return err
		}
		all := map[string]layout.Algorithm{}
		for layer, c := range taken {
			all[layer] = c.Algorithm
		}
		choices := []map[string]layout.Algorithm{all}
		free := lower.Free(g, o)
		for _, layer := range slices.Sorted(maps.Keys(free)) {
			for _, by := range free[layer] {
				choice := maps.Clone(all)
				choice[layer] = by
				choices = append(choices, choice)
			}
		}
		return l.add(ctx, g, choices)
	})
}

// load calls f with the source's model and its fused graph.
func (s source) load(ctx context.Context, f func(path string, g *graph.Graph) error) (err error) {
	defer stop.Catch(&err)
	dir := stop.Must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	path := stop.Must(s.write(dir))
	g := stop.Must(ripc.Load(ctx, path))
	g = stop.Must(fusedglue.Fuse(ctx, g, nil, nil))
	return f(path, g)
}

// add lowers g by each of the choices.
func (l *lowered) add(ctx context.Context, g *graph.Graph, choices []map[string]layout.Algorithm) error {
	for _, choice := range choices {
		p, err := lower.Program(ctx, g, lower.Options{Target: l.target, Algorithms: choice})
		if err != nil {
			return err
		}
		l.programs = append(l.programs, p)
	}
	return nil
}

// task returns the task of stage i of a program.
func (l *lowered) task(p *ir.Program, i int) *space.Task {
	s := p.Stages[i]
	return space.TaskOf(p.FuncByName(s.Func), l.target, s, compile.StageConstants(p, i))
}

// largest returns the layer of the most multiply-accumulates.
func (l *lowered) largest() string {
	return slices.MaxFunc(l.programs[0].Stages, func(a, b ir.Stage) int { return cmp.Compare(a.MACs, b.MACs) }).Name
}

// layers returns the names of the layers with weights. It names one of several equal layers.
func (l *lowered) layers() []string {
	var names []string
	known := map[string]bool{}
	for i, s := range l.programs[0].Stages {
		key := l.task(l.programs[0], i).Workload.Key
		if s.MACs > 0 && !known[key] {
			known[key] = true
			names = append(names, s.Name)
		}
	}
	return names
}

// kernel is a kernel of a source by one algorithm, with its space of schedules.
type kernel struct {
	*space.Space
	taken *strategy.Choice // the schedule that compile takes, if it takes the kernel's algorithm
}

// key identifies the kernel.
func (k kernel) key() string { return k.Task.Workload.Key }

// kernels returns the kernels by all algorithms. The first main of them are those of layer.
func (l *lowered) kernels(layer string) (all []kernel, main int, err error) {
	known, taken := map[string]bool{}, map[string]*strategy.Choice{}
	var others []kernel
	for n, p := range l.programs {
		for i, s := range p.Stages {
			task := l.task(p, i)
			key := task.Workload.Key
			if l.compiled != nil && n == len(l.programs)-1 {
				taken[key] = new(l.compiled.Choices[s.Func])
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
				all = append(all, kernel{Space: sp})
			} else {
				others = append(others, kernel{Space: sp})
			}
		}
	}
	main = len(all)
	all = append(all, others...)
	for i := range all {
		all[i].taken = taken[all[i].key()]
	}
	return all, main, nil
}

// drawnKernels returns the kernels of a drawn layer, main of them, and of the stages around it; see
// source.lower.
func drawnKernels(ctx context.Context, t targets.Target, seed uint64, multiplies int,
	with *ripc.Options) (all []kernel, main int, err error) {
	l, err := source{seed: seed, multiplies: multiplies}.lower(ctx, t, with)
	if err != nil {
		return nil, 0, err
	}
	return l.kernels(l.largest())
}
