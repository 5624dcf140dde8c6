package tuner

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ripc/autotune/search"
	"ripc/lab/figures"
	"ripc/lab/task"
)

// excess returns by how many percent the median of a search is above the best of the reference
// after a trial. ok is false if the search was compared with another reference, or ended before.
func excess(f, reference *figures.Figure, trial int) (percent float64, ok bool) {
	if f == nil || !maps.Equal(f.Values, reference.Values) {
		return 0, false
	}
	var costs []float64
	last := 0
	for _, c := range f.Curves {
		costs = append(costs, c[min(trial, len(c)-1)])
		last = max(last, len(c)-1)
	}
	return 100 * (figures.Median(costs)/f.Values["best_cost"] - 1), trial <= last
}

// pages returns docs/bench-tuner.md.
func pages(root string, s *figures.Store) (map[string]string, error) {
	all, err := rows()
	if err != nil {
		return nil, err
	}
	trials, searches := []int{8, 16, 32, 64, 128}, search.Names()
	last := trials[len(trials)-1]
	cells := []string{"task", "points", "reference", "default"}
	for _, name := range searches {
		for _, n := range trials {
			cells = append(cells, fmt.Sprintf("%s %d", name, n))
		}
	}
	table := task.Head(cells...)
	var measured []*figures.Figure
	ahead, near := 0, 0
	slices.SortFunc(all, func(a, b row) int { return strings.Compare(a.Name, b.Name) })
	for _, r := range all {
		key := figures.Key{Subject: r.Name, Target: r.Target}
		ref := s.Find(key)
		if ref == nil {
			continue
		}
		measured = append(measured, ref)
		v := ref.Values
		cells := []string{r.Name, fmt.Sprint(v["points"]), fmt.Sprint(v["reference"]),
			fmt.Sprintf("%.1f", 100*(v["default_cost"]/v["best_cost"]-1))}
		var ends []float64
		for _, name := range searches {
			key.Variant = name
			f := s.Find(key)
			for _, n := range trials {
				text := "-"
				if p, ok := excess(f, ref, n); ok {
					text = fmt.Sprintf("%.1f", p)
				}
				cells = append(cells, text)
			}
			if p, ok := excess(f, ref, last); ok {
				ends = append(ends, p)
			}
		}
		table += task.Row(cells...)
		if len(ends) == len(searches) && ends[0] < slices.Min(ends[1:]) {
			ahead++
		}
		if len(ends) == len(searches) && ends[0] <= 5 {
			near++
		}
	}
	text := fmt.Sprintf(`# Searches beside each other

<!-- Made by make bench-tuner; do not edit. -->

Each task is a small layer (lab/tuner/tasks.json). Its reference is schedules that are drawn at random; a search can find
better ones. Costs are estimated cycles of the simulated target, or nanoseconds where this machine runs the code.

Figures are percent above the best of the reference, medians over several seeds, after a number of trials; "default" is the
schedule without a tuner. `+"`random`"+` draws from the reference; `+"`xgb`"+` proposes %d candidates at a time
([tuning-search.md](tuning-search.md)).

%s
References and searches are of:

%s
`, batch, table, figures.Sources(measured))
	if len(measured) < len(all) {
		text += fmt.Sprintf("\nOf %d tasks these have been compared so far.\n", len(all))
	}
	text += fmt.Sprintf("\nAfter %d trials `%s` is ahead of `%s` on %d of %d tasks, and within 5 %% of the best of "+
		"the reference on %d.\n",
		last, searches[0], strings.Join(searches[1:], "`, `"), ahead, len(measured), near)
	return map[string]string{filepath.Join(root, "docs", "bench-tuner.md"): text}, nil
}
