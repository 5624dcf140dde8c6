package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"ripc/internal/svg"
	"ripc/measure/provenance"
)

// report is the result of a comparison.
type report struct {
	Trials int      `json:"trials"`
	Seeds  int      `json:"seeds"`
	Batch  int      `json:"batch"`
	Tasks  []result `json:"tasks"`
}

// write writes OUT.json, OUT.md and OUT.svg. Results of an earlier report stay if this run does not
// repeat them: other tasks, and other searches of a task with the same reference and default.
func (r *report) write(out string) error {
	// a copy: old may have searches for tasks that this run has still to compare
	all := report{Trials: r.Trials, Seeds: r.Seeds, Batch: r.Batch, Tasks: slices.Clone(r.Tasks)}
	var old report
	if text, err := os.ReadFile(out + ".json"); err == nil && json.Unmarshal(text, &old) == nil &&
		old.Seeds == r.Seeds && old.Batch == r.Batch {
		all.keep(&old)
	}
	slices.SortFunc(all.Tasks, func(a, b result) int { return strings.Compare(a.Task, b.Task) })
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out+".json", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return all.draw(out)
}

// redraw writes OUT.md and OUT.svg from OUT.json.
func redraw(out string) error {
	var r report
	text, err := os.ReadFile(out + ".json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%s.json: %w", out, err)
	}
	return r.draw(out)
}

