package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"time"

	"ripc"
	"ripc/codegen"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/caches"
	"ripc/measure"
	"ripc/measure/provenance"
)

// Table is docs/networks.json.
type Table struct {
	Cores    int    `json:"cores"`
	System   string `json:"system"`
	LLVM     string `json:"llvm"`
	ONNX     string `json:"onnxruntime,omitempty"` // its version; "" where there is none
	Rounds   int    `json:"rounds"`
	Networks []Row  `json:"networks"`
}

// Row is what was measured of a network. Times are the least of all rounds, in milliseconds. Fields are 0 where there is no such figure.
type Row struct {
	Name      string             `json:"name"`
	MACs      int64              `json:"macs"`
	Binary    float64            `json:"binary_share"` // of the MACs, 0 to 1
	CompileS  float64            `json:"compile_s"`    // nothing in the cache
	OneMS     float64            `json:"ms_1_thread"`
	TwoMS     float64            `json:"ms_2_threads"`
	FloatMS   float64            `json:"float_twin_ms_1_thread"`
	FloatTwo  float64            `json:"float_twin_ms_2_threads"`
	ONNXMS    float64            `json:"onnxruntime_float_ms_1_thread,omitempty"`
	Cycles    map[string]float64 `json:"estimated_cycles"` // by target
	Library   int64              `json:"library_bytes"`
	FloatLib  int64              `json:"float_twin_library_bytes"`
	Memory    int64              `json:"activations_bytes"`
	FloatMem  int64              `json:"float_twin_activations_bytes"`
	StemShare float64            `json:"float_share_of_time"` // of the layers that stay float, 0 to 1, with one thread
	GlueShare float64            `json:"glue_share_of_time"`
	Accuracy  float64            `json:"accuracy,omitempty"` // share of right answers, of one that was trained
	provenance.Mark
}

// boards are the targets whose cycles are estimated.
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
	cache, err := os.MkdirTemp("", "ripc-networks-")
	if err != nil {
		return lib, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cache)) }()
	before, had := os.LookupEnv(caches.Env)
	defer func() {
		if had {
			err = errors.Join(err, os.Setenv(caches.Env, before))
		} else {
			err = errors.Join(err, os.Unsetenv(caches.Env))
		}
	}()
	if err := os.Setenv(caches.Env, cache); err != nil {
		return lib, err
	}
	start := time.Now()
	c, err := ripc.Compile(ctx, model, ripc.Options{FloatTwin: twin, Emit: []codegen.Kind{codegen.SO}})
	if err != nil {
		return lib, err
	}
	lib = library{path: so, compiled: ripc.InspectCompiled(c), bytes: int64(len(c.Files[codegen.SO])), took: time.Since(start)}
	return lib, os.WriteFile(so, c.Files[codegen.SO], 0o755)
}

// compare compares networks with their definitions.
func (f flags) compare(ctx context.Context, networks []network) error {
	var bad []error
	for _, n := range networks {
		path, err := n.model(f.dir)
		if err != nil {
			return err
		}
		lib, err := compile(ctx, path, filepath.Join(f.dir, n.name+".so"), false)
		if err != nil {
			return err
		}
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
		fmt.Printf("%-22s compiled in %4.1f s, its %d stages %s (%.0f s)\n", n.name, lib.took.Seconds(), len(r.Stages), verdict, time.Since(start).Seconds())
	}
	return errors.Join(bad...)
}

// measure takes all figures.
func (f flags) measure(ctx context.Context, networks []network) (*Table, error) {
	tools, err := toolchain.Find()
	if err != nil {
		return nil, err
	}
	t := &Table{Cores: runtime.NumCPU(), System: measure.System(), LLVM: tools.Version(), Rounds: f.rounds}
	peer := findPeer(ctx)
	t.ONNX = peer.version
	unfinished := filepath.Join(f.dir, "unfinished.json")
	t.resume(unfinished)
	for i, n := range networks {
		if slices.ContainsFunc(t.Networks, func(r Row) bool { return r.Name == n.name }) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%d of %d: %s\n", i+1, len(networks), n.name)
		row, err := f.row(ctx, n, peer)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.name, err)
		}
		t.Networks = append(t.Networks, *row)
		if err := t.write(unfinished); err != nil {
			return nil, err
		}
	}
	var done []Row // of these networks, in their order
	for _, n := range networks {
		i := slices.IndexFunc(t.Networks, func(r Row) bool { return r.Name == n.name })
		done = append(done, t.Networks[i])
	}
	t.Networks = done
	return t, os.Remove(unfinished)
}

// resume takes over what a measurement that was stopped had found, if it was made on the same day, of the same code, by the same machine
// and tools.
func (t *Table) resume(unfinished string) {
	old, err := readTable(unfinished)
	if err != nil { // there is none, or it is damaged
		return
	}
	was := *old
	was.Networks = nil
	if now := provenance.Now(); reflect.DeepEqual(was, *t) && !slices.ContainsFunc(old.Networks, func(r Row) bool { return r.Mark.String() != now.String() }) {
		t.Networks = old.Networks
	}
}

