package ablation

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/measure"
	"ripc/targets"
)

// results find figures for the page.
type results struct{ *figures.Store }

// figure is the cost of a network on a target.
type figure struct {
	*figures.Figure
	Cost float64
}

// find returns a figure, nil if there is none.
func (r results) find(target, network, variant string) *figure {
	f := r.Find(figures.Key{Subject: network, Variant: variant, Target: target})
	if f == nil {
		return nil
	}
	return &figure{f, f.Values["cost"]}
}

// pages returns the page and the picture.
func pages(root string, s *figures.Store) (map[string]string, error) {
	r := results{s}
	name := filepath.Join(root, "docs", "ablation")
	return map[string]string{name + ".md": r.page(), name + ".svg": r.bars()}, nil
}

// reasons say why an added feature makes a network slower, by feature. The page shows one beside a
// step that was measured to do so.
var reasons = map[feature]string{
	tiling:    "written out and in tiles, sums are in scalar registers, which are fewer than a tile has sums",
	vectorize: "without an instruction that counts bits in lanes, the compiler counts them by shifts and masks",
	parallel:  "threads wait for each other behind each stage, and cores that other work keeps busy make all wait",
	popcount:  "strategies are chosen by estimates, which were wrong here",
	glue:      "the kernels compare with thresholds where stages of their own would have run on all threads",
	packing: "the kernels make words of the levels that they hold, where a stage of its own packs more of them at " +
		"once",
}

// slower is from where on a step counts as slower than the one before.
const slower = 1.02

func (r results) page() string {
	var b strings.Builder
	b.WriteString("# Ablation\n\n<!-- Made by make ablation from lab/data/ablation.jsonl; do not edit. -->\n\nThe " +
		"worth of each optimization. `make ablation` measures missing figures, and `make ablation " +
		"ABLATION=\"--targets rpi3 --anew\"` measures anew. [ablation.jsonl](../lab/data/ablation.jsonl) has all " +
		"figures, those of single convolutions too.\n\n")
	b.WriteString("Costs are milliseconds on one machine (`host`: the least of at least 20 runs) and estimated " +
		"cycles of simulated boards, with one thread ([estimates.md](estimates.md)). ")
	b.WriteString("Each section says with how many threads and when its figures were measured:\n\n" +
		"- SqueezeNet with 1-bit activations (`examples/squeezenet/squeezenet.json`), optimizations added one after " +
		"the other. \"Without it\" leaves each out of the whole, \"twin\" is the speed beside the float twin's.\n" +
		"- Networks. \"Glue\" is the share of stages that are neither convolutions nor dense layers.\n" +
		"- Convolutions of Larq Compute Engine's Figure 3, in bits beside bytes and floats, as its Table 2 has it " +
		"(weighted by the other's cost; the paper's of a Pixel 1).\n\n")
	b.WriteString("| optimization | |\n|---|---|\n")
	for _, f := range features(targets.HostName) {
		fmt.Fprintf(&b, "| %s | %s |\n", f, f.description())
	}
	b.WriteString("\n![the ladder](ablation.svg)\n")
	for _, t := range r.targets() {
		r.pageOf(&b, t)
	}
	r.publishedOf(&b)
	return b.String()
}

// targets are those of the ladder's figures, in their order.
func (r results) targets() (all []string) {
	for _, f := range r.Latest() {
		if f.Subject == ladderNetwork && !slices.Contains(all, f.Target) {
			all = append(all, f.Target)
		}
	}
	return all
}

