// Package web measures networks in Node beside native code of the same features, and beside
// onnxruntime-web.
package web

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"ripc"
	"ripc/codegen"
	packages "ripc/codegen/web"
	"ripc/internal/stop"
	"ripc/internal/tools"
	"ripc/lab/figures"
	"ripc/lab/networks"
	"ripc/lab/task"
	"ripc/measure"
)

// dir is the folder of packages, models and onnxruntime-web. page has the table.
const (
	dir  = "build/web"
	page = "docs/web.md"
	peer = "onnxruntime-web@1.30.0"
	// module is the one of the package that is measured.
	module = "wasm32-relaxed"
	// native has the same width of vectors, and no fused multiply-adds either.
	native = "x86-64"
)

// runFile measures in Node.
//
//go:embed run.mjs
var runFile string

// script is runFile with the flags of other scripts for Node.
func script() []byte { return []byte(strings.Replace(runFile, "FLAGS", packages.Flags, 1)) }

// subjects returns the models by the names of their rows.
func subjects() [][2]string {
	const folder = "examples/squeezenet/"
	return [][2]string{{"squeezenet, 1 bit", folder + "squeezenet.json"},
		{"squeezenet, 2 bits", folder + "squeezenet_a2.json"}, {"squeezenet, floats", folder + "squeezenet_float.json"}}
}

// runner holds the installed programs.
type runner struct {
	hasPeer      bool
	node, python string
}

// Task returns the task.
func Task() *task.Task {
	r := &runner{}
	return &task.Task{
		Name: "web", Short: "networks in Node beside native code and onnxruntime-web: " + page,
		Rounds: 3, Versions: r.prepare,
		Cases: func(context.Context, *regexp.Regexp) (all []task.Case, err error) {
			for _, s := range subjects() {
				all = append(all, task.Case{Key: figures.Key{Subject: s[0], Target: module},
					Measure: func(ctx context.Context, _ figures.Mark) ([]figures.Figure, error) {
						return r.measure(ctx, s[1])
					}})
			}
			return all, nil
		},
		Pages: func(root string, s *figures.Store) (map[string]string, error) {
			text, err := task.Fill(root, page, map[string]string{"web": table(s)})
			return map[string]string{filepath.Join(root, page): text}, err
		},
	}
}

// prepare installs onnxruntime-web if npm can, and returns versions.
func (r *runner) prepare(ctx context.Context) (_ []string, err error) {
	defer stop.Catch(&err)
	r.node = stop.Must(tools.FindNode("for packages"))
	version := stop.Must(output(ctx, r.node, "--version"))
	versions := []string{"Node " + strings.TrimSpace(version)}
	stop.Check(os.MkdirAll(dir, 0o755))
	if r.python, _ = networks.FindPeer(ctx); r.python != "" {
		if _, err := output(ctx, "npm", "install", "--no-save", "--ignore-scripts", "--prefix", dir, peer); err == nil {
			r.hasPeer, versions = true, append(versions, peer)
		}
	}
	return versions, nil
}

// output runs a program and returns its standard output.
func output(ctx context.Context, name string, args ...string) (string, error) {
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", name, err, errs.String())
	}
	return string(out), err
}

// times is the line that the script prints, in milliseconds.
type times struct {
	Target  string
	Network float64
	Kinds   map[string]float64
	Peer    float64
}

// readTimes reads the line. It fails if another module has run.
func readTimes(line string) (t times, err error) {
	if err = json.Unmarshal([]byte(line), &t); err == nil && t.Target != module {
		err = fmt.Errorf("node has run the module %s, not %s", t.Target, module)
	}
	return t, err
}

// measure measures a model in one run of Node, which takes turns with onnxruntime-web, and native
// code before and after.
func (r *runner) measure(ctx context.Context, model string) (_ []figures.Figure, err error) {
	defer stop.Catch(&err)
	c := stop.Must(ripc.Compile(ctx, model, ripc.Options{Target: "wasm32", Emit: []codegen.Kind{codegen.NPM}}))
	own := filepath.Join(dir, strings.TrimSuffix(filepath.Base(model), ".json"))
	stop.Check(unpack(c.Files[codegen.NPM], own))
	run := filepath.Join(dir, "run.mjs")
	stop.Check(os.WriteFile(run, script(), 0o644))
	args := []string{run, "20", filepath.Join(own, "package")}
	if r.hasPeer {
		onnx := filepath.Join(dir, "float.onnx")
		stop.Check(networks.WriteTwin(ctx, r.python, model, onnx))
		args = append(args, onnx)
	}
	v := map[string]float64{"max_load": measure.Load()}
	for range 2 {
		b := stop.Must(ripc.Bench(ctx, ripc.BenchRequest{Path: model, Options: ripc.Options{Target: native}, Threads: 1,
			PerLayer: true}))
		least(v, "min_native_ms", *b.MinMS)
		binary := 0.0
		for _, l := range b.Layers {
			if l.Kind == "binary" {
				binary += *l.MinMS
			}
		}
		least(v, "min_native_binary_ms", binary)
		if v["min_node_ms"] > 0 {
			break
		}
		t := stop.Must(readTimes(stop.Must(output(ctx, r.node, args...))))
		v["min_node_ms"] = t.Network
		v["min_node_binary_ms"], v["min_node_float_ms"] = t.Kinds["binary"], t.Kinds["float"]
		if r.hasPeer {
			v["min_onnxruntime_ms"] = t.Peer
		}
		size := stop.Must(os.Stat(filepath.Join(own, "package", module+".wasm")))
		v["module_bytes"] = float64(size.Size())
	}
	return []figures.Figure{{Values: v}}, nil
}

// least keeps the least value of a name.
func least(v map[string]float64, name string, ms float64) {
	if old, ok := v[name]; !ok || ms < old {
		v[name] = ms
	}
}

// unpack writes the files of a package below a folder.
func unpack(pack []byte, to string) (err error) {
	defer stop.Catch(&err)
	zip := stop.Must(gzip.NewReader(bytes.NewReader(pack)))
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data := stop.Must(io.ReadAll(in))
		path := filepath.Join(to, filepath.FromSlash(h.Name))
		stop.Check(errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)))
	}
}

// table returns the rows of the page.
func table(s *figures.Store) string {
	var all []*figures.Figure
	rows := task.Head("network", "Node, ms", "native, ms", "binary layers, times native's",
		"floats, share of Node's time", "onnxruntime-web in floats, ms", "times its speed", "module "+module)
	load := 0.0
	for _, subject := range subjects() {
		f := s.Find(figures.Key{Subject: subject[0], Target: module})
		if f == nil {
			continue
		}
		all, load = append(all, f), max(load, f.Values["max_load"])
		v := f.Values
		ratio := func(a, b, format string) string {
			if v[b] == 0 {
				return "-"
			}
			return task.Format(v[a]/v[b], format)
		}
		rows += task.Row(f.Subject, task.Format(v["min_node_ms"], "%.2f"), task.Format(v["min_native_ms"], "%.2f"),
			ratio("min_node_binary_ms", "min_native_binary_ms", "%.2f"),
			ratio("min_node_float_ms", "min_node_ms", "%.2f"),
			task.Format(v["min_onnxruntime_ms"], "%.1f"), ratio("min_onnxruntime_ms", "min_node_ms", "%.1fx"),
			fmt.Sprintf("%.0f KiB", v["module_bytes"]/1024))
	}
	return fmt.Sprintf("%s\n\n%s; native code is of target %s, on one thread.\n\n%s%s", figures.Sources(all),
		figures.Tools(all), native, task.Busy(load), rows)
}
