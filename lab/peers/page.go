package peers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ripc/internal/lists"
	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/measure/limits"
)

// limitSubject is the subject of the kernels of the limits.
const limitSubject = "limits"

// results are figures with their subjects, and the kernels of the limits.
type results struct {
	*figures.Store
	subjects []Subject
	kernels  []limits.Kernel
}

// threads are the numbers of threads that were measured, in order.
func (r *results) threads() []int {
	ns := lists.Map(r.Latest(), func(f *figures.Figure) int { return f.Threads })
	slices.Sort(ns)
	return slices.Compact(ns)
}

// figure returns that of an engine with a number of threads, nil if there is none.
func (r *results) figure(s Subject, engine string, threads int) *figures.Figure {
	f := r.Find(figures.Key{Subject: s.Name, Variant: engine, Threads: threads})
	if !f.Has("min_ms") {
		return nil
	}
	return f
}

// engines are those that were measured, in order.
func (r *results) engines(s Subject) []string {
	var names []string
	for _, e := range s.Entries {
		if slices.ContainsFunc(r.threads(), func(n int) bool { return r.figure(s, e.Engine, n) != nil }) {
			names = append(names, e.Engine)
		}
	}
	return names
}

// limit returns the figure of a kernel, nil if the machine cannot run it.
func (r *results) limit(k limits.Kernel, threads int) *figures.Figure {
	return r.Find(figures.Key{Subject: limitSubject, Variant: k.Name, Threads: threads})
}

// best is the highest rate of a limit, in multiply-adds a second, 0 if the machine has no kernel
// for it.
func (r *results) best(limit string, threads int) float64 {
	var best float64
	for _, k := range r.kernels {
		if f := r.limit(k, threads); k.Limit == limit && f != nil {
			best = max(best, f.Values["max_macs_per_second"])
		}
	}
	return best
}

// boundMS is the least time in which this machine can do a figure's products, one limit after the
// other; 0 if that is not known.
func (r *results) boundMS(f *figures.Figure) float64 {
	var ms float64
	for name, n := range f.Values {
		limit, ok := strings.CutSuffix(name, products)
		if !ok || n == 0 {
			continue
		}
		rate := r.best(limit, f.Threads)
		if rate == 0 {
			return 0
		}
		ms += 1000 * n / rate
	}
	return ms
}

