package networks

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/targets"
)

// paperPage has the figures of papers beside ripc's.
const paperPage = "docs/papers.md"

// papersText holds the papers' own figures, as printed there.
//
//go:embed papers.json
var papersText []byte

// paperTable is a table of a paper that was measured on a board.
type paperTable struct {
	Board string
	Rows  []struct {
		What, Subject string
		MS            float64 `json:"ms"`
		FloatMS       float64 `json:"float_ms"`
		Top1          float64 `json:"top1"` // percent
	}
}

// paperSection puts the table of a paper beside the figures of s. Networks that were not measured
// are dashes.
func paperSection(name string, s *figures.Store) (string, error) {
	var papers map[string]paperTable
	if err := json.Unmarshal(papersText, &papers); err != nil {
		return "", fmt.Errorf("papers.json: %w", err)
	}
	p, ok := papers[name]
	if !ok {
		return "", fmt.Errorf("papers.json has no %q", name)
	}
	board, err := targets.Lookup(p.Board)
	if err != nil {
		return "", err
	}
	var used []*figures.Figure
	var rows strings.Builder
	for _, r := range p.Rows {
		cells := []string{r.What, fmt.Sprintf("%.1f %%", r.Top1), fmt.Sprint(r.MS), ratio(r.FloatMS, r.MS), "-", "-",
			"-"}
		if f := s.Find(figures.Key{Subject: r.Subject}); f != nil {
			used = append(used, f)
			cycles := f.Values[p.Board+"_cycles"]
			cells[4] = task.Format(cycles/1e6, "%.1f")
			cells[5] = task.Format(cycles/(1e3*float64(board.ClockMHz)), "%.1f")
			cells[6] = ratio(f.Values["float_twin_1_threads_ms"], f.Values["1_threads_ms"])
		}
		rows.WriteString(task.Row(cells...))
	}
	head := task.Head("network", "paper: ImageNet top 1", "paper: ms", "paper: times floats' speed",
		"ripc: "+p.Board+", Mcycles", fmt.Sprintf("ripc: ms at %d MHz", board.ClockMHz),
		"ripc: times the float twin's speed")
	return fmt.Sprintf("%s\n\n%s.\n\n%s%s", figures.Sources(used), figures.Tools(used), head, rows.String()), nil
}
