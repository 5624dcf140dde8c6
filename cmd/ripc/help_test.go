package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// TestHelpFits: the help of every command fits a terminal, and says nothing twice.
func TestHelpFits(t *testing.T) {
	for _, width := range []int{80, 100} {
		root := newRoot(width)
		for _, c := range allCommands(root) {
			if c.Name() == "completion" || c.Parent() != nil && c.Parent().Name() == "completion" {
				continue // cobra's own
			}
			var b bytes.Buffer
			c.SetOut(&b)
			if err := c.Help(); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if line = strings.TrimRight(line, "\n"); utf8.RuneCountInString(line) > width {
					t.Errorf("%s --help has %d columns, not %d: %s", c.CommandPath(), utf8.RuneCountInString(line), width, line)
				}
			}
			if !strings.Contains(b.String(), "Usage:\n  "+c.CommandPath()) {
				t.Errorf("%s --help does not say how it is called:\n%s", c.CommandPath(), b.String())
			}
		}
	}
}

// TestHelpGroups: help shows a command's own flags first, then those that it shares with others, under what they are for.
func TestHelpGroups(t *testing.T) {
	root := newRoot(80)
	for _, c := range root.Commands() {
		groups := flagGroups(c)
		var titles []string
		shown := 0
		for _, g := range groups {
			titles = append(titles, g.title)
			g.flags.VisitAll(func(*pflag.Flag) { shown++ })
		}
		all := 0
		c.LocalFlags().VisitAll(func(*pflag.Flag) { all++ })
		if shown != all {
			t.Errorf("%s shows %d of %d flags", c.Name(), shown, all)
		}
		if c.Flags().Lookup("schedule") == nil {
			continue
		}
		want := []string{"Flags", "How the code is made", "How the model is read"}
		if c.Flags().Lookup("fold") != nil {
			want = slices.Insert(want, 1, "How an accelerator is folded (targets with an FPGA)")
		}
		if !slices.Equal(titles, want) {
			t.Errorf("%s: groups %q, want %q", c.Name(), titles, want)
		}
		for _, own := range []string{"target", "json", "verbose"} {
			if c.Flags().Lookup(own) != nil && groups[0].flags.Lookup(own) == nil {
				t.Errorf("%s: --%s is not among its first flags", c.Name(), own)
			}
		}
	}
}

// TestManPagesFit: lines of manual pages that do not flow fit 80 columns behind their indent.
func TestManPagesFit(t *testing.T) {
	const most = 76
	for _, c := range allCommands(newRoot(80)) {
		verbatim := false
		for line := range strings.Lines(string(manPage(c))) {
			switch line = strings.TrimRight(line, "\n"); line {
			case ".nf", ".fi":
				verbatim = line == ".nf"
			default:
				if plain := strings.ReplaceAll(line, `\-`, "-"); verbatim && utf8.RuneCountInString(plain) > most {
					t.Errorf("%s has a line of %d characters: %s", pageName(c), utf8.RuneCountInString(plain), plain)
				}
			}
		}
	}
}

// Sentences flow, and what is indented stays.
func TestReflowed(t *testing.T) {
	got := reflow("One sentence that stands\nin two lines here.\n  so    library\n  a     archive\nAnd\non.\n\nNext.", 40)
	if want := "One sentence that stands in two lines\nhere.\n  so    library\n  a     archive\nAnd on.\n\nNext."; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
