package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"ripc"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of ripc and of the tools it uses",
		Args:  argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printVersion(cmd.Context(), cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// printVersion prints the versions of ripc and of its parts.
func printVersion(ctx context.Context, w io.Writer, asJSON bool) error {
	llvm, err := ripc.LLVM()
	switch {
	case err != nil:
		llvm = err.Error()
	case llvm == "":
		llvm = "missing"
	}
	library := ripc.LLVMLibrary(ctx)
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if asJSON {
		return printJSON(w, map[string]string{"ripc": ripc.Version, "llvm": llvm, "llvm_library": library,
			"go": runtime.Version(), "platform": platform})
	}
	if library != "" {
		llvm += " by " + library
	}
	fmt.Fprintf(w, "ripc %s (LLVM %s, %s, %s)\n", ripc.Version, llvm, runtime.Version(), platform)
	return nil
}
