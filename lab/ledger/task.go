package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"ripc"
	"ripc/codegen"
	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/examples/networks/zoo"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/lab/fit"
	"ripc/lab/peers"
	"ripc/lab/task"
	"ripc/measure/limits"
	"ripc/runtime"
	"ripc/targets"
)

const (
	// firstDrawn is the seed of the first drawn layer. No model of a machine was fitted to layers
	// of such seeds.
	firstDrawn, drawnLayers = 900_000, 60
	// drawnMultiplies is the most multiply-accumulates of a drawn layer.
	drawnMultiplies = 3_000_000
	// models has networks of layers that no network of examples/networks has.
	models = "lab/fit/models"
	dir    = "build/ledger"
)

// runner has the flags.
type runner struct {
	targets []string
	check   bool
	accept  string

	limits   map[string]map[string]float64 // of the cores that were asked for, by target and limit
	measured map[figures.Key]bool          // in this run
}

func newRunner() *runner {
	return &runner{limits: map[string]map[string]float64{}, measured: map[figures.Key]bool{}}
}

// Task returns the task.
func Task() *task.Task {
	r := newRunner()
	return &task.Task{
		Name: "ledger", Dir: dir, Code: code(),
		Short: "estimated cycles of networks and layers on boards, beside the fewest ever: docs/ledger.md",
		Long: "It fails if cycles exceed the fewest of a layer or a network by more than 2 %, unless --accept gives " +
			"the reason. docs/ledger.json has all figures. A command that was stopped goes on where it was.",
		Flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&r.targets, "targets", machines(), "boards")
			f.BoolVar(&r.check, "check", false, "compare with docs/ledger.json, and leave it alone")
			f.StringVar(&r.accept, "accept", "", "reason for losses, which the ledger keeps with them")
		},
		Cases: r.cases,
		Pages: r.pages,
		Kept: func(root string) (*figures.Store, error) {
			l, err := read(filepath.Join(root, file))
			if err != nil {
				return nil, err
			}
			return l.figures(), nil
		},
	}
}

// code lists folders that figures depend on besides the compiler's.
func code() []string { return []string{"autotune/shipped", "engine", "examples/networks/zoo"} }

