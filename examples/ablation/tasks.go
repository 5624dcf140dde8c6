package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"ripc"
	"ripc/examples/networks/zoo"
	"ripc/graph"
	"ripc/measure"
	"ripc/measure/provenance"
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

// eightBits is the variant of a convolution with 8-bit levels and weights.
const eightBits = "8 bits"

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
		for _, c := range append(resnetShapes(), sampled(sweep(), sample)...) {
			binary, integers := func() (string, error) { return c.write(dir, c.name(), c.binary()) }, func() (string, error) { return c.write(dir, c.name()+"_int8", c.integers()) }
			add(task{network: c.name(), variant: full.String(), on: full, path: binary})
			add(task{network: c.name(), variant: eightBits, on: full, path: integers})
			add(task{network: c.name(), variant: floatTwin, on: full, twin: true, path: binary})
		}
		for _, p := range published() {
			add(task{network: p.network, variant: full.String(), on: full, path: file(p.network)})
			add(task{network: p.float, variant: floatTwin, on: full, twin: true, path: file(p.float)})
		}
	}
	return all, nil
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func (t task) measure(ctx context.Context) (figure, error) {
	f := figure{Target: t.target, Network: t.network, Variant: t.variant, Mark: provenance.Now(), Threads: 1}
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
	if t.target == targets.HostName {
		if f.Load = measure.Load(); t.on[parallel] {
			f.Threads = runtime.NumCPU()
		}
	}
	res, err := ripc.Bench(ctx, ripc.BenchRequest{Path: path, Options: o, Threads: f.Threads, PerLayer: t.layers})
	if err != nil {
		return f, err
	}
	if res.Estimate != nil {
		f.Mark = f.Estimated(res.Estimate.Model)
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
