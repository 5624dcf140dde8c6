package main

import (
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/internal/human"
)

func evalCommand() *cobra.Command {
	var f compileFlags
	var r ripc.EvalRequest
	var least float64
	var confusion bool
	cmd := &cobra.Command{
		Use:   "eval MODEL|X.so --input X.npy [--labels Y.npy] [--expect OUT.npy] [flags]",
		Short: "Evaluate a network on pictures of known classes",
		Long: `Run a network on many pictures and compare its first output, a row for each, with the
true classes (--labels: how many are right, and which are taken for which) and with the outputs
of the framework that it is from (--expect: the largest distance, and how many are farther off
than --tol). On any engine: compiled code, here or simulated, or the interpreter. It exits with
1 if the output is off by more than --tol, or if fewer than --min-top1 of the pictures are
right.`,
		Example: `  ripc eval digits.json --input x_test.npy --labels y_test.npy
  ripc eval net.onnx --target rpi3 --input x.npy --expect y.npy --tol 1e-4`,
		Args: argCount(1, 1, "one MODEL or X.so"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Run.Path = args[0]
			if r.Labels == "" && r.Expect == "" {
				return usagef("give --labels, --expect, or both: the outputs are compared with them")
			}
			if r.Labels != "" && len(r.Run.Inputs) == 0 {
				return usagef("--labels %s: give --input too, the pictures that they are of", r.Labels)
			}
			if confusion && r.Labels == "" {
				return usagef("--confusion: give --labels, the true classes")
			}
			if cmd.Flags().Changed("tol") && r.Expect == "" {
				return usagef("--tol %v: give --expect, the outputs that may be so far off", r.Tolerance)
			}
			if cmd.Flags().Changed("min-top1") && (r.Labels == "" || !(least >= 0 && least <= 1)) {
				return usagef("--min-top1 %v: a share from 0 to 1 of pictures that --labels are given for", least)
			}
			if !(r.Tolerance >= 0) {
				return usagef("--tol %v: give 0 or more", r.Tolerance)
			}
			if err := f.fillRun(cmd, &r.Run); err != nil {
				return err
			}
			p := newProgress()
			r.Run.Progress = p.step
			res, err := ripc.Eval(cmd.Context(), r)
			p.done()
			if err != nil {
				return err
			}
			if !f.json {
				printEval(cmd.OutOrStdout(), res, confusion)
			} else if err := printJSON(cmd.OutOrStdout(), res); err != nil {
				return err
			}
			if res.Difference != nil && !res.Difference.Within || res.Right != nil &&
				float64(res.Right.Top1) < least*float64(res.Images) {
				return errFailed
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&r.Run.Inputs, "input", nil, "[NAME=]FILE.npy of all pictures; may be repeated")
	fs.StringVar(&r.Labels, "labels", "", "`Y.npy`, the true class of each picture")
	fs.StringVar(&r.Expect, "expect", "", "`OUT.npy`, the expected first output")
	fs.Float64Var(&r.Tolerance, "tol", 0, "how far from that it may be")
	fs.Float64Var(&least, "min-top1", 0, "share of the pictures, 0 to 1, that must be right")
	fs.BoolVar(&confusion, "confusion", false, "print which classes are taken for which")
	firstFlag(cmd, &r.Run.First)
	f.threadsFlag(cmd, &r.Run.Threads)
	engineFlag(cmd, &r.Run.Engine)
	f.foldFlags(cmd)
	f.register(cmd)
	return cmd
}

// printEval prints a line for each comparison, and the confusion.
func printEval(w io.Writer, r *ripc.EvalResult, confusion bool) {
	target := ""
	if r.Target != "" { // the interpreter has none
		target = " for " + r.Target
	}
	how := r.Engine
	if r.Simulated {
		how = "simulated"
	}
	fmt.Fprintf(w, "%s%s, %s, %s\n", r.Name, target, how, human.Count(r.Images, "picture"))
	if x := r.Right; x != nil {
		share := func(n int) string { return percent(float64(n) / float64(r.Images)) }
		fmt.Fprintf(w, "top 1  %d of %d right, %s\n", x.Top1, r.Images, share(x.Top1))
		if len(x.Confusion) > 5 {
			fmt.Fprintf(w, "top 5  %d of %d right, %s\n", x.Top5, r.Images, share(x.Top5))
		}
		if confusion {
			for label, row := range x.Confusion {
				for answer, n := range row {
					if label != answer && n > 0 {
						fmt.Fprintf(w, "%s of class %d taken for %d\n", human.Count(n, "picture"), label, answer)
					}
				}
			}
		}
	}
	if d := r.Difference; d != nil {
		worst := fmt.Sprintf("%.3g, within", d.Worst)
		switch {
		case d.Worst == math.MaxFloat64:
			worst = "infinite, more than"
		case !d.Within:
			worst = fmt.Sprintf("%.3g, more than", d.Worst)
		}
		fmt.Fprintf(w, "worst difference %s %g: picture %d, value %d is %s, expected %s\n",
			worst, d.Tolerance, d.Image, d.Index, d.Got, d.Want)
		printBeyond(w, r)
	}
}

// printBeyond counts the numbers beyond the tolerance and names the steps that may explain them.
func printBeyond(w io.Writer, r *ripc.EvalResult) {
	d := r.Difference
	if d.Within {
		return
	}
	fmt.Fprintf(w, "%s of %d beyond it, in %d of %s", human.Count(d.Beyond, "value"),
		r.Images*r.Classes, d.BeyondImages, human.Count(r.Images, "picture"))
	if d.BeyondImages < r.Images {
		fmt.Fprintf(w, "; in the others the worst difference is %.3g", d.Rest)
	}
	fmt.Fprintln(w)
	// another network differs everywhere
	if all := d.BeyondImages == r.Images && r.Images > 1; all || len(d.Steps) == 0 {
		return
	}
	steps := "a sign or a step may decide there: levels are made by " + listNames(d.Steps) +
		", and a sum within rounding of an edge can fall on either side"
	fmt.Fprintln(w, wrap(steps, widthOf(w, false), 0))
}
