package e2e

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ripc"
	"ripc/internal/need"
)

// floatDigits is digits as somebody writes it in floats from the start. Its weights are random numbers.
const floatDigits = `{"format": "ripc.model/1", "name": "floats", "weights": {"init": "random", "seed": 5},
"inputs": [{"name": "image", "dtype": "f32", "shape": [1, 16, 16, 1], "layout": "NHWC"}],
"nodes": [
{"name": "conv1", "op": "conv2d", "inputs": ["image"], "attrs": {"filters": 32, "kernel": [3, 3], "padding": "same"}},
{"name": "bn1", "op": "batch_norm", "inputs": ["conv1"]},
{"name": "relu1", "op": "relu", "inputs": ["bn1"]},
{"name": "conv2", "op": "conv2d", "inputs": ["relu1"], "attrs": {"filters": 64, "kernel": [3, 3], "padding": "same"}},
{"name": "bn2", "op": "batch_norm", "inputs": ["conv2"]},
{"name": "relu2", "op": "relu", "inputs": ["bn2"]},
{"name": "pool2", "op": "max_pool", "inputs": ["relu2"], "attrs": {"kernel": [2, 2], "strides": [2, 2]}},
{"name": "conv3", "op": "conv2d", "inputs": ["pool2"], "attrs": {"filters": 64, "kernel": [3, 3], "padding": "same"}},
{"name": "bn3", "op": "batch_norm", "inputs": ["conv3"]},
{"name": "relu3", "op": "relu", "inputs": ["bn3"]},
{"name": "pool3", "op": "max_pool", "inputs": ["relu3"], "attrs": {"kernel": [2, 2], "strides": [2, 2]}},
{"name": "flat", "op": "flatten", "inputs": ["pool3"]},
{"name": "fc", "op": "dense", "inputs": ["flat"], "attrs": {"units": 10}}],
"outputs": ["fc"]}`

// TestFloatTwinIsFloat: the float twin of a network with stored weights of one bit costs what the same network in floats costs: the
// same kernels, and estimated cycles and instructions within 5 %.
func TestFloatTwinIsFloat(t *testing.T) {
	model := filepath.Join(t.TempDir(), "floats.json")
	if err := os.WriteFile(model, []byte(floatDigits), 0o600); err != nil {
		t.Fatal(err)
	}
	const digits = "../examples/digits/digits.json"
	kernels := func(path string, o ripc.Options) (list []string) {
		in, err := ripc.Inspect(t.Context(), path, o, "", false)
		need.OK(t, err)
		for _, l := range in.Layers {
			list = append(list, l.Kernel)
		}
		return list
	}
	for _, target := range []string{"host", "rpi3", "rpi5", "cortex-m4"} {
		twin, floats := ripc.Options{Target: target, FloatTwin: true}, ripc.Options{Target: target}
		if a, b := kernels(digits, twin), kernels(model, floats); !slices.Equal(a, b) {
			t.Errorf("%s: the twin has kernels %q, the network in floats has %q", target, a, b)
		}
	}
	for _, target := range []string{"rpi3", "rpi5"} {
		bench := func(path string, o ripc.Options) *ripc.BenchResult {
			o.Target = target
			b, err := ripc.Bench(t.Context(), ripc.BenchRequest{Path: path, Options: o, Threads: 1})
			need.OK(t, err)
			if b.EstimatedCycles == nil || b.Instructions == nil {
				t.Fatalf("%s: %+v", target, b)
			}
			return b
		}
		a, b := bench(digits, ripc.Options{FloatTwin: true}), bench(model, ripc.Options{})
		near := func(what string, a, b float64) {
			if math.Abs(a/b-1) > 0.05 {
				t.Errorf("%s: the twin takes %.0f %s, the network in floats %.0f", target, a, what, b)
			}
		}
		near("estimated cycles", *a.EstimatedCycles, *b.EstimatedCycles)
		near("instructions", float64(*a.Instructions), float64(*b.Instructions))
	}
}
