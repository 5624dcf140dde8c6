package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/autotune/runner"
	"ripc/autotune/search"
	"ripc/internal/suggest"
	"ripc/internal/terminal"
	"ripc/runtime"
	"ripc/targets"
	"ripc/targets/fpga"
)

// Exit codes.
const (
	exitOK      = 0 // success
	exitFailure = 1 // failure: a difference was found, a tool is missing, a file cannot be written, an interruption
	exitUsage   = 2 // wrong usage or bad input
)

// usageError is a mistake on the command line. An empty message means that all is said.
type usageError struct {
	msg string
	err error // the cause, or nil
	// form says that the command line does not have the command's form, which the message then
	// repeats.
	form bool
}

func (e *usageError) Error() string {
	if e.err != nil {
		return fmt.Sprintf("%s: %v", e.msg, e.err)
	}
	return e.msg
}

// BadInput reports that the input is at fault.
func (*usageError) BadInput() bool { return true }

func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{msg: fmt.Sprintf(format, args...)} }

// errFailed ends a command with exit code 1 after it has printed its findings.
var errFailed = errors.New("failed")

// report prints err and returns the exit code for it.
func report(ctx context.Context, stderr io.Writer, cmd *cobra.Command, err error) int {
	var usage *usageError
	misused := errors.As(err, &usage)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFailed):
		return exitFailure
	case ctx.Err() != nil && errors.Is(err, context.Canceled) && !ripc.IsBadInput(err):
		fmt.Fprintln(stderr, "ripc: interrupted")
		return exitFailure
	case misused && usage.msg == "":
		return exitUsage
	}
	fmt.Fprintf(stderr, "ripc: %s\n", messageText(err))
	if misused && usage.form {
		fmt.Fprintf(stderr, "usage: %s\n       `%s --help` says more\n", cmd.UseLine(), cmd.CommandPath())
	}
	if help := help(err); help != "" {
		fmt.Fprintf(stderr, "    help: %s\n", help)
	}
	if ripc.IsBadInput(err) {
		return exitUsage
	}
	return exitFailure
}

// messageText returns the text of err, made safe for a terminal: names in files may hold anything.
func messageText(err error) string { return terminal.Lines(err.Error()) }

// help returns a hint for the command line, or "".
func help(err error) string {
	var threads *ripc.ThreadsError
	var artifact *ripc.ArtifactError
	var unknown *targets.UnknownTargetError
	var lost *runner.LostError
	var choice *ripc.ChoiceError
	switch {
	case errors.As(err, &unknown):
		near := suggest.DidYouMean(unknown.Name, append(fpga.Names(), unknown.Known...))
		return near + "`ripc targets` names their machines"
	case is[*ripc.TargetError](err):
		return "leave --target out: an artifact knows its own"
	case errors.As(err, &threads):
		return fmt.Sprintf("leave --threads out, or give --threads %d", threads.Most)
	case errors.As(err, &artifact):
		return map[ripc.Purpose]string{
			ripc.ToInterpret: "give the model, or --engine native",
			ripc.ToVerify:    "give the model, and the artifact with --so",
			ripc.ToPrint:     "give the model, or leave --ir out",
			ripc.ToIsolate:   "give the model, or leave --layer out",
			ripc.ToTune:      "give the model that it was compiled from",
		}[artifact.For]
	case is[*runtime.ArchError](err), is[*runtime.FeatureError](err):
		if here := targetsHere(); len(here) > 0 {
			return "compile the model for this machine: --target " + strings.Join(here, " or ")
		}
	case is[*runner.UnreachableError](err) && errors.As(err, &lost):
		return "ssh has to get there without questions: try `ssh -o BatchMode=yes " +
			sshArguments(strings.TrimPrefix(lost.Runner, "ssh:")) + " true`"
	case is[search.UnavailableError](err):
		return "--tuner random does without"
	case is[*runner.NameError](err):
		return "there are " + strings.Join(runner.Names(), ", ")
	case errors.As(err, &choice):
		return "name one with --" + choice.What
	case is[*targets.HostError](err):
		return "choose another with --target; ripc targets lists them"
	}
	return ""
}

// targetsHere lists the targets that this machine runs code for.
func targetsHere() (names []string) {
	for _, t := range targets.All() {
		if t.Native() {
			names = append(names, t.Name)
		}
	}
	return names
}

// is reports whether err is, or wraps, an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// sshArguments returns the arguments with which ssh reaches USER@HOST[:PORT].
func sshArguments(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil {
		return "-p " + port + " " + host
	}
	return address
}

// reportCrash prints a panic, which is always a mistake in ripc.
func reportCrash(stderr io.Writer, panicked any) int {
	fmt.Fprintf(stderr, `ripc: internal error: %v
This is a mistake in ripc %s, not in your input. Please report it with the command line,
the model (or its smallest part that shows it) and the lines above. The place:
%s`, panicked, ripc.Version, debug.Stack())
	return exitFailure
}

// stderrIsTerminal reports whether progress can overwrite its own line.
func stderrIsTerminal() bool {
	info, err := os.Stderr.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
