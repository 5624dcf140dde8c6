package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ripc/internal/human"
	"ripc/internal/terminal"
)

// table is text in columns. On a narrow terminal the least important columns are dropped, and long
// names and sentences are cut.
type table struct {
	columns []column
	rows    []row
}

// column describes a column.
type column struct {
	title string
	left  bool // it begins at the left; numbers end at the right
	// drop says when the column is left out: 1 first, then 2 ..., 0 never.
	drop int
	cut  cutting
	// least is the smallest width of a cut cell; 0 is leastCell.
	least int
}

// textCol is a column that begins at the left.
func textCol(title string, drop int) column { return column{title: title, left: true, drop: drop} }

// numCol is a column that ends at the right.
func numCol(title string, drop int) column { return column{title: title, drop: drop} }

// cutAs is c with cells that may be cut.
func (c column) cutAs(cut cutting, least int) column {
	c.cut, c.least = cut, least
	return c
}

// row has a cell for each column, and lines below them without columns.
type row struct {
	cells []string
	below []string
}

// cutting says which part of a long cell may be cut.
type cutting int

const (
	uncut     cutting = iota // none
	cutMiddle                // the middle of a path: its ends tell it from others
	cutTail                  // the end of a sentence
)

// add appends a row, a cell for each column.
func (t *table) add(cells ...string) { t.rows = append(t.rows, row{cells: cells}) }

// addBelow adds a line below the last row.
func (t *table) addBelow(format string, args ...any) {
	last := &t.rows[len(t.rows)-1]
	last.below = append(last.below, fmt.Sprintf(format, args...))
}

// write prints the table in lines of at most width characters, 0 being no limit, and says which
// columns are missing. Columns without text are dropped. Type output keeps errors of writing.
func (t *table) write(w io.Writer, width int) {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = utf8.RuneCountInString(c.title)
		for _, r := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(r.cells[i]))
		}
		if !slices.ContainsFunc(t.rows, func(r row) bool { return r.cells[i] != "" }) { // an empty column
			widths[i] = 0
		}
	}
	dropped, cut := t.fit(widths, width)
	var titles []string
	for _, c := range t.columns {
		titles = append(titles, c.title)
	}
	all := append([]row{{cells: titles}}, t.rows...)
	names := map[int][]string{} // by column, in rows, where middles are cut
	for i, c := range t.columns {
		if c.cut != cutMiddle {
			continue
		}
		for _, r := range all {
			names[i] = append(names[i], r.cells[i])
		}
		names[i] = human.ShortNames(names[i], widths[i])
	}
	for k, r := range all {
		var b strings.Builder
		for i, c := range t.columns {
			if widths[i] == 0 {
				continue
			}
			cell := shorten(r.cells[i], widths[i], c.cut)
			if c.cut == cutMiddle {
				cell = names[i][k]
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if c.left {
				b.WriteString(cell + pad + gap)
			} else {
				b.WriteString(pad + cell + gap)
			}
		}
		lines := []string{strings.TrimRight(b.String(), " ")}
		for _, l := range r.below {
			lines = append(lines, wrap(l, width, belowIndent))
		}
		fmt.Fprintln(w, strings.Join(lines, "\n"))
	}
	var missing []string
	if len(dropped) > 0 {
		missing = append(missing, "without "+strings.Join(dropped, ", "))
	}
	if len(cut) > 0 {
		missing = append(missing, strings.Join(cut, ", ")+" cut")
	}
	if len(missing) > 0 {
		text := "(" + strings.Join(missing, "; ") + ", for want of width: --wide shows all)"
		fmt.Fprintln(w, "\n"+wrap(text, width, 0))
	}
}

// fit narrows columns, to 0 if they are dropped, until the table is at most width wide. It returns
// the titles of dropped and of cut columns. Some tables remain too wide.
func (t *table) fit(widths []int, width int) (dropped, cut []string) {
	if width == 0 {
		return nil, nil
	}
	least := func(i int) int {
		if t.columns[i].cut != uncut {
			return min(widths[i], cmp.Or(t.columns[i].least, leastCell))
		}
		return widths[i]
	}
	room := func() int { // of width, if all cells are cut
		left := width + len(gap)
		for i := range widths {
			if widths[i] > 0 {
				left -= least(i) + len(gap)
			}
		}
		return left
	}
	for room() < 0 {
		next := -1
		for i, c := range t.columns {
			if c.drop > 0 && widths[i] > 0 && (next < 0 || c.drop < t.columns[next].drop) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		widths[next] = 0
		dropped = append(dropped, t.columns[next].title)
	}
	left := max(0, room())
	for i, c := range t.columns {
		if c.cut == uncut || widths[i] == 0 {
			continue
		}
		natural, short := widths[i], least(i)
		widths[i] = min(natural, short+left)
		left -= widths[i] - short
		if widths[i] < natural {
			cut = append(cut, c.title)
		}
	}
	return dropped, cut
}

// shorten returns s in at most width characters.
func shorten(s string, width int, cut cutting) string {
	runes := []rune(s)
	if len(runes) <= width || cut == uncut || width < 1 {
		return s
	}
	if cut == cutMiddle {
		return human.ShortName(s, width)
	}
	return string(runes[:width-1]) + "…"
}

// wrap breaks s into lines of at most width characters between words. Limits below 40 count as 40;
// 0 is no limit. Later lines of an indented text are indented by 2 more.
func wrap(s string, width, indent int) string {
	space := strings.Repeat(" ", indent)
	if width == 0 {
		return space + s
	}
	width = max(width, 40)
	var lines []string
	line := space
	for i, word := range strings.Fields(s) {
		switch {
		case i == 0:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			if line = space + word; indent > 0 {
				line = space + "  " + word
			}
		default:
			line += " " + word
		}
	}
	return strings.Join(append(lines, line), "\n")
}

const (
	gap         = "  " // between columns
	belowIndent = 7    // of lines below a row
	leastCell   = 16   // column.least
)

// wideFlag adds --wide, for commands that print tables.
func wideFlag(cmd *cobra.Command, wide *bool) {
	cmd.Flags().BoolVar(wide, "wide", false, "show all columns, however narrow the terminal is")
}

// widthOf returns the width of w's terminal. It is 0, no limit, for --wide and for outputs that
// programs read.
func widthOf(w io.Writer, wide bool) int {
	w = terminal.Destination(w)
	if o, ok := w.(*output); ok {
		w = o.to
	}
	f, ok := w.(*os.File)
	if wide || !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
