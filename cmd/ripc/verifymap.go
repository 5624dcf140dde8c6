package main

import (
	"fmt"
	"strconv"
	"strings"

	"ripc/internal/human"
	"ripc/verify"
)

// whereIn has the places of wrong elements in a tensor.
type whereIn struct {
	Tensor string `json:"tensor"`
	*verify.Where
}

func whereOf(all []verify.Difference) []whereIn {
	var in []whereIn
	for _, d := range all {
		if d.Where != nil {
			in = append(in, whereIn{d.Buffer, d.Where})
		}
	}
	return in
}

// belowWhere adds these places below the last row of t.
func belowWhere(t *table, all []whereIn) {
	for _, in := range all {
		for _, line := range whereLines(in.Where) {
			t.addBelow("%s", line)
		}
	}
}

// whereLines returns the places of wrong elements along each axis, and a small map.
func whereLines(w *verify.Where) []string {
	var parts []string
	for _, a := range w.Axes {
		if a.Extent > 1 {
			parts = append(parts, alongText(a))
		}
	}
	lines := []string{fmt.Sprintf("%d of %d wrong: %s", w.Wrong, w.Elems, strings.Join(parts, "; "))}
	if w.Padding > 0 {
		lines = append(lines, fmt.Sprintf("and %s behind the last channel", human.Count(w.Padding, "bit")))
	}
	if len(parts) == 0 {
		lines = lines[1:]
	}
	if m := w.Map; m != nil && w.Wrong < w.Elems {
		return append(lines, mapLines(m)...)
	}
	return lines
}

// alongText returns, for example, "rows 0 to 3 and 7 of 16".
func alongText(a verify.WhereAxis) string {
	plural := map[string]string{"batch": "pictures", "index": "indices"}[a.Name]
	if plural == "" {
		plural = a.Name + "s"
	}
	if len(a.Wrong) == a.Extent {
		return fmt.Sprintf("all %d %s", a.Extent, plural)
	}
	const most = 6
	var runs []string
	for i := 0; i < len(a.Wrong); {
		j := i
		for j+1 < len(a.Wrong) && a.Wrong[j+1] == a.Wrong[j]+1 {
			j++
		}
		switch {
		case j == i:
			runs = append(runs, strconv.Itoa(a.Wrong[i]))
		case j == i+1:
			runs = append(runs, strconv.Itoa(a.Wrong[i]), strconv.Itoa(a.Wrong[j]))
		default:
			runs = append(runs, fmt.Sprintf("%d to %d", a.Wrong[i], a.Wrong[j]))
		}
		i = j + 1
	}
	if len(a.Wrong) == 1 && a.Name != "index" {
		return fmt.Sprintf("%s %d of %d", a.Name, a.Wrong[0], a.Extent)
	}
	if len(runs) > most {
		return fmt.Sprintf("%d of %d %s, the first %s", len(a.Wrong), a.Extent, plural, strings.Join(runs[:most], ", "))
	}
	return fmt.Sprintf("%s %s of %d", plural, strings.Join(runs, ", "), a.Extent)
}

// mapLines draw m: a character a cell.
func mapLines(m *verify.WhereMap) []string {
	what := m.Across + "s from left to right"
	if m.Down != "" {
		what = m.Down + "s downwards, " + what
	}
	if m.Rows*m.Columns > 1 {
		what += fmt.Sprintf(", %dx%d a character", m.Rows, m.Columns)
	}
	lines := []string{"map (" + what + "; . is right, # wrong, 1 to 9 in tenths):"}
	for i, row := range m.Wrong {
		var b strings.Builder
		for j, wrong := range row {
			switch elems := m.Elems[i][j]; {
			case wrong == 0:
				b.WriteByte('.')
			case wrong == elems:
				b.WriteByte('#')
			default:
				b.WriteByte("123456789"[min(8, 10*wrong/elems)])
			}
		}
		lines = append(lines, b.String())
	}
	return lines
}
