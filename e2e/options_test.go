package e2e_test

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"ripc"
	"ripc/runtime/npy"
)

// TestInputOptions: a network that takes bytes, in the caller's order of axes, and normalizes them, gives the bits that it gives for
// the numbers that the definition (x*scale - mean) / std makes of the bytes, each step rounded to f32.
func TestInputOptions(t *testing.T) {
	t.Parallel()
	needTarget(t, "rpi3")
	const model = "../cmd/ripc/testdata/models/cut.onnx"
	const h, w, c = 6, 6, 3
	scale, mean, std := []float32{1.0 / 255}, []float32{0.485, 0.456, 0.406}, []float32{0.229, 0.224, 0.225}
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	bytes := make([]byte, h*w*c) // NHWC
	for i := range bytes {
		bytes[i] = byte(r.IntN(256))
	}
	nchw := func(i int) int { return i%(h*w)*c + i/(h*w) } // where element i of NCHW lies in NHWC
	planes, normal, plain := make([]byte, len(bytes)), make([]float32, len(bytes)), make([]float32, len(bytes))
	for i := range planes {
		planes[i] = bytes[nchw(i)]
		plain[i] = float32(planes[i])
		x := plain[i] * scale[0]
		x -= mean[i/(h*w)]
		normal[i] = x / std[i/(h*w)]
	}
	file := func(name string, a *npy.Array) string {
		path := filepath.Join(dir, name)
		if err := a.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	run := func(input string, in ripc.InputOptions, target string) []byte {
		t.Helper()
		o := ripc.Options{Target: target, Import: ripc.ImportOptions{End: []string{"logits"}, Inputs: map[string]ripc.InputOptions{"": in}}}
		res, err := ripc.Run(context.Background(), ripc.RunRequest{Path: model, Options: o, Inputs: []string{input}, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		return res.Outputs[0].Data
	}
	want := run(file("normal.npy", npy.FromFloat32([]int{1, c, h, w}, normal)), ripc.InputOptions{}, "")
	for _, v := range binaryFloats(want) {
		if v != v || math.Abs(float64(v)) > 100 {
			t.Fatalf("%v", v)
		}
	}
	for name, in := range map[string]struct {
		file    string
		options ripc.InputOptions
	}{
		"bytes":         {file("nchw.npy", &npy.Array{DType: "u8", Shape: []int{1, c, h, w}, Data: planes}), ripc.InputOptions{Type: "u8"}},
		"bytes, NHWC":   {file("nhwc.npy", &npy.Array{DType: "u8", Shape: []int{1, h, w, c}, Data: bytes}), ripc.InputOptions{Type: "u8", Layout: "NHWC"}},
		"floats":        {file("f32.npy", npy.FromFloat32([]int{1, c, h, w}, plain)), ripc.InputOptions{}},
		"floats, as is": {filepath.Join(dir, "f32.npy"), ripc.InputOptions{Type: "f32", Layout: "NCHW"}},
	} {
		in.options.Scale, in.options.Mean, in.options.Std = scale, mean, std
		for _, target := range []string{"", "rpi3"} {
			if got := run(in.file, in.options, target); !slices.Equal(got, want) {
				t.Errorf("%s, target %q: %v, want %v", name, target, binaryFloats(got), binaryFloats(want))
			}
		}
	}
}

func binaryFloats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
