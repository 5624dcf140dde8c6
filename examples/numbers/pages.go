package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ripc/internal/section"
	"ripc/measure/provenance"
)

// fill gives each page that has measured numbers, by its path below root, with the numbers of n.
func fill(root string, n *Numbers) (map[string]string, error) {
	out := map[string]string{filepath.Join(root, "docs", "numbers.md"): n.page()}
	for page, sections := range map[string]map[string]string{
		"docs/kernels.md":  {"kernels": n.kernels(), "levels": n.levels()},
		"docs/schedule.md": {"fire4": n.fire4()},
	} {
		path := filepath.Join(root, page)
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text := string(data)
		for name, table := range sections {
			if text, err = section.Replace(text, "<!-- numbers: "+name+" begin -->", "<!-- numbers: "+name+" end -->", table); err != nil {
				return nil, fmt.Errorf("%s: %w", page, err)
			}
		}
		if begins := strings.Count(text, "<!-- numbers: "); begins != 2*len(sections) {
			return nil, fmt.Errorf("%s has %d marks of numbers, want %d", page, begins, 2*len(sections))
		}
		out[path] = text
	}
	return out, nil
}

// row is a line of a table.
func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// head is the header of a table.
func head(cells ...string) string { return row(cells...) + strings.Repeat("|---", len(cells)) + "|\n" }

// times is minimum / median in milliseconds.
func (f Figure) times() string {
	if f.MinMS == nil || f.MedianMS == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f / %.3f", *f.MinMS, *f.MedianMS)
}

// seconds is the shortest time of a command.
func (f Figure) seconds() string { return fmt.Sprintf("%.1f s", *f.MinMS/1000) }

func (f Figure) perCycle() string {
	if f.MACsPerCycle == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f", *f.MACsPerCycle)
}

func (f Figure) millions() string {
	if f.Instructions == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f M", float64(*f.Instructions)/1e6)
}

func (n *Numbers) machine() string {
	var marks []provenance.Mark
	for _, f := range n.Figures {
		if !f.Simulated {
			marks = append(marks, f.Mark)
		}
	}
	return fmt.Sprintf("%s\n\n%d cores, %.2f GHz as `bench` measures it; %s, LLVM %s, %s. One thread, default schedules. "+
		"Times are in milliseconds, minimum / median of at least 20 runs in each of %d rounds, in which all take turns.\n",
		provenance.Text(marks), n.Cores, n.GHz, n.System, n.LLVM, n.Go, n.Rounds)
}

func (n *Numbers) squeezenet() string {
	var b strings.Builder
	b.WriteString(head("MODEL", "activations", "host ms", "times less than in float", "rpi3, simulated: instructions", "weights and tables", "library (host)"))
	float := n.Figures["squeezenet_float"]
	for i, name := range networks {
		f := n.Figures[name]
		what := []string{"1 bit", "2 bits", "3 bits", "float twin, also by ripc"}[i]
		b.WriteString(row(name, what, f.times(), fmt.Sprintf("%.1f", *float.MinMS / *f.MinMS), n.Figures[name+"/rpi3"].millions(),
			fmt.Sprintf("%d KiB", f.WeightBytes>>10), fmt.Sprintf("%d KiB", f.LibraryBytes>>10)))
	}
	return b.String()
}

func (n *Numbers) convs() string {
	var b strings.Builder
	b.WriteString(head("X", "input", "1 bit: ms", "MACs/cycle", "2 bits: ms", "MACs/cycle", "3 bits: ms", "MACs/cycle"))
	for _, l := range layers {
		cells := []string{l.name, l.input}
		for bits := 1; bits <= 3; bits++ {
			f := n.Figures[fmt.Sprintf("conv%s_n%d", l.name, bits)]
			cells = append(cells, f.times(), f.perCycle())
		}
		b.WriteString(row(cells...))
	}
	return b.String()
}

func (n *Numbers) boards() string {
	var b strings.Builder
	b.WriteString(head(append([]string{"X"}, boards...)...))
	for _, l := range layers {
		cells := []string{l.name}
		for _, board := range boards {
			f := n.Figures["conv"+l.name+"_n1/"+board]
			cells = append(cells, fmt.Sprintf("%.1f", float64(f.MACs)/float64(*f.Instructions)))
		}
		b.WriteString(row(cells...))
	}
	return b.String()
}

func (n *Numbers) commands() string {
	return fmt.Sprintf("Compiling SqueezeNet takes %s with an empty object cache and %s with a full one; `%s` takes %s.\n",
		n.Figures["compile cold"].seconds(), n.Figures["compile warm"].seconds(), n.Figures["verify"].Command, n.Figures["verify"].seconds())
}

func (n *Numbers) kernels() string {
	var b strings.Builder
	b.WriteString(head("layer", "plain", "pairs", "plain: ms", "pairs: ms"))
	for _, l := range layers {
		plain, pairs := n.Figures["conv"+l.name+"_n1/plain"], n.Figures["conv"+l.name+"_n1/pairs"]
		b.WriteString(row(l.name+", "+l.input, plain.perCycle(), pairs.perCycle(), plain.times(), pairs.times()))
	}
	return b.String()
}

func (n *Numbers) levels() string {
	var b strings.Builder
	b.WriteString(head("conv B compiled for", "MACs/cycle", "ms"))
	b.WriteString(row("host", n.Figures["convB_n1"].perCycle(), n.Figures["convB_n1"].times()))
	for _, l := range levels {
		f := n.Figures["convB_n1/"+l]
		b.WriteString(row(l, f.perCycle(), f.times()))
	}
	return b.String()
}

func (n *Numbers) fire4() string {
	var b strings.Builder
	b.WriteString(head("schedule of "+fire4, "instructions on rpi3, simulated"))
	for _, s := range []struct{ name, what string }{{"fire4", "tiles of 2 positions"}, {"fire4_tiles3", "tiles of 3 positions"}, {"default", "the default"}} {
		b.WriteString(row(s.what, fmt.Sprint(*n.Figures["fire4/"+s.name].Instructions)))
	}
	return b.String()
}

// page is docs/numbers.md.
func (n *Numbers) page() string {
	var b strings.Builder
	b.WriteString("# Measured numbers\n\n<!-- Made by make numbers from docs/numbers.json; do not edit. -->\n\n")
	b.WriteString(n.machine())
	b.WriteString("\n[numbers.json](numbers.json) has every figure with its command, and `make numbers` measures all of them anew.\n" +
		"\n## SqueezeNet 1.1\n\n224x224 pictures, `bin/ripc bench examples/squeezenet/MODEL.json`. The binary ones have the same first layer in floats. Weights are random: the models are for timing.\n\n" + n.squeezenet() +
		"\n## Convolutions\n\n3x3, padded, 115.6 million multiply-accumulates each, packed bits in and out, `bin/ripc bench examples/convs/convX_nN_unipolar.json --threads 1`.\n\n" + n.convs() +
		"\nThe same with 1 bit on simulated boards: multiply-accumulates for each executed instruction. Counts of instructions say nothing about time.\n\n" + n.boards() +
		"\n## Commands\n\n" + n.commands())
	return b.String()
}
