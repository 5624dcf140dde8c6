package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"ripc/autotune/runner"
	"ripc/targets"
)

func workerCommand() *cobra.Command {
	var simulate, remove string
	var f runner.Fleet
	cmd := &cobra.Command{
		Use:   "worker [nats://HOST[:PORT]] [flags]",
		Short: "Measure kernels for a ripc elsewhere",
		Long: `Measure kernels for a ripc elsewhere. With the address of a hub (ripc hub), pull jobs from
it, one at a time, until it is stopped; when the hub is away, wait for it. Without, a ripc
speaks over standard input and output: one that measures on a board (ssh:USER@HOST) puts a
small worker there by itself, once, and starts it, so this is for whoever starts workers
otherwise. Each kernel is measured in a process of its own.

A worker runs the code that it is sent.`,
		Example: `  ripc worker nats://hub.local --key pi3.key`,
		Args:    argCount(0, 1, "the address of a hub or nothing"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if remove != "" {
				return runner.Remove(cmd.Context(), remove, runner.Options{})
			}
			r := runner.Native(runner.Options{})
			if simulate != "" {
				t, err := targets.Lookup(simulate)
				if err == nil {
					r, err = runner.Open(cmd.Context(), "qemu", t, runner.Options{})
				}
				if err != nil {
					return err
				}
			}
			defer r.Close()
			if len(args) > 0 {
				f.URL = args[0]
				f.Log = func(text string) { fmt.Fprintln(stderr(), "ripc worker: "+printableText(text)) }
				return f.Work(cmd.Context(), runner.Announce(r), r.Measure)
			}
			return runner.Serve(cmd.Context(), r, runner.Announce(r), cmd.InOrStdin(), rawWriter(cmd.OutOrStdout()))
		},
	}
	cmd.Flags().StringVar(&simulate, "simulate", "", "`TARGET`: its kernels are simulated here; their costs are "+
		"estimated cycles")
	cmd.Flags().StringVar(&f.Key, "key", "", "`FILE` of the worker's key, which ripc hub keys made")
	cmd.Flags().StringVar(&remove, "remove", "", "`ssh:USER@HOST` to take the worker away from, and nothing else")
	return cmd
}
