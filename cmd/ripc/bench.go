package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/internal/files"
	"ripc/internal/human"
	"ripc/measure"
)

func benchCommand() *cobra.Command {
	var f compileFlags
	var sortBy, before string
	var wide bool
	tolerance := 0.05
	r := ripc.BenchRequest{}
	cmd := &cobra.Command{
		Use:   "bench MODEL|X.so [flags]",
		Short: "Measure a network, whole or layer by layer",
		Long: `Measure a network from the caller's inputs (filled from seed 0) to its outputs. On this
machine: after warming up, at least 20 runs and one second (of slow networks fewer runs); the
fastest and the middle run in milliseconds, and multiply-accumulates (MACs) per cycle of all
threads together. The clock is measured in the same run, by a chain of dependent additions, one
a cycle. Code for other machines is simulated, with one thread, and no time is given: its
instructions are counted, and the cycles of the board's core estimated by LLVM's model of its
pipeline (llvm-mca), which knows no caches, or, of a microcontroller, by the table of timings
in its manual (docs/estimates.md). With --on it runs on a board, and is timed there as here.
With --layer one layer is built and measured by itself, with its own weights and the schedule
that it has in the network or that --schedule gives: the effect of another schedule shows
without the rest of the network.`,
		Example: `  ripc bench squeezenet.json --per-layer
  ripc bench squeezenet_rpi3.so --json
  ripc bench squeezenet.json --target rpi4 --on ssh:pi@board --per-layer
  ripc bench squeezenet.json --per-layer --sort cost
  ripc bench squeezenet.json --json > before.json     # and later:
  ripc bench squeezenet.json --compare before.json
  ripc bench squeezenet.json --layer fire8_squeeze --schedule my.schedule`,
		Args: argCount(1, 1, "one MODEL or X.so"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Path = args[0]
			var err error
			if r.Options, err = f.options(r.Path); err != nil {
				return err
			}
			if ripc.IsFPGA(f.target) {
				if r.Layer != "" || before != "" || r.On != "" {
					return usagef("--layer, --compare and --on are not for accelerators")
				}
				return f.benchAccelerator(cmd, r.Path, r.Options, wide)
			}
			if r.Layer != "" && r.PerLayer {
				return usagef("--layer %s: it is measured by itself, leave --per-layer out", r.Layer)
			}
			if !slices.Contains(benchOrders(), sortBy) {
				return usagef("--sort %s: it can be %s", sortBy, strings.Join(benchOrders(), ", "))
			}
			if !(tolerance >= 0) {
				return usagef("--tolerance %v: give a share, 0 or more", tolerance)
			}
			var old *ripc.BenchResult
			if before != "" {
				if old, err = readBench(before); err != nil {
					return err
				}
				r.PerLayer = r.PerLayer || len(old.Layers) > 0 && r.Layer == ""
			}
			r.PerLayer = r.PerLayer || f.json || cmd.Flags().Changed("sort") && r.Layer == ""
			p := newProgress()
			r.Progress = p.step
			res, err := ripc.Bench(cmd.Context(), r)
			p.done()
			if res == nil || (err != nil && res.Runs == 0) {
				return err
			}
			if res.Reason != "" {
				fmt.Fprintf(stderr(), "ripc: no instructions counted: %s\n", res.Reason)
			}
			if res.NoEstimate != "" {
				fmt.Fprintf(stderr(), "ripc: no cycles estimated: %s\n", res.NoEstimate)
			}
			var c *ripc.BenchComparison
			if err == nil && old != nil { // no interruption
				if c, err = ripc.CompareBench(old, res, tolerance); err != nil {
					err = fmt.Errorf("--compare %s: %w", before, err)
				}
			}
			// Figures are printed even after an error.
			perr := f.printBench(cmd.OutOrStdout(), benchOutput{res, c}, sortBy, before, wide)
			if err := cmp.Or(perr, err); err != nil {
				return err
			}
			if c != nil && c.Slower {
				return errFailed
			}
			return nil
		},
	}
	f.threadsFlag(cmd, &r.Threads)
	onFlag(cmd, &r.On)
	cmd.Flags().BoolVar(&r.PerLayer, "per-layer", false, "measure each layer too (--json always does)")
	cmd.Flags().StringVar(&r.Layer, "layer", "", "measure this layer alone, built by itself")
	sortFlag(cmd, &sortBy, benchOrders)
	wideFlag(cmd, &wide)
	cmd.Flags().StringVar(&before, "compare", "",
		"`OLD.json` that bench --json wrote: show which layers cost more or less than then, and exit with 1 if the "+
			"network does by more than --tolerance")
	cmd.Flags().Float64Var(&tolerance, "tolerance", tolerance, "as a share of the cost before")
	f.foldFlags(cmd)
	f.register(cmd)
	return cmd
}

