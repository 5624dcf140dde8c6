// Package ablation measures the worth of each of ripc's optimizations: on SqueezeNet with 1-bit
// activations, added one after the other and left out one by one, as Riptide's Figures 8 and 5 do;
// glue's share of the time of whole networks; binary convolutions beside those of 8 bits and of
// floats, as Larq Compute Engine's Figures 2 and 3 and its Tables 1 and 2 do; and the networks of
// Riptide's Table 1.
package ablation

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"

	"github.com/spf13/pflag"

	"ripc"
	"ripc/examples/networks/zoo"
	"ripc/graph"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/measure"
	"ripc/targets"
)

// dir is the folder of models.
const dir = "build/ablation"

// Task returns the task. On this machine it measures time, on simulated boards cycles that are
// estimated (docs/estimates.md).
func Task() *task.Task {
	var names []string
	var sample int
	return &task.Task{
		Name: "ablation", Short: "the worth of each optimization: docs/ablation.md",
		Flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&names, "targets", []string{targets.HostName, "rpi3", "rpi4"}, "targets to measure")
			f.IntVar(&sample, "sample", 0, "measure only this number of the convolutions; 0 for all")
		},
		Cases: func(context.Context, *regexp.Regexp) (all []task.Case, err error) {
			for _, c := range variants(names, sample) {
				all = append(all, task.Case{Key: c.Key, Measure: c.measure})
			}
			return all, os.MkdirAll(dir, 0o777)
		},
		Pages: pages,
	}
}

// variant is a network to measure, with some optimizations.
type variant struct {
	figures.Key
	on           set
	twin, layers bool
	path         func() (string, error) // of the model, which it may make
}

// floatTwin is the variant of the network in floats.
const floatTwin = "float twin"

// eightBits is the variant of a convolution with 8-bit levels and weights.
const eightBits = "8 bits"

// ladderNetwork is the network that optimizations are added to and left out of.
const ladderNetwork = "squeezenet"

// gluedNetworks are the networks in the table of glue's shares.
func gluedNetworks() []string { return []string{"squeezenet", "alexnet_a1", "resnet18_a1", "quicknet"} }

// variants lists the variants to measure.
func variants(names []string, sample int) (all []variant) {
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
	for _, target := range names {
		full := setOf(features(target)...)
		add := func(network, name string, v variant) {
			v.Key = figures.Key{Subject: network, Variant: name, Target: target}
			if !slices.ContainsFunc(all, func(o variant) bool { return o.Key == v.Key }) {
				all = append(all, v)
			}
		}
		for _, s := range append(ladder(target), leaveOneOut(target)...) {
			whole := len(s.on) == len(features(target))
			add(ladderNetwork, s.on.String(), variant{on: s.on, layers: whole || !s.on[glue],
				path: file(ladderNetwork)})
		}
		for _, n := range gluedNetworks() {
			add(n, full.String(), variant{on: full, layers: true, path: file(n)})
			add(n, floatTwin, variant{on: full, twin: true, path: file(n)})
		}
		for _, c := range append(resnetShapes(), sampleShapes(sweep(), sample)...) {
			binary := func() (string, error) { return c.write(dir, c.name(), c.binary()) }
			integers := func() (string, error) { return c.write(dir, c.name()+"_int8", c.integers()) }
			add(c.name(), full.String(), variant{on: full, path: binary})
			add(c.name(), eightBits, variant{on: full, path: integers})
			add(c.name(), floatTwin, variant{on: full, twin: true, path: binary})
		}
		for _, p := range published() {
			add(p.network, full.String(), variant{on: full, path: file(p.network)})
			add(p.float, floatTwin, variant{on: full, twin: true, path: file(p.float)})
		}
	}
	return all
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func (v variant) measure(ctx context.Context, m figures.Mark) (_ []figures.Figure, err error) {
	defer stop.Catch(&err)
	path := stop.Must(v.path())
	o := ripc.Options{Target: v.Target, FloatTwin: v.twin}
	if !v.twin {
		o = stop.Must(v.on.options(ctx, path, v.Target))
	}
	f := figures.Figure{Mark: m, Values: map[string]float64{}}
	threads := 1
	if v.Target == targets.HostName {
		if f.Values["load"] = measure.Load(); v.on[parallel] {
			threads = runtime.NumCPU()
		}
	}
	res := stop.Must(ripc.Bench(ctx, ripc.BenchRequest{Path: path, Options: o, Threads: threads, PerLayer: v.layers}))
	if res.Estimate != nil {
		f.Mark = m.Estimated(res.Estimate.Model)
	}
	cost, unit := res.Cost()
	f.Unit = string(unit)
	f.Values["cost"], f.Values["macs"], f.Values["threads"] = cost, float64(res.MACs), float64(threads)
	if v.layers {
		for _, k := range res.Kinds {
			if k.Kind != graph.Binary.String() && k.Kind != graph.Float.String() {
				f.Values["glue_share"] += k.Share
			}
		}
	}
	return []figures.Figure{f}, nil
}
