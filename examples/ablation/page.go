package main

import (
	"fmt"
	"html"
	"strings"

	"ripc/measure"
	"ripc/measure/provenance"
	"ripc/targets"
)

// reasons say why a step costs what it does where it makes a network slower, by the feature that is added. The page shows one beside a step
// that was measured to do so.
var reasons = map[feature]string{
	tiling:    "written out and in tiles, sums are in scalar registers, of which there are too few for a tile",
	vectorize: "without an instruction that counts bits in lanes, the compiler counts them by shifts and masks",
	parallel:  "threads wait for each other behind each stage, and cores that other work keeps busy make all wait",
	popcount:  "strategies are chosen by estimates, which were wrong here",
	glue:      "the kernels compare with thresholds where stages of their own would have run on all threads",
	packing:   "the kernels make words of the levels that they hold, where a stage of its own packs more of them at once",
}

// slower is from where on a step counts as slower than the one before.
const slower = 1.02

func (r *results) page() string {
	var b strings.Builder
	b.WriteString("# Ablation\n\n<!-- Made by go run ./examples/ablation from ablation.json; do not edit. -->\n\nThe worth of each optimization. `make ablation` measures missing figures, and `make ablation ABLATION=\"-targets rpi3 -anew\"` measures anew. [ablation.json](ablation.json) has all figures, those of single convolutions too.\n\n")
	b.WriteString("Costs are milliseconds on one machine (`host`: the least of at least 20 runs) and estimated cycles of simulated boards, with one thread ([estimates.md](estimates.md)). ")
	b.WriteString("Each section says with how many threads and when its figures were measured.\n\n")
	b.WriteString("| optimization | |\n|---|---|\n")
	for _, f := range features(targets.HostName) {
		fmt.Fprintf(&b, "| %s | %s |\n", f, f.what())
	}
	b.WriteString("\n![the ladder](ablation.svg)\n")
	for _, t := range r.targets() {
		r.pageOf(&b, t)
	}
	r.publishedOf(&b)
	return b.String()
}

// targets are those of the figures, in their order.
func (r *results) targets() (all []string) {
	seen := map[string]bool{}
	for _, f := range r.Figures {
		if !seen[f.Target] {
			seen[f.Target] = true
			all = append(all, f.Target)
		}
	}
	return all
}

