package peers

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ripc/lab/figures"
	"ripc/lab/task"
)

// pictured is the subject of the README's picture.
const pictured = "resnet18"

// precisions are the pairs of columns of the summary, as engines name them.
func precisions() []string { return []string{"1 bit", "int8", "fp32"} }

// headlines are the subjects of the README's table.
func headlines() []string {
	return []string{"convB", "squeezenet", "resnet18", "binary_alexnet", "quicknet", "mobilenet"}
}

// cost is the name of the value by which engines are compared on a target.
func cost(target string) string {
	if target == "" {
		return "min_ms"
	}
	return ofCycles
}

// fastest returns the figure of least cost on a target with one thread at a precision, among ripc's
// engines or among the others, or nil. Engines with another first layer are left out.
func (r *results) fastest(s Subject, target, precision string, ripc bool) *figures.Figure {
	var best *figures.Figure
	for _, e := range s.Entries {
		if strings.HasPrefix(e.Engine, "ripc") != ripc {
			continue
		}
		if !strings.Contains(e.Engine, precision) || strings.Contains(e.Engine, "first layer") {
			continue
		}
		f, by := r.Find(figures.Key{Subject: s.Name, Variant: e.Engine, Target: target, Threads: 1}), cost(target)
		if f.Has(by) && (best == nil || f.Values[by] < best.Values[by]) {
			best = f
		}
	}
	return best
}

// brand is an engine's name without precision and variant.
func brand(engine string) string {
	name, _, _ := strings.Cut(engine, ",")
	return strings.TrimSuffix(name, " (XNNPACK)")
}

// title is the first part of a subject's description.
func (s Subject) title() string {
	text, _, _ := strings.Cut(s.What, ";")
	return text
}

// summary returns a table of the wanted subjects, or of all if none is wanted: at each precision
// ripc's fastest time and that of the fastest other engine. With shares, ripc's times have their
// shares of the machine's limits.
func (r *results) summary(wanted []string, shares bool) string {
	cells := []string{"layer or network"}
	for _, p := range precisions() {
		cells = append(cells, "ripc, "+p, "others, "+p)
	}
	table := task.Head(cells...)
	for _, s := range r.subjects {
		if len(wanted) > 0 && !slices.Contains(wanted, s.Name) || len(r.engines(s)) == 0 {
			continue
		}
		cells := []string{s.title()}
		for _, p := range precisions() {
			ours, theirs := "-", "-"
			if f := r.fastest(s, "", p, true); f != nil {
				ms := f.Values["min_ms"]
				ours = fmt.Sprintf("%.2f", ms)
				if share := r.boundMS(f) / ms; shares && share > 0 {
					ours += fmt.Sprintf(" (%.0f %%)", 100*share)
				}
			}
			if f := r.fastest(s, "", p, false); f != nil {
				theirs = fmt.Sprintf("%.2f %s", f.Values["min_ms"], brand(f.Variant))
			}
			cells = append(cells, ours, theirs)
		}
		table += task.Row(cells...)
	}
	return table
}

// larqNote returns the remark that a table with times of Larq Compute Engine needs.
func larqNote(table string) string {
	if !strings.Contains(table, "Larq Compute Engine") {
		return ""
	}
	return "\nLarq Compute Engine was written for 64-bit Arm, and has no code of its own for x86.\n"
}

// gain is a sentence with ripc's times of the pictured network at each precision.
func (r *results) gain() string {
	s := r.subjects[slices.IndexFunc(r.subjects, func(s Subject) bool { return s.Name == pictured })]
	var times []string
	source := ""
	for _, p := range precisions() {
		if f := r.fastest(s, "", p, true); f != nil {
			times = append(times, fmt.Sprintf("%.1f ms in %s", f.Values["min_ms"], p))
			source = f.CPU + ", " + f.Date
		}
	}
	return fmt.Sprintf("%s, takes %s with ripc, on one thread (%s).\n", s.title(), strings.Join(times, ", "), source)
}

// bestBars draws the README's picture: one network at each precision, ripc's fastest time beside
// that of the fastest other engine.
func (r *results) bestBars() string {
	at := slices.IndexFunc(r.subjects, func(s Subject) bool { return s.Name == pictured })
	s := r.subjects[at]
	part, most := task.Bars{Title: s.title() + ": one inference, one thread"}, 0.0
	for _, p := range precisions() {
		for _, ripc := range []bool{true, false} {
			f := r.fastest(s, "", p, ripc)
			if f == nil {
				continue
			}
			ms := f.Values["min_ms"]
			most = max(most, ms)
			part.Lines = append(part.Lines, task.Line{Label: brand(f.Variant) + ", " + p, Grey: !ripc,
				Text: fmt.Sprintf("%.1f ms", ms), Lengths: []float64{ms}})
		}
	}
	for _, l := range part.Lines {
		l.Lengths[0] /= most
	}
	return task.Picture([]task.Bars{part}, task.PhoneWidths())
}

// frontPages returns the README with its table, and the README's picture.
func (r *results) frontPages(root string) (map[string]string, error) {
	table := r.summary(headlines(), false)
	text, err := task.Fill(root, "README.md", map[string]string{
		"gain": r.gain(), "peers": table + "\n" + r.machine(false) + strings.TrimPrefix(larqNote(table), "\n")})
	return map[string]string{
		filepath.Join(root, "README.md"):              text,
		filepath.Join(root, "docs", "bench-best.svg"): r.bestBars(),
	}, err
}