// threadsText is "1 thread" or "2 threads".
func threadsText(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

// machine describes the machine, with its tools and clock if these are wanted.
func (r *results) machine(tools bool) string {
	var load float64
	var clocks []float64
	var all []*figures.Figure
	for _, f := range r.Latest() {
		load = max(load, f.Values["max_load"])
		if f.Subject == limitSubject {
			clocks = append(clocks, f.Values["clock_ghz"])
		}
		if f.Has("min_ms") || f.Subject == limitSubject {
			all = append(all, f)
		}
	}
	text := figures.Sources(all) + "\n\n"
	if tools {
		text += fmt.Sprintf("%s; %.2f GHz behind the kernels of the limits.\n\n", figures.Tools(all),
			figures.Median(clocks))
	}
	return text + task.Busy(load)
}

// page is the summary of a run in Markdown; name is that of the files, without their extensions.
func (r *results) page(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Side by side\n\n<!-- Made by make %s; do not edit. -->\n\n", name)
	b.WriteString(r.machine(true))
	b.WriteString("Milliseconds of one inference with one thread, the least of all turns. At each precision the " +
		"table has ripc's fastest time, with its share of the machine's limits, and that of the fastest other " +
		"engine. `lab/data` has all engines, medians and two threads, and `lab/peers/README.md` has the method.\n\n")
	table := r.summary(nil, true)
	b.WriteString(table + larqNote(table))
	ns := r.threads()
	fmt.Fprintf(&b, "\n![times of all engines](%s.svg)\n\nThick bars are for %s", name, threadsText(ns[0]))
	if len(ns) > 1 {
		fmt.Fprintf(&b, ", thin ones for %s", threadsText(ns[1]))
	}
	b.WriteString("; the scale is logarithmic. A line across a bar is the limit of the machine.\n")

	b.WriteString("\n## Limits of this machine\n\nThe best rates of small loops of the named instructions, in the " +
		"same run. A share is the time of a network's products at these rates, divided by its time. Sums of bits " +
		"have a product for each pair of bits.\n\n")
	cells := []string{"limit", "kernel", "instructions"}
	for _, n := range ns {
		cells = append(cells, threadsText(n)+": MACs/cycle", "GMAC/s")
	}
	b.WriteString(task.Head(cells...))
	for _, limit := range limits.Names() {
		for _, k := range r.kernels {
			first := r.limit(k, ns[0])
			if k.Limit != limit || first == nil || first.Values["max_macs_per_second"] < r.best(limit, ns[0]) {
				continue
			}
			cells := []string{k.Limit, k.Name, k.What}
			for _, n := range ns {
				v := r.limit(k, n).Values
				cells = append(cells, fmt.Sprintf("%.0f", v["macs_per_cycle"]),
					fmt.Sprintf("%.0f", v["max_macs_per_second"]/1e9))
			}
			b.WriteString(task.Row(cells...))
		}
	}
	b.WriteString(r.boardTable())
	if rows := r.missing(); rows != "" {
		b.WriteString("\n## Not measured\n\n" + task.Head("engine", "subjects", "why") + rows)
	}
	return b.String()
}

// boardTable returns the section of boards: ripc's fewest estimated cycles beside those of the
// fastest other engine. It is "" without figures.
func (r *results) boardTable() string {
	var all []*figures.Figure
	var boards []string
	for _, f := range r.Latest() {
		if f.Has(ofCycles) {
			all, boards = append(all, f), append(boards, f.Target)
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(boards)
	boards = slices.Compact(boards)
	cells, few := []string{"layer or network"}, []string{"fp32", "int8"}
	for _, t := range boards {
		for _, p := range few {
			cells = append(cells, t+", "+p)
		}
	}
	table := task.Head(cells...)
	for _, s := range r.subjects {
		cells, found := []string{s.Name}, false
		for _, t := range boards {
			for _, p := range few {
				text := "-"
				ours, theirs := r.fastest(s, t, p, true), r.fastest(s, t, p, false)
				if ours != nil && theirs != nil {
					text = fmt.Sprintf("%s / %s %s", millions(ours), millions(theirs), brand(theirs.Variant))
					found = true
				}
				cells = append(cells, text)
			}
		}
		if found {
			table += task.Row(cells...)
		}
	}
	return "\n## Boards\n\nEstimated millions of cycles ([estimates.md](estimates.md)) of one inference, by ripc / " +
		"by the fastest other engine; in parentheses millions of instructions. LLVM's models of in-order cores " +
		"suit ripc, which orders instructions by them: kernels that were ordered on real cores are faster than " +
		"they look.\n\n" +
		table + "\n" + figures.Sources(all) + "\n"
}

// millions returns the cycles of an estimate, and its instructions in parentheses.
func millions(f *figures.Figure) string {
	return fmt.Sprintf("%.1f (%.1f)", f.Values[ofCycles]/1e6, f.Values["instructions"]/1e6)
}

// missing returns rows that say why entries were not measured, one for each engine and reason. It
// leaves out entries that are for one thread only.
func (r *results) missing() (rows string) {
	var order [][2]string // engine with its threads, reason
	by := map[[2]string][]string{}
	for _, s := range r.subjects {
		for _, e := range s.Entries {
			for _, n := range r.threads() {
				f := r.Find(figures.Key{Subject: s.Name, Variant: e.Engine, Threads: n})
				if f == nil || f.Why == "" || f.Why == e.OneThread {
					continue
				}
				key := [2]string{e.Engine + ", " + threadsText(n), f.Why}
				if by[key] == nil {
					order = append(order, key)
				}
				by[key] = append(by[key], s.Name)
			}
		}
	}
	for _, key := range order {
		rows += task.Row(key[0], strings.Join(by[key], ", "), strings.ReplaceAll(key[1], "|", "\\|"))
	}
	return rows
}

// bars draws the times of all engines, subject by subject, each with a logarithmic scale of its
// own.
func (r *results) bars() string {
	var parts []task.Bars
	ns := r.threads()
	ns = ns[:min(2, len(ns))]
	for _, s := range r.subjects {
		least, most := math.Inf(1), 0.0
		for _, e := range r.engines(s) {
			for _, n := range ns {
				if f := r.figure(s, e, n); f != nil {
					ms := f.Values["min_ms"]
					least, most = min(least, ms), max(most, ms)
					if bound := r.boundMS(f); bound > 0 {
						least = min(least, bound)
					}
				}
			}
		}
		if most == 0 {
			continue
		}
		low, high := math.Floor(math.Log10(least)), math.Ceil(math.Log10(most))
		high = max(high, low+1)
		at := func(ms float64) float64 { return (math.Log10(ms) - low) / (high - low) }
		part := task.Bars{Title: s.Name + ": " + s.What}
		for decade := low; decade <= high; decade++ {
			ms := math.Pow(10, decade)
			part.Ticks = append(part.Ticks, task.Tick{At: at(ms), Label: fmt.Sprintf("%g ms", ms)})
		}
		for _, e := range r.engines(s) {
			line := task.Line{Label: e, Grey: !strings.HasPrefix(e, "ripc"), Lengths: make([]float64, len(ns)),
				Limits: make([]float64, len(ns))}
			var times []string
			for i, n := range ns {
				f := r.figure(s, e, n)
				if f == nil {
					times = append(times, "-")
					continue
				}
				line.Lengths[i] = at(f.Values["min_ms"])
				if bound := r.boundMS(f); bound > 0 {
					line.Limits[i] = at(bound)
				}
				times = append(times, fmt.Sprintf("%.3f", f.Values["min_ms"]))
			}
			line.Text = strings.Join(times, " / ") + " ms"
			part.Lines = append(part.Lines, line)
		}
		parts = append(parts, part)
	}
	return task.Picture(parts, task.DeskWidths())
}
