package main

import (
	"testing"

	"github.com/spf13/cobra"

	"ripc/internal/need"
)

// TestCommandLine: the command on a page is one that a shell runs again: lists repeat their flag, words are quoted where they must be.
func TestCommandLine(t *testing.T) {
	cmd := &cobra.Command{Use: "report"}
	cmd.Flags().SortFlags = false
	cmd.Flags().Bool("trust", true, "")
	cmd.Flags().StringP("output", "o", "", "")
	cmd.Flags().StringSlice("float", nil, "")
	cmd.Flags().Bool("json", false, "")
	cmd.Flags().String("target", "host", "")
	need.OK(t, cmd.ParseFlags([]string{"-o", "it's a page.html", "--float", "a,b;c", "--json", "--trust=false"}))
	const want = `report 'my model.onnx' --output 'it'\''s a page.html' --float a --float 'b;c' --json --trust=false`
	if got := commandLine(cmd, []string{"my model.onnx"}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
