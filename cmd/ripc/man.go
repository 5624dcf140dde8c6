package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ripc"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages into a folder",
		Args:  args(1, 1, "one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			pages := withCommands(cmd.Root())
			for _, c := range pages {
				if err := writeFile(filepath.Join(args[0], pageName(c)+".1"), manPage(c)); err != nil {
					return err
				}
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "wrote %d pages to %s; read one with `man -l %s`\n", len(pages), args[0], filepath.Join(args[0], "ripc.1"))
			return err
		},
	}
}

// withCommands is c and all commands below it.
func withCommands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			all = append(all, withCommands(below)...)
		}
	}
	return all
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is c's help in troff with the man macros.
func manPage(c *cobra.Command) []byte {
	var b bytes.Buffer
	section := func(title string) { fmt.Fprintf(&b, ".SH %s\n", title) }
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"ripc %s\"\n", strings.ToUpper(pageName(c)), ripc.Version)
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", troff(pageName(c)), troff(c.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&b, ".B %s\n", troff(c.UseLine()))
	section("DESCRIPTION")
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(&b, ".nf\n%s\n.fi\n", troff(text))
	if flags := c.LocalFlags(); flags.HasAvailableFlags() {
		section("OPTIONS")
		flags.VisitAll(func(f *pflag.Flag) {
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			arg, usage := pflag.UnquoteUsage(f)
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", troff(strings.TrimSpace(name+" "+arg)), troff(usage))
		})
	}
	if c.Example != "" {
		section("EXAMPLES")
		fmt.Fprintf(&b, ".nf\n%s\n.fi\n", troff(c.Example))
	}
	if c.HasAvailableSubCommands() {
		section("COMMANDS")
		for _, s := range c.Commands() {
			if s.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", troff(pageName(s)), troff(s.Short))
			}
		}
	}
	section("EXIT STATUS")
	b.WriteString("0 success; 1 failure (a difference found, a missing tool); 2 wrong usage or bad input.\n")
	return b.Bytes()
}

// troff keeps text from being read as commands.
func troff(text string) string {
	text = strings.ReplaceAll(text, `\`, `\e`)
	text = strings.ReplaceAll(text, "-", `\-`)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