func (r results) pageOf(b *strings.Builder, t string) {
	twin := r.find(t, ladderNetwork, floatTwin)
	fmt.Fprintf(b, "\n## %s\n\n", t)
	r.sourceOf(b, t)
	b.WriteString("| with | cost | twin | times the step before | times as slow without it | |\n" +
		"|---|---|---|---|---|---|\n")
	var last *figure
	for _, s := range ladder(t) {
		f := r.find(t, ladderNetwork, s.on.String())
		if f == nil {
			continue
		}
		ratio, without, why := "", r.slowdown(t, s.of), ""
		if last != nil {
			if ratio = fmt.Sprintf("%.2f", last.Cost/f.Cost); f.Cost > slower*last.Cost {
				why = "slower: " + reasons[s.of]
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", s.label(), f.text(), f.speedup(twin), ratio, without, why)
		last = f
	}
	if twin != nil {
		fmt.Fprintf(b, "| %s | %s | 1.00 | | | |\n", floatTwin, twin.text())
	}
	b.WriteString("\n| network | cost | glue | twin |\n|---|---|---|---|\n")
	for _, n := range gluedNetworks() {
		if f := r.find(t, n, setOf(features(t)...).String()); f != nil && f.Has("glue_share") {
			fmt.Fprintf(b, "| %s | %s | %.1f %% | %s |\n", n, f.text(), 100*f.Values["glue_share"],
				f.speedup(r.find(t, n, floatTwin)))
		}
	}
	for _, s := range leaveOneOut(t) {
		if f := r.find(t, ladderNetwork, s.on.String()); s.of == glue && f != nil && f.Has("glue_share") {
			fmt.Fprintf(b, "| %s without %s | %s | %.1f %% | %s |\n", ladderNetwork, glue, f.text(),
				100*f.Values["glue_share"], f.speedup(twin))
		}
	}
	r.speedups(b, t)
}

// slowdown returns how many times as slow the network is if an optimization alone is left out, ""
// if that was not measured.
func (r results) slowdown(t string, left feature) string {
	all := r.find(t, ladderNetwork, setOf(features(t)...).String())
	for _, s := range leaveOneOut(t) {
		if f := r.find(t, ladderNetwork, s.on.String()); s.of == left && f != nil && all != nil {
			return fmt.Sprintf("%.2f", f.Cost/all.Cost)
		}
	}
	return ""
}

// sourceOf says where the figures of a target are from, and with how many threads they were
// measured.
func (r results) sourceOf(b *strings.Builder, t string) {
	var all []*figures.Figure
	several, load := 1.0, 0.0
	for _, f := range r.Latest() {
		if f.Target == t {
			all = append(all, f)
			several, load = max(several, f.Values["threads"]), max(load, f.Values["load"])
		}
	}
	fmt.Fprintf(b, "%s\n\n", figures.Sources(all))
	if several > 1 {
		fmt.Fprintf(b, "With %.0f threads where \"%s\" is on, else with one.\n\n", several, parallel)
	} else {
		b.WriteString("One thread.\n\n")
	}
	b.WriteString(task.Busy(load))
}

// text is the cost with its unit.
func (f *figure) text() string {
	if f.Unit == string(measure.Milliseconds) {
		return fmt.Sprintf("%.3f ms", f.Cost)
	}
	return fmt.Sprintf("%.3f M", f.Cost/1e6)
}

// speedup returns the float twin's cost over f's.
func (f *figure) speedup(twin *figure) string {
	if twin == nil {
		return ""
	}
	return fmt.Sprintf("%.2f", twin.Cost/f.Cost)
}

// bars draws the ladders: speed beside the float twin's.
func (r results) bars() string {
	var parts []task.Bars
	for _, t := range r.targets() {
		twin := r.find(t, ladderNetwork, floatTwin)
		if twin == nil {
			continue
		}
		part := task.Bars{Title: t + ": times the float twin's speed"}
		most := 1.0
		var speeds []float64
		for _, s := range ladder(t) {
			if f := r.find(t, ladderNetwork, s.on.String()); f != nil {
				x := twin.Cost / f.Cost
				speeds, most = append(speeds, x), max(most, x)
				part.Lines = append(part.Lines, task.Line{Label: s.label(), Text: fmt.Sprintf("%.2f", x)})
			}
		}
		for i, x := range speeds {
			part.Lines[i].Lengths = []float64{x / most}
		}
		part.Ticks = []task.Tick{{At: 1 / most, Label: floatTwin}}
		parts = append(parts, part)
	}
	return task.Picture(parts, task.DeskWidths())
}

// label names the feature that a step of the ladder adds.
func (s step) label() string {
	if s.of == "" {
		return "nothing"
	}
	return "+ " + string(s.of)
}
