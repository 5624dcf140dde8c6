package zoo

import (
	"fmt"
	"strings"
	"testing"

	"ripc"
	"ripc/graph"
	"ripc/importer/ripcjson"
	"ripc/internal/golden"
	"ripc/internal/safetensors"
)

// TestPage: docs/networks.md has the table of the networks.
func TestPage(t *testing.T) {
	text, err := page()
	if err != nil {
		t.Fatal(err)
	}
	golden.CheckSection(t, "../../../docs/networks.md", "<!-- networks: begin -->", "<!-- networks: end -->", text)
}

// TestFacts: the facts of small twins are what ripc says of them.
func TestFacts(t *testing.T) {
	for _, name := range []string{"squeezenet_32", "resnet18_a1_w2_32", "meliusnet22_32", "unet_32"} {
		n, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		path, err := n.Write(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		f, err := n.facts()
		if err != nil {
			t.Fatal(err)
		}
		in, err := ripc.Inspect(t.Context(), path, ripc.Options{}, "", false)
		if err != nil {
			t.Fatal(err)
		}
		if f.BinaryMACs != in.BinaryMACs || f.BinaryMACs+f.FloatMACs != in.MACs {
			t.Errorf("%s: %d binary of %d MACs, ripc says %d of %d", name, f.BinaryMACs, f.BinaryMACs+f.FloatMACs, in.BinaryMACs, in.MACs)
		}
	}
}

// facts are sizes of a network that no target changes.
type facts struct {
	Nodes                 int
	Binary, Float         int   // layers that multiply: levels by weights of few bits, and others
	BinaryMACs, FloatMACs int64 // of these, for one input
	Bytes, FloatBytes     int64 // weights, those of few bits packed; and all of them as f32
}

// facts counts the layers and weights of n.
func (n Network) facts() (*facts, error) {
	m := n.model()
	text, err := m.text()
	if err != nil {
		return nil, err
	}
	g, err := ripcjson.Parse(n.Name+".json", text, func(string) (map[string]safetensors.Tensor, error) {
		return m.stored, nil
	})
	if err != nil {
		return nil, err
	}
	f := &facts{Nodes: len(g.Nodes)}
	for _, node := range g.Nodes {
		for key, w := range node.Weights {
			bits := 32
			if key == "w" && graph.Bitserial(node.Op) {
				bits = max(1, n.Weights)
			}
			f.FloatBytes += 4 * int64(w.Elems())
			f.Bytes += (int64(bits)*int64(w.Elems()) + 7) / 8
		}
		if !graph.Products(node.Op) {
			continue
		}
		w := node.Weights["w"]
		pixels := graph.Elems(g.Value(node.Output).Shape) / w.Shape[len(w.Shape)-1]
		if strings.Contains(node.Op, "transpose") { // each pixel of the input meets each weight
			pixels = graph.Elems(g.Value(node.Inputs[0]).Shape) / w.Shape[2]
		}
		macs := int64(pixels) * int64(w.Elems())
		if graph.Bitserial(node.Op) {
			f.Binary, f.BinaryMACs = f.Binary+1, f.BinaryMACs+macs
		} else {
			f.Float, f.FloatMACs = f.Float+1, f.FloatMACs+macs
		}
	}
	return f, nil
}

// page is the table of the networks in Markdown. Riptide's have a row for each architecture, with
// the names of its other forms.
func page() (string, error) {
	var b strings.Builder
	b.WriteString("| network | paper | input | layers: binary, other | MACs: binary, other | weights | as f32 | " +
		"forms |\n|" + strings.Repeat("---|", 8) + "\n")
	all := Networks()
	shown, last := map[string]bool{}, ""
	for _, n := range all {
		if n.Riptide() && shown[n.Family] || n.Bits == 0 {
			continue
		}
		shown[n.Family] = true
		f, err := n.facts()
		if err != nil {
			return "", err
		}
		paper, note := shortPaper(n.Paper), n.Note
		if paper == last {
			paper = "the same"
		} else {
			last = paper
		}
		if n.Riptide() {
			forms := 0
			for _, o := range all {
				if o.Family == n.Family {
					forms++
				}
			}
			note = fmt.Sprintf("%d, by bits and encoding", forms)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %d, %d | %s, %s | %s | %s | %s |\n", n.Name, paper,
			strings.Trim(strings.ReplaceAll(fmt.Sprint(n.Input[1:]), " ", "x"), "[]"),
			f.Binary, f.Float, millions(f.BinaryMACs), millions(f.FloatMACs), kib(f.Bytes), kib(f.FloatBytes), note)
	}
	return b.String(), nil
}

// shortPaper is a citation without its conference and year, and with the first author alone.
func shortPaper(paper string) string {
	parts := strings.Split(paper, ", ")
	if len(parts) < 3 {
		return paper
	}
	author := strings.TrimSuffix(parts[0], " et al.")
	return author + " et al.: " + parts[len(parts)-2]
}

func millions(n int64) string { return fmt.Sprintf("%.1f M", float64(n)/1e6) }

func kib(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
