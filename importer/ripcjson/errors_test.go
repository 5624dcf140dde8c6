package ripcjson

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/importer"
	"ripc/internal/golden"
	"ripc/internal/safetensors"
	"ripc/ir"
)

// f32s is a tensor whose elements are given, the last one repeated.
func f32s(shape []int, v ...float32) safetensors.Tensor {
	t := safetensors.Tensor{DType: "f32", Shape: shape}
	n := 1
	for _, d := range shape {
		n *= d
	}
	for i := range n {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v[min(i, len(v)-1)]))
	}
	return t
}

// testFile is the weights file of the models in testdata.
func testFile(name string) (map[string]safetensors.Tensor, error) {
	switch name {
	case "w.safetensors":
		nan := float32(math.NaN())
		return map[string]safetensors.Tensor{
			"c.w": f32s([]int{3, 3, 4, 8}, 1, -1), "c5.w": f32s([]int{3, 3, 5, 8}, 1), "c.b": f32s([]int{8}, 0),
			"d.w": f32s([]int{6, 2}, 1), "nan.w": f32s([]int{1, 1, 4, 8}, 1, 2, nan), "minus": f32s([]int{4}, 1, -0.5),
			"bn4.gamma": f32s([]int{4}, 1), "bn4.beta": f32s([]int{4}, 0), "bn4.mean": f32s([]int{4}, 0),
			"bn4.var": f32s([]int{4}, 1), "empty": f32s([]int{4, 0}, 1),
			"half.w": {DType: "f16", Shape: []int{1, 1, 4, 1}, Data: make([]byte, 8)},
			"short":  {DType: "f32", Shape: []int{4, 4}, Data: make([]byte, 8)},
		}, nil
	case "ops.safetensors":
		nan, inf := float32(math.NaN()), float32(math.Inf(1))
		return map[string]safetensors.Tensor{
			"three": f32s([]int{3}, 1), "four": f32s([]int{4}, 1), "scalar": f32s(nil, 1), "falling": f32s([]int{2, 4}, 1, 1, 1, 1, 1, 1, 0.5),
			"zero": f32s([]int{1}, 0), "nan": f32s([]int{2}, 1, nan), "inf": f32s([]int{4}, 1, -inf),
		}, nil
	case "one.safetensors":
		return map[string]safetensors.Tensor{"y.W": f32s([]int{3, 3, 4, 8}, 1)}, nil
	}
	return nil, &safetensors.Error{Msg: "cannot open", Err: os.ErrNotExist}
}

// TestErrors compares the whole report of every faulty model in testdata with the text beside it.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no models in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			g, err := Parse(filepath.Base(file), data, testFile)
			if err == nil || g != nil {
				t.Fatalf("got graph %v, error %v; want an error only", g, err)
			}
			if e := (*ir.Error)(nil); !errors.As(err, &e) || e.Pos.File != filepath.Base(file) {
				t.Errorf("not an *ir.Error with the file's name: %#v", err)
			}
			golden.Check(t, strings.TrimSuffix(file, ".json")+".txt", []byte(err.Error()+"\n"))
		})
	}
}

func TestReadMissing(t *testing.T) {
	dir := t.TempDir()
	_, err := Read(t.Context(), filepath.Join(dir, "none.json"), importer.Options{})
	if e := (*ir.Error)(nil); !errors.As(err, &e) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want an *ir.Error that wraps os.ErrNotExist", err)
	}
	path := filepath.Join(dir, "m.json")
	write(t, path, strings.Replace(minimal, `"w.safetensors"`, `"sub/none.safetensors"`, 1))
	_, err = Read(t.Context(), path, importer.Options{})
	if err == nil || !strings.Contains(err.Error(), `m.json:4: cannot read the weights file "sub/none.safetensors"`) {
		t.Errorf("got %v", err)
	}
}

// TestSymlinkDoesNotEscape: a link in the model's folder may not lead out of it.
func TestSymlinkDoesNotEscape(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	target := filepath.Join(outside, "w.safetensors")
	if err := safetensors.WriteFile(target, map[string]safetensors.Tensor{"a": f32s([]int{1}, 1)}); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "w.safetensors")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	path := filepath.Join(dir, "m.json")
	write(t, path, minimal)
	if _, err := Read(t.Context(), path, importer.Options{}); err == nil {
		t.Error("read a weights file outside the model's folder")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