func (r *results) pageOf(b *strings.Builder, t string) {
	twin := r.find(t, ladderNetwork, floatTwin)
	fmt.Fprintf(b, "\n## %s\n\n", t)
	r.sourceOf(b, t)
	fmt.Fprintf(b, "SqueezeNet with 1-bit activations (`examples/squeezenet/squeezenet.json`), optimizations added one after the other; the last column of numbers leaves each out of the whole:\n\n| with | cost | times the float twin's speed | times the step before | times as slow without it | |\n|---|---|---|---|---|---|\n")
	var last *figure
	for _, s := range ladder(t) {
		f := r.find(t, ladderNetwork, s.on.String())
		if f == nil {
			continue
		}
		added, ratio, without, why := "nothing", "", "", ""
		if s.of != "" {
			added, without = "+ "+string(s.of), r.without(t, s.of)
		}
		if last != nil {
			if ratio = fmt.Sprintf("%.2f", last.Cost/f.Cost); f.Cost > slower*last.Cost {
				why = "slower: " + reasons[s.of]
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", added, f.text(), f.against(twin), ratio, without, why)
		last = f
	}
	if twin != nil {
		fmt.Fprintf(b, "| %s | %s | 1.00 | | | |\n", floatTwin, twin.text())
	}
	fmt.Fprintf(b, "\nGlue: the share of stages that are neither convolutions nor dense layers.\n\n| network | cost | glue | times the float twin's speed |\n|---|---|---|---|\n")
	for _, n := range gluedNetworks() {
		if f := r.find(t, n, setOf(features(t)...).String()); f != nil && f.Glue != nil {
			fmt.Fprintf(b, "| %s | %s | %.1f %% | %s |\n", n, f.text(), 100**f.Glue, f.against(r.find(t, n, floatTwin)))
		}
	}
	for _, s := range leaveOneOut(t) {
		if f := r.find(t, ladderNetwork, s.on.String()); s.of == glue && f != nil && f.Glue != nil {
			fmt.Fprintf(b, "| %s without %s | %s | %.1f %% | %s |\n", ladderNetwork, glue, f.text(), 100**f.Glue, f.against(twin))
		}
	}
	r.speedups(b, t)
}

// without says how many times as slow the network is if an optimization alone is left out; "" if that was not measured.
func (r *results) without(t string, left feature) string {
	all := r.find(t, ladderNetwork, setOf(features(t)...).String())
	for _, s := range leaveOneOut(t) {
		if f := r.find(t, ladderNetwork, s.on.String()); s.of == left && f != nil && all != nil {
			return fmt.Sprintf("%.2f", f.Cost/all.Cost)
		}
	}
	return ""
}

// busyLoad is the load from which on a machine counts as busy.
const busyLoad = 0.5

// sourceOf says where the figures of a target are from, and with how many threads they were measured.
func (r *results) sourceOf(b *strings.Builder, t string) {
	var marks []provenance.Mark
	several, load := 1, 0.0
	for _, f := range r.Figures {
		if f.Target == t {
			marks = append(marks, f.Mark)
			several, load = max(several, f.Threads), max(load, f.Load)
		}
	}
	fmt.Fprintf(b, "%s\n\n", provenance.Text(marks))
	if several > 1 {
		fmt.Fprintf(b, "With %d threads where \"%s\" is on, else with one.\n\n", several, parallel)
	} else {
		b.WriteString("One thread.\n\n")
	}
	if load > busyLoad {
		fmt.Fprintf(b, "**The machine was busy with other work** (load up to %.1f): times say little.\n\n", load)
	}
}

// text is the cost with its unit.
func (f *figure) text() string {
	if f.Unit == string(measure.Milliseconds) {
		return fmt.Sprintf("%.3f ms", f.Cost)
	}
	return fmt.Sprintf("%.3f M", f.Cost/1e6)
}

// against is how often f goes into the float twin's cost.
func (f *figure) against(twin *figure) string {
	if twin == nil {
		return ""
	}
	return fmt.Sprintf("%.2f", twin.Cost/f.Cost)
}

// bars draws the ladders: speed beside the float twin's.
func (r *results) bars() string {
	const left, width, line = 230, 520, 22
	var b strings.Builder
	y := 10
	for _, t := range r.targets() {
		twin := r.find(t, ladderNetwork, floatTwin)
		if twin == nil {
			continue
		}
		most := 1.0
		for _, s := range ladder(t) {
			if f := r.find(t, ladderNetwork, s.on.String()); f != nil {
				most = max(most, twin.Cost/f.Cost)
			}
		}
		fmt.Fprintf(&b, "<text x=\"10\" y=\"%d\" font-weight=\"bold\">%s: times the float twin's speed</text>\n", y+14, html.EscapeString(t))
		y += 24
		for _, s := range ladder(t) {
			f := r.find(t, ladderNetwork, s.on.String())
			if f == nil {
				continue
			}
			name, x := "nothing", twin.Cost/f.Cost
			if s.of != "" {
				name = "+ " + string(s.of)
			}
			fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text><rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\" fill=\"#2b6cb0\"/><text x=\"%.1f\" y=\"%d\">%.2f</text>\n",
				left-8, y+13, html.EscapeString(name), left, y+2, width*x/most, left+width*x/most+6, y+13, x)
			y += line
		}
		fmt.Fprintf(&b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#999999\" stroke-dasharray=\"4 3\"/>\n", left+width/most, left+width/most, y-line*len(ladder(t)), y)
		y += 16
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n%s</svg>\n", left+width+80, y, b.String())
}