// draw writes the page and the picture.
func (r *report) draw(out string) error {
	picture := r.curves()
	if err := svg.Finite([]byte(picture)); err != nil {
		return err
	}
	for _, f := range []struct{ name, text string }{{".md", r.page(out)}, {".svg", picture}} {
		if err := os.WriteFile(out+f.name, []byte(f.text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// keep adds old's further results.
func (r *report) keep(old *report) {
	r.Trials = max(r.Trials, old.Trials)
	for _, t := range old.Tasks {
		i := slices.IndexFunc(r.Tasks, func(u result) bool { return u.Task == t.Task })
		if i < 0 {
			r.Tasks = append(r.Tasks, t)
			continue
		}
		now := &r.Tasks[i]
		if now.Points != t.Points || now.Reference != t.Reference || now.Default != t.Default || now.Best != t.Best {
			continue
		}
		for name, curves := range t.Curves {
			if _, ok := now.Curves[name]; !ok {
				now.Curves[name] = curves
			}
		}
	}
}

// searchesOf are those of all tasks, in the order of the page.
func (r *report) searchesOf() []string {
	all := map[string]bool{}
	for _, t := range r.Tasks {
		for n := range t.Curves {
			all[n] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int { return strings.Compare(b, a) })
}

// percentOverBest is by how many percent the median of a search is above the best of the reference.
// It is NaN after the search's last trial.
func (t *result) percentOverBest(search string, trial int) float64 {
	if trial > t.lastTrial(search) {
		return math.NaN()
	}
	return 100 * (median(t.Curves[search], trial)/t.Best - 1)
}

// lastTrial is the last trial of a search.
func (t *result) lastTrial(search string) int {
	n := 0
	for _, c := range t.Curves[search] {
		n = max(n, len(c))
	}
	return n - 1
}

// page is the table.
func (r *report) page(out string) string {
	var b strings.Builder
	name := out[strings.LastIndex(out, "/")+1:]
	fmt.Fprintf(&b, `# Searches beside each other

<!-- Made by make bench-tuner from bench-tuner.json; do not edit. -->

Each task is a small layer (bench/tuner/tasks.json). Its reference is schedules that are drawn at random; a search can find better ones. Costs are estimated cycles of the
simulated target, or nanoseconds where this machine runs the code.

Figures are percent above the best of the reference, medians over %d seeds, after 16 trials and more; "default" is the schedule without a tuner. `+"`random`"+`
draws from the reference; `+"`xgb`"+` proposes %d candidates at a time ([tuning-search.md](tuning-search.md)).

![curves](%s.svg)

| task | points | reference | default |`, r.Seeds, r.Batch, name)
	trials := []int{16, 32, 128}
	trials = slices.DeleteFunc(trials, func(n int) bool { return n > r.Trials })
	searches := r.searchesOf()
	for _, s := range searches {
		for _, n := range trials {
			fmt.Fprintf(&b, " %s %d |", s, n)
		}
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", 3+len(searches)*len(trials)) + "\n")
	ahead, near := 0, 0
	for _, t := range r.Tasks {
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f |", t.Task, t.Points, t.Reference, 100*(t.Default/t.Best-1))
		for _, s := range searches {
			for _, n := range trials {
				text := "-"
				if v := t.percentOverBest(s, n); v == v {
					text = fmt.Sprintf("%.1f", v)
				}
				b.WriteString(" " + text + " |")
			}
		}
		b.WriteString("\n")
		if len(t.Curves["xgb"]) > 0 && len(t.Curves["random"]) > 0 {
			if t.percentOverBest("xgb", r.Trials) < t.percentOverBest("random", r.Trials) {
				ahead++
			}
			if t.percentOverBest("xgb", r.Trials) <= 5 {
				near++
			}
		}
	}
	var marks []provenance.Mark
	for _, t := range r.Tasks {
		marks = append(marks, t.Mark)
	}
	fmt.Fprintf(&b, "\nReferences and searches are of:\n\n%s\n", provenance.Text(marks))
	if all, err := rows(); err == nil && len(r.Tasks) < len(all) {
		fmt.Fprintf(&b, "\nOf %d tasks these have been compared so far.\n", len(all))
	}
	fmt.Fprintf(&b, "\nAfter %d trials `xgb` is ahead of `random` on %d of %d tasks, and within 5 %% of the best of the reference on %d.\n", r.Trials, ahead, len(r.Tasks), near)
	return b.String()
}

// curves draws a panel for each task: how many percent each search is above the best of the
// reference after each of its trials.
func (r *report) curves() string {
	const columns, wide, high, margin = 3, 280, 170, 40
	const startAt = 8 // the chart's top is the figure at this trial
	colours := map[string]string{"xgb": "#c0392b", "random": "#7f8c8d"}
	rows := (len(r.Tasks) + columns - 1) / columns
	width, height := columns*wide, rows*high+20
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">
<rect width="%d" height="%d" fill="white"/>
`, width, height, width, height, width, height)
	x := 10
	for _, s := range r.searchesOf() {
		fmt.Fprintf(&b, `<text x="%d" y="14" fill="%s">%s</text>`+"\n", x, colours[s], s)
		x += 60
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		left, top := float64(i%columns*wide+margin), float64(i/columns*high+40)
		w, h := float64(wide-margin-10), float64(high-60)
		low, most := math.Inf(1), math.Inf(-1)
		for s := range t.Curves {
			if last := t.lastTrial(s); last >= 0 {
				low, most = min(low, t.percentOverBest(s, last)), max(most, t.percentOverBest(s, min(startAt, last)))
			}
		}
		if low > most { // no search has a curve
			low, most = 0, 0
		}
		if most-low < 1 {
			most = low + 1
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f">%s</text><path d="M%.0f %.0fv%.0fh%.0f" fill="none" stroke="#999"/>`+
			"\n", left, top-8, t.Task, left, top, h, w)
		for _, v := range []float64{low, most} {
			fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="end" fill="#555">%.0f %%</text>`, left-4,
				top+h*(most-v)/(most-low)+4, v)
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="end" fill="#555">%d</text>`+"\n", left+w, top+h+13, r.Trials)
		for _, s := range r.searchesOf() {
			last := min(t.lastTrial(s), r.Trials)
			if last < 0 {
				continue
			}
			var points strings.Builder
			for n := 0; n <= last; n++ {
				v := min(most, t.percentOverBest(s, n))
				fmt.Fprintf(&points, "%.1f,%.1f ", left+w*float64(n)/float64(r.Trials), top+h*(most-v)/(most-low))
			}
			fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n",
				strings.TrimSpace(points.String()), colours[s])
		}
	}
	return b.String() + "</svg>\n"
}
