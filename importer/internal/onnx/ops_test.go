package onnx

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"ripc/importer"
	"ripc/internal/golden"
	"ripc/runtime/npy"
)

// archive reads a zip of testdata.
func archive(t testing.TB, path string) map[string][]byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func numbers(t testing.TB, data []byte) *npy.Array {
	t.Helper()
	a, err := npy.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// floatsOf are an array's elements, bytes as numbers.
func floatsOf(t testing.TB, a *npy.Array) []float32 {
	t.Helper()
	var out []float32
	switch a.DType {
	case "u8":
		for _, b := range a.Data {
			out = append(out, float32(b))
		}
	case "i8":
		for _, b := range a.Data {
			out = append(out, float32(int8(b)))
		}
	case "i32":
		for i := 0; i < len(a.Data); i += 4 {
			out = append(out, float32(int32(binary.LittleEndian.Uint32(a.Data[i:]))))
		}
	default:
		f, err := a.Float32s()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	return out
}

// TestOps reads a model of every op and evaluates its graph: the results are those of onnxruntime and qonnx (testdata/gen.py).
// The graphs themselves are in testdata/ops.txt; finn.zip and finn.txt hold the forms of qonnx and FINN (gen_finn.py), spatial.zip and spatial.txt
// operators on rows and columns (gen_spatial.py), elements.zip and elements.txt those on single elements and at ends (gen_elements.py), constants.zip and constants.txt ops on constants and
// normalizations (gen_constants.py).
func TestOps(t *testing.T) {
	for _, name := range []string{"ops", "finn", "spatial", "elements", "constants"} {
		t.Run(name, func(t *testing.T) { checkOps(t, "testdata/"+name) })
	}
}

// checkOps checks the models of the archive at path.
func checkOps(t *testing.T, path string) {
	files := archive(t, path+".zip")
	var names []string
	for f := range files {
		if name, ok := strings.CutSuffix(f, ".onnx"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var text bytes.Buffer
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			g, err := parse(t.Context(), name+".onnx", files[name+".onnx"], nil, importer.Options{}, naive, baseMemory)
			if err != nil {
				t.Fatal(err)
			}
			text.WriteString(g.String())
			inputs := map[string][]float32{}
			for i, in := range g.Inputs {
				a := numbers(t, files[fmt.Sprintf("%s.in%d.npy", name, i)])
				v := g.Value(in)
				if !slices.Equal(v.Shape, a.Shape) {
					t.Fatalf("input %s has shape %v, the file's %v", in, v.Shape, a.Shape)
				}
				inputs[in] = floatsOf(t, a)
				for k := range inputs[in] {
					if v.Signed { // levels
						inputs[in][k] += 128
					}
				}
			}
			vals := evaluate(g, inputs)
			for i, o := range g.Outputs {
				a := numbers(t, files[fmt.Sprintf("%s.out%d.npy", name, i)])
				v := g.Value(o)
				if !slices.Equal(v.Shape, a.Shape) {
					t.Fatalf("output %s has shape %v, want %v\n%s", o, v.Shape, a.Shape, g)
				}
				want := floatsOf(t, a)
				for k, got := range vals[o] {
					if v.Signed {
						got -= 128
					}
					if math.Abs(float64(got-want[k])) > 1e-5*math.Max(1, math.Abs(float64(want[k]))) || got != got {
						t.Fatalf("output %s[%d] is %g, want %g\n%s", o, k, got, want[k], g)
					}
				}
			}
		})
	}
	golden.Check(t, path+".txt", text.Bytes())
}
