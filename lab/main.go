// Command lab measures ripc and writes the pages of the measurements. It runs in the module's root:
//
//	go run ./lab TASK [--only REGEXP] [--rounds N] [--anew] [--missing] [--page]
//	go run ./lab fit|judge --target T
//	go run ./lab stale
//	go run ./lab sass FILE.ptx --target T
//
// Each figure is kept in lab/data as soon as it is measured. A run that was stopped goes on where
// it was, on the same day with the same code. Times are those of the machine that it runs on, which
// should do nothing else. No test fails because of a time.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"ripc/internal/stop"
	"ripc/lab/ablation"
	"ripc/lab/figures"
	"ripc/lab/fit"
	"ripc/lab/fpga"
	"ripc/lab/gpu"
	"ripc/lab/ledger"
	"ripc/lab/networks"
	"ripc/lab/numbers"
	"ripc/lab/peers"
	"ripc/lab/records"
	"ripc/lab/sass"
	"ripc/lab/task"
	"ripc/lab/tuner"
	"ripc/lab/web"
)

// tasks lists all tasks.
func tasks() []*task.Task {
	return []*task.Task{numbers.Task(), networks.Task(), ablation.Task(), peers.Task(), peers.OwnTask(),
		tuner.Task(), records.Task(), ledger.Task(), web.Task(), gpu.Task()}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", nameSignal(ctx, err))
		os.Exit(1)
	}
}

// nameSignal returns err, or that a signal ended the command.
func nameSignal(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errors.New("interrupted; the same command goes on")
	}
	return err
}

// root returns the command.
func root() *cobra.Command {
	root := &cobra.Command{Use: "lab", Short: "measure ripc, and write the pages of the measurements",
		SilenceUsage: true, SilenceErrors: true, CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}}
	for _, t := range tasks() {
		root.AddCommand(command(t))
	}
	root.AddCommand(append(fit.Commands(), fpga.Command(), staleCommand(), sass.Command())...)
	return root
}

// command returns the command of a task.
func command(t *task.Task) *cobra.Command {
	var o task.Options
	c := &cobra.Command{Use: t.Name, Short: t.Short, Long: t.Long, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Rounds < 1 {
				return fmt.Errorf("--rounds %d: give at least 1", o.Rounds)
			}
			o.Log = c.ErrOrStderr()
			return t.Run(c.Context(), o, c.OutOrStdout())
		}}
	f := c.Flags()
	f.StringVar(&o.Only, "only", "", "only subjects or targets that match a regular expression")
	f.IntVar(&o.Rounds, "rounds", max(1, t.Rounds), "rounds in which all take turns")
	f.BoolVar(&o.Anew, "anew", false, "measure also subjects that were measured today with the same code")
	f.BoolVar(&o.Missing, "missing", false, "measure only subjects without any figure, unless --anew is given")
	f.BoolVar(&o.Page, "page", false, "measure nothing, write the pages of the figures that are there")
	f.StringVar(&o.Store, "store", t.File(), "file of figures; pages are made of the usual one only")
	c.MarkFlagsMutuallyExclusive("anew", "page")
	if t.Flags != nil {
		t.Flags(f)
	}
	return c
}

// staleCommand returns the command stale.
func staleCommand() *cobra.Command {
	var fail bool
	c := &cobra.Command{Use: "stale", Short: "list the figures that are older than the code that they measure",
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			old, err := stale(c.OutOrStdout())
			if err == nil && old && fail {
				err = errors.New("there are such figures")
			}
			return err
		}}
	c.Flags().BoolVar(&fail, "fail", false, "exit with 1 if there are such figures")
	return c
}

// stale lists the figures that are committed.
func stale(w io.Writer) (old bool, err error) {
	defer stop.Catch(&err)
	for _, t := range tasks() {
		open := func(string) (*figures.Store, error) { return figures.Open(t.File()) }
		if !t.Committed() {
			open = t.Kept
		}
		if open == nil {
			continue
		}
		s := stop.Must(open("."))
		some := stop.Must(s.Stale(w, t.Code...))
		old = old || some
	}
	return old, nil
}
