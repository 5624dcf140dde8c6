package networks

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ripc/examples/networks/zoo"
	"ripc/lab/figures"
	"ripc/lab/task"
)

// page has the table of the figures.
const page = "docs/networks.md"

// pages returns the page with the table, and the page of the papers.
func pages(root string, s *figures.Store) (map[string]string, error) {
	var names []string
	for _, n := range zoo.Networks() {
		names = append(names, n.Name)
	}
	for _, n := range trained() {
		names = append(names, n.name)
	}
	var all []*figures.Figure
	for _, n := range names {
		if f := s.Find(figures.Key{Subject: n}); f != nil {
			all = append(all, f)
		}
	}
	text, err := task.Fill(root, page, map[string]string{"networks": table(all)})
	if err != nil {
		return nil, err
	}
	riptide, err := paperSection(root, "Riptide, table 1", s)
	if err != nil {
		return nil, err
	}
	rest, err := restSection(root, s)
	if err != nil {
		return nil, err
	}
	papers, err := task.Fill(root, paperPage, map[string]string{"riptide": riptide, "rest": rest})
	return map[string]string{filepath.Join(root, page): text, filepath.Join(root, paperPage): papers}, err
}

// table returns the figures as they stand in the page.
func table(all []*figures.Figure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s; the least of several turns.\n\n", figures.Sources(all), figures.Tools(all))
	columns := []string{"network", "ms, 1 thread", "2 threads", "times the float twin's speed",
		"times onnxruntime's in floats"}
	for _, t := range boards() {
		columns = append(columns, t+", Mcycles")
	}
	b.WriteString(task.Head(append(columns, "library", "twin's", "memory", "twin's")...))
	for _, f := range all {
		if !slices.Contains(pageNetworks(), f.Subject) {
			continue
		}
		v := f.Values
		own := v["1_threads_ms"]
		cells := []string{f.Subject, ms(own), ms(v["2_threads_ms"])}
		for _, name := range []string{"float_twin_1_threads_ms", "onnxruntime_1_threads_ms"} {
			cells = append(cells, ratio(v[name], own))
		}
		for _, t := range boards() {
			cells = append(cells, task.Format(v[t+"_cycles"]/1e6, "%.2f"))
		}
		for _, name := range []string{"library_bytes", "float_twin_library_bytes", "activations_bytes",
			"float_twin_activations_bytes"} {
			cells = append(cells, bytesText(v[name]))
		}
		b.WriteString(task.Row(cells...))
	}
	return b.String()
}

// pageNetworks are the networks of the page; lab/data has all.
func pageNetworks() []string {
	return []string{
		"squeezenet", "squeezenet_a2", "alexnet_a1", "vggnet_a1", "resnet18_a1", "resnet50_a1",
		"birealnet", "reactnet_a", "quicknet", "unet", "digits",
	}
}

func ms(v float64) string {
	if v < 1 {
		return task.Format(v, "%.3f")
	}
	return fmt.Sprintf("%.2f", v)
}

func ratio(v, to float64) string {
	if to == 0 {
		return "-"
	}
	return task.Format(v/to, "%.1fx")
}

func bytesText(n float64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.0f KiB", n/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", n/(1<<20))
}
