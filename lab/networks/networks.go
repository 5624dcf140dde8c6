// Package networks compiles the networks of examples/networks, compares them with their
// definitions, and measures them beside their float twins and beside onnxruntime.
package networks

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"ripc"
	"ripc/caches"
	"ripc/codegen"
	"ripc/examples/networks/zoo"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/lab/task"
)

// dir is the folder of models and libraries.
const dir = "build/networks"

// runner has the flags.
type runner struct {
	verify          bool
	turns           int
	python, version string // of a Python with onnxruntime, and of that; "" if there is none
}

// Task returns the task. A network, its float twin and onnxruntime take turns; the least time of
// all turns counts.
func Task() *task.Task {
	r := &runner{}
	return &task.Task{
		Name: "networks", Short: "networks beside their float twins and onnxruntime: docs/networks.md",
		Long: "Without --only, the networks of the table. onnxruntime runs the same float network where a Python " +
			"has it: that of lab peers, or python3.",
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&r.verify, "verify", false, "measure nothing, compare each network with its definition")
			f.IntVar(&r.turns, "turns", 3, "turns of a network, its twin and onnxruntime")
		},
		Before: func(ctx context.Context, only *regexp.Regexp, out io.Writer) (bool, error) {
			if !r.verify {
				return false, nil
			}
			return true, r.compare(ctx, only, out)
		},
		Versions: func(ctx context.Context) ([]string, error) {
			if r.python, r.version = FindPeer(ctx); r.version == "" {
				return nil, nil
			}
			return []string{"onnxruntime " + r.version}, nil
		},
		Cases: func(_ context.Context, only *regexp.Regexp) (all []task.Case, err error) {
			for _, n := range match(only) {
				all = append(all, task.Case{Key: figures.Key{Subject: n.name},
					Measure: func(ctx context.Context, m figures.Mark) ([]figures.Figure, error) {
						return r.measure(ctx, n)
					}})
			}
			return all, os.MkdirAll(dir, 0o755)
		},
		Pages: pages,
	}
}

// network is a network and the function that returns its file, which it may write into a folder. Of
// a network that was trained there are pictures and their classes, .npy files.
type network struct {
	name             string
	model            func(dir string) (string, error)
	pictures, labels string
}

// match returns the networks that only matches, or without only those of the table.
func match(only *regexp.Regexp) (all []network) {
	for _, n := range zoo.Networks() {
		if only == nil && n.Listed || only != nil && only.MatchString(n.Name) {
			all = append(all, network{name: n.Name, model: n.Write})
		}
	}
	for _, n := range trained() {
		if only == nil || only.MatchString(n.name) {
			all = append(all, n)
		}
	}
	return all
}

// trained returns the networks with weights that were trained: on the digits of examples/digits, by
// examples/digits and by the training twin.
func trained() (all []network) {
	const data = "examples/digits/data"
	add := func(name, path string) {
		model := func(string) (string, error) { return path, nil }
		all = append(all, network{name, model, filepath.Join(data, "x_test.npy"), filepath.Join(data, "y_test.npy")})
	}
	add("digits", "examples/digits/digits.json")
	for _, encoding := range []string{"unipolar", "bipolar"} {
		for bits := range 3 {
			name := fmt.Sprintf("%s%d", encoding, bits+1)
			add("digits_"+name, filepath.Join("testdata", "twin", name+".json"))
		}
	}
	return all
}

// boards are the targets with estimated cycles.
func boards() []string { return []string{"rpi3", "rpi4"} }

// library is a network compiled for this machine.
type library struct {
	path     string
	compiled *ripc.Inspection
	bytes    int64
	took     time.Duration
}

// compile compiles a model without any cache, and writes the library.
func compile(ctx context.Context, model, so string, twin bool) (lib library, err error) {
	defer stop.Catch(&err)
	cache := stop.Must(os.MkdirTemp("", "ripc-networks-"))
	defer func() { err = errors.Join(err, os.RemoveAll(cache)) }()
	before := os.Getenv(caches.Env)
	defer func() { err = errors.Join(err, os.Setenv(caches.Env, before)) }()
	stop.Check(os.Setenv(caches.Env, cache))
	start := time.Now()
	c := stop.Must(ripc.Compile(ctx, model, ripc.Options{FloatTwin: twin, Emit: []codegen.Kind{codegen.SO}}))
	lib = library{path: so, compiled: ripc.InspectCompiled(c), bytes: int64(len(c.Files[codegen.SO])),
		took: time.Since(start)}
	return lib, os.WriteFile(so, c.Files[codegen.SO], 0o755)
}

