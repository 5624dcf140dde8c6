package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"ripc/internal/section"
	"ripc/measure/provenance"
)

const (
	page       = "docs/networks.md"
	begin, end = "<!-- networks: measured begin -->", "<!-- networks: measured end -->"
)

// shown are the networks of the page; the JSON has all.
func shown() []string {
	return []string{"squeezenet", "squeezenet_a2", "alexnet_a1", "vggnet_a1", "resnet18_a1", "resnet50_a1", "birealnet", "reactnet_a", "quicknet", "unet", "digits"}
}

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
	head := []string{"network", "ms, 1 thread", "2 threads", "times the float twin's speed", "times onnxruntime's in floats"}
	for _, target := range boards() {
		head = append(head, target+", Mcycles")
	}
	head = append(head, "library", "twin's", "memory", "twin's")
	b.WriteString("| " + strings.Join(head, " | ") + " |\n" + strings.Repeat("|---", len(head)) + "|\n")
	for _, r := range t.Networks {
		if !slices.Contains(shown(), r.Name) {
			continue
		}
		cells := []string{r.Name, ms(r.OneMS), ms(r.TwoMS), ratio(r.FloatMS, r.OneMS), ratio(r.ONNXMS, r.OneMS)}
		for _, target := range boards() {
			cells = append(cells, mega(r.Cycles[target]))
		}
		cells = append(cells, bytesText(r.Library), bytesText(r.FloatLib), bytesText(r.Memory), bytesText(r.FloatMem))
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

func bytesText(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
