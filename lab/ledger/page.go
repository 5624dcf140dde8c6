package ledger

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/measure/limits"
	"ripc/targets"
)

// drawn is the beginning of the names of drawn layers.
const drawn = "drawn"

// reasons is the number of reasons for losses on the page.
const reasons = 2

// page returns docs/ledger.md.
func (l *ledger) page() string {
	var b strings.Builder
	var names, others []string // with and without limits
	for _, t := range l.targetNames() {
		if len(l.Limits[t]) > 0 {
			names = append(names, t)
		} else {
			others = append(others, t)
		}
	}
	fmt.Fprintf(&b, `# The ledger of cycles

<!-- Made by go run ./lab ledger; do not edit. -->

Estimated cycles of one inference, in millions ([estimates.md](estimates.md), LLVM %s). In brackets is the share of the
core's limit: the cycles that the multiply-adds alone take there, by the same model. [ledger.json](ledger.json) has each
layer: its newest cycles, the fewest ever, and those at the limit. `+"`make test`"+` measures a sample again, and
`+"`go run ./lab ledger --check`"+` all. Both fail if a layer or a network takes over %g %% more than its fewest.
`+"`--accept REASON`"+` takes the new cycles as the fewest.

`, l.LLVM, 100*tolerance)
	b.WriteString(task.Head(append([]string{"network"}, names...)...))
	for _, s := range l.subjects(names) {
		b.WriteString(task.Row(l.cells(s, names)...))
	}
	cells := []string{"drawn layers, mean"}
	for _, t := range names {
		cells = append(cells, l.drawnMean(t))
	}
	b.WriteString(task.Row(cells...))
	b.WriteString("\n## Limits\n\nMultiply-adds a cycle:\n\n" + task.Head(append([]string{"limit"}, names...)...))
	for _, limit := range limits.Names() {
		cells := []string{limit}
		for _, t := range names {
			cells = append(cells, task.Format(l.Limits[t][limit], "%.1f"))
		}
		b.WriteString(task.Row(cells...))
	}
	if layers := l.subjects(others); len(layers) > 0 {
		b.WriteString("\n## RISC-V\n\nPacked layers; instructions where LLVM has no model of the core:\n\n" +
			task.Head(append([]string{"layer"}, others...)...))
		for _, s := range layers {
			b.WriteString(task.Row(l.cells(s, others)...))
		}
	}
	b.WriteString("\n## Accepted losses\n\n")
	if len(l.Accepted) == 0 {
		b.WriteString("None.\n")
		return b.String()
	}
	fmt.Fprintf(&b, "The newest %d reasons:\n\n", reasons)
	b.WriteString(task.Head("date", "reason", "layers and networks", "greatest"))
	rows := l.acceptedRows()
	for _, row := range rows[:min(reasons, len(rows))] {
		b.WriteString(row)
	}
	return b.String()
}

// subjects returns the networks and layers with rows on some of the targets, without drawn ones.
func (l *ledger) subjects(targets []string) []string {
	all := map[string]bool{}
	for _, r := range l.Rows {
		if !strings.HasPrefix(r.Subject, drawn) && slices.Contains(targets, r.Target) {
			all[r.Subject] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// cells returns a subject's row of the page.
func (l *ledger) cells(subject string, targets []string) []string {
	cells := []string{subject}
	for _, t := range targets {
		text := "-"
		if r := l.find(t, subject); r != nil {
			text = fmt.Sprintf("%.2f", float64(r.Cycles.now())/1e6)
			if r.Cycles.limit() > 0 {
				text += fmt.Sprintf(" (%.0f %%)", 100*r.Cycles.share())
			}
		}
		cells = append(cells, text)
	}
	return cells
}

// drawnMean returns the geometric mean of the drawn layers' cycles, and that of their shares.
func (l *ledger) drawnMean(target string) string {
	n, sum, shares := 0.0, 0.0, 0.0
	for _, r := range l.Rows {
		if r.Target == target && strings.HasPrefix(r.Subject, drawn) && r.Cycles.limit() > 0 {
			n++
			sum += math.Log(float64(r.Cycles.now()))
			shares += math.Log(r.Cycles.share())
		}
	}
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.0f %%)", math.Exp(sum/n)/1e6, 100*math.Exp(shares/n))
}

// acceptedRows returns a row for each reason of a date, the newest first: the number of losses and
// the greatest of them.
func (l *ledger) acceptedRows() (out []string) {
	type group struct{ date, reason string }
	most, count := map[group]loss{}, map[group]int{}
	var order []group
	factor := func(x loss) float64 { return float64(x.To) / float64(max(1, x.From)) }
	for _, x := range slices.Backward(l.Accepted) {
		g := group{x.Date, x.Reason}
		if count[g]++; count[g] == 1 {
			order = append(order, g)
		}
		if factor(x) > factor(most[g]) {
			most[g] = x
		}
	}
	for _, g := range order {
		out = append(out, task.Row(g.date, g.reason, fmt.Sprint(count[g]), most[g].String()))
	}
	return out
}

// Limits returns the multiply-adds a cycle at the limits of a target's core, by the ledger below
// root.
func Limits(root, target string) (map[string]float64, error) {
	l, err := read(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	return l.Limits[target], nil
}

// WholeNetwork is the name of a network's cycles beside those of its layers.
const WholeNetwork = "whole network"

// Find returns the newest cycles of a network and of its layers by the ledger below root, nil if
// they were not measured.
func Find(root string, t targets.Target, network string) (*figures.Figure, error) {
	l, err := read(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	r := l.find(t.Name, network)
	if r == nil {
		return nil, nil
	}
	f := &figures.Figure{Values: map[string]float64{WholeNetwork: float64(r.Cycles.now())},
		Mark: figures.Mark{Date: r.Date, Commit: r.Commit}.Estimated(t.CPU)}
	for name, c := range r.Layers {
		f.Values[name] = float64(c.now())
	}
	return f, nil
}

// Speedups returns the least and the largest speed of a network's layers beside those of its twin,
// by the ledger below root. Layers with the same limit in both are left out.
func Speedups(root, target, network, twin string) (least, most float64, err error) {
	l, err := read(filepath.Join(root, file))
	if err != nil {
		return 0, 0, err
	}
	figure, other := l.find(target, network), l.find(target, twin)
	if figure == nil || other == nil {
		return 0, 0, fmt.Errorf("%s has no %s or no %s on %s", file, network, twin, target)
	}
	for name, c := range figure.Layers {
		if o, ok := other.Layers[name]; ok && o.limit() != c.limit() {
			x := float64(o.now()) / float64(c.now())
			if most = max(most, x); least == 0 || x < least {
				least = x
			}
		}
	}
	return least, most, nil
}
