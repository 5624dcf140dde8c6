package ablation

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// shape is a convolution that keeps its input's shape.
type shape struct{ channels, size, kernel int }

// resnetShapes are those of ResNet-18, which are Larq Compute Engine's Figure 2.
func resnetShapes() []shape {
	return []shape{{64, 56, 3}, {128, 28, 3}, {256, 14, 3}, {512, 7, 3}}
}

// sweep are the convolutions of Larq Compute Engine's Figure 3.
func sweep() (all []shape) {
	for _, c := range []int{32, 64, 96, 128, 160, 256} {
		for _, s := range []int{8, 16, 32, 64} {
			for _, k := range []int{3, 5} {
				all = append(all, shape{c, s, k})
			}
		}
	}
	return all
}

// sampleShapes returns n of all, all for 0: of all extents, and those of a smaller n among them.
func sampleShapes(all []shape, n int) (some []shape) {
	if n <= 0 {
		return all
	}
	const step = 11 // which has no factor in common with the number of shapes
	for i := range min(n, len(all)) {
		some = append(some, all[i*step%len(all)])
	}
	return some
}

func (s shape) name() string {
	return fmt.Sprintf("conv%dx%d_%dx%dx%d", s.kernel, s.kernel, s.size, s.size, s.channels)
}

type attrs = map[string]any

// binary is a network of the convolution alone, with packed bits in and out.
func (s shape) binary() attrs {
	return attrs{
		"inputs": []attrs{{"name": "x", "dtype": "u32", "packed": true, "encoding": "bipolar", "bits": 1,
			"shape": []int{1, s.size, s.size, s.channels}, "layout": "NHWC"}},
		"outputs": []string{"y"},
		"nodes": []attrs{
			{"name": "conv", "op": "bitserial_conv2d", "inputs": []string{"x"},
				"attrs": attrs{"filters": s.channels, "kernel": []int{s.kernel, s.kernel}, "padding": "same"}},
			{"name": "act", "op": "quantize", "inputs": []string{"conv"},
				"attrs": attrs{"bits": 1, "encoding": "bipolar"}},
			{"name": "y", "op": "bitpack", "inputs": []string{"act"}},
		}}
}

// integers is the convolution with levels and weights of 8 bits, as TFLite has it.
func (s shape) integers() attrs {
	return attrs{
		"inputs": []attrs{{"name": "x", "dtype": "i8", "encoding": "affine", "bits": 8, "zero_point": 0, "scale": 0.02,
			"shape": []int{1, s.size, s.size, s.channels}, "layout": "NHWC"}},
		"outputs": []string{"conv"},
		"nodes": []attrs{{"name": "conv", "op": "int_conv2d", "inputs": []string{"x"},
			"weights": attrs{"bias": "conv.bias"},
			"attrs": attrs{"filters": s.channels, "kernel": []int{s.kernel, s.kernel}, "padding": "same",
				"requantize": "fixed_point", "dtype": "i8", "zero_point": 0, "scale": 0.02}}},
	}
}

// write writes a network of the given name into a folder.
func (s shape) write(dir, name string, m attrs) (string, error) {
	m["format"], m["name"], m["weights"] = "ripc.model/1", name, attrs{"init": "random", "seed": 1}
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+".json")
	return path, os.WriteFile(path, data, 0o644)
}