// compare compares networks with their definitions.
func (r *runner) compare(ctx context.Context, only *regexp.Regexp, out io.Writer) (err error) {
	defer stop.Catch(&err)
	var bad []error
	for _, n := range match(only) {
		path := stop.Must(n.model(dir))
		lib := stop.Must(compile(ctx, path, filepath.Join(dir, n.name+".so"), false))
		start := time.Now()
		r, err := ripc.Verify(ctx, ripc.VerifyRequest{Path: path, SO: lib.path, Threads: 2})
		if err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
		verdict := "equal the interpreter"
		if !r.OK {
			verdict = "DIFFER FROM THE INTERPRETER"
			bad = append(bad, fmt.Errorf("%s differs from the interpreter", n.name))
		}
		fmt.Fprintf(out, "%-22s compiled in %4.1f s, its %d stages %s (%.0f s)\n", n.name, lib.took.Seconds(),
			len(r.Stages), verdict, time.Since(start).Seconds())
	}
	return errors.Join(bad...)
}

// measure measures one network: times of this machine, estimated cycles of boards, and sizes.
func (r *runner) measure(ctx context.Context, n network) (_ []figures.Figure, err error) {
	defer stop.Catch(&err)
	model := stop.Must(n.model(dir))
	binary := stop.Must(compile(ctx, model, filepath.Join(dir, n.name+".so"), false))
	twin := stop.Must(compile(ctx, model, filepath.Join(dir, n.name+"_float.so"), true))
	defer func() { _ = os.Remove(twin.path) }() // up to half a gigabyte
	macs := binary.compiled.MACs
	v := map[string]float64{
		"macs": float64(macs), "binary_share": float64(binary.compiled.BinaryMACs) / float64(max(1, macs)),
		"compile_s":     binary.took.Seconds(),
		"library_bytes": float64(binary.bytes), "float_twin_library_bytes": float64(twin.bytes),
		"activations_bytes":            float64(binary.compiled.ArenaBytes),
		"float_twin_activations_bytes": float64(twin.compiled.ArenaBytes),
	}
	least := func(name string, ms float64) {
		if old, ok := v[name]; !ok || ms < old {
			v[name] = ms
		}
	}
	for range r.turns {
		for _, threads := range []int{1, 2} {
			for name, so := range map[string]string{"": binary.path, "float_twin_": twin.path} {
				b := stop.Must(ripc.Bench(ctx, ripc.BenchRequest{Path: so, Threads: threads}))
				least(fmt.Sprintf("%s%d_threads_ms", name, threads), *b.MinMS)
			}
		}
		if r.version != "" {
			least("onnxruntime_1_threads_ms", stop.Must(r.timePeer(ctx, model)))
		}
	}
	layers := stop.Must(ripc.Bench(ctx, ripc.BenchRequest{Path: binary.path, Threads: 1, PerLayer: true}))
	for _, k := range layers.Kinds {
		switch k.Kind {
		case "float":
			v["float_share"] = k.Share
		case "bits", "glue":
			v["glue_share"] += k.Share
		}
	}
	if n.labels != "" {
		run := ripc.RunRequest{Path: binary.path, Inputs: []string{n.pictures}, Threads: 1}
		e := stop.Must(ripc.Eval(ctx, ripc.EvalRequest{Run: run, Labels: n.labels}))
		v["accuracy_share"] = float64(e.Right.Top1) / float64(e.Images)
	}
	for _, target := range boards() {
		o := ripc.Options{Target: target}
		b := stop.Must(ripc.Bench(ctx, ripc.BenchRequest{Path: model, Options: o, Threads: 1}))
		if b.EstimatedCycles != nil {
			v[target+"_cycles"] = float64(*b.EstimatedCycles)
		}
	}
	return []figures.Figure{{Values: v}}, nil
}

// script makes an ONNX model of a model's float network, and times it.
//
//go:embed onnx_twin.py
var script string

// FindPeer returns a Python with onnxruntime and the version of that, both "" if there is none. It
// looks where make bench-peers keeps onnxruntime, and for python3.
func FindPeer(ctx context.Context) (python, version string) {
	pythons := []string{"python3"}
	if dir, err := caches.Root(); err == nil {
		pythons = append([]string{filepath.Join(dir, "peers", "onnx", "bin", "python")}, pythons...)
	}
	for _, python := range pythons {
		out, err := exec.CommandContext(ctx, python, "-c", "import onnx, onnxruntime; "+
			"print(onnxruntime.__version__)").Output()
		if err == nil {
			return python, string(bytes.TrimSpace(out))
		}
	}
	return "", ""
}

// WriteTwin writes the float network of a model as an ONNX model.
func WriteTwin(ctx context.Context, python, model, onnx string) error {
	out, err := exec.CommandContext(ctx, python, "-c", script, model, onnx).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the float network of %s: %w\n%s", model, err, out)
	}
	return nil
}

// timePeer returns the least time of a run with one thread, in milliseconds.
func (r *runner) timePeer(ctx context.Context, model string) (float64, error) {
	cmd := exec.CommandContext(ctx, r.python, "-c", script, model)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("onnxruntime: %w\n%s", err, errs.String())
	}
	return strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)
}
