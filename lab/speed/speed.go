// Package speed compares binary SqueezeNet with its float twin, layer by layer.
package speed

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

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
		Long: "The networks take turns; the least time of each layer counts. It fails if a convolution of 1 bit is " +
			"slower than its twin.",
		Flags: func(f *pflag.FlagSet) { f.IntVar(&threads, "threads", 1, "threads") },
		Cases: func(context.Context, *regexp.Regexp) (all []task.Case, err error) {
			for _, n := range networks() {
				all = append(all, task.Case{Key: figures.Key{Subject: whole, Variant: n, Threads: threads},
					Measure: func(ctx context.Context, _ figures.Mark) ([]figures.Figure, error) {
						return measure(ctx, n, threads)
					}})
			}
			return all, nil
		},
		Pages: func(root string, s *figures.Store) (map[string]string, error) {
			text, err := page(s, threads)
			return map[string]string{filepath.Join(root, "build/lab/speed.md"): text}, err
		},
	}
}

func measure(ctx context.Context, network string, threads int) ([]figures.Figure, error) {
	r, err := ripc.Bench(ctx, ripc.BenchRequest{Path: filepath.Join("examples", "squeezenet", network+".json"),
		Threads: threads, PerLayer: true})
	if err != nil {
		return nil, err
	}
	all := []figures.Figure{{Values: figures.Values(r.Figures)}}
	for _, l := range r.Layers {
		if l.MACs > 0 {
			all = append(all, figures.Figure{Key: figures.Key{Subject: l.Name, Variant: network, Threads: threads},
				Values: figures.Values(l.Figures)})
		}
	}
	return all, nil
}

// page returns a table of the layers in their order, and fails if one is slower than the twin's.
func page(s *figures.Store, threads int) (string, error) {
	twins := slices.DeleteFunc(s.Latest(), func(f *figures.Figure) bool {
		return f.Variant != networks()[0] || f.Threads != threads
	})
	text := figures.Sources(twins) + "\n\n" + task.Head("layer", "float: ms", "1 bit", "2 bits", "3 bits", "ratio",
		"ratio", "ratio")
	var slow []string
	for _, twin := range twins {
		ms, cells, ratios := twin.Values["min_ms"], []string{twin.Subject}, []string(nil)
		for i, n := range networks() {
			f := s.Find(figures.Key{Subject: twin.Subject, Variant: n, Threads: threads})
			if f == nil {
				return "", fmt.Errorf("%s has no layer %s", n, twin.Subject)
			}
			v := f.Values["min_ms"]
			cells, ratios = append(cells, fmt.Sprintf("%.4f", v)), append(ratios, fmt.Sprintf("%.1fx", ms/v))
			if i == 1 && v > ms {
				slow = append(slow, twin.Subject)
			}
		}
		text += task.Row(append(cells, ratios[1:]...)...)
	}
	if len(slow) > 0 {
		return text, fmt.Errorf("slower than the float twin at 1 bit: %v", slow)
	}
	return text, nil
}
