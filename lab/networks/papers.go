package networks

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ripc/internal/stop"
	"ripc/lab/ablation"
	"ripc/lab/figures"
	"ripc/lab/ledger"
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

// paperSection puts the table of a paper beside the cycles of the ledger, below root, and the times
// of s. Networks that were not measured are dashes.
func paperSection(root, name string, s *figures.Store) (_ string, err error) {
	defer stop.Catch(&err)
	var papers map[string]paperTable
	if err := json.Unmarshal(papersText, &papers); err != nil {
		return "", fmt.Errorf("papers.json: %w", err)
	}
	p, ok := papers[name]
	if !ok {
		return "", fmt.Errorf("papers.json has no %q", name)
	}
	board := stop.Must(targets.Lookup(p.Board))
	var used []*figures.Figure
	var rows strings.Builder
	for _, r := range p.Rows {
		cells := []string{r.What, fmt.Sprintf("%.1f %%", r.Top1), fmt.Sprint(r.MS), ratio(r.FloatMS, r.MS), "-", "-",
			"-"}
		estimate := stop.Must(ledger.Find(root, board, r.Subject))
		if estimate != nil {
			used = append(used, estimate)
			cycles := estimate.Values[ledger.WholeNetwork]
			ms, _ := board.Milliseconds(cycles)
			cells[4], cells[5] = task.Format(cycles/1e6, "%.1f"), task.Format(ms, "%.1f")
		}
		if f := s.Find(figures.Key{Subject: r.Subject}); f != nil {
			used = append(used, f)
			cells[6] = ratio(f.Values["float_twin_1_threads_ms"], f.Values["1_threads_ms"])
		}
		rows.WriteString(task.Row(cells...))
	}
	head := task.Head("network", "paper: ImageNet top 1", "paper: ms", "paper: times floats' speed",
		"ripc: "+p.Board+", Mcycles", fmt.Sprintf("ripc: ms at %d MHz", board.ClockMHz),
		"ripc: times the float twin's speed")
	return fmt.Sprintf("%s\n\n%s.\n\n%s%s", figures.Sources(used), figures.Tools(used), head, rows.String()), nil
}

// restSection lists other tables and figures of the papers, beside the figures of the networks, of
// ablation and of the ledger.
func restSection(root string, s *figures.Store) (_ string, err error) {
	defer stop.Catch(&err)
	ablated := stop.Must(figures.Open(filepath.Join(root, task.Data, "ablation.jsonl")))
	rows, used := ablation.PaperRows(ablated, boards())
	var layers []string
	for _, b := range boards() {
		least, most := stop.Must2(ledger.Speedups(root, b, "squeezenet", "squeezenet_float"))
		layers = append(layers, fmt.Sprintf("%s %.0fx to %.0fx", b, least, most))
	}
	limits := stop.Must(ledger.Limits(root, "rpi5"))
	pi3 := stop.Must(targets.Lookup("rpi3"))
	var fire [2]float64 // cycles of SqueezeNet's first fire layer
	for i, network := range []string{"squeezenet", "squeezenet_a1_bipolar"} {
		f := stop.Must(ledger.Find(root, pi3, network))
		if f == nil {
			return "", fmt.Errorf("the ledger has no %s on %s", network, pi3.Name)
		}
		for _, layer := range []string{"fire2_squeeze", "fire2_expand1", "fire2_expand3"} {
			fire[i] += f.Values[layer]
		}
		used = append(used, f)
	}
	rows = append(rows,
		ablation.PaperRow{Figure: "Riptide, figure 6", Theirs: "marginally more",
			Subject: "SqueezeNet's first fire layer, time with unipolar levels beside bipolar ones",
			Ours:    fmt.Sprintf("rpi3 %.2fx", fire[0]/fire[1])},
		ablation.PaperRow{Figure: "Riptide, figure 4", Subject: "speed of SqueezeNet's binary layers",
			Theirs: "3x to 20x", Ours: strings.Join(layers, "; ")},
		ablation.PaperRow{Figure: "Larq, table 1",
			Subject: "multiply-adds a cycle of a Cortex-A76 at most: floats, 8 bits, bits", Theirs: "8, 32, 78",
			Ours: fmt.Sprintf("rpi5 %.0f, %.0f, %.0f", limits["fp32"], limits["int8"], limits["bits"])})
	board := stop.Must(targets.Lookup("rpi4"))
	const drawn = "drawn, without numbers"
	var each []float64 // cycles for an eMAC: 17 multiply-adds of bits, or another one
	var points []string
	for _, n := range []struct{ name, subject, theirs string }{
		{"Bi-Real Net", "birealnet", "87.0; DaBNN 119.8, TVM 862.9"}, {"QuickNet", "quicknet", "52.1; TVM 245.5"},
		{"BinaryDenseNet-28", "binarydensenet28", ""}, {"MeliusNet-22", "meliusnet22", ""},
		{"Real-to-Binary", "realtobinary", ""}} {
		f := s.Find(figures.Key{Subject: n.subject})
		if f == nil {
			continue
		}
		used = append(used, f)
		cycles := f.Values[board.Name+"_cycles"]
		ms, _ := board.Milliseconds(cycles)
		each = append(each, cycles/(f.Values["macs"]*(1-f.Values["binary_share"]*16/17)))
		if n.theirs == "" {
			points = append(points, fmt.Sprintf("%s %.1f", n.name, ms))
			continue
		}
		rows = append(rows, ablation.PaperRow{Figure: "Larq, table 3", Theirs: n.theirs,
			Subject: n.name + ", ms on a Raspberry Pi 4B", Ours: fmt.Sprintf("%s %.1f", board.Name, ms)})
	}
	if len(each) > 0 {
		rows = append(rows, ablation.PaperRow{Figure: "Larq, figure 13", Subject: "ms on a Raspberry Pi 4B",
			Theirs: drawn, Ours: board.Name + " " + strings.Join(points, ", ")},
			ablation.PaperRow{Figure: "Larq, figure 15", Theirs: drawn,
				Subject: "cycles an eMAC, 17 multiply-adds of bits or one other, of these five",
				Ours:    fmt.Sprintf("%s %.2f to %.2f", board.Name, slices.Min(each), slices.Max(each))})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s", figures.Sources(used), task.Head("", "", "the paper", "ripc"))
	for _, r := range rows {
		b.WriteString(task.Row(r.Figure, r.Subject, r.Theirs, r.Ours))
	}
	return b.String(), nil
}
