// Command ripc compiles binary neural networks to standalone libraries, and runs, checks and
// measures them.
//
// Results go to standard output, messages to standard error. Exit codes: 0 success, 1 failure (a
// difference found, a missing tool, an interruption), 2 wrong usage or bad input.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ripc"
	"ripc/internal/files"
	"ripc/internal/suggest"
	"ripc/internal/terminal"
)

func main() { os.Exit(realMain(os.Args[1:])) }

// realMain runs one command line and returns the exit code.
func realMain(args []string) (code int) {
	end := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		end = append(end, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), end...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	defer func() {
		if r := recover(); r != nil {
			code = reportCrash(stderr(), r)
		}
	}()
	root := newRoot(helpWidth(os.Stdout))
	root.SetArgs(args)
	out := &output{to: os.Stdout}
	root.SetOut(terminal.NewWriter(out))
	root.SetErr(stderr())
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { // help and wrong usage do not get here
		started = true
		files.SweepTemp("")
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !started { // cobra's own: unknown commands and flags, wrong numbers of arguments
		err = &usageError{msg: err.Error(), form: true}
	}
	if out.err != nil {
		err = out.err
	}
	return report(ctx, stderr(), cmd, err)
}

// output is standard output. A failed write, on a full disk say, makes the command fail, whoever
// printed.
type output struct {
	to  io.Writer
	err error // the first
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("cannot write to standard output: %w", files.Cause(err))
	}
	return n, err
}

// newRoot builds the command tree, with help of at most width characters a line.
func newRoot(width int) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "ripc COMMAND",
		Short: "Compile binary neural networks to standalone libraries",
		Long: `ripc compiles neural networks with binary or few-bit weights to standalone
libraries: one .so (or .a) and a C header, without dependencies. It also runs, checks and
measures them, here or, for other machines, in simulation.

MODEL is a model file: .json (ripc's own), .onnx (QONNX), .pt2 (PyTorch) or .tflite (Larq).
X.so is a library that ripc compiled.`,
		Args:                  cobra.ArbitraryArgs,
		SilenceUsage:          true,
		DisableFlagsInUseLine: true,
		SilenceErrors:         true,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return unknownCommand(cmd, args[0])
			case version:
				return printVersion(cmd.Context(), cmd.OutOrStdout(), false)
			}
			cmd.SetOut(stderr())
			_ = cmd.Help()
			return &usageError{}
		},
	}
	root.AddCommand(compileCommand(), runCommand(), verifyCommand(), benchCommand(), evalCommand(),
		inspectCommand(), reportCommand(), importCommand(), interpCommand(),
		recordsCommand(), hubCommand(), workerCommand(), tuneCommand(), targetsCommand(), versionCommand(),
		doctorCommand(), manCommand())
	registerCompletions(root)
	root.Flags().BoolVar(&version, "version", false, "print the versions of ripc and of the tools it uses")
	root.SetHelpCommand(helpCommand())
	root.SetFlagErrorFunc(flagError)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.HasSubCommands() && !c.Runnable() { // cobra would print help, and exit with 0
			c.Args, c.RunE = cobra.ArbitraryArgs, refuseWithoutSubcommand
		}
	}
	fitHelp(root, width)
	return root
}

// refuseWithoutSubcommand refuses a command that needs a subcommand, and lists the subcommands.
func refuseWithoutSubcommand(cmd *cobra.Command, args []string) error {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	got := "nothing"
	if len(args) > 0 {
		got = strconv.Quote(args[0])
	}
	return &usageError{msg: fmt.Sprintf("got %s, want one of %s", got, strings.Join(names, ", ")), form: true}
}

// fitHelp lets the help of root and of all commands below it have at most width characters a line.
func fitHelp(root *cobra.Command, width int) {
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		fmt.Fprintf(c.OutOrStdout(), "%s\n\n%s", reflow(cmp.Or(c.Long, c.Short), width), c.UsageString())
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := io.WriteString(c.OutOrStderr(), usage(c, width))
		return err
	})
}

// usage returns the help of a command after its description: its form, examples, subcommands and
// flags, shared flags last.
func usage(c *cobra.Command, width int) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() {
		fmt.Fprintf(&b, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() && !c.Runnable() {
		fmt.Fprintf(&b, "  %s [command]\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nAvailable Commands:\n")
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-*s %s\n", below.NamePadding(), below.Name(), below.Short)
			}
		}
	}
	for _, g := range flagGroups(c) {
		fmt.Fprintf(&b, "\n%s:\n%s", g.title, g.flags.FlagUsagesWrapped(width))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more information about a command.\n", c.CommandPath())
	}
	return b.String()
}

// helpWidth returns the width of help: the terminal's, within limits that keep lines readable.
func helpWidth(stdout *os.File) int {
	const least, usual, most = 40, 80, 100
	if width := widthOf(stdout, false); width > 0 {
		return min(max(width, least), most)
	}
	return usual
}

// reflow returns text in lines of at most width characters. Lines that begin with a blank are kept.
func reflow(text string, width int) string {
	var out []string
	joined := false // the last line goes on
	for _, line := range strings.Split(text, "\n") {
		flows := line != "" && !strings.HasPrefix(line, " ")
		if flows && joined {
			out[len(out)-1] += " " + line
		} else {
			out = append(out, line)
		}
		joined = flows
	}
	for i, line := range out {
		if line != "" && !strings.HasPrefix(line, " ") {
			out[i] = wrap(line, width, 0)
		}
	}
	return strings.Join(out, "\n")
}

func unknownCommand(root *cobra.Command, name string) error {
	msg := "unknown command \"" + name + "\""
	if slices.Contains(append(ripc.ModelKinds(), ".so"), filepath.Ext(name)) {
		return &usageError{msg: msg + "; a command comes first, as in ripc inspect " + name, form: true}
	}
	var known []string
	for _, c := range allCommands(root)[1:] {
		known = append(known, strings.TrimPrefix(c.CommandPath(), root.Name()+" "))
	}
	near := suggest.Nearest(name, known)
	if starts := root.SuggestionsFor(name); near == "" && len(starts) > 0 {
		near = starts[0]
	}
	if near != "" {
		msg += "; did you mean " + near + "?"
	}
	return &usageError{msg: msg, form: true}
}

// helpCommand prints the help of a command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range cmd.Root().Commands() {
				if c.IsAvailableCommand() && len(args) == 0 {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// flagError suggests a flag for an unknown one, and the values of a wrong one.
func flagError(cmd *cobra.Command, err error) error {
	msg := err.Error()
	if before := cmd.Flags().Args(); !cmd.HasParent() && len(before) > 0 { // the flag is of a command that is not known
		return unknownCommand(cmd, before[0])
	}
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := suggest.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			msg += "; did you mean --" + near + "?"
		}
	}
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
		if want := typeHelp(invalid.GetFlag().Value.Type()); want != "" {
			msg = fmt.Sprintf("--%s %q: give %s", invalid.GetFlag().Name, invalid.GetValue(), want)
		}
	}
	return &usageError{msg: msg, form: true}
}

// typeHelp names the values of a type of flags, "" if the type's own errors do.
func typeHelp(kind string) string {
	switch kind {
	case "uint64":
		return "a whole number from 0 up"
	case "int":
		return "a whole number"
	case "float64":
		return "a number, such as 0.001"
	case "duration":
		return "a time, such as 90s or 5m"
	case "bool":
		return "true or false"
	}
	return ""
}

// argCount requires between least and most arguments; most < 0 is no limit.
func argCount(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || (most >= 0 && len(args) > most) {
			return &usageError{msg: "wants " + what, form: true}
		}
		return nil
	}
}
