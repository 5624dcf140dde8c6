package onnx

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/kit"
	"ripc/importer/internal/readtest"
	"ripc/internal/f32"
	"ripc/ir"
)

// FuzzParse: whatever the bytes, Parse gives a graph that hangs together, or an error that names the file.
func FuzzParse(f *testing.F) {
	for name, data := range archive(f, "testdata/ops.zip") {
		if strings.HasSuffix(name, ".onnx") && len(data) < 4<<10 {
			f.Add(data)
		}
	}
	files, err := filepath.Glob("testdata/*.onnx")
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
		f.Add(data[:len(data)-1])
	}
	f.Fuzz(checkParse)
}

// checkParse wants a graph that hangs together, or an error that names the file.
func checkParse(t *testing.T, data []byte) {
	g, err := parse(t.Context(), "f.onnx", data, nil, importer.Options{}, zeros, 16<<20)
	if err != nil {
		var e *ir.Error
		if !errors.As(err, &e) || e.Pos.File != "f.onnx" {
			t.Fatalf("an error without the file: %v", err)
		}
		return
	}
	readtest.CheckGraph(t, g)
}

// TestSplitAxes: the groups cover both shapes in order and hold as many elements.
func TestSplitAxes(t *testing.T) {
	shapes := [][]int{{1}, {6}, {2, 3}, {3, 2}, {1, 6, 1}, {2, 1, 3}, {6, 1, 1}, {1, 1, 2, 3}, {3, 1, 2, 1}}
	for _, from := range shapes {
		for _, to := range shapes {
			if graph.Elems(from) != graph.Elems(to) {
				continue
			}
			var in, out []int
			for _, g := range splitAxes(from, to) {
				x, y := 1, 1
				for _, d := range g.in {
					in = append(in, d)
					x *= from[d]
				}
				for _, d := range g.out {
					out = append(out, d)
					y *= to[d]
				}
				if x != y {
					t.Fatalf("%v to %v: group %v", from, to, g)
				}
			}
			if !slices.Equal(in, kit.Identity(len(from))) || !slices.Equal(out, kit.Identity(len(to))) {
				t.Fatalf("%v to %v: %v and %v", from, to, in, out)
			}
		}
	}
}

// TestHalf goes through all halves, and the rounding of what lies between two.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		v := f32.Half(uint16(h))
		if got := toHalf(v); v == v && got != uint16(h) {
			t.Fatalf("half %#x is %g, which is half %#x", h, v, got)
		}
		if h&0x7FFF >= 0x7BFF {
			continue
		}
		up := f32.Half(uint16(h + 1))
		if mid := (v + up) / 2; toHalf(mid)&1 != 0 || toHalf(mid) != uint16(h+h&1) {
			t.Fatalf("%g between halves %#x and %#x rounds to %#x", mid, h, h+1, toHalf(mid))
		}
	}
	if got := toHalf(float32(math.Inf(1))); got != 0x7C00 {
		t.Errorf("infinity is %#x", got)
	}
}

// zeros is an Evaluator of graphs in which everything is 0.
func zeros(_ context.Context, g *graph.Graph, _ [][]float32) ([][]float32, error) {
	var out [][]float32
	for _, name := range g.Outputs {
		out = append(out, make([]float32, g.Value(name).Elems()))
	}
	return out, graph.CheckWork(g)
}