// benchOutput is the result for --json.
type benchOutput struct {
	*ripc.BenchResult
	Comparison *ripc.BenchComparison `json:"comparison,omitempty"`
}

// printBench prints figures and, if there is one, their comparison with those of the file before.
func (f *compileFlags) printBench(w io.Writer, o benchOutput, sortBy, before string, wide bool) error {
	if f.json {
		return printJSON(w, o)
	}
	printBench(w, o.BenchResult, sortBy, widthOf(w, wide))
	if o.Comparison != nil {
		printComparison(w, o.Comparison, before, widthOf(w, wide))
	}
	return nil
}

// Orders of layers.
const (
	sortStage = "stage" // as they run
	sortCost  = "cost"
	sortMACs  = "macs"
	sortName  = "name"
	// sortWeights is by the bytes of weights and tables.
	sortWeights = "weights"
)

func benchOrders() []string { return []string{sortStage, sortCost, sortMACs, sortName} }

// sortFlag adds --sort, by one of some orders.
func sortFlag(cmd *cobra.Command, by *string, orders func() []string) {
	cmd.Flags().StringVar(by, "sort", sortStage, "order of the layers: "+strings.Join(orders(), ", "))
}

// readBench reads a result of bench --json.
func readBench(path string) (*ripc.BenchResult, error) {
	data, err := files.ReadText(path)
	if err != nil {
		return nil, &usageError{msg: "--compare " + path, err: files.Cause(err)}
	}
	r := &ripc.BenchResult{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, &usageError{msg: "--compare " + path + ": is no output of bench --json", err: err}
	}
	if r.Model == "" || r.Target == "" {
		return nil, usagef("--compare %s: is no output of bench --json: it names no model and target that were "+
			"measured", path)
	}
	return r, nil
}

func printBench(w io.Writer, r *ripc.BenchResult, sortBy string, width int) {
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
			ms := ""
			if e.ClockMHz > 0 {
				ms = fmt.Sprintf("; ms are these at %d MHz", e.ClockMHz)
			}
			source, without := "LLVM's model of "+e.Model+like, "caches"
			if e.Manual != "" {
				source, without = "the table of "+e.Manual, "wait states"
			}
			fmt.Fprintf(w, "cycles are estimated by %s, without %s%s\n", source, without, ms)
			if e.Unknown > 0 && r.Instructions != nil {
				fmt.Fprintf(w, "%.1f %% of the instructions are not in it, and count a cycle each\n",
					100*float64(e.Unknown)/float64(*r.Instructions))
			}
		}
		fmt.Fprintln(w)
	} else {
		fmt.Fprintf(w, "%s for %s", what, r.Target)
		if r.On != "" {
			fmt.Fprintf(w, " on %s", r.On)
		}
		if r.VirtualMachine != "" {
			fmt.Fprintf(w, " in %s", r.VirtualMachine)
		}
		fmt.Fprintf(w, ", threads: %d, %s", r.Threads, human.Count(r.Runs, "run"))
		if r.ClockGHz != nil {
			fmt.Fprintf(w, ", clock %.2f GHz", *r.ClockGHz)
		}
		fmt.Fprint(w, "\n\n")
	}
	benchTable(r, sortBy).write(w, width)
	if r.Footprint != nil {
		fmt.Fprintf(w, "\n%s\n", wrap(r.Footprint.String(), width, 0))
	}
	printKinds(w, r, width)
}

// whole is the row of the network.
const whole = "whole network"

