package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHelpFits: the help of every command fits a terminal, and says nothing twice.
func TestHelpFits(t *testing.T) {
	for _, width := range []int{80, 100} {
		root := newRoot(width)
		for _, c := range withCommands(root) {
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

// Sentences flow, and what is indented stays.
func TestReflowed(t *testing.T) {
	got := reflowed("One sentence that stands\nin two lines here.\n  so    library\n  a     archive\nAnd\non.\n\nNext.", 40)
	if want := "One sentence that stands in two lines\nhere.\n  so    library\n  a     archive\nAnd on.\n\nNext."; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
