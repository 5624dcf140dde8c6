package peers

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
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
third did not run: no operator Sign
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	printSummary(&out, [][]compared{all, {all[0], all[0], all[2]}, {{engine: "ripc", why: "no operator Loop"}}})
	want = `other ran 1 of 1, 0 with ripc's outputs but for roundings
ripc ran 3 of 4, 3 with ripc's outputs but for roundings
  not 1: no operator Loop
third ran 0 of 2, 0 with ripc's outputs but for roundings
  not 2: no operator Sign
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	if err := printCompared(&out, all[:1], nil); err != nil || !strings.Contains(out.String(), "no other engine") {
		t.Errorf("%s, %v", out.String(), err)
	}
	if err := printCompared(&out, all, []float64{1}); err == nil || !strings.Contains(err.Error(), "1 labels and 2 inputs") {
		t.Errorf("one label: %v", err)
	}
	if _, err := compareRows(all[0].rows, [][]float64{{1}, {2}}); err == nil {
		t.Error("rows of other lengths are compared")
	}
	odd := [][]float64{{math.NaN(), math.Inf(1), 2}}
	if g, err := compareRows(odd, odd); err != nil || g != (agreement{largest: 2, same: 1}) || !g.close() {
		t.Errorf("NaN and infinity beside themselves: %+v, %v", g, err)
	}
	if g, err := compareRows(odd, [][]float64{{1, math.Inf(1), 2}}); err != nil || g.close() {
		t.Errorf("NaN beside 1: %+v, %v", g, err)
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
	if g, err := compareRows(rows[0], rows[1]); err != nil || g.worst > 1e-3 || g.same != 360 {
		t.Errorf("%+v of 360, %v", g, err)
	}
	for want, files := range map[string][]string{"the network reads f32": {"y.npy"}, "cannot open": {"none.npy"}, "1 inputs, and there are 2 files": {"x.npy", "x.npy"}} {
		for i, f := range files {
			files[i] = filepath.Join(folder, f)
		}
		request, err = json.Marshal(order{Inputs: files, Outputs: answers})
		if err != nil {
			t.Fatal(err)
		}
		out.Reset()
		if err := serve(t.Context(), filepath.Join(folder, "model.onnx"), 1, bytes.NewReader(request), &out); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%q: %v, %s", files, err, out.String())
		}
	}
}

// TestCompareModels: an engine that fails behind its start, or has other outputs than ripc, says so in its line, and the others are
// measured.
func TestCompareModels(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for name, y := range map[string]*npy.Array{"two.npy": npy.FromFloat32([]int{1, 2}, []float32{1, 2}), "three.npy": npy.FromFloat32([]int{1, 3}, []float32{1, 2, 3})} {
		if err := y.WriteFile(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	const engine = `#!/bin/sh
echo '{"version": "engine 1", "inputs": [[2]], "types": ["f32"]}'
while read order; do
	case "$2 $order" in
	*int8*outputs*) echo "Reshape: 3 numbers" >&2; exit 1 ;;
	*outputs*) to=${order##*outputs\":\"}; cp DIR/$(case $2 in onnxruntime) echo three ;; *) echo two ;; esac).npy "${to%\"*}"; echo '{}' ;;
	*:2*) echo '{"ns": [3000, 2000]}' ;;
	*) echo '{"ns": [1000]}' ;;
	esac
done
`
	for _, name := range []string{"ripc", "onnx/bin/python", "tvm/bin/python"} {
		write(name, strings.ReplaceAll(engine, "DIR", dir))
	}
	b := &bench{self: filepath.Join(dir, "ripc"), dir: dir, own: []string{"a.onnx"}, threads: []int{1}, turns: 1}
	var out bytes.Buffer
	if err := b.compareModels(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"engine 1 0.001 0.001 0 1 of 1", "onnxruntime differs: an output has 3 numbers, not 2",
		"onnxruntime, quantized by itself did not run: its process ended: Reshape: 3 numbers", "engine 1, not tuned 0.001 0.001 0 1 of 1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	write("ripc", "#!/bin/sh\necho '{\"inputs\": [[2]], \"types\": [\"f32\"]}'; read order; echo lab: no such shape >&2")
	if err := b.compareModels(t.Context(), &out); err == nil || err.Error() != "ripc: its process ended: lab: no such shape" {
		t.Errorf("ripc fails: %v", err)
	}
	b.inputs = []string{"x.npy", "y.npy"}
	if err := b.compareModels(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "it has 1 inputs, and 2 are given") {
		t.Errorf("two inputs: %v", err)
	}
}
