package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"ripc/internal/section"
	"ripc/measure/provenance"
)

const (
	page       = "docs/networks.md"
	begin, end = "<!-- networks: measured begin -->", "<!-- networks: measured end -->"
)

// readTable reads docs/networks.json.
func readTable(path string) (*Table, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := &Table{}
	return t, json.Unmarshal(data, t)
}

// writePage puts the table of the JSON into the page.
func writePage(from, page string) error {
	t, err := readTable(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err := section.Replace(string(data), begin, end, t.markdown())
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

// markdown is the table as it stands in the page.
func (t *Table) markdown() string {
	var b strings.Builder
	var marks []provenance.Mark
	for _, r := range t.Networks {
		marks = append(marks, r.Mark)
	}
	fmt.Fprintf(&b, "%s\n\n%d cores, %s, LLVM %s", provenance.Text(marks), t.Cores, t.System, t.LLVM)
	if t.ONNX != "" {
		fmt.Fprintf(&b, ", onnxruntime %s", t.ONNX)
	}
	fmt.Fprintf(&b, "; the least of %d rounds.\n\n", t.Rounds)
	b.WriteString("| network | ms, 1 thread | 2 threads | float twin, 1 thread | 2 threads | ratio | onnxruntime in floats | ratio | rpi3, Mcycles | rpi4, Mcycles | float layers' share | glue's share | library | twin's | memory | twin's | compile | accuracy |\n")
	b.WriteString("|" + strings.Repeat("---|", 18) + "\n")
	for _, r := range t.Networks {
		cells := []string{r.Name, ms(r.OneMS), ms(r.TwoMS), ms(r.FloatMS), ms(r.FloatTwo), ratio(r.FloatMS, r.OneMS), ms(r.ONNXMS), ratio(r.ONNXMS, r.OneMS)}
		for _, target := range boards() {
			cells = append(cells, mega(r.Cycles[target]))
		}
		cells = append(cells, percent(r.StemShare), percent(r.GlueShare), bytesText(r.Library), bytesText(r.FloatLib), bytesText(r.Memory), bytesText(r.FloatMem), fmt.Sprintf("%.1f s", r.CompileS), accuracy(r.Accuracy))
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return b.String()
}

// The texts of figures are "-" where there is none.

func ms(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 1:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func ratio(of, to float64) string {
	if of == 0 || to == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1fx", of/to)
}

func mega(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", v/1e6)
}

func accuracy(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

func percent(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }

func bytesText(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
