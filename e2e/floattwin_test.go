package e2e

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	t.Parallel()
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

// floatTwinOfParts are networks in floats, as written in ripc's own format, by the networks of testdata/fewbits of the same layers.
func floatTwinsOfParts() map[string]string {
	plain := func(batch, channels int) string {
		head := fmt.Sprintf(`{"format": "ripc.model/1", "name": "floats", "weights": {"init": "random", "seed": 5},
"inputs": [{"name": "x", "dtype": "f32", "shape": [%d, 3, 8, 8], "layout": "NCHW"}],
"nodes": [{"name": "image", "op": "transpose", "inputs": ["x"], "attrs": {"perm": [0, 2, 3, 1]}}`, batch)
		from := "image"
		for i := range 3 {
			head += fmt.Sprintf(`,
{"name": "conv%[1]d", "op": "conv2d", "inputs": [%[3]q], "attrs": {"filters": %[2]d, "kernel": [3, 3], "padding": [1, 1, 1, 1]}},
{"name": "bn%[1]d", "op": "batch_norm", "inputs": ["conv%[1]d"]}`, i, channels, from)
			if from = fmt.Sprintf("bn%d", i); i < 2 {
				head += fmt.Sprintf(`,
{"name": "relu%[1]d", "op": "relu", "inputs": ["bn%[1]d"]}`, i)
				from = fmt.Sprintf("relu%d", i)
			}
		}
		return head + `,
{"name": "mean", "op": "global_avg_pool", "inputs": ["bn2"]},
{"name": "fc", "op": "dense", "inputs": ["mean"], "attrs": {"units": 10}}], "outputs": ["fc"]}`
	}
	return map[string]string{
		"ttq": plain(1, 16), "ttq_positive": plain(1, 16), "lq_weights": plain(1, 16), "lq_activations": plain(1, 16), "levels_below_zero": plain(1, 16), "groups_of_inputs": plain(4, 32),
		"groups_with_zeros": `{"format": "ripc.model/1", "name": "floats", "weights": {"init": "random", "seed": 5},
"inputs": [{"name": "x", "dtype": "f32", "shape": [4, 64], "layout": "NC"}],
"nodes": [{"name": "fc", "op": "dense", "inputs": ["x"], "attrs": {"units": 32}}], "outputs": ["fc"]}`,
	}
}

// TestFloatTwinOfParts: where ripc adds up a layer of several parts, the twin has one layer, and costs what the same network in floats
// does. The network itself counts it once.
func TestFloatTwinOfParts(t *testing.T) {
	twins := floatTwinsOfParts()
	takes := need.Part(t, 3)
	for i, name := range slices.Sorted(maps.Keys(twins)) {
		if !takes(i) {
			continue
		}
		floats := twins[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, file := filepath.Join(t.TempDir(), "floats.json"), filepath.Join("../testdata/fewbits", name+".onnx")
			need.OK(t, os.WriteFile(model, []byte(floats), 0o600))
			imported := filepath.Join(t.TempDir(), "imported.json")
			_, err := ripc.Import(t.Context(), file, imported, ripc.Options{})
			need.OK(t, err)
			inspect := func(path string, o ripc.Options) *ripc.Inspection {
				in, err := ripc.Inspect(t.Context(), path, o, "", false)
				need.OK(t, err)
				return in
			}
			want := inspect(model, ripc.Options{})
			for _, path := range []string{file, imported} {
				for _, twin := range []bool{false, true} {
					in := inspect(path, ripc.Options{FloatTwin: twin})
					if in.Convolutions != want.Convolutions || in.MACs != want.MACs || in.FloatBytes != want.FloatBytes {
						t.Errorf("%s, twin %t: %d convolutions, %d MACs, %d bytes as floats, want %d, %d, %d", path, twin,
							in.Convolutions, in.MACs, in.FloatBytes, want.Convolutions, want.MACs, want.FloatBytes)
					}
				}
			}
			cycles := func(path string, twin bool) float64 {
				b, err := ripc.Bench(t.Context(), ripc.BenchRequest{Path: path, Options: ripc.Options{Target: "rpi3", FloatTwin: twin}, Threads: 1})
				need.OK(t, err)
				return *b.EstimatedCycles
			}
			if a, b := cycles(imported, true), cycles(model, false); math.Abs(a/b-1) > 0.05 {
				t.Errorf("the twin takes %.0f estimated cycles, the network in floats %.0f", a, b)
			}
		})
	}
}

// TestMeansAreNoLayers: means of integers, which importers write as convolutions with weights of 1, count as no convolutions, and the
// twin has pools in their place.
func TestMeansAreNoLayers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"twice_read_inner": 5, "twice_read_norm": 1, "twice_read_binary": 5} {
		path := filepath.Join("../testdata/tflite", name+".tflite")
		in, err := ripc.Inspect(t.Context(), path, ripc.Options{}, "", false)
		need.OK(t, err)
		twin, err := ripc.Inspect(t.Context(), path, ripc.Options{FloatTwin: true}, "", false)
		need.OK(t, err)
		if in.Convolutions != want || twin.Convolutions != want || in.MACs != twin.MACs || in.FloatBytes != twin.FloatBytes {
			t.Errorf("%s: %d convolutions, %d MACs, %d bytes as floats, the twin %d, %d, %d, want %d", name,
				in.Convolutions, in.MACs, in.FloatBytes, twin.Convolutions, twin.MACs, twin.FloatBytes, want)
		}
	}
}

// TestNoFloatTwin: the reason for having no twin is a reason alone where it stands behind words, and a whole error elsewhere.
func TestNoFloatTwin(t *testing.T) {
	t.Parallel()
	model := filepath.Join(t.TempDir(), "part.json")
	need.OK(t, os.WriteFile(model, []byte(`{"format": "ripc.model/1", "name": "part", "weights": {"init": "random", "seed": 5},
"inputs": [{"name": "x", "dtype": "f32", "shape": [4, 64], "layout": "NC"}],
"nodes": [{"name": "fc", "op": "dense", "inputs": ["x"], "attrs": {"units": 32}, "part": {"of": "layer", "repeats": true}}], "outputs": ["fc"]}`), 0o600))
	in, err := ripc.InspectMemory(t.Context(), model, ripc.Options{})
	need.OK(t, err)
	if reason := `part.json: output "fc" is made by a part of a layer`; !strings.HasSuffix(in.Memory.NoTwin, reason) || strings.Contains(in.Memory.NoTwin, "float twin") {
		t.Errorf("got %q, want %s", in.Memory.NoTwin, reason)
	}
	if _, err := ripc.Inspect(t.Context(), model, ripc.Options{FloatTwin: true}, "", false); err == nil || !strings.HasPrefix(err.Error(), "no float twin: ") {
		t.Errorf("got %v", err)
	}
}
