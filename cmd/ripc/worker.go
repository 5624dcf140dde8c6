package main

import (
	"github.com/spf13/cobra"

	"ripc/autotune/runner"
	"ripc/targets"
)

func workerCommand() *cobra.Command {
	var simulate, remove string
	cmd := &cobra.Command{
		Use:   "worker [flags]",
		Short: "Measure kernels for a ripc elsewhere, which speaks over standard input and output",
		Long: `Measure kernels for a ripc elsewhere, which speaks over standard input and output. A ripc
that measures on a board (ssh:USER@HOST) puts a small worker there by itself, once, and
starts it: this command is for whoever starts workers otherwise. Each kernel is measured in a
process of its own.`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
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
			return runner.Serve(cmd.Context(), r, runner.Announce(r), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&simulate, "simulate", "", "`TARGET` whose kernels are simulated here; their costs are estimated\ncycles")
	cmd.Flags().StringVar(&remove, "remove", "", "`ssh:USER@HOST` to take the worker away from, and nothing else")
	return cmd
}
