package numbers

import (
	"fmt"
	"path/filepath"
	"strings"

	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/lab/task"
)

// figure is one figure for the pages.
type figure struct{ *figures.Figure }

// numbers are all figures by subject.
type numbers map[string]figure

// read returns all figures. It fails if one is missing.
func read(s *figures.Store) (numbers, error) {
	n := numbers{}
	find := func(name string) error {
		f := s.Find(figures.Key{Subject: name})
		if !f.Has("instructions") && !f.Has("min_ms") {
			return fmt.Errorf("figure %q is missing: run make numbers", name)
		}
		n[name] = figure{f}
		return nil
	}
	for _, b := range benches() {
		if err := find(b.name); err != nil {
			return nil, err
		}
	}
	for name := range commands() {
		if err := find(name); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// pages returns each page that has measured numbers.
func pages(root string, s *figures.Store) (_ map[string]string, err error) {
	defer stop.Catch(&err)
	n := stop.Must(read(s))
	out := map[string]string{filepath.Join(root, "docs", "numbers.md"): n.page()}
	for page, texts := range map[string]map[string]string{
		"docs/kernels.md":  {"kernels": n.kernels(), "levels": n.levels()},
		"docs/schedule.md": {"fire4": n.fire4()},
	} {
		out[filepath.Join(root, page)] = stop.Must(task.Fill(root, page, texts))
	}
	return out, nil
}

// times is minimum / median in milliseconds.
func (f figure) times() string {
	if !f.Has("min_ms") {
		return "-"
	}
	return fmt.Sprintf("%.3f / %.3f", f.Values["min_ms"], f.Values["median_ms"])
}

// seconds is the shortest time of a command.
func (f figure) seconds() string { return fmt.Sprintf("%.1f s", f.Values["min_ms"]/1000) }

func (f figure) perCycle() string { return task.Format(f.Values["macs_per_cycle"], "%.0f") }

func (f figure) millions() string { return task.Format(f.Values["instructions"]/1e6, "%.1f M") }

func (n numbers) machine() string {
	var timed []*figures.Figure
	for _, f := range n {
		if !f.Simulated() {
			timed = append(timed, f.Figure)
		}
	}
	clocks := lists.Map(networks, func(name string) float64 { return n[name].Values["clock_ghz"] })
	return fmt.Sprintf("%s\n\n%s; %.2f GHz as `bench` measures it. One thread, default schedules. "+
		"Times are in milliseconds, minimum / median of at least 20 runs in each round, in which all take turns.\n",
		figures.Sources(timed), figures.Tools(timed), figures.Median(clocks))
}

func (n numbers) squeezenet() string {
	var b strings.Builder
	b.WriteString(task.Head("MODEL", "activations", "host ms", "times less than in float",
		"rpi3, simulated: instructions", "weights and tables", "library (host)"))
	float := n["squeezenet_float"]
	for i, name := range networks {
		f := n[name]
		what := []string{"1 bit", "2 bits", "3 bits", "float twin, also by ripc"}[i]
		b.WriteString(task.Row(name, what, f.times(), fmt.Sprintf("%.1f", float.Values["min_ms"]/f.Values["min_ms"]),
			n[name+"/rpi3"].millions(),
			fmt.Sprintf("%d KiB", int(f.Values["weight_bytes"])>>10),
			fmt.Sprintf("%d KiB", int(f.Values["library_bytes"])>>10)))
	}
	return b.String()
}

func (n numbers) convs() string {
	var b strings.Builder
	b.WriteString(task.Head("X", "input", "1 bit: ms", "MACs/cycle", "2 bits: ms", "MACs/cycle", "3 bits: ms",
		"MACs/cycle"))
	for _, l := range layers {
		cells := []string{l.name, l.input}
		for bits := 1; bits <= 3; bits++ {
			f := n[fmt.Sprintf("conv%s_n%d", l.name, bits)]
			cells = append(cells, f.times(), f.perCycle())
		}
		b.WriteString(task.Row(cells...))
	}
	return b.String()
}

func (n numbers) boards() string {
	var b strings.Builder
	b.WriteString(task.Head(append([]string{"X"}, boards...)...))
	for _, l := range layers {
		cells := []string{l.name}
		for _, board := range boards {
			f := n["conv"+l.name+"_n1/"+board]
			cells = append(cells, fmt.Sprintf("%.1f", f.Values["macs"]/f.Values["instructions"]))
		}
		b.WriteString(task.Row(cells...))
	}
	return b.String()
}

func (n numbers) commands() string {
	return fmt.Sprintf("Compiling SqueezeNet takes %s with an empty object cache and %s with a full one; `%s` takes "+
		"%s.\n",
		n["compile cold"].seconds(), n["compile warm"].seconds(), commands()["verify"], n["verify"].seconds())
}

func (n numbers) kernels() string {
	var b strings.Builder
	b.WriteString(task.Head("layer", "plain", "pairs", "plain: ms", "pairs: ms"))
	for _, l := range layers {
		plain, pairs := n["conv"+l.name+"_n1/plain"], n["conv"+l.name+"_n1/pairs"]
		b.WriteString(task.Row(l.name+", "+l.input, plain.perCycle(), pairs.perCycle(), plain.times(), pairs.times()))
	}
	return b.String()
}

func (n numbers) levels() string {
	var b strings.Builder
	b.WriteString(task.Head("conv B compiled for", "MACs/cycle", "ms"))
	b.WriteString(task.Row("host", n["convB_n1"].perCycle(), n["convB_n1"].times()))
	for _, l := range levels {
		f := n["convB_n1/"+l]
		b.WriteString(task.Row(l, f.perCycle(), f.times()))
	}
	return b.String()
}

func (n numbers) fire4() string {
	var b strings.Builder
	b.WriteString(task.Head("schedule of "+fire4, "instructions on rpi3, simulated"))
	for _, s := range []struct{ name, what string }{{"fire4", "tiles of 2 positions"},
		{"fire4_tiles3", "tiles of 3 positions"}, {"default", "the default"}} {
		b.WriteString(task.Row(s.what, fmt.Sprintf("%.0f", n["fire4/"+s.name].Values["instructions"])))
	}
	return b.String()
}

// page is docs/numbers.md.
func (n numbers) page() string {
	var b strings.Builder
	b.WriteString("# Measured numbers\n\n<!-- Made by make numbers from lab/data/numbers.jsonl; do not edit. -->\n\n")
	b.WriteString(n.machine())
	b.WriteString("\n[numbers.jsonl](../lab/data/numbers.jsonl) has every figure, and `make numbers` measures all " +
		"of them anew.\n" +
		"\n## SqueezeNet 1.1\n\n224x224 pictures, `bin/ripc bench examples/squeezenet/MODEL.json`. " +
		"The binary ones have the same first layer in floats. Weights are random: the models are for timing.\n\n" +
		n.squeezenet() +
		"\n## Convolutions\n\n3x3, padded, 115.6 million multiply-accumulates each, packed bits in and out, " +
		"`bin/ripc bench examples/convs/convX_nN_unipolar.json --threads 1`.\n\n" + n.convs() +
		"\nThe same with 1 bit on simulated boards: multiply-accumulates for each executed instruction. " +
		"Counts of instructions say nothing about time.\n\n" + n.boards() +
		"\n## Commands\n\n" + n.commands())
	return b.String()
}
