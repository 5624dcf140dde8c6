package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/graph"
	"ripc/internal/human"
	"ripc/internal/tensorio"
	"ripc/lower/layout"
	"ripc/runtime/describe"
	"ripc/targets"
)

func inspectCommand() *cobra.Command {
	f := compileFlags{use: looks}
	var layer, picture, sortBy string
	var withIR, strict, wide, memory bool
	cmd := &cobra.Command{
		Use:   "inspect MODEL|X.so [flags]",
		Short: "Show each layer as it was compiled",
		Long: `Show each layer as it was compiled: binary or float (and why), shapes, multiply-accumulates
(MACs) and their share of all, bytes of weights, kernel; how many convolutions and
dense layers are bitserial, and which change would make more of them so. One layer is shown
with its schedule, with --ir also with its program before and after scheduling, with -v also
with the choice of the schedule and the steps that were left out of it. With --strict it fails
after that, as compile does, if something stays float that was meant to be binary. With
--memory, where the activations lie in memory, and when. Needs no LLVM.`,
		Example: `  ripc inspect examples/digits/digits.json
  ripc inspect examples/squeezenet/squeezenet.json --memory -o arena.svg
  ripc inspect digits.json --layer conv2 --ir`,
		Args: argCount(1, 1, "one MODEL or X.so"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strict && ripc.IsArtifact(args[0]) {
				return usagef("--strict: %s is compiled already; give the model", args[0])
			}
			if !slices.Contains(inspectOrders(), sortBy) {
				return usagef("--sort %s: it can be %s", sortBy, strings.Join(inspectOrders(), ", "))
			}
			opt, err := f.options(args[0])
			if err != nil {
				return err
			}
			opt.Strict = strict
			if ripc.IsFPGA(f.target) {
				if layer != "" || withIR || memory || picture != "" {
					return usagef("--layer, --ir, --memory and -o are not for accelerators")
				}
				return f.inspectAccelerator(cmd, args[0], opt, wide)
			}
			switch {
			case memory && (layer != "" || withIR):
				return usagef("--memory is of all layers; leave --layer and --ir out")
			case picture != "" && !memory:
				return usagef("-o draws the memory; give --memory")
			}
			var in *ripc.Inspection
			var strictErr error
			if memory {
				in, strictErr = ripc.InspectMemory(cmd.Context(), args[0], opt)
			} else {
				in, strictErr = ripc.Inspect(cmd.Context(), args[0], opt, layer, withIR)
			}
			if in == nil {
				return strictErr
			}
			if picture != "" {
				if err := drawMemory(picture, in); err != nil {
					return err
				}
			}
			switch {
			case f.json:
				err = printJSON(cmd.OutOrStdout(), in)
			case memory:
				printMemory(cmd.OutOrStdout(), in, widthOf(cmd.OutOrStdout(), wide))
			case layer == "" && !withIR:
				printTable(cmd.OutOrStdout(), in, layerOrder(in.Layers, sortBy), f.verbose,
					widthOf(cmd.OutOrStdout(), wide))
			default:
				for _, l := range in.Layers {
					printLayer(cmd.OutOrStdout(), l, f.verbose)
				}
				if !withIR {
					printClock(cmd.OutOrStdout(), in)
				}
			}
			return cmp.Or(err, strictErr)
		},
	}
	cmd.Flags().StringVar(&layer, "layer", "", "show this layer only, with its schedule")
	sortFlag(cmd, &sortBy, inspectOrders)
	wideFlag(cmd, &wide)
	cmd.Flags().BoolVar(&withIR, "ir", false, "print the layers' programs before and after scheduling")
	cmd.Flags().BoolVar(&memory, "memory", false, "show where the activations lie in the arena at each stage, and "+
		"the arena of the float twin")
	cmd.Flags().StringVarP(&picture, "output", "o", "", "with --memory: draw that, in SVG, into this file")
	cmd.Flags().BoolVar(&strict, "strict", false,
		"fail, naming each, if glue between binary layers stays float, or convolutions of few-bit weights or "+
			"activations do")
	f.foldFlags(cmd)
	f.register(cmd)
	return cmd
}

