package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/internal/files"
	"ripc/internal/human"
)

type runOptions struct {
	compileFlags
	request ripc.RunRequest
	output  string
	top     int
	labels  string
}

func runCommand() *cobra.Command {
	var o runOptions
	r := &o.request
	cmd := &cobra.Command{
		Use:   "run MODEL|X.so [INPUT ...] [flags]",
		Short: "Run a network on files or on random inputs",
		Long: `Run a network. Inputs are .npy files of the input's element type and shape (a batch of 1
may be left out; K times the batch makes K runs: their outputs are stacked), or pictures,
.png or .jpg, which are scaled to the input's size and to the range 0 to 1 (f32), 0 to 255
(u8) or 0 to 2^bits-1 (levels); --mean and --std then make of that the values that the network
was trained on. They fill the inputs in order, or by NAME=FILE. Inputs that
are not given are filled from --seed. Code for other machines runs in simulation, or, with
--on, on a board.`,
		Example: `  ripc run digits.json --input examples/digits/data/x_test.npy --top 1
  ripc run squeezenet.so --seed 7 --threads 4 --output out
  ripc run squeezenet.json --target rpi4 --on ssh:pi@board`,
		Args: argCount(1, -1, "a MODEL or X.so"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Path = args[0]
			r.Inputs = append(r.Inputs, args[1:]...)
			return o.run(cmd)
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&r.Inputs, "input", nil, "[NAME=]FILE.npy, .png or .jpg; may be repeated")
	firstFlag(cmd, &r.First)
	fs.Uint64Var(&r.Seed, "seed", 0, "seed of the inputs that are not given")
	fs.StringVar(&o.output, "output", "", "folder for output_0.npy, output_1.npy ... and outputs.json")
	o.threadsFlag(cmd, &r.Threads)
	onFlag(cmd, &r.On)
	engineFlag(cmd, &r.Engine)
	fs.IntVar(&o.top, "top", 0, "print the `K` largest values of each row of the first output")
	fs.StringVar(&o.labels, "labels", "", "file with a name for each value of a row, one a line")
	o.foldFlags(cmd)
	o.register(cmd)
	return cmd
}

// engineFlag adds --engine.
func engineFlag(cmd *cobra.Command, engine *string) {
	cmd.Flags().StringVar(engine, "engine", ripc.EngineNative,
		"native: compiled code; interp: the model's definition, interpreted")
}

// firstFlag adds --first.
func firstFlag(cmd *cobra.Command, n *int) {
	cmd.Flags().IntVar(n, "first", 0, "take the first `N` pictures only")
}

func engines() []string { return []string{ripc.EngineNative, ripc.EngineInterp} }

// fillRun checks the flags of a run and fills the options of r.
func (f *compileFlags) fillRun(cmd *cobra.Command, r *ripc.RunRequest) (err error) {
	switch {
	case !slices.Contains(engines(), r.Engine):
		return usagef("--engine %s: the engines are %s", r.Engine, strings.Join(engines(), " and "))
	case r.First < 1 && cmd.Flags().Changed("first"):
		return usagef("--first %d: give 1 or more", r.First)
	case r.On != "" && r.Engine == ripc.EngineInterp:
		return usagef("--on %s: the interpreter runs here, leave one of --on and --engine out", r.On)
	}
	r.Options, err = f.options(r.Path)
	r.Fold = f.fold.FoldOptions
	return err
}

func (o *runOptions) run(cmd *cobra.Command) error {
	r := &o.request
	if o.top < 1 && cmd.Flags().Changed("top") {
		return usagef("--top %d: give 1 or more", o.top)
	}
	if err := o.fillRun(cmd, r); err != nil {
		return err
	}
	labels, err := readLabels(o.labels)
	if err != nil {
		return err
	}
	if labels != nil && o.top == 0 {
		o.top = 1
	}
	p := newProgress()
	r.Progress = p.step
	out, err := ripc.Run(cmd.Context(), *r)
	p.done()
	if err != nil {
		return err
	}
	if len(r.Inputs) == 0 && !cmd.Flags().Changed("seed") {
		out.Notes = append(out.Notes, "without --input it ran on random numbers")
	}
	printNotes(out.Notes)
	if o.verbose {
		fmt.Fprintf(stderr(), "%s took %v\n", human.Count(out.Runs, "run"), out.Took)
	}
	return outputOptions{o.output, o.top, labels, o.json}.report(cmd, out, r.Seed)
}

// readLabels reads one label a line; path "" has none.
func readLabels(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	text, err := files.ReadText(path)
	if err != nil {
		return nil, &usageError{msg: "--labels", err: err}
	}
	var labels []string
	for line := range strings.Lines(string(text)) {
		labels = append(labels, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	return labels, nil
}
