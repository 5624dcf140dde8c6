package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ripc"
)

func doctorCommand() *cobra.Command {
	var asJSON, wide bool
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "List the tools that ripc uses, and how to get missing ones",
		Long: `Look for every program and library that ripc starts or loads. Each has a line with its
purpose and version, and a missing one the command that installs it. Only LLVM is needed by most commands; a
command that needs another tool says so itself. Nothing is installed. Exit code 1 says that
LLVM is missing.`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			tools := ripc.Tools(cmd.Context())
			var err error
			for _, t := range tools {
				if t.Needed && t.Missing != "" {
					err = errFailed
				}
			}
			if asJSON {
				return cmp.Or(printJSON(cmd.OutOrStdout(), map[string]any{"tools": tools}), err)
			}
			printTools(cmd.OutOrStdout(), tools, widthOf(cmd.OutOrStdout(), wide))
			return err
		},
	}
	wideFlag(cmd, &wide)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// printTools prints a line a tool, and below it the command that installs a missing one.
func printTools(w io.Writer, tools []ripc.Tool, width int) {
	t := &table{columns: []column{textCol("TOOL", 0), textCol("VERSION", 0), textCol("FOR", 0).cutAs(cutTail, 24),
		textCol("PATH", 1).cutAs(cutMiddle, 20)}}
	missing := 0
	for _, l := range tools {
		version := cmp.Or(l.Version, "here")
		if l.Missing != "" {
			version = "missing"
			missing++
		}
		t.add(l.Name, version, l.For, l.Path)
		if l.Missing != "" {
			t.addBelow("  %s", l.Install)
		}
	}
	t.write(w, width)
	if missing == 0 {
		fmt.Fprintln(w, "\nnothing is missing")
	}
}