// benchTable has a row for each layer, and one for the network.
func benchTable(r *ripc.BenchResult, sortBy string) *table {
	t := &table{columns: []column{textCol("LAYER", 0).cutAs(cutMiddle, 0), numCol("MIN MS", 0),
		numCol("MEDIAN MS", 4), numCol("P90 MS", 3), numCol("SHARE", 0), numCol("SUM", 5), numCol("MACS", 6),
		numCol("MACS/CYCLE", 0), textCol("KERNEL", 1)}}
	switch {
	case r.Estimate != nil:
		t.columns = []column{textCol("LAYER", 0).cutAs(cutMiddle, 0), numCol("INSTRUCTIONS", 4),
			numCol("EST. CYCLES", 0), numCol("EST. MS", 2), numCol("SHARE", 0), numCol("SUM", 5), numCol("MACS", 6),
			numCol("MACS/INSTR.", 3), numCol("MACS/EST. CYCLE", 0), textCol("KERNEL", 1)}
	case r.Simulated: // neither times nor cycles
		t.columns = []column{textCol("LAYER", 0).cutAs(cutMiddle, 0), numCol("INSTRUCTIONS", 0), numCol("SHARE", 0),
			numCol("SUM", 5), numCol("MACS", 6), numCol("MACS/INSTR.", 0), textCol("KERNEL", 1)}
	}
	row := func(name string, f ripc.Figures, share, sum string, macs int64, kernel string) {
		instructions := "-"
		if f.Instructions != nil {
			instructions = fmt.Sprint(*f.Instructions)
		}
		switch {
		case !r.Simulated:
			t.add(name, number(f.MinMS, 4), number(f.MedianMS, 4), number(f.P90MS, 4), share, sum, countText(macs),
				perUnit(f.MACsPerCycle), kernel)
		case r.Estimate != nil:
			t.add(name, instructions, number(f.EstimatedCycles, 0), number(f.EstimatedMS, 4),
				share, sum, countText(macs), perUnit(f.MACsPerInstruction), perUnit(f.MACsPerEstimatedCycle), kernel)
		default:
			t.add(name, instructions, share, sum, countText(macs), perUnit(f.MACsPerInstruction), kernel)
		}
	}
	layers := slices.Clone(r.Layers)
	slices.SortStableFunc(layers, func(a, b ripc.LayerBench) int {
		switch sortBy {
		case sortCost:
			x, _ := a.Cost()
			y, _ := b.Cost()
			return cmp.Compare(y, x)
		case sortMACs:
			return cmp.Compare(b.MACs, a.MACs)
		case sortName:
			return cmp.Compare(a.Name, b.Name)
		}
		return 0
	})
	sum := 0.0
	for _, l := range layers {
		share, total := "", ""
		if l.Share != nil {
			sum += *l.Share
			share, total = percent(*l.Share), percent(sum)
		}
		row(l.Name, l.Figures, share, total, l.MACs, l.Kernel)
	}
	if r.Layer == "" {
		row(whole, r.Figures, "", "", r.MACs, "")
	}
	return t
}

// printKinds prints the costs of the layers of each kind.
func printKinds(w io.Writer, r *ripc.BenchResult, width int) {
	if len(r.Kinds) < 2 {
		return
	}
	var parts []string
	for _, k := range r.Kinds {
		parts = append(parts, fmt.Sprintf("%s %s (%s)", cmp.Or(k.Kind, "unknown"), percent(k.Share),
			human.Count(k.Layers, "stage")))
	}
	fmt.Fprintf(w, "\n%s\n", wrap("by kind: "+strings.Join(parts, ", "), width, 0))
}

// printComparison prints the changes of costs.
func printComparison(w io.Writer, c *ripc.BenchComparison, file string, width int) {
	fmt.Fprintf(w, "\nbeside %s, in %s:\n", file, c.Unit)
	t := &table{columns: []column{textCol("LAYER", 0).cutAs(cutMiddle, 0), numCol("BEFORE", 2), numCol("NOW", 1),
		numCol("RATIO", 0)}}
	row := func(l ripc.CostChange) {
		decimals := 0
		if c.Unit == measure.Milliseconds {
			decimals = 4
		}
		t.add(l.Name, number(&l.Old, decimals), number(&l.New, decimals), fmt.Sprintf("%.2f", l.Ratio))
	}
	for _, l := range c.Layers {
		row(l)
	}
	c.Network.Name = whole
	row(c.Network)
	t.write(w, width)
	for _, list := range []struct {
		what  string
		names []string
	}{{"only before", c.Gone}, {"only now", c.Added}} {
		if len(list.names) > 0 {
			fmt.Fprintf(w, "%s: %s\n", list.what, strings.Join(list.names, ", "))
		}
	}
	if c.Slower {
		fmt.Fprintf(w, "slower than before by more than %s\n", percent(c.Tolerance))
	}
}

// perUnit formats *v as human.Rate does, nil as "-".
func perUnit(v *float64) string {
	if v == nil {
		return "-"
	}
	return human.Rate(*v)
}

// number formats *v with some decimals, nil as "-".
func number(v *float64, decimals int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", decimals, *v)
}
