// Package gpu measures NVIDIA's GPU: the rates of the instructions that kernels are made of, of
// memory and of launches, and networks beside PyTorch in the same run. It measures networks on
// other devices, too.
package gpu

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ripc"
	"ripc/engine"
	"ripc/examples/networks/zoo"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/runtime/cuda"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// dir is the folder of the models, the figures and the page: they are of the GPU at hand.
const dir = "build/gpu"

// script measures the float network in PyTorch.
//
//go:embed network.py
var script string

// Subjects of figures that are of no network.
const (
	memory = "memory"
	launch = "launch"
)

// network is a network of examples/networks at a batch.
type network struct {
	name  string
	batch int
}

func (n network) String() string { return fmt.Sprintf("%s, batch %d", n.name, n.batch) }

func networks() []network {
	return []network{{"vehicle_rgb", 1}, {"resnet18_a1", 1}, {"resnet18_a1", 8}, {"resnet18_a1", 64},
		{"resnet18_a1", 256}}
}

// runner has the flags, and the GPU.
type runner struct {
	python string
	target string // of networks; "" is the GPU's
	cuda.GPU
}

// Task returns the task. It fails where there is no GPU.
func Task() *task.Task {
	r := &runner{}
	return &task.Task{
		Name: "gpu", Short: "rates of NVIDIA's GPU, and networks beside PyTorch", Dir: dir, Rounds: 1,
		Code: []string{"lab/gpu"},
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&r.python, "python", "python3", "a Python with PyTorch for CUDA, the peer")
			f.StringVar(&r.target, "target", "", "measure networks alone, on another device than NVIDIA's GPU, "+
				"such as opencl-cpu")
		},
		Versions: func(context.Context) ([]string, error) { return []string{r.Name}, nil },
		Cases: func(context.Context, *regexp.Regexp) (all []task.Case, err error) {
			if r.target != "" {
				t, err := targets.Lookup(r.target)
				if err == nil {
					r.Name, err = engine.DeviceName(t.Name, t.Arch, t.Features)
				}
				return r.networks(), err
			}
			if r.GPU, err = cuda.Find(); err != nil {
				return nil, err
			}
			return append(r.rates(), r.networks()...), nil
		},
		Pages: func(_ string, s *figures.Store) (map[string]string, error) {
			return map[string]string{filepath.Join(dir, "gpu.md"): page(s)}, nil
		},
	}
}

// newCase returns the case of a subject.
func (r *runner) newCase(subject string,
	measure func(ctx context.Context) (map[string]float64, string, error)) task.Case {
	return task.Case{Key: figures.Key{Subject: subject, Target: r.target},
		Measure: func(ctx context.Context, m figures.Mark) ([]figures.Figure, error) {
			values, why, err := measure(ctx)
			m.CPU = r.Name
			return []figures.Figure{{Values: values, Why: why, Mark: m}}, err
		}}
}

// rates lists the instructions that the GPU has, memory and launches.
func (r *runner) rates() (all []task.Case) {
	rate := func(subject string, measure func(ctx context.Context) (map[string]float64, error)) {
		all = append(all, r.newCase(subject, func(ctx context.Context) (map[string]float64, string, error) {
			v, err := measure(ctx)
			return v, "", err
		}))
	}
	for _, i := range instructions() {
		if i.least <= r.Capability {
			rate(i.name, func(ctx context.Context) (map[string]float64, error) {
				return measureInstruction(ctx, r.GPU, i)
			})
		}
	}
	rate(memory, func(ctx context.Context) (map[string]float64, error) { return measureMemory(ctx, r.GPU) })
	rate(launch, measureLaunch)
	return all
}

// networks lists the networks.
func (r *runner) networks() (all []task.Case) {
	for _, n := range networks() {
		all = append(all, r.newCase(n.String(), func(ctx context.Context) (map[string]float64, string, error) {
			return r.network(ctx, n)
		}))
	}
	return all
}

