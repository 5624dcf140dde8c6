// Command ripc compiles binary neural networks to standalone libraries, and runs, checks and measures them.
//
// Results go to standard output, messages to standard error. Exit codes: 0 success, 1 failure (a difference found, a
// missing tool, an interruption), 2 wrong usage or bad input.
package main

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(realMain(os.Args[1:])) }

// realMain runs one command line and returns the exit code.
func realMain(args []string) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	defer func() {
		if r := recover(); r != nil {
			code = crashed(os.Stderr, r)
		}
	}()
	root := newRoot()
	root.SetArgs(args)
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !started { // cobra's own: unknown commands and flags, wrong numbers of arguments
		err = &usageError{msg: err.Error()}
	}
	return report(ctx, os.Stderr, cmd, err)
}

// newRoot builds the command tree.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "ripc COMMAND",
		Short: "Compile binary neural networks to standalone libraries",
		Long: `ripc compiles neural networks with binary or few-bit weights to standalone
libraries: one .so (or .a) and a C header, without dependencies. It also runs, checks and
measures them, here or, for other machines, in simulation.

MODEL is a model file: .json (ripc's own), .onnx (QONNX) or .tflite (Larq). X.so is a library
that ripc compiled.`,
		Args:                  cobra.ArbitraryArgs,
		SilenceUsage:          true,
		DisableFlagsInUseLine: true,
		SilenceErrors:         true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			cmd.SetOut(os.Stderr)
			_ = cmd.Help()
			return &usageError{}
		},
	}
	root.AddCommand(compileCommand(), runCommand(), verifyCommand(), benchCommand(), evalCommand(), inspectCommand(), reportCommand(), importCommand(), interpCommand(),
		recordsCommand(), hubCommand(), workerCommand(), targetsCommand(), versionCommand(), manCommand())
	root.InitDefaultHelpCmd()
	root.AddCommand(tuneCommand())
	// The second usage line is for commands that do nothing by themselves.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .HasAvailableSubCommands}}\n  {{.CommandPath}} [command]",
		"{{if and .HasAvailableSubCommands (not .Runnable)}}\n  {{.CommandPath}} [command]", 1))
	return root
}

func unknownCommand(root *cobra.Command, name string) error {
	msg := "unknown command \"" + name + "\""
	if near := root.SuggestionsFor(name); len(near) > 0 {
		msg += "; did you mean " + near[0] + "?"
	}
	return &usageError{msg: msg}
}

// args requires between least and most arguments; most < 0 is no limit.
func args(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || (most >= 0 && len(args) > most) {
			return &usageError{msg: "wants " + what}
		}
		return nil
	}
}
