package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ripc"
	"ripc/internal/files"
	"ripc/internal/human"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages into a folder",
		Args:  argCount(1, 1, "one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			pages := allCommands(cmd.Root())
			var written []files.New
			for _, c := range pages {
				written = append(written, files.New{Path: filepath.Join(args[0], pageName(c)+".1"), Data: manPage(c),
					Mode: 0o666})
			}
			if err := files.ReplaceAll(written...); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "wrote %s to %s; read one with `man -l %s`\n",
				human.Count(len(pages), "page"), args[0], filepath.Join(args[0], "ripc.1"))
			return err
		},
	}
}

// allCommands returns c and all commands below it.
func allCommands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			all = append(all, allCommands(below)...)
		}
	}
	return all
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage returns c's help in troff with the man macros.
func manPage(c *cobra.Command) []byte {
	var b bytes.Buffer
	section := func(title string) { fmt.Fprintf(&b, ".SH %s\n", title) }
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"ripc %s\"\n", strings.ToUpper(pageName(c)), ripc.Version)
	b.WriteString(".nh\n.ad l\n") // no hyphenation, no justified lines
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", troff(pageName(c)), troff(c.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&b, ".B %s\n", troff(c.UseLine()))
	section("DESCRIPTION")
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	b.WriteString(toTroff(text))
	for _, g := range flagGroups(c) {
		section(cmp.Or(map[string]string{"Flags": "OPTIONS"}[g.title], strings.ToUpper(g.title)))
		g.flags.VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
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
		b.WriteString(verbatimTroff(c.Example))
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

// toTroff returns text as troff. Sentences flow; lines that begin with a blank are kept.
func toTroff(text string) string {
	var b strings.Builder
	var kept []string
	end := func() {
		if len(kept) > 0 {
			b.WriteString(verbatimTroff(strings.Join(kept, "\n")))
			kept = nil
		}
	}
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, " "):
			kept = append(kept, line)
		case line == "":
			end()
			b.WriteString(".PP\n")
		default:
			end()
			b.WriteString(troff(line) + "\n")
		}
	}
	end()
	return b.String()
}

// verbatimTroff returns text with its line breaks, at the left margin, where more fits.
func verbatimTroff(text string) string { return ".in 2\n.nf\n" + troff(text) + "\n.fi\n.in\n" }

// troff escapes text so that troff reads no commands in it.
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