// network measures a network, with a kernel for each tensor, its float twin, and its float network
// in PyTorch. why says why there is no figure of PyTorch.
func (r *runner) network(ctx context.Context, n network) (v map[string]float64, why string, err error) {
	defer stop.Catch(&err)
	t := stop.Must(r.deviceTarget())
	model := stop.Must(n.write())
	o := ripc.Options{Target: t.Name}
	if n.batch == 1 { // the interpreter is slow
		checked, err := ripc.Verify(ctx, ripc.VerifyRequest{Path: model, Options: o})
		if err == nil && !checked.OK {
			err = fmt.Errorf("%s differs from the interpreter on %s", n, r.Name)
		}
		if err != nil {
			return nil, "", err
		}
	}
	bench := func(o ripc.Options) *ripc.BenchResult {
		return stop.Must(ripc.Bench(ctx, ripc.BenchRequest{Path: model, Options: o, Threads: 1, PerLayer: true}))
	}
	b := bench(o)
	v = map[string]float64{"launches": float64(b.Launches), "min_ms": *b.MinMS, "median_ms": *b.MedianMS}
	for _, l := range b.Layers {
		if l.Kind == "binary" && l.MinMS != nil {
			v["binary_ms"] += *l.MinMS
			v["binary_macs"] += float64(l.MACs)
		}
	}
	v["min_apart_ms"] = *bench(stop.Must(separateTensors(ctx, model, t))).MinMS
	v["min_float_ms"] = *bench(ripc.Options{Target: t.Name, FloatTwin: true}).MinMS
	if r.target != "" {
		return v, "PyTorch is measured on NVIDIA's GPUs", nil
	}
	peer, why, err := r.peer(ctx, model)
	for name, ms := range peer {
		v["min_"+name+"_ms"] = ms
	}
	return v, why, err
}

// deviceTarget returns the target of networks.
func (r *runner) deviceTarget() (targets.Target, error) {
	if r.target != "" {
		return targets.Lookup(r.target)
	}
	return target(r.GPU)
}

// separateTensors returns the options of a model as the GPU paper's authors wrote theirs: a kernel
// for each tensor, and levels that are packed in stages of their own.
func separateTensors(ctx context.Context, model string, t targets.Target) (o ripc.Options, err error) {
	defer stop.Catch(&err)
	o = ripc.Options{Target: t.Name, PackApart: true}
	for _, f := range stop.Must(ripc.Compile(ctx, model, o)).Program.Funcs {
		l := strategy.LayerOf(f, t)
		all := strategy.For(l)
		i := slices.IndexFunc(all, func(s strategy.Strategy) bool { return s.Name == "kernels" })
		c := stop.Must(all[i].Build(l, nil))
		o.Schedules = append(o.Schedules, schedule.Section{Name: f.Name, Trace: c.Trace})
	}
	return o, nil
}

// write writes the network's model.
func (n network) write() (_ string, err error) {
	defer stop.Catch(&err)
	net := stop.Must(zoo.Find(n.name))
	net.Input = slices.Clone(net.Input)
	net.Input[0] = n.batch
	folder := filepath.Join(dir, fmt.Sprint("batch", n.batch))
	stop.Check(os.MkdirAll(folder, 0o755))
	return net.Write(folder)
}

// peer returns the times of a model's float network in PyTorch, in milliseconds. why says that
// Python has no PyTorch for the GPU.
func (r *runner) peer(ctx context.Context, model string) (ms map[string]float64, why string, err error) {
	const lacks = 3 // the script's exit code for a missing PyTorch or GPU
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, r.python, "-c", script, model)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == lacks {
		return nil, strings.TrimSpace(fmt.Sprintf("no PyTorch for the GPU: %v %s", err, errs.String())), ctx.Err()
	}
	if err != nil {
		return nil, "", fmt.Errorf("PyTorch: %w\n%s", err, errs.String())
	}
	return ms, "", json.Unmarshal(out, &ms)
}