func inspectOrders() []string { return []string{sortStage, sortMACs, sortWeights, sortName} }

// convolutions formats a number of layers with weights.
func convolutions(n int) string {
	if n == 1 {
		return "1 convolution or dense layer"
	}
	return fmt.Sprintf("%d convolutions and dense layers", n)
}

// layerOrder returns the indices of the layers in an order, the largest first.
func layerOrder(layers []ripc.Layer, by string) []int {
	order := make([]int, len(layers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := layers[i], layers[j]
		switch by {
		case sortMACs:
			return cmp.Compare(b.MACs, a.MACs)
		case sortWeights:
			return cmp.Compare(b.WeightBytes, a.WeightBytes)
		case sortName:
			return cmp.Compare(a.Name, b.Name)
		}
		return 0
	})
	return order
}

// layoutText returns the order of an image's axes.
func layoutText(t describe.Tensor) string {
	if len(t.Layout) < 3 {
		return ""
	}
	return ", " + t.Layout
}

// noteText returns the remark on input i. It is quoted, as it may be the model's text.
func noteText(in *ripc.Inspection, i int) string {
	if in.InputNotes == nil || in.InputNotes[i] == "" {
		return ""
	}
	return fmt.Sprintf("; note %q", in.InputNotes[i])
}

// outputText returns the logical shape and the type of a layer's output: levels instead of packed
// words, and no batch of 1.
func outputText(t describe.Tensor) string {
	shape := t.Logical()
	if len(shape) > 1 && shape[0] == 1 {
		shape = shape[1:]
	}
	var extents []string
	for _, e := range shape {
		extents = append(extents, fmt.Sprint(e))
	}
	kind := t.DType
	if t.Encoding != "" {
		kind = human.Count(t.Bits, "bit")
	}
	return strings.Join(extents, "x") + " " + kind
}

// printTable prints a line for each layer in the given order, then the footnotes and the sums.
// Lines have at most width characters; 0 is no limit.
func printTable(w io.Writer, in *ripc.Inspection, order []int, verbose bool, width int) {
	fmt.Fprintf(w, "%s for %s\n", in.Name, in.Target)
	for i, t := range in.Inputs {
		fmt.Fprintf(w, "input  %s%s%s\n", tensorText(t), layoutText(t), noteText(in, i))
	}
	for _, t := range in.Outputs {
		fmt.Fprintf(w, "output %s%s\n", tensorText(t), layoutText(t))
	}
	t := &table{columns: []column{numCol("", 0), textCol("LAYER", 0).cutAs(cutMiddle, 0), textCol("OP", 4),
		textCol("BECAME", 0), textCol("OUTPUT", 6), numCol("MACS", 5), numCol("SHARE", 0), numCol("WEIGHTS", 3),
		numCol("AS FLOAT", 2), textCol("KERNEL", 1), textCol("GLUE", 2).cutAs(cutTail, 0), textCol("NOTES", 0)}}
	var texts human.Footnotes
	for _, number := range order {
		l := in.Layers[number]
		macs, share, weights, float := "", "", "", ""
		if l.MACs > 0 {
			macs, share, float = countText(l.MACs), percent(l.Share), human.Bytes(l.FloatBytes)
		}
		if l.WeightBytes > 0 {
			weights = human.Bytes(l.WeightBytes)
		}
		out := ""
		if len(l.Writes) > 0 {
			out = outputText(l.Writes[0])
		}
		var notes []string
		for _, n := range []string{reasonText(l), algorithmText(l, verbose)} {
			if n != "" {
				notes = append(notes, fmt.Sprint(texts.Refer(n)))
			}
		}
		if l.Note != "" { // the model's text is quoted
			notes = append(notes, fmt.Sprint(texts.Refer(fmt.Sprintf("note %q", l.Note))))
		}
		t.add(fmt.Sprint(number), l.Name, l.Op, l.Became, out, macs, share, weights, float, l.Kernel, l.Glue,
			strings.Join(notes, ", "))
	}
	fmt.Fprintln(w)
	t.write(w, width)
	if len(texts) > 0 {
		fmt.Fprintln(w, "\nnotes:")
		for i, text := range texts {
			fmt.Fprintln(w, wrap(fmt.Sprintf("%d: %s", i+1, text), width, 2))
		}
	}
	printLegend(w, in)
	if verbose {
		printClock(w, in)
	}
	if in.Convolutions > 0 {
		fmt.Fprintf(w, "\n%d of %s bitserial, %s of the MACs", in.Bitserial, convolutions(in.Convolutions),
			percent(shareOf(in.BinaryMACs, in.MACs)))
		if in.Integers > 0 {
			fmt.Fprintf(w, "; %d integer, %s", in.Integers, percent(shareOf(in.IntegerMACs, in.MACs)))
		}
	}
	sums := fmt.Sprintf("%s, %s MACs, weights and tables %s (weights as floats %s)",
		human.Count(len(in.Layers), "stage"), countText(in.MACs), human.Bytes(in.WeightBytes),
		human.Bytes(in.FloatBytes))
	fmt.Fprintf(w, "\n%s\n%s\n", wrap(sums, width, 0), wrap(in.Workspace.String(), width, 0))
	printRoundings(w, in, width)
	printAdvice(w, in, width)
}

