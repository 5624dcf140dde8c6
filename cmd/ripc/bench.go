package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ripc"
)

func benchCommand() *cobra.Command {
	var f compileFlags
	r := ripc.BenchRequest{}
	cmd := &cobra.Command{
		Use:   "bench MODEL|X.so [flags]",
		Short: "Measure a network, whole or layer by layer",
		Long: `Measure a network from the caller's inputs (filled from seed 0) to its outputs. On this
machine: after warming up, at least 20 runs and one second (of slow networks fewer runs);
the fastest and the middle run in milliseconds, and multiply-accumulates (MACs) per cycle
of all threads together. The clock is measured in the same run, by a chain of dependent
additions, one a cycle. Code for other machines is simulated, with one thread, and no time
is given: its instructions are counted, and the cycles of the board's core estimated by
LLVM's model of its pipeline (llvm-mca), which knows no caches (docs/estimates.md). With --layer one layer is built and measured by
itself, with its own weights and the schedule that it has in the network or that --schedule
gives: what a change of its schedule does shows without the rest of the network.`,
		Example: `  ripc bench squeezenet.json --per-layer
  ripc bench squeezenet_rpi3.so --json
  ripc bench squeezenet.json --layer fire8_squeeze --schedule my.schedule`,
		Args: args(1, 1, "one MODEL or X.so"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Path = args[0]
			var err error
			if err = checkThreads(r.Threads); err != nil {
				return err
			}
			if r.Options, err = f.options(r.Path); err != nil {
				return err
			}
			if r.Layer != "" && r.PerLayer {
				return usagef("--layer %s: it is measured by itself, leave --per-layer out", r.Layer)
			}
			r.PerLayer = r.PerLayer || f.json
			p := newProgress()
			r.Progress = p.step
			res, err := ripc.Bench(cmd.Context(), r)
			p.done()
			if res == nil || (err != nil && res.Runs == 0) {
				return err
			}
			if res.Reason != "" {
				fmt.Fprintf(os.Stderr, "ripc: no instructions counted: %s\n", res.Reason)
			}
			if res.NoEstimate != "" {
				fmt.Fprintf(os.Stderr, "ripc: no cycles estimated: %s\n", res.NoEstimate)
			}
			if f.json {
				if jerr := printJSON(cmd.OutOrStdout(), res); jerr != nil {
					return jerr
				}
			} else if perr := printBench(cmd.OutOrStdout(), res); perr != nil {
				return perr
			}
			return err // an interruption: what there is was printed
		},
	}
	cmd.Flags().SortFlags = false
	threadsFlag(cmd, &r.Threads)
	cmd.Flags().BoolVar(&r.PerLayer, "per-layer", false, "measure each layer too (--json always does)")
	cmd.Flags().StringVar(&r.Layer, "layer", "", "measure this layer alone, built by itself")
	f.register(cmd)
	return cmd
}

func printBench(w io.Writer, r *ripc.BenchResult) error {
	what := r.Model
	if r.Layer != "" {
		what = "layer " + r.Layer + " of " + r.Model + ", by itself,"
	}
	if r.Simulated {
		fmt.Fprintf(w, "%s for %s, simulated, 1 thread\n", what, r.Target)
		if e := r.Estimate; e != nil {
			like := ""
			if e.Model != e.Core {
				like = ", taken for " + e.Core
			}
			fmt.Fprintf(w, "cycles are estimated by LLVM's model of %s%s, without caches\n", e.Model, like)
			if e.Unknown > 0 && r.Instructions != nil {
				fmt.Fprintf(w, "%.1f %% of the instructions are not in the model, and count a cycle each\n", 100*float64(e.Unknown)/float64(*r.Instructions))
			}
		}
		fmt.Fprintln(w)
	} else {
		fmt.Fprintf(w, "%s for %s, threads: %d, %s", what, r.Target, r.Threads, count(r.Runs, "run"))
		if r.ClockGHz != nil {
			fmt.Fprintf(w, ", clock %.2f GHz", *r.ClockGHz)
		}
		fmt.Fprint(w, "\n\n")
	}
	const whole = "whole network"
	first := column{"LAYER", -len(whole)}
	for _, l := range r.Layers {
		first.width = min(first.width, -len(l.Name))
	}
	columns := []column{first, {"MIN MS", 12}, {"MEDIAN MS", 10}, {"MACS", 9}, {"MACS/CYCLE", 10}, {"KERNEL", 0}}
	switch {
	case r.Estimate != nil:
		columns = []column{first, {"INSTRUCTIONS", 12}, {"EST. CYCLES", 12}, {"MACS", 9}, {"MACS/EST. CYCLE", 15}, {"KERNEL", 0}}
	case r.Simulated: // neither times nor cycles
		columns = []column{first, {"INSTRUCTIONS", 12}, {"MACS", 9}, {"KERNEL", 0}}
	}
	var titles []string
	for _, c := range columns {
		titles = append(titles, c.title)
	}
	lines := [][]string{titles}
	line := func(name string, f ripc.Figures, macs int64, kernel string) {
		cells := []string{name, number(f.MinMS, 4), number(f.MedianMS, 4), thousands(macs), number(f.MACsPerCycle, 1), kernel}
		if r.Simulated {
			instructions := "-"
			if f.Instructions != nil {
				instructions = fmt.Sprint(*f.Instructions)
			}
			cells = []string{name, instructions, thousands(macs), kernel}
			if r.Estimate != nil {
				cells = []string{name, instructions, number(f.EstimatedCycles, 0), thousands(macs), number(f.MACsPerEstimatedCycle, 1), kernel}
			}
		}
		lines = append(lines, cells)
	}
	for _, l := range r.Layers {
		line(l.Name, l.Figures, l.MACs, l.Kernel)
	}
	if r.Layer == "" {
		line(whole, r.Figures, r.MACs, "")
	}
	for _, cells := range lines {
		text := ""
		for i, c := range columns {
			text += fmt.Sprintf("%*s  ", c.width, cells[i])
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(text, " ")); err != nil {
			return err
		}
	}
	return nil
}

// column is a title, and the width of what stands below it: negative if it begins at the left.
type column struct {
	title string
	width int
}

// number is *v with some decimals, "-" for nil.
func number(v *float64, decimals int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", decimals, *v)
}
