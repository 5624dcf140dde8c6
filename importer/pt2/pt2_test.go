package pt2

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/readtest"
	"ripc/ir"
)

// zeros is an Evaluator of graphs in which everything is 0.
func zeros(_ context.Context, g *graph.Graph, _ [][]float32) ([][]float32, error) {
	var out [][]float32
	for _, name := range g.Outputs {
		out = append(out, make([]float32, g.Value(name).Elems()))
	}
	return out, graph.CheckWork(g)
}

// read parses an archive of testdata.
func read(t *testing.T, name string, o importer.Options) (*graph.Graph, error) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t.Context(), name, data, o, zeros, baseMemory)
}

// TestErrors: errors name the file, the node, and a way out.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		o    importer.Options
		want string
	}{
		{"old.pt2", importer.Options{}, "old.pt2: the weights are pickled, as PyTorch 2.8.0+cu128 writes them; pickles are not read"},
		{"unknown.pt2", importer.Options{}, `unknown.pt2: node "cumsum" (aten.cumsum.default): this operator is not supported`},
		{"digits.pt2", importer.Options{End: []string{"conv9"}}, "--end conv9: no tensor and no node is called so"},
		{"digits.pt2", importer.Options{Shapes: map[string][]int{"y": {1}}}, `there is no such input`},
	} {
		_, err := read(t, c.name, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestCut: names of tensors and of modules cut the network.
func TestCut(t *testing.T) {
	g, err := read(t, "digits.pt2", importer.Options{Begin: []string{"batch_norm"}, End: []string{"conv2.conv2d"}, Batch: 3})
	if err != nil {
		t.Fatal(err)
	}
	if in, out := g.Value(g.Inputs[0]), g.Value(g.Outputs[0]); in.Name != "batch_norm" || in.Shape[0] != 3 || out.Name != "conv2d_1" {
		t.Errorf("from %+v to %+v", in, out)
	}
}

// TestOpenBatch: a batch size that the program leaves open is 1, or that of --batch.
func TestOpenBatch(t *testing.T) {
	for batch, want := range map[int]string{0: "the file leaves the batch size s31 open, so it is 1 here (--batch)", 3: ""} {
		g, err := read(t, "open.pt2", importer.Options{Batch: batch})
		if err != nil {
			t.Fatal(err)
		}
		in, out := g.Value(g.Inputs[0]), g.Value(g.Outputs[0])
		if in.Note != want || in.Shape[0] != max(1, batch) || out.Shape[0] != max(1, batch) {
			t.Errorf("batch %d: %+v gives %+v", batch, in, out)
		}
	}
	g, err := read(t, "open_shapes.pt2", importer.Options{Batch: 4}) // which computes shapes of the batch
	if err != nil {
		t.Fatal(err)
	}
	if out := g.Value(g.Outputs[0]); !slices.Equal(out.Shape, []int{4, 2, 5, 5}) {
		t.Errorf("open_shapes.pt2 gives %+v", out)
	}
}

// TestDamage: archives that were changed are refused.
func TestDamage(t *testing.T) {
	for name, c := range map[string]struct {
		entry, old, new, want string
		method                uint16
	}{
		"schema":     {"models/model.json", `"major": 8`, `"major": 9`, "schema version 9.", zip.Store},
		"compressed": {"", "", "", "is compressed", zip.Deflate},
		"pickle":     {"data/weights/model_weights_config.json", `"use_pickle": false`, `"use_pickle": true`, "is pickled", zip.Store},
		"shape":      {"data/weights/model_weights_config.json", `{"as_int": 8}`, `{"as_int": 8000}`, "reaches beyond its", zip.Store},
		"offset":     {"data/weights/model_weights_config.json", `"storage_offset": {"as_int": 0}`, `"storage_offset": {"as_int": -4}`, "no number from 0", zip.Store},
		"deep":       {"models/model.json", `"nodes": [`, `"nodes": ` + strings.Repeat("[", 20000), "exceeded max depth", zip.Store},
		"training":   {"models/model.json", `"arg": {"as_bool": false}`, `"arg": {"as_bool": true}`, "evaluation mode", zip.Store},
	} {
		data := rewritten(t, "testdata/digits.pt2", c.entry, c.old, c.new, c.method)
		_, err := parse(t.Context(), name, data, importer.Options{}, zeros, baseMemory)
		var e *ir.Error
		if err == nil || !errors.As(err, &e) || e.Pos.File != name || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// rewritten returns an archive with a text of one entry replaced.
func rewritten(t *testing.T, path, entry, old, with string, method uint16) []byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if entry != "" && strings.HasSuffix(f.Name, entry) {
			data = bytes.ReplaceAll(data, []byte(old), []byte(with))
		}
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FuzzParse: whatever the bytes, parse gives a graph that hangs together, or an error that names
// the file.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.pt2")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := parse(t.Context(), "f.pt2", data, importer.Options{}, zeros, 16<<20)
		var e *ir.Error
		if err != nil {
			if !errors.As(err, &e) || e.Pos.File != "f.pt2" {
				t.Fatalf("an error without the file: %v", err)
			}
			return
		}
		readtest.CheckGraph(t, g)
	})
}
