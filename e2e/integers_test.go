package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/runtime/npy"
	"ripc/targets"
)

// integerNetwork is a network of testdata/integers and how far outputs may be from what the file's own runtime computed.
type integerNetwork struct {
	Name   string
	Inputs []string
	Within float64
	Floats bool // a layer of it is computed in floats
}

// TestIntegers runs networks of 8-bit integers, compares with what onnxruntime or TFLite made of them, to the bit where both compute in integers, and
// compares compiled code with the interpreter. No layer of theirs is a float one, unless the list says so.
func TestIntegers(t *testing.T) {
	const folder = "../testdata/integers"
	for _, list := range []struct{ index, ext string }{{"onnx.json", ".onnx"}, {"tflite.json", ".tflite"}} {
		var index struct{ Networks []integerNetwork }
		data, err := os.ReadFile(filepath.Join(folder, list.index))
		if err == nil {
			err = json.Unmarshal(data, &index)
		}
		if err != nil || len(index.Networks) < 10 {
			t.Fatalf("%s: %d networks, %v", list.index, len(index.Networks), err)
		}
		compiled, takes := need.Part(t, 3), need.Part(t, 2)
		for i, n := range index.Networks {
			if !takes(i) {
				continue
			}
			t.Run(n.Name, func(t *testing.T) {
				t.Parallel()
				checkIntegers(t, filepath.Join(folder, n.Name), list.ext, n, hostOrBoard(i, compiled))
			})
		}
	}
}

func checkIntegers(t *testing.T, base, ext string, n integerNetwork, on []string) {
	var inputs []string
	for _, in := range n.Inputs {
		inputs = append(inputs, base+"."+in+".npy")
	}
	got, err := ripc.Run(context.Background(), ripc.RunRequest{Path: base + ext, Threads: 1, Engine: ripc.EngineInterp, Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	want, err := npy.ReadFile(base + ".out.npy")
	if err != nil {
		t.Fatal(err)
	}
	compareOutput(t, got.Outputs[0], want, n.Within, 0)
	c, err := ripc.Compile(context.Background(), base+ext, ripc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Program.Stages {
		if s.Layer.Kind == "float" && !n.Floats {
			t.Errorf("stage %s is float: %+v", s.Name, s.Layer.Reason)
		}
	}
	for _, target := range on {
		needTarget(t, target)
		report, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: base + ext, Options: ripc.Options{Target: target}, Threads: 1, Inputs: inputs})
		if err != nil {
			t.Fatal(err)
		}
		if !report.OK {
			t.Errorf("on %s: %+v", target, report)
		}
	}
}

// TestIntegersOneLevel: a result whose range is one level, as where an activation leaves nothing, needs no sums, and is compiled.
func TestIntegersOneLevel(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "level.json")
	attrs := `"zero_point": 255, "scale": 1, "range": [255, 255]}}`
	text := `{"format": "ripc.model/1", "name": "level", "inputs": [{"name": "x", "dtype": "u8", "shape": [1, 7, 7, 6], "encoding": "affine", "bits": 8, "zero_point": 3}],
		"nodes": [{"name": "fixed", "op": "int_conv2d", "inputs": ["x"], "attrs": {"filters": 12, "kernel": [3, 3], "padding": "same", "requantize": "fixed_point", ` + attrs + `,
			{"name": "float", "op": "int_conv2d", "inputs": ["x"], "attrs": {"filters": 12, "kernel": [3, 3], "groups": 6, "requantize": "float", ` + attrs + `,
			{"name": "mean", "op": "int_conv2d", "inputs": ["x"], "attrs": {"filters": 6, "kernel": [3, 3], "groups": 6, "requantize": "mean", "count": 9, ` + attrs + `],
		"outputs": ["fixed", "float", "mean"], "weights": {"init": "random", "seed": 1}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{targets.HostName, "x86-64-v3", "rpi3", "rpi3-armv7"} {
		needTarget(t, target)
		report, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: path, Options: ripc.Options{Target: target}, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !report.OK {
			t.Errorf("on %s: %s", target, faults(report))
		}
	}
}
