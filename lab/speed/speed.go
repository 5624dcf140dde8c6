// Package speed compares binary SqueezeNet with its float twin, layer by layer.
package speed

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"ripc"
	"ripc/lab/figures"
	"ripc/lab/task"
)

// whole is the subject of whole networks. Other subjects are layers.
const whole = "whole network"

// networks are the variants: the float twin, then 1 to 3 bits.
func networks() []string {
	return []string{"squeezenet_float", "squeezenet", "squeezenet_a2", "squeezenet_a3"}
}

// Task returns the task.
func Task() *task.Task {
	threads := 1
	return &task.Task{
		Name: "speed", Dir: "build/lab", Rounds: 3, Short: "binary SqueezeNet beside its float twin, layer by layer",
		Long:  "The networks take turns; the least time of each layer counts. It fails if a convolution of 1 bit is slower than its twin.",
		Flags: func(f *pflag.FlagSet) { f.IntVar(&threads, "threads", 1, "threads") },
		Cases: func(context.Context, *regexp.Regexp) (all []task.Case, err error) {
			for _, n := range networks() {
				all = append(all, task.Case{Key: figures.Key{Subject: whole, Variant: n, Threads: threads}, Measure: func(ctx context.Context, _ figures.Mark) ([]figures.Figure, error) {
					return measure(ctx, n, threads)
				}})
			}
			return all, nil
		},
		Print: func(w io.Writer, s *figures.Store) error { return table(w, s, threads) },
	}
}

func measure(ctx context.Context, network string, threads int) ([]figures.Figure, error) {
	r, err := ripc.Bench(ctx, ripc.BenchRequest{Path: filepath.Join("examples", "squeezenet", network+".json"), Threads: threads, PerLayer: true})
	if err != nil {
		return nil, err
	}
	all := []figures.Figure{{Values: map[string]float64{"min_ms": *r.MinMS}}}
	for _, l := range r.Layers {
		if l.MACs > 0 {
			all = append(all, figures.Figure{Key: figures.Key{Subject: l.Name, Variant: network, Threads: threads}, Values: map[string]float64{"min_ms": *l.MinMS}})
		}
	}
	return all, nil
}

// table prints the layers in their order, and fails if one is slower than the twin's.
func table(out io.Writer, s *figures.Store, threads int) error {
	var layers []string
	var twins []*figures.Figure
	for _, f := range s.Latest() {
		if f.Variant == networks()[0] && f.Threads == threads {
			layers, twins = append(layers, f.Subject), append(twins, f)
		}
	}
	if len(layers) == 0 {
		return nil
	}
	fmt.Fprintf(out, "%s\n\n", figures.Sources(twins))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "layer\tfloat ms\t1 bit ms\t2 bits ms\t3 bits ms\tratio\tratio\tratio\t")
	var slow []string
	for _, l := range append(layers[1:], layers[0]) { // the whole network comes last
		var ms []float64
		for _, n := range networks() {
			f := s.Find(figures.Key{Subject: l, Variant: n, Threads: threads})
			if f == nil {
				return fmt.Errorf("%s has no layer %s", n, l)
			}
			ms = append(ms, f.Values["min_ms"])
		}
		fmt.Fprintf(w, "%s\t", l)
		for _, v := range ms {
			fmt.Fprintf(w, "%.4f\t", v)
		}
		for _, v := range ms[1:] {
			fmt.Fprintf(w, "%.1fx\t", ms[0]/v)
		}
		fmt.Fprintln(w)
		if ms[1] > ms[0] {
			slow = append(slow, l)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(slow) > 0 {
		return fmt.Errorf("slower than the float twin at 1 bit: %v", slow)
	}
	return nil
}
