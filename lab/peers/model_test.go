package peers

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/runtime/npy"
)

// TestCompared: differences are from ripc's outputs, an engine that cannot run says why, and wrong labels are refused.
func TestCompared(t *testing.T) {
	times := map[string]float64{"median_ms": 1.25, "min_ms": 1}
	all := []compared{{engine: "ripc", values: times, rows: [][]float64{{1, 2}, {4, 3}}},
		{engine: "other", values: times, rows: [][]float64{{1, 2.5}, {3, 4}}}, {engine: "third", why: "no operator Sign"}}
	var out bytes.Buffer
	if err := printCompared(&out, all, []float64{1, 1}); err != nil {
		t.Fatal(err)
	}
	want := `engine  median ms  min ms  worst difference  same class  right
ripc    1.25       1       0                 2 of 2      1 of 2
other   1.25       1       1                 1 of 2      2 of 2
third   -          no operator Sign
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	printReasons(&out, append(all, all[2], compared{engine: "ripc", why: "no operator Loop"}))
	want = "other ran 1 of 1\nripc ran 1 of 2\n  not 1: no operator Loop\nthird ran 0 of 2\n  not 2: no operator Sign\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if err := printCompared(&out, all, []float64{1}); err == nil || !strings.Contains(err.Error(), "1 labels and 2 inputs") {
		t.Errorf("one label: %v", err)
	}
	if _, _, err := compareRows(all[0].rows, [][]float64{{1}, {2}}); err == nil {
		t.Error("rows of other lengths are compared")
	}
	if _, err := (&bench{labels: "y.npy"}).readLabels(); err == nil {
		t.Error("labels without inputs are accepted")
	}
}

// TestServeInputs: ripc's worker computes the outputs of given inputs, and refuses others.
func TestServeInputs(t *testing.T) {
	_, err := ripc.LLVM()
	need.OK(t, err)
	folder := filepath.Join("..", "..", "examples", "pytorch")
	answers := filepath.Join(t.TempDir(), "y.npy")
	request, err := json.Marshal(order{Inputs: []string{filepath.Join(folder, "x.npy")}, Outputs: answers})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := serve(t.Context(), filepath.Join(folder, "model.onnx"), 1, bytes.NewReader(request), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var rows [2][][]float64
	for i, file := range []string{answers, filepath.Join(folder, "logits.npy")} {
		a, err := npy.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		numbers, err := a.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for ; len(numbers) > 0; numbers = numbers[10:] {
			rows[i] = append(rows[i], numbers[:10])
		}
	}
	if worst, same, err := compareRows(rows[0], rows[1]); err != nil || worst > 1e-3 || same != 360 {
		t.Errorf("worst difference %g, %d of 360 of the same class, %v", worst, same, err)
	}
	for want, files := range map[string][]string{"the network reads f32": {"y.npy"}, "1 inputs, and there are 2 files": {"x.npy", "x.npy"}} {
		for i, f := range files {
			files[i] = filepath.Join(folder, f)
		}
		request, err = json.Marshal(order{Inputs: files, Outputs: answers})
		if err != nil {
			t.Fatal(err)
		}
		if err := serve(t.Context(), filepath.Join(folder, "model.onnx"), 1, bytes.NewReader(request), &out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", files, err)
		}
	}
}