// boards returns the targets with an operating system, a model of their core, and loops that show
// its limits.
func boards() (names []string) {
	kernels, err := limits.Kernels()
	if err != nil {
		panic("BUG: " + err.Error()) // they are part of ripc
	}
	for _, t := range targets.All() {
		row, ok := rows.Of(t)
		runs := func(k limits.Kernel) bool { return k.Runs(t) }
		if ok && row.Model != "" && slices.ContainsFunc(kernels, runs) {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return names
}

// machines returns the boards, and RISC-V machines with vectors.
func machines() []string { return append(boards(), vectorMachines()...) }

// vectorMachines returns the RISC-V machines with vectors and a model of their own. They measure
// packed layers alone: qemu 7 ends where they convert vectors of floats.
func vectorMachines() (names []string) {
	for _, t := range targets.All() {
		if t.Has("v") && t.Like == "" {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return names
}

// subject is a network or a drawn layer, and the function that returns its file, which it may write
// into a folder.
type subject struct {
	name   string
	model  func(dir string) (path string, err error)
	packed bool // inputs and outputs are packed levels
}

// subjects returns all subjects.
func subjects() (all []subject, err error) {
	for _, n := range zoo.Networks() {
		if n.Listed || n.Name == "squeezenet_float" {
			all = append(all, subject{name: n.Name, model: n.WritePlain}) // statistics take minutes, and no cycles
		}
	}
	paths, err := filepath.Glob(filepath.Join(models, "*.json"))
	if err != nil {
		return nil, err
	}
	convs, err := filepath.Glob("examples/convs/*_n1_unipolar.json")
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Concat(paths, convs, []string{"examples/digits/digits.json"}) {
		all = append(all, subject{strings.TrimSuffix(filepath.Base(path), ".json"),
			func(string) (string, error) { return path, nil }, slices.Contains(convs, path)})
	}
	for i := range uint64(drawnLayers) {
		all = append(all, drawnSubject(firstDrawn+i))
	}
	return all, nil
}

// drawnSubject is the drawn layer of a seed, with the layers around it.
func drawnSubject(seed uint64) subject {
	name := fmt.Sprintf("drawn%d", seed-firstDrawn)
	return subject{name: name, model: func(dir string) (string, error) {
		text, err := json.Marshal(fit.DrawLayer(seed, drawnMultiplies))
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, name+".json")
		return path, os.WriteFile(path, text, 0o644)
	}}
}

// cases returns a measurement of each subject on each target: a subject's follow each other.
func (r *runner) cases(context.Context, *regexp.Regexp) (all []task.Case, err error) {
	for _, name := range r.targets {
		if !slices.Contains(machines(), name) {
			return nil, fmt.Errorf("no cycles are estimated for target %q; there are %s", name,
				strings.Join(machines(), ", "))
		}
	}
	subjects, err := subjects()
	for _, s := range subjects {
		write := sync.OnceValues(func() (string, error) { return s.model(dir) })
		for _, name := range r.targets {
			if !s.packed && !slices.Contains(boards(), name) {
				continue
			}
			key := figures.Key{Subject: s.name, Target: name}
			all = append(all, task.Case{Key: key, Once: true,
				Measure: func(ctx context.Context, m figures.Mark) ([]figures.Figure, error) {
					t, err := targets.Lookup(name)
					if err != nil {
						return nil, err
					}
					model, err := write()
					if err != nil {
						return nil, err
					}
					v, err := r.measure(ctx, model, t)
					r.measured[key] = err == nil
					return []figures.Figure{{Values: v, Mark: m.Estimated(t.CPU)}}, err
				}})
		}
	}
	return all, errors.Join(err, os.MkdirAll(dir, 0o755))
}

// measure estimates the cycles of a model, of each of its layers and of the other stages
// together, and those at the core's limits. Without a model of the core it counts instructions.
func (r *runner) measure(ctx context.Context, model string, t targets.Target) (_ map[string]float64, err error) {
	defer stop.Catch(&err)
	limits := stop.Must(r.limitsOf(ctx, t))
	dir := stop.Must(os.MkdirTemp("", "ripc-ledger-"))
	defer os.RemoveAll(dir)
	c := stop.Must(ripc.Compile(ctx, model, ripc.Options{Target: t.Name, Emit: []codegen.Kind{codegen.SO}}))
	path := filepath.Join(dir, "model.so")
	stop.Check(os.WriteFile(path, c.Files[codegen.SO], 0o755))
	d := stop.Must(runtime.ReadDescription(path))
	b := stop.Must(ripc.Bench(ctx, ripc.BenchRequest{Path: path, Threads: 1, PerLayer: true}))
	cost, unit := b.Cost()
	if row, _ := rows.Of(t); unit == "" || row.Model != "" && b.EstimatedCycles == nil {
		return nil, fmt.Errorf("no estimate: %s%s", b.Reason, b.NoEstimate)
	}
	v := map[string]float64{ofCycles: cost}
	for i, l := range b.Layers {
		name := others
		if limit, n := peers.Products(d.Stages[i]); n > 0 {
			name = l.Name
			if rate := limits[limit]; rate > 0 {
				v[name+" "+ofLimit] += float64(n) / rate
				v[ofLimit] += float64(n) / rate
			}
		}
		cost, of := l.Cost()
		if of != unit {
			return nil, fmt.Errorf("layer %s: %q where the network has %q", l.Name, of, unit)
		}
		v[name+" "+ofCycles] += cost
	}
	return v, nil
}

// limitsOf returns the limits of t's core.
func (r *runner) limitsOf(ctx context.Context, t targets.Target) (map[string]float64, error) {
	if l := r.limits[t.Name]; l != nil {
		return l, nil
	}
	tools, err := toolchain.Find()
	if err != nil {
		return nil, err
	}
	r.limits[t.Name], err = coreLimits(ctx, tools, t)
	return r.limits[t.Name], err
}

// pages enters the figures of this run and others of the same code, and returns the ledger and its
// page. With --check it returns neither. It fails if there are losses that nobody accepted.
func (r *runner) pages(root string, s *figures.Store) (_ map[string]string, err error) {
	defer stop.Catch(&err)
	l := stop.Must(read(filepath.Join(root, file)))
	tools := stop.Must(toolchain.Find())
	l.LLVM = tools.Version()
	fresh := stop.Must(s.Fresh(code()...))
	var losses []loss
	for _, f := range s.Latest() {
		if !slices.Contains(r.targets, f.Target) || !fresh[f.Commit] && !r.measured[f.Key] {
			continue
		}
		losses = append(losses, l.enter(rowOf(f), r.accept)...)
		t := stop.Must(targets.Lookup(f.Target))
		l.Limits[f.Target] = stop.Must(r.limitsOf(context.Background(), t))
	}
	var failed error
	if len(losses) > 0 && r.accept == "" {
		failed = lossError(losses)
	}
	if r.check {
		return nil, failed
	}
	text, err := l.text()
	return map[string]string{filepath.Join(root, file): text, filepath.Join(root, page): l.page()},
		errors.Join(failed, err)
}

// lossError lists losses.
func lossError(losses []loss) error {
	var text strings.Builder
	for _, l := range losses {
		fmt.Fprintf(&text, "\n%s", l)
	}
	return fmt.Errorf("%d losses, each of more than %g %%; name them with --accept REASON, or mend them:%s",
		len(losses), 100*tolerance, text.String())
}

// figures returns the newest figures of the rows.
func (l *ledger) figures() *figures.Store {
	var all []figures.Figure
	for _, r := range l.Rows {
		all = append(all, figures.Figure{Key: figures.Key{Subject: r.Subject, Target: r.Target},
			Values: map[string]float64{ofCycles: float64(r.Cycles.now())},
			Mark:   figures.Mark{Date: r.Date, Commit: r.Commit}})
	}
	return figures.New(all...)
}

// targetNames returns the targets of the rows, sorted.
func (l *ledger) targetNames() []string {
	names := map[string]bool{}
	for _, r := range l.Rows {
		names[r.Target] = true
	}
	return slices.Sorted(maps.Keys(names))
}
