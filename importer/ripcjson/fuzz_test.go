package ripcjson

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"ripc/importer"
	"ripc/importer/internal/kit"
	"ripc/importer/internal/readtest"
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
	v, err := modelSchema()
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
		readtest.CheckGraph(t, g)
		for _, n := range g.Nodes {
			if v := g.Value(n.Output); kit.Count(v.Shape, lim.tensor) > lim.tensor {
				t.Fatalf("tensor %q of shape %v is too large", v.Name, v.Shape)
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
