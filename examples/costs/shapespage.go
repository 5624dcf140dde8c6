package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ripc/measure/provenance"
)

// shapesPage is made of the reports of shapesDir.
const shapesPage = "docs/shapes.md"

// text is the file of a report, a line for each shape.
func (r report) text() ([]byte, error) {
	head := r
	head.Shapes = []shape{}
	data, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, s := range r.Shapes {
		line, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		lines = append(lines, "    "+string(line))
	}
	return bytes.Replace(data, []byte("[]\n"), []byte("[\n"+strings.Join(lines, ",\n")+"\n  ]\n"), 1), nil
}

// writeShapesPage writes the page of all reports that are kept.
func writeShapesPage() error {
	files, err := filepath.Glob(filepath.Join(shapesDir, "*.json"))
	if err != nil {
		return err
	}
	var all []report
	for _, file := range files {
		r, err := readReport(file)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	return os.WriteFile(shapesPage, []byte(shapesText(all)), 0o644)
}

// channelRanges are the columns of the page's tables, by the last number of channels of each.
func channelRanges() []int { return []int{3, 7, 11, 15, 31, 48, 63, 80, 95, 111, 130} }

// shapesText is the page.
func shapesText(all []report) string {
	var b strings.Builder
	fmt.Fprint(&b, `# Shapes

Bits lie in words of 32 channels, so that some numbers of channels suit ripc better than others. This page compares convolutions of 1 to 130, 160, 192 and 256 channels,
3 kernels and 2 strides with those of the next number of channels that fills words: by how much they have fewer MACs a cycle. Layers have a border ("same" padding), and
the algorithm and the schedule that ripc takes by itself. It is made by

    make shapes                          # measures this machine: as many of the shapes as five minutes allow
    make shapes SHAPES=-target=rpi3      # estimates the cycles of a board (-sample=60: for some of the shapes)

which keep their figures in docs/shapes; a run goes on where the one before was stopped, and "-anew -within=0" measures all shapes. A shape is *slow* here if it has less than half
of the MACs a cycle. Few channels always are, somewhere: thresholds, the copy of the input and the loops around take the same time however little is summed between them. How much time
that is follows from layers whose channels fill one and two words of the algorithm, which differ by the sums of a word: what a slow shape would be slower by if its sums took no time at all is its *floor*. Where the
two are close, there is nothing to gain but by faster thresholds and copies.
`)
	for _, r := range all {
		r.section(&b)
	}
	return b.String()
}

// section is what the page says of one report.
func (r report) section(b *strings.Builder) {
	compared, slow := 0, 0
	for _, s := range r.Shapes {
		if by := r.slowerBy(s); by > 0 && !s.same(s.aligned()) {
			compared++
			if by > tooSlow {
				slow++
			}
		}
	}
	var marks []provenance.Mark
	for _, s := range r.Shapes {
		marks = append(marks, s.Mark)
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n%dx%d pixels, %d filters, %d bit%s, one thread. %d of %d shapes are compared, %d are slow.\n", r.Target, provenance.Text(marks),
		r.Size, r.Size, r.Filters, r.Bits, plural(r.Bits), compared, others(), slow)
	if r.Call > 0 {
		fmt.Fprintf(b, "A call from Go in which no stage runs takes %.0f cycles, which are left out.\n", r.Call)
	}
	fmt.Fprint(b, "\nThe most by which a shape of a range of channels is slower:\n\n| kernel, stride |")
	first := 1
	for _, last := range channelRanges() {
		fmt.Fprintf(b, " %d-%d |", first, last)
		first = last + 1
	}
	fmt.Fprint(b, "\n|---|"+strings.Repeat("---|", len(channelRanges()))+"\n")
	r.kinds(func(kernel, stride int, of []shape) {
		fmt.Fprintf(b, "| %dx%d, %d |", kernel, kernel, stride)
		first := 1
		for _, last := range channelRanges() {
			worst := 0.0
			for _, s := range of {
				if s.Channels >= first && s.Channels <= last && !s.same(s.aligned()) {
					worst = max(worst, r.slowerBy(s))
				}
			}
			if worst > 0 {
				fmt.Fprintf(b, " %.1f |", worst)
			} else {
				fmt.Fprint(b, " |")
			}
			first = last + 1
		}
		fmt.Fprintln(b)
	})
	if slow == 0 {
		return
	}
	fmt.Fprint(b, "\nSlow shapes:\n\n| kernel, stride | channels | slower by | floor | cycles | of these no sums | algorithm |\n|---|---|---|---|---|---|---|\n")
	r.kinds(func(kernel, stride int, of []shape) {
		for _, s := range of {
			if by := r.slowerBy(s); by > tooSlow {
				fmt.Fprintf(b, "| %dx%d, %d | %d | %.1f | %s | %.0f | %s | %s |\n", kernel, kernel, stride, s.Channels, by, known("%.1f", r.atBest(s)), r.cycles(s), known("%.0f %%", 100*min(1, r.floor(s)/r.cycles(s))), s.Algorithm)
			}
		}
	})
}

// known is a figure, or nothing where there is none.
func known(format string, v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// others is the number of shapes that are compared with those that fill words.
func others() int {
	n := 0
	for _, s := range allShapes() {
		if !s.same(s.aligned()) {
			n++
		}
	}
	return n
}

// kinds calls f with the shapes of each kernel and stride, in order.
func (r report) kinds(f func(kernel, stride int, of []shape)) {
	seen := map[[2]int]bool{}
	for _, s := range allShapes() {
		k := [2]int{s.Kernel, s.Stride}
		if seen[k] {
			continue
		}
		seen[k] = true
		of := slices.DeleteFunc(slices.Clone(r.Shapes), func(o shape) bool { return o.Kernel != s.Kernel || o.Stride != s.Stride })
		f(s.Kernel, s.Stride, of)
	}
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