// printClock prints the clock that turns cycles into milliseconds, if costs are in cycles.
func printClock(w io.Writer, in *ripc.Inspection) {
	cycles := func(l ripc.Layer) bool { return l.Why != nil && l.Why.Unit == "cycles" }
	if in.ClockMHz == 0 || !slices.ContainsFunc(in.Layers, cycles) {
		return
	}
	ms, _ := targets.Target{ClockMHz: in.ClockMHz}.Milliseconds(1e6)
	fmt.Fprintf(w, "\ncycles are estimates: 1 M are %.2f ms at %d MHz, caches not counted\n", ms, in.ClockMHz)
}

// printRoundings names nodes that are taken for few bits although the model's floats differ by
// rounding.
func printRoundings(w io.Writer, in *ripc.Inspection, width int) {
	if len(in.Roundings) == 0 {
		return
	}
	const head = "taken for few bits, from which the model's floats differ by rounding alone (--exact-floats " +
		"refuses it):"
	fmt.Fprintf(w, "\n%s\n", wrap(head, width, 0))
	for _, r := range in.Roundings {
		fmt.Fprintln(w, wrap(fmt.Sprintf("%s: %s", r.What, listNames(r.Nodes)), width, 2))
	}
}

// printLegend explains the kinds of layers with bits.
func printLegend(w io.Writer, in *ripc.Inspection) {
	for _, l := range in.Layers {
		if l.Kind == graph.Binary.String() {
			fmt.Fprintf(w, "\n%s: activations of %s by weights of %s\n", l.Became,
				human.Count(l.ActivationBits, "bit"), human.Count(l.WeightBits, "bit"))
			break
		}
	}
	for _, l := range in.Layers {
		if l.Kind == graph.Float.String() && l.MACs > 0 && l.WeightBits < l.ActivationBits {
			fmt.Fprintf(w, "\n%s: weights of %s in memory, which become floats where they are used: for memory, at "+
				"the cost of instructions\n",
				l.Became, human.Count(l.WeightBits, "bit"))
			return
		}
	}
}

// printAdvice prints the changes that would make more layers bitserial, or halve their work.
func printAdvice(w io.Writer, in *ripc.Inspection, width int) {
	if len(in.Advice) == 0 {
		return
	}
	fmt.Fprintln(w, "\nchanges that would make it faster:")
	for _, a := range in.Advice {
		advice := fmt.Sprintf("%s (%s of the MACs): %s%s", listNames(a.Layers), percent(a.Share), a.Change,
			curingFlag(a.Code))
		fmt.Fprintln(w, wrap(advice, width, 2))
	}
}

// listNames joins names, at most three of them.
func listNames(all []string) string {
	const most = 3
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}

