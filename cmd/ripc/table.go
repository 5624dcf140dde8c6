package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// table is text in columns. On a terminal that is too narrow for all of them, the columns that matter least are left out.
type table struct {
	columns []column
	rows    [][]string
}

// column is one of a table.
type column struct {
	title string
	left  bool // it begins at the left; numbers end at the right
	// drop says when the column is left out: 1 first, then 2 ..., 0 never.
	drop int
}

// add appends a row, a cell for each column.
func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write prints the table in at most width characters a line, 0 being any number, and says which columns are missing. Columns
// without a word in any row are left out.
func (t *table) write(w io.Writer, width int) error {
	widths, total := make([]int, len(t.columns)), 0
	for i, c := range t.columns {
		widths[i] = utf8.RuneCountInString(c.title)
		for _, r := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(r[i]))
		}
		total += widths[i] + len(gap)
	}
	dropped := map[int]bool{}
	for i := range t.columns { // what no row says needs no column
		if !slices.ContainsFunc(t.rows, func(r []string) bool { return r[i] != "" }) {
			dropped[i] = true
			total -= widths[i] + len(gap)
		}
	}
	var names []string
	for total-len(gap) > width && width > 0 {
		next := -1
		for i, c := range t.columns {
			if c.drop > 0 && !dropped[i] && (next < 0 || c.drop < t.columns[next].drop) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		dropped[next] = true
		names = append(names, t.columns[next].title)
		total -= widths[next] + len(gap)
	}
	var titles []string
	for _, c := range t.columns {
		titles = append(titles, c.title)
	}
	for _, r := range append([][]string{titles}, t.rows...) {
		var b strings.Builder
		for i, c := range t.columns {
			if dropped[i] {
				continue
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(r[i]))
			if c.left {
				b.WriteString(r[i] + pad + gap)
			} else {
				b.WriteString(pad + r[i] + gap)
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	if len(names) > 0 {
		_, err := fmt.Fprintf(w, "\n(without %s, for want of width: --wide shows all)\n", strings.Join(names, ", "))
		return err
	}
	return nil
}

// gap is between columns.
const gap = "  "

// wideFlag adds --wide, for commands that print tables.
func wideFlag(cmd *cobra.Command, wide *bool) {
	cmd.Flags().BoolVar(wide, "wide", false, "show all columns, however narrow the terminal is")
}

// widthOf is how many characters a line on w may have: the width of its terminal; 0, any number, elsewhere, and for --wide.
func widthOf(w io.Writer, wide bool) int {
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
