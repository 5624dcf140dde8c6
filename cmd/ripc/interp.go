package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ripc"
)

func interpCommand() *cobra.Command {
	var r ripc.InterpRequest
	var output string
	var json bool
	cmd := &cobra.Command{
		Use:   "interp F.ripir [flags]",
		Short: "Run a printed program or kernel in the interpreter",
		Long: `Run a program or a kernel, as 'ripc compile --emit ripir' and 'ripc inspect --ir' print
them, in the interpreter, which defines their meaning. Inputs of a kernel are all buffers that
it does not write. A program's text has the hashes of its constants, not the constants: --so
takes them from the library that was compiled with it, and without they are filled from --seed.
Needs no LLVM.

An index outside its buffer is an error, and so are an element that is read before it is
written and a sum that wraps, which ripc compiles only where it proves that none does. Other
operations on integers wrap by definition. --unchecked looks for indices alone.`,
		Example: `  ripc compile net.json --emit so,ripir && ripc interp net.ripir --so net.so
  ripc interp kernel.ripir --input x=x.npy --output out`,
		Args: argCount(1, 1, "one F.ripir"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Path = args[0]
			p := newProgress()
			r.Progress = p.step
			res, err := ripc.Interpret(cmd.Context(), r)
			p.done()
			if err != nil {
				return err
			}
			if len(res.Filled) > 0 {
				const note = "ripc: filled from seed %d, since a text has no constants (--so X.so takes them from a " +
					"library): %s\n"
				fmt.Fprintf(stderr(), note, r.Seed, strings.Join(res.Filled, ", "))
			}
			return outputOptions{output: output, json: json}.report(cmd, &res.RunResult, r.Seed)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringArrayVar(&r.Inputs, "input", nil, "[NAME=]FILE.npy, .png or .jpg; may be repeated")
	fs.Uint64Var(&r.Seed, "seed", 0, "seed of the inputs and constants that are not given")
	fs.BoolVar(&r.Unchecked, "unchecked", false, "let elements be read before they are written, and sums wrap")
	fs.StringVar(&r.SO, "so", "", "library to take a program's constants from")
	fs.StringVar(&r.Func, "func", "", "which of several funcs to run")
	fs.StringVar(&output, "output", "", "folder for output_0.npy, output_1.npy ... and outputs.json")
	fs.BoolVar(&json, "json", false, "print one JSON object")
	return cmd
}
