package e2e_test

import (
	"os"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/lower/layout"
)

// fewBits is a layer as resnet18 has them behind its third pool, of 4-bit weights and activations, between ones of 1 and 2 bits.
const fewBits = `{
  "format": "ripc.model/1",
  "name": "few_bits",
  "inputs": [{"name": "x", "dtype": "u32", "packed": true, "encoding": "unipolar", "bits": 1, "shape": [1, 7, 7, 128], "layout": "NHWC"}],
  "weights": {"init": "random", "seed": 1, "gain": 0.25},
  "nodes": [
    {"name": "one", "op": "bitserial_conv2d", "inputs": ["x"], "attrs": {"filters": 64, "kernel": [3, 3], "padding": "same"}},
    {"name": "q1", "op": "quantize", "inputs": ["one"], "attrs": {"bits": 2, "encoding": "unipolar"}},
    {"name": "two", "op": "bitserial_conv2d", "inputs": ["q1"], "attrs": {"filters": 128, "kernel": [3, 3], "padding": "same", "weight_bits": 2}},
    {"name": "q2", "op": "quantize", "inputs": ["two"], "attrs": {"bits": 4, "encoding": "unipolar"}},
    {"name": "four", "op": "bitserial_conv2d", "inputs": ["q2"], "attrs": {"filters": 128, "kernel": [3, 3], "padding": "same", "weight_encoding": "affine", "weight_bits": 4, "weight_zero_point": 8}},
    {"name": "y", "op": "quantize", "inputs": ["four"], "attrs": {"bits": 4, "encoding": "unipolar"}}
  ],
  "outputs": ["y"]
}`

// TestChosenAlgorithm: on rpi4 the layer of 4 bits multiplies bytes and takes fewer estimated cycles than counted in bits; those of 1 and 2
// bits are counted, and would take more in float. The estimates say which, and are near.
func TestChosenAlgorithm(t *testing.T) {
	t.Parallel()
	need.Tool(t, "qemu-aarch64")
	path := filepath.Join(t.TempDir(), "few_bits.json")
	if err := os.WriteFile(path, []byte(fewBits), 0o600); err != nil {
		t.Fatal(err)
	}
	const target = "rpi4"
	layers := func(o ripc.Options) map[string]ripc.LayerBench {
		o.Target = target
		res, err := ripc.Bench(t.Context(), ripc.BenchRequest{Path: path, Options: o, Threads: 1, PerLayer: true})
		if err != nil {
			t.Fatal(err)
		}
		byName := map[string]ripc.LayerBench{}
		for _, l := range res.Layers {
			if l.EstimatedCycles == nil {
				t.Fatalf("no cycles estimated: %s %s", res.Reason, res.NoEstimate)
			}
			byName[l.Name] = l
		}
		return byName
	}
	in, err := ripc.Inspect(t.Context(), path, ripc.Options{Target: target}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	chosen, other := layers(ripc.Options{}), layers(ripc.Options{Algorithms: map[string]layout.Algorithm{"one": layout.Float, "two": layout.Float, "four": layout.Popcount}})
	seen := 0
	for _, l := range in.Layers {
		want := map[string]string{"one": "popcount", "two": "popcount", "four": "dot"}[l.Name]
		against := "float"
		if want == "dot" {
			against = "popcount"
		}
		if want == "" {
			continue
		}
		seen++
		if l.Algorithm != want || l.Why == nil || l.Why.Code != "cheaper" {
			t.Errorf("%s: %s, %+v; want %s", l.Name, l.Algorithm, l.Why, want)
			continue
		}
		took, instead := *chosen[l.Name].EstimatedCycles, *other[l.Name].EstimatedCycles
		if took >= instead {
			t.Errorf("%s takes %.0f cycles by %s, and %.0f by the other", l.Name, took, l.Algorithm, instead)
		}
		for _, e := range [][2]float64{{float64(l.Why.Costs[want]), took}, {float64(l.Why.Costs[against]), instead}} {
			if q := e[0] / e[1]; q < 0.7 || q > 1.4 {
				t.Errorf("%s: %s; it took %.0f, %.0f by the other", l.Name, l.Why.Text, took, instead)
			}
		}
	}
	if seen != 3 {
		t.Errorf("%d layers seen: %+v", seen, in.Layers)
	}
	rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: path, Options: ripc.Options{Target: target}, Threads: 1})
	if err != nil || !rep.OK {
		t.Errorf("%v, %+v", err, rep)
	}
}
