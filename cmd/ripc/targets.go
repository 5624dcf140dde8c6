package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ripc/targets"
	"ripc/targets/boards"
)

// targetLine is a target and what this machine can do with it.
type targetLine struct {
	targets.Target
	Host   bool   `json:"host"`
	RunsBy string `json:"runs"` // "here", "simulated", "as C" (compiled for this machine, with --backend c) or "not here"
}

func targetsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "targets [flags]",
		Short: "List the machines that ripc compiles for",
		Long: `List the machines that ripc compiles for. The one marked with * is this machine, as its
CPU and system report it. Code for the others runs here, where this machine has their
features, or in simulation. For those without an operating system there is C source, which is
checked in a program on a simulated board, or as this machine's own compiler makes it where
there is no board.`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var lines []targetLine
			for _, t := range targets.All() {
				lines = append(lines, targetLine{t, t.Name == targets.HostName, runs(t)})
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"targets": lines})
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "  NAME\tCPU\tVECTORS\tCORES\tRUNS\tBOARD")
			for _, l := range lines {
				mark := " "
				if l.Host {
					mark = "*"
				}
				vectors := fmt.Sprintf("%d bits", l.VectorBits)
				if l.Bare {
					vectors = "none"
				}
				fmt.Fprintf(w, "%s %s\t%s\t%s\t%d\t%s\t%s\n", mark, l.Name, l.CPU, vectors, l.Cores, l.RunsBy, l.Board)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout())
			for _, l := range lines {
				if len(l.Features) > 0 {
					fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", l.Name, strings.Join(l.Features, " "))
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func runs(t targets.Target) string {
	host, err := targets.Host()
	switch {
	case t.Native():
		return "here"
	case t.Bare:
		if _, ok := boards.Of(t.Name); ok {
			return "simulated"
		}
		return "as C"
	case t.QemuCPU != "" && (err != nil || t.Arch != host.Arch):
		return "simulated"
	}
	return "not here"
}
