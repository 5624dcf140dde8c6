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
	// form says that the command line does not have the command's form, which the message then repeats.
	form bool
}

func (e *usageError) Error() string {
	if e.err != nil {
		return fmt.Sprintf("%s: %v", e.msg, e.err)
	}
	return e.msg
}

func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{msg: fmt.Sprintf(format, args...)} }

// errFailed ends a command with exit code 1 after it has printed what it found.
var errFailed = errors.New("failed")

// report prints err and returns the exit code for it.
func report(ctx context.Context, stderr io.Writer, cmd *cobra.Command, err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFailed):
		return exitFailure
	case errors.As(err, &usage):
		if usage.msg != "" {
			fmt.Fprintf(stderr, "ripc: %s\n", messageText(err))
			if usage.form {
				fmt.Fprintf(stderr, "usage: %s\n       `%s --help` says more\n", cmd.UseLine(), cmd.CommandPath())
			}
		}
		return exitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "ripc: interrupted")
		return exitFailure
	}
	fmt.Fprintf(stderr, "ripc: %s\n", messageText(err))
	if help := help(err); help != "" {
		fmt.Fprintf(stderr, "    help: %s\n", help)
	}
	if ripc.IsBadInput(err) {
		return exitUsage
	}
	return exitFailure
}

// messageText is what err says, in lines that a terminal shows as they are: names in files may hold anything.
func messageText(err error) string { return terminal.Lines(err.Error()) }

// help says what to change on the command line.
func help(err error) string {
	var target *ripc.TargetError
	var threads *ripc.ThreadsError
	var artifact *ripc.ArtifactError
	var arch *runtime.ArchError
	var features *runtime.FeatureError
	var host *targets.HostError
	var unknown *targets.UnknownTargetError
	var name *runner.NameError
	var lost *runner.LostError
	var unreachable *runner.UnreachableError
	switch {
	case errors.As(err, &unknown):
		return strings.TrimSpace(suggest.DidYouMean(unknown.Name, unknown.Known))
	case errors.As(err, &target):
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
	case errors.As(err, &arch), errors.As(err, &features):
		return "compile the model with --target host on this machine"
	case errors.As(err, &unreachable) && errors.As(err, &lost):
		return "ssh has to get there without questions: try `ssh -o BatchMode=yes " + sshArguments(strings.TrimPrefix(lost.Runner, "ssh:")) + " true`"
	case errors.As(err, new(search.UnavailableError)):
		return "--tuner random does without"
	case errors.As(err, &name):
		return "there are " + strings.Join(runner.Names(), ", ")
	case errors.As(err, &host):
		return "choose another with --target; ripc targets lists them"
	}
	return ""
}

// sshArguments are those with which ssh reaches USER@HOST[:PORT].
func sshArguments(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil {
		return "-p " + port + " " + host
	}
	return address
}

// crashed tells of a panic, which is always a mistake in ripc.
func crashed(stderr io.Writer, panicked any) int {
	fmt.Fprintf(stderr, `ripc: internal error: %v
This is a mistake in ripc %s, not in what you did. Please report it with the command line,
the model (or its smallest part that shows it) and the lines above. The place:
%s`, panicked, ripc.Version, debug.Stack())
	return exitFailure
}

// stderrIsTerminal reports whether progress can overwrite its own line.
func stderrIsTerminal() bool {
	info, err := os.Stderr.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