// reasonText returns why l stays float, or "".
func reasonText(l ripc.Layer) string {
	if l.Reason == nil {
		return ""
	}
	return l.Reason.Text + curingFlag(l.Reason.Code)
}

// curingFlag names the flag that removes a reason.
func curingFlag(code string) string {
	switch code {
	case graph.WhyNearly.String():
		return "; it becomes one without --exact-floats"
	case graph.WhyNearlyFew.String():
		return "; they become that without --exact-floats"
	case graph.WhyDeclaredOnly.String():
		return "; --trust-input-types makes levels of them"
	case graph.WhyThreeSigns.String(), graph.WhyFoldedSign.String():
		return "; --sign-zero +1 makes it 1 bit"
	}
	return ""
}

// algorithmText returns the algorithm of a bitserial layer, or "" for popcount unless it was asked
// for. In full it has the predicted costs.
func algorithmText(l ripc.Layer, full bool) string {
	if l.Kind != graph.Binary.String() || l.Why == nil || l.Algorithm == layout.Popcount.String() &&
		l.Why.Code != layout.Asked.String() {
		return ""
	}
	switch {
	case full:
		return "computed by " + l.Why.Text
	case l.Why.Code == layout.Asked.String():
		return "computed by " + l.Algorithm + ", as asked"
	}
	return "computed by " + l.Algorithm
}

// shareOf returns n as a share of all.
func shareOf(n, all int64) float64 { return float64(n) / float64(max(1, all)) }

// percent formats a share.
func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// printLayer prints everything about one layer.
func printLayer(w io.Writer, l ripc.Layer, verbose bool) {
	fmt.Fprintf(w, "layer %s: %s, %s\n", l.Name, l.Op, l.Became)
	if l.Glue != "" {
		fmt.Fprintf(w, "  glue    %s\n", l.Glue)
	}
	if why := reasonText(l); why != "" {
		fmt.Fprintf(w, "  reason  %s\n", why)
	}
	if l.Note != "" {
		fmt.Fprintf(w, "  note    %q\n", l.Note)
	}
	if len(l.ByLane) > 0 {
		fmt.Fprintf(w, "  by lane parts of %s, under conditions that differ between lanes\n",
			strings.Join(l.ByLane, ", "))
	}
	if l.Why != nil {
		fmt.Fprintf(w, "  by      %s\n", l.Why.Text)
	}
	for _, t := range l.Reads {
		fmt.Fprintf(w, "  reads   %s (%s)\n", tensorText(t), t.Where)
	}
	for _, t := range l.Writes {
		fmt.Fprintf(w, "  writes  %s (%s)\n", tensorText(t), t.Where)
	}
	fmt.Fprintf(w, "  MACs    %d (%s of all)\n  weights %d bytes with tables (as floats %d)\n  kernel  %s\n  trace\n",
		l.MACs, percent(l.Share), l.WeightBytes, l.FloatBytes, l.Kernel)
	for _, s := range l.Trace {
		fmt.Fprintf(w, "    %s\n", s)
	}
	if l.Strategy != nil && verbose {
		fmt.Fprintf(w, "  strategy\n    %s (%s), %s\n", l.Strategy.Name, l.Strategy.Values, l.Strategy.Origin)
	}
	for _, s := range l.LeftOut {
		if verbose {
			fmt.Fprintf(w, "  left out\n    %s: %s\n", s.Step, s.Why)
		}
	}
	if l.Before != "" {
		fmt.Fprintf(w, "# before scheduling\n%s\n# after scheduling\n%s\n", strings.TrimRight(l.Before, "\n"),
			strings.TrimRight(l.After, "\n"))
	}
}

// tensorText returns name, type and shape.
func tensorText(t describe.Tensor) string {
	s := t.Title() + ": " + t.DType + " " + tensorio.ShapeText(t.Shape)
	if t.Encoding != "" {
		s += fmt.Sprintf(" %s, %s", t.Encoding, human.Count(t.Bits, "bit"))
	}
	if t.Packed {
		s += fmt.Sprintf(", %s packed", human.Count(t.Channels, "channel"))
	}
	return s
}
