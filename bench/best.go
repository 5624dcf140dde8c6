package main

import (
	"fmt"
	"strings"
)

// pictured is the subject of the README's picture.
const pictured = "resnet18"

// precisions are the pairs of columns of the summary, as engines name them.
func precisions() []string { return []string{"1 bit", "int8", "fp32"} }

// headlines are the subjects of the README's table.
func headlines() []string {
	return []string{"convB", "squeezenet", "resnet18", "binary_alexnet", "quicknet", "mobilenet"}
}

// fastest returns the figure of least time with one thread at a precision, among ripc's engines or
// among the others, or nil. Engines with another first layer are left out.
func (s SubjectResult) fastest(precision string, ripc bool) *Figure {
	var best *Figure
	for i, f := range s.Figures {
		ours := strings.HasPrefix(f.Engine, "ripc")
		if ours != ripc || f.Threads != 1 {
			continue
		}
		if !strings.Contains(f.Engine, precision) || strings.Contains(f.Engine, "first layer") {
			continue
		}
		if best == nil || f.MinMS < best.MinMS {
			best = &s.Figures[i]
		}
	}
	return best
}

// title is the first part of what the subject is.
func (s SubjectResult) title() string {
	text, _, _ := strings.Cut(s.What, ";")
	return text
}

// brand is the engine's name without precision and variant.
func (f Figure) brand() string {
	name, _, _ := strings.Cut(f.Engine, ",")
	return strings.TrimSuffix(name, " (XNNPACK)")
}

// summary returns a table of the wanted subjects, or of all if none is wanted: at each precision
// ripc's fastest time and that of the fastest other engine. With shares, ripc's times have their
// shares of the machine's limits.
func (r *Results) summary(wanted []string, shares bool) string {
	var b strings.Builder
	cells := []string{"layer or network"}
	for _, p := range precisions() {
		cells = append(cells, "ripc, "+p, "others, "+p)
	}
	b.WriteString(head(cells...))
	subjects := r.Subjects
	if len(wanted) > 0 {
		subjects = nil
		for _, name := range wanted {
			for _, s := range r.Subjects {
				if s.Name == name {
					subjects = append(subjects, s)
				}
			}
		}
	}
	for _, s := range subjects {
		if len(s.Figures) == 0 {
			continue
		}
		title := s.title()
		cells := []string{title}
		for _, p := range precisions() {
			ours, theirs := "-", "-"
			if f := s.fastest(p, true); f != nil {
				ours = fmt.Sprintf("%.2f", f.MinMS)
				if share := r.share(*f); shares && share != "-" {
					ours += " (" + share + ")"
				}
			}
			if f := s.fastest(p, false); f != nil {
				theirs = fmt.Sprintf("%.2f %s", f.MinMS, f.brand())
			}
			cells = append(cells, ours, theirs)
		}
		b.WriteString(row(cells...))
	}
	return b.String()
}

// bestBars draws the README's picture: one network at each precision, ripc's fastest time beside
// that of the fastest other engine.
func (r *Results) bestBars() string {
	const left, width, right, line, gap, top = 220, 330, 80, 24, 8, 44
	var bars strings.Builder
	y, most, title := top, 0.0, pictured
	for _, s := range r.Subjects {
		if s.Name != pictured {
			continue
		}
		title = s.title()
		for _, p := range precisions() {
			for _, ripc := range []bool{true, false} {
				if f := s.fastest(p, ripc); f != nil {
					most = max(most, f.MinMS)
				}
			}
		}
		for _, p := range precisions() {
			for _, ripc := range []bool{true, false} {
				f := s.fastest(p, ripc)
				if f == nil {
					continue
				}
				color := "#9aa3ad"
				if ripc {
					color = "#2b6cb0"
				}
				long := max(2, width*f.MinMS/most)
				fmt.Fprintf(&bars, `<text x="%d" y="%d" text-anchor="end">%s, %s</text>`+"\n",
					left-8, y+14, escaped(f.brand()), p)
				fmt.Fprintf(&bars, `<rect x="%d" y="%d" width="%.1f" height="18" fill="%s"/>`+"\n", left, y, long, color)
				fmt.Fprintf(&bars, `<text x="%.1f" y="%d">%.1f ms</text>`+"\n", left+long+6, y+14, f.MinMS)
				y += line
			}
			y += gap
		}
	}
	var b strings.Builder
	all := left + width + right
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" `, all, y, all, y)
	b.WriteString(`font-family="sans-serif" font-size="14">` + "\n" + `<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	fmt.Fprintf(&b, `<text x="10" y="20" font-weight="bold">%s: one inference, one thread</text>`+"\n", escaped(title))
	fmt.Fprintf(&b, `<text x="10" y="36" font-size="11" fill="#666666">%s, %s</text>`+"\n", escaped(r.CPU), r.Date)
	return b.String() + bars.String() + "</svg>\n"
}