// keep takes over the rows of a file for networks that t has not measured, in the file's order.
func (t *Table) keep(file string) {
	old, err := readTable(file)
	if err != nil { // a new one
		return
	}
	measured := t.Networks
	t.Networks = nil
	for _, r := range old.Networks {
		if i := slices.IndexFunc(measured, func(m Row) bool { return m.Name == r.Name }); i >= 0 {
			r = measured[i]
			measured = slices.Delete(slices.Clone(measured), i, i+1)
		}
		t.Networks = append(t.Networks, r)
	}
	t.Networks = append(t.Networks, measured...)
}

// row measures one network.
func (f flags) row(ctx context.Context, n network, p peer) (*Row, error) {
	model, err := n.model(f.dir)
	if err != nil {
		return nil, err
	}
	binary, err := compile(ctx, model, filepath.Join(f.dir, n.name+".so"), false)
	if err != nil {
		return nil, err
	}
	twin, err := compile(ctx, model, filepath.Join(f.dir, n.name+"_float.so"), true)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(twin.path) }() // up to half a gigabyte
	r := &Row{Mark: provenance.Now(), Name: n.name, MACs: binary.compiled.MACs, Binary: float64(binary.compiled.BinaryMACs) / float64(max(1, binary.compiled.MACs)), CompileS: binary.took.Seconds(),
		Library: binary.bytes, FloatLib: twin.bytes, Memory: binary.compiled.ArenaBytes, FloatMem: twin.compiled.ArenaBytes, Cycles: map[string]float64{}}
	for range f.rounds {
		for _, one := range []struct {
			so      string
			threads int
			ms      *float64
		}{{binary.path, 1, &r.OneMS}, {twin.path, 1, &r.FloatMS}, {binary.path, 2, &r.TwoMS}, {twin.path, 2, &r.FloatTwo}} {
			b, err := ripc.Bench(ctx, ripc.BenchRequest{Path: one.so, Threads: one.threads})
			if err != nil {
				return nil, err
			}
			least(one.ms, *b.MinMS)
		}
		if p.version != "" {
			ms, err := p.time(ctx, model)
			if err != nil {
				return nil, err
			}
			least(&r.ONNXMS, ms)
		}
	}
	layers, err := ripc.Bench(ctx, ripc.BenchRequest{Path: binary.path, Threads: 1, PerLayer: true})
	if err != nil {
		return nil, err
	}
	for _, k := range layers.Kinds {
		switch k.Kind {
		case "float":
			r.StemShare = k.Share
		case "bits", "glue":
			r.GlueShare += k.Share
		}
	}
	if n.labels != "" {
		e, err := ripc.Eval(ctx, ripc.EvalRequest{Run: ripc.RunRequest{Path: binary.path, Inputs: []string{n.pictures}, Threads: 1}, Labels: n.labels})
		if err != nil {
			return nil, err
		}
		r.Accuracy = float64(e.Right.Top1) / float64(e.Images)
	}
	for _, target := range boards() {
		b, err := ripc.Bench(ctx, ripc.BenchRequest{Path: model, Options: ripc.Options{Target: target}, Threads: 1})
		if err != nil {
			return nil, err
		}
		if b.EstimatedCycles != nil {
			r.Cycles[target] = float64(*b.EstimatedCycles)
		}
	}
	return r, nil
}

// least keeps the smaller of two times; 0 is none.
func least(ms *float64, v float64) {
	if *ms == 0 || v < *ms {
		*ms = v
	}
}

// write writes the table as JSON.
func (t *Table) write(path string) error {
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// script makes an ONNX model of the float network in whose place a model stands, and times it.
//
//go:embed onnx_twin.py
var script string

// peer is a Python with onnxruntime; version is "" where there is none.
type peer struct{ python, version string }

// findPeer looks where make bench-peers keeps it, and for python3.
func findPeer(ctx context.Context) peer {
	pythons := []string{"python3"}
	if dir, err := caches.Root(); err == nil {
		pythons = append([]string{filepath.Join(dir, "peers", "onnx", "bin", "python")}, pythons...)
	}
	for _, python := range pythons {
		out, err := exec.CommandContext(ctx, python, "-c", "import onnx, onnxruntime; print(onnxruntime.__version__)").Output()
		if err == nil {
			return peer{python, string(bytes.TrimSpace(out))}
		}
	}
	return peer{}
}

// time is the least time of a run with one thread, in milliseconds.
func (p peer) time(ctx context.Context, model string) (float64, error) {
	cmd := exec.CommandContext(ctx, p.python, "-c", script, model)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("onnxruntime: %w\n%s", err, errs.String())
	}
	return strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)
}
