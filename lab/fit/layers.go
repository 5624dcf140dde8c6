package fit

import (
	"cmp"
	"context"
	"encoding/json"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"

	"ripc"
	"ripc/autotune/space"
	"ripc/compile"
	"ripc/examples/networks/zoo"
	"ripc/fusedglue"
	"ripc/ir"
	"ripc/lower"
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

// write returns the path of the source's model, which it writes to dir if there is no such file
// yet.
func (s source) write(dir string) (path string, err error) {
	if s.model == "" {
		path = filepath.Join(dir, "drawn.json")
		text, err := json.Marshal(drawLayer(s.seed, s.multiplies))
		if err != nil {
			return "", err
		}
		return path, os.WriteFile(path, text, 0o600)
	}
	for _, path := range []string{s.model, filepath.Join(models, filepath.Base(s.model))} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	n, err := zoo.Find(s.model)
	if err != nil {
		return "", err
	}
	return n.Write(dir)
}

// lowered has the programs of a source by all algorithms.
type lowered struct {
	target   targets.Target
	programs []*ir.Program // the last is that of compiled, if there is one
	compiled *ripc.Compiled
}

// lower lowers the source by each of its algorithms. If compiled is set, it compiles the source,
// too.
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

// drawnKernels returns the kernels of a drawn layer, main of them, and of the stages around it.
func drawnKernels(ctx context.Context, t targets.Target, seed uint64, multiplies int,
	compiled bool) (all []kernel, main int, err error) {
	l, err := source{seed: seed, multiplies: multiplies}.lower(ctx, t, compiled)
	if err != nil {
		return nil, 0, err
	}
	return l.kernels(l.largest())
}
