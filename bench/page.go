package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"ripc/bench/limits"
	"ripc/internal/svg"
)

// writePage writes NAME.md, NAME.svg and, of a run with other engines, NAME-best.svg from NAME.json.
func writePage(name string) error {
	r, err := read(name + ".json")
	if err != nil {
		return err
	}
	pictures := map[string]string{name + ".svg": r.bars()}
	if slices.ContainsFunc(r.Subjects, func(s SubjectResult) bool { return s.Name == pictured && s.fastest("fp32", false) != nil }) {
		pictures[bestOf(name)] = r.bestBars()
	}
	for path, picture := range pictures {
		if err := svg.Finite([]byte(picture)); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(picture), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(name+".md", []byte(r.page(filepath.Base(name))), 0o644)
}

// bestOf is the path of the picture that belongs to the page NAME.md: docs/bench-best.svg to docs/bench-peers.md.
func bestOf(name string) string { return strings.TrimSuffix(name, "-peers") + "-best.svg" }

// row is a line of a table in Markdown.
func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// head is the header of a table in Markdown.
func head(cells ...string) string { return row(cells...) + strings.Repeat("|---", len(cells)) + "|\n" }

// threads are the numbers of threads that were measured, in order.
func (r *Results) threads() []int {
	var ns []int
	for _, l := range r.Limits {
		ns = append(ns, l.Threads)
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

// figure is that of an engine with a number of threads; nil if there is none.
func (s SubjectResult) figure(engine string, threads int) *Figure {
	at := slices.IndexFunc(s.Figures, func(f Figure) bool { return f.Engine == engine && f.Threads == threads })
	if at < 0 {
		return nil
	}
	return &s.Figures[at]
}

// engines are those that were measured, in order.
func (s SubjectResult) engines() []string {
	var names []string
	for _, f := range s.Figures {
		if !slices.Contains(names, f.Engine) {
			names = append(names, f.Engine)
		}
	}
	return names
}

// first is the reference for the subject's figures with that number of threads: the first one.
func (s SubjectResult) first(threads int) *Figure {
	for _, e := range s.engines() {
		if f := s.figure(e, threads); f != nil {
			return f
		}
	}
	return nil
}

// share is the share of the machine's limits that a figure reaches: "-" if it is not known.
func (r *Results) share(f Figure) string {
	bound := r.boundMS(f)
	if bound == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*bound/f.MinMS)
}

// threadsOf is "1 thread" or "2 threads".
func threadsOf(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

// machine describes the machine and the run.
func (r *Results) machine() string {
	text := fmt.Sprintf("Measured on %s, in %.0f seconds: %d cores, %.2f GHz behind the kernels of the limits; %s. %s. Command: `%s`.\n",
		r.Mark, r.Seconds, r.Cores, r.GHz, r.System, strings.Join(r.Versions, ", "), r.Command)
	if r.Load >= quiet {
		text += fmt.Sprintf("\n**The machine was busy with other work** (load %.1f before the run): medians, times of several threads and times of long runs say little.\n", r.Load)
	}
	return text
}

// quiet is the load below which a machine does nothing else that matters.
const quiet = 0.5

// page is the summary of a run in Markdown; name is that of the files, without their extensions.
func (r *Results) page(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Side by side\n\n<!-- Made by go run ./bench -page from %s.json; do not edit. -->\n\n", name)
	b.WriteString(r.machine())
	fmt.Fprintf(&b, "\nMilliseconds of one inference with one thread, the least of %d rounds. All engines of a layer or network take turns; each has loaded it in a process "+
		"of its own, which is stopped between its turns. At each precision the table has ripc's fastest time and that of the fastest other engine. The number in parentheses is ripc's share of the machine's limits. "+
		"[%s.json](%s.json) has all engines, medians and two threads, and `bench/README.md` says how all of it is measured.\n\n", r.Rounds, name, name)
	b.WriteString(r.summary(nil, true))
	fmt.Fprintf(&b, "\n![times of all engines](%s.svg)\n\nThick bars are for %s", name, threadsOf(r.threads()[0]))
	if ns := r.threads(); len(ns) > 1 {
		fmt.Fprintf(&b, ", thin ones for %s", threadsOf(ns[1]))
	}
	b.WriteString("; the scale is logarithmic. A line across a bar is the limit of the machine.\n")

	b.WriteString("\n## Limits of this machine\n\nThe best rates of small loops that do nothing but the named instructions, in the same run. A share is the time " +
		"of a network's products at these rates, divided by the shortest time that was measured. Sums of bits have a product for each pair of bits.\n\n")
	cells := []string{"limit", "kernel", "instructions"}
	for _, n := range r.threads() {
		cells = append(cells, threadsOf(n)+": MACs/cycle", "GMAC/s")
	}
	b.WriteString(head(cells...))
	for _, limit := range limits.Names() {
		first := r.threads()[0]
		best := slices.IndexFunc(r.Limits, func(l LimitRate) bool {
			return l.Limit == limit && l.Threads == first && l.PerSecond == r.best(limit, first)
		})
		if best < 0 {
			continue
		}
		cells := []string{limit, r.Limits[best].Kernel, r.Limits[best].What}
		for _, n := range r.threads() {
			for _, l := range r.Limits {
				if l.Kernel == r.Limits[best].Kernel && l.Threads == n {
					cells = append(cells, fmt.Sprintf("%.0f", l.PerCycle), fmt.Sprintf("%.0f", l.PerSecond/1e9))
				}
			}
		}
		b.WriteString(row(cells...))
	}

	if len(r.Missing) > 0 {
		b.WriteString("\n## Not measured\n\n" + head("engine", "subjects", "why"))
		for i, m := range r.Missing {
			same := func(o Missing) bool { return o.engine() == m.engine() && o.Why == m.Why }
			if slices.ContainsFunc(r.Missing[:i], same) {
				continue
			}
			var subjects []string
			for _, o := range r.Missing[i:] {
				if same(o) {
					subjects = append(subjects, o.Subject)
				}
			}
			b.WriteString(row(m.engine(), strings.Join(subjects, ", "), strings.ReplaceAll(m.Why, "|", "\\|")))
		}
	}
	return b.String()
}

// engine names the missing measurement.
func (m Missing) engine() string {
	if m.Threads == 0 {
		return m.Engine
	}
	return m.Engine + ", " + threadsOf(m.Threads)
}

// cells are a figure's times, its time in times of the first, its rate and its share.
func (r *Results) cells(s SubjectResult, engine string, threads int) []string {
	f := s.figure(engine, threads)
	if f == nil {
		return []string{"-", "-", "-", "-"}
	}
	return []string{fmt.Sprintf("%.3f / %.3f", f.MinMS, f.MedianMS), fmt.Sprintf("%.2f", f.MinMS/s.first(threads).MinMS),
		fmt.Sprintf("%.0f", float64(s.MACs)/f.MinMS/1e6), r.share(*f)}
}

// table is the table of a run for a terminal.
func (r *Results) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "LIMIT\tKERNEL\tTHREADS\tMACS/CYCLE\tGMAC/S\t\n")
	for _, l := range r.Limits {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.0f\t%.0f\t\n", l.Limit, l.Kernel, l.Threads, l.PerCycle, l.PerSecond/1e9)
	}
	fmt.Fprintf(w, "\t\t\t\t\t\nSUBJECT\tENGINE\tTHREADS\tMS (MIN / MEDIAN)\tTIMES THE FIRST\tGMAC/S\tSHARE\n")
	for _, s := range r.Subjects {
		for _, n := range r.threads() {
			for _, e := range s.engines() {
				if s.figure(e, n) != nil {
					fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", s.Name, e, n, strings.Join(r.cells(s, e, n), "\t"))
				}
			}
		}
	}
	_ = w.Flush() // to memory
	for i, m := range r.Missing {
		if i == 0 {
			b.WriteString("\nNot measured:\n")
		}
		fmt.Fprintf(&b, "  %s, %s: %s\n", m.Subject, m.engine(), m.Why)
	}
	return b.String()
}
