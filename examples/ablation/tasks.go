package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"ripc"
	"ripc/examples/networks/zoo"
	"ripc/graph"
	"ripc/targets"
)

// task is a network to measure.
type task struct {
	target, network, variant string
	on                       set
	twin, layers             bool
	path                     func() (string, error) // of the model, which it may make
}

// floatTwin is the variant of the network in floats.
const floatTwin = "float twin"

// ladderNetwork is what the optimizations are added to and left out of.
const ladderNetwork = "squeezenet"

// gluedNetworks are those whose glue is looked at.
func gluedNetworks() []string { return []string{"squeezenet", "alexnet_a1", "resnet18_a1", "quicknet"} }

func allTasks(names []string, dir string, sample int) ([]task, error) {
	file := func(name string) func() (string, error) {
		return func() (string, error) {
			if path := filepath.Join("examples", "squeezenet", name+".json"); exists(path) {
				return path, nil
			}
			if path := filepath.Join(dir, name+".json"); exists(path) {
				return path, nil
			}
			n, err := zoo.Find(name)
			if err != nil {
				return "", err
			}
			return n.Write(dir)
		}
	}
	var all []task
	for _, target := range names {
		full := setOf(features(target)...)
		add := func(t task) {
			t.target = target
			if !slices.ContainsFunc(all, func(o task) bool {
				return o.target == t.target && o.network == t.network && o.variant == t.variant
			}) {
				all = append(all, t)
			}
		}
		for _, s := range append(ladder(target), leaveOneOut(target)...) {
			all := len(s.on) == len(features(target))
			add(task{network: ladderNetwork, variant: s.on.String(), on: s.on, layers: all || !s.on[glue], path: file(ladderNetwork)})
		}
		for _, n := range gluedNetworks() {
			add(task{network: n, variant: full.String(), on: full, layers: true, path: file(n)})
			add(task{network: n, variant: floatTwin, on: full, twin: true, path: file(n)})
		}
		for i, c := range sweep() {
			if sample > 0 && i%max(1, len(sweep())/sample) != 0 {
				continue
			}
			for _, twin := range []bool{false, true} {
				t := task{network: c.name(), variant: full.String(), on: full, twin: twin, path: func() (string, error) { return c.write(dir) }}
				if twin {
					t.variant = floatTwin
				}
				add(t)
			}
		}
	}
	return all, nil
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func (t task) measure(ctx context.Context) (figure, error) {
	f := figure{Target: t.target, Network: t.network, Variant: t.variant}
	path, err := t.path()
	if err != nil {
		return f, err
	}
	o := ripc.Options{Target: t.target, FloatTwin: t.twin}
	if !t.twin {
		if o, err = t.on.options(ctx, path, t.target); err != nil {
			return f, err
		}
	}
	threads := 1
	if t.target == targets.HostName && t.on[parallel] {
		threads = runtime.NumCPU()
	}
	res, err := ripc.Bench(ctx, ripc.BenchRequest{Path: path, Options: o, Threads: threads, PerLayer: t.layers})
	if err != nil {
		return f, err
	}
	cost, unit := res.Cost()
	f.Cost, f.Unit, f.MACs = cost, string(unit), res.MACs
	if t.layers {
		share := 0.0
		for _, k := range res.Kinds {
			if k.Kind != graph.Binary.String() && k.Kind != graph.Float.String() {
				share += k.Share
			}
		}
		f.Glue = &share
	}
	return f, nil
}

// shape is a convolution that keeps its input's shape.
type shape struct{ channels, size, kernel int }

// sweep are the convolutions of Larq Compute Engine's Figure 3.
func sweep() (all []shape) {
	for _, c := range []int{32, 64, 96, 128, 160, 256} {
		for _, s := range []int{8, 16, 32, 64} {
			for _, k := range []int{3, 5} {
				all = append(all, shape{c, s, k})
			}
		}
	}
	return all
}

func (s shape) name() string {
	return fmt.Sprintf("conv%dx%d_%dx%dx%d", s.kernel, s.kernel, s.size, s.size, s.channels)
}

// write writes a network of the convolution alone, with packed bits in and out, into a folder.
func (s shape) write(dir string) (string, error) {
	type attrs = map[string]any
	m := attrs{"format": "ripc.model/1", "name": s.name(), "weights": attrs{"init": "random", "seed": 1},
		"inputs":  []attrs{{"name": "x", "dtype": "u32", "packed": true, "encoding": "bipolar", "bits": 1, "shape": []int{1, s.size, s.size, s.channels}, "layout": "NHWC"}},
		"outputs": []string{"y"},
		"nodes": []attrs{
			{"name": "conv", "op": "bitserial_conv2d", "inputs": []string{"x"}, "attrs": attrs{"filters": s.channels, "kernel": []int{s.kernel, s.kernel}, "padding": "same"}},
			{"name": "act", "op": "quantize", "inputs": []string{"conv"}, "attrs": attrs{"bits": 1, "encoding": "bipolar"}},
			{"name": "y", "op": "bitpack", "inputs": []string{"act"}},
		}}
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, s.name()+".json")
	return path, os.WriteFile(path, data, 0o644)
}
