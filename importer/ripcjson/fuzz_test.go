package ripcjson

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"ripc/importer"
	"ripc/importer/internal/kit"
	"ripc/internal/safetensors"
)

// FuzzRead: whatever the bytes, Parse gives a graph that hangs together and can be written again, or an error.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(everything))
	f.Add([]byte(minimal))
	f.Add([]byte(others))
	v, err := newValidator()
	if err != nil {
		f.Fatal(err)
	}
	lim := limits{bytes: 1 << 20, depth: 16, nodes: 1 << 10, index: 16 << 20, tensor: 1 << 18, weights: 1 << 16}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := parse(t.Context(), "f.json", data, fuzzFile, importer.Options{}, v, lim)
		if err != nil {
			_ = err.Error()
			return
		}
		made := map[string]bool{}
		for _, in := range g.Inputs {
			made[in] = true
		}
		for _, n := range g.Nodes {
			for _, in := range n.Inputs {
				if !made[in] {
					t.Fatalf("node %q reads %q before it is made", n.Name, in)
				}
			}
			made[n.Output] = true
			if v := g.Value(n.Output); kit.Count(v.Shape, lim.tensor) > lim.tensor {
				t.Fatalf("tensor %q of shape %v is too large", v.Name, v.Shape)
			}
			for _, w := range n.Weights {
				if w.Elems() != w.Data.Len() {
					t.Fatalf("node %q: shape %v with %d elements", n.Name, w.Shape, w.Data.Len())
				}
			}
		}
		for _, out := range g.Outputs {
			if !made[out] {
				t.Fatalf("no node makes output %q", out)
			}
		}
		if text, _, err := encode(t.Context(), g, "f.safetensors"); err != nil {
			t.Fatalf("cannot be written: %v\n%s", err, text)
		}
	})
}

// fuzzFile has the weights of all models here.
func fuzzFile(name string) (map[string]safetensors.Tensor, error) {
	if name != "f" {
		return testFile(name)
	}
	all, err := othersFile(name)
	more, _ := everythingFile(name)
	maps.Copy(all, more)
	return all, err
}
