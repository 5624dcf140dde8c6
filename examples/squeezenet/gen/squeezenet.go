package main

import (
	"fmt"
	"os"
	"path/filepath"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/ripcjson"
	"ripc/internal/safetensors"
)

// variant is one SqueezeNet: what its files are called, the bits of its activations (0 is the float network), and whether pictures
// are bytes and the weights of the first layer integers of 8 bits, which makes that one a layer of integers, too.
type variant struct {
	name, weights string
	bits          int
	bytes         bool
}

func variants() []variant {
	return []variant{
		{"squeezenet", "squeezenet_a1", 1, false},
		{"squeezenet_u8", "squeezenet_u8", 1, true},
		{"squeezenet_a2", "squeezenet_a2", 2, false},
		{"squeezenet_a3", "squeezenet_a3", 3, false},
		{"squeezenet_float", "squeezenet_float", 0, false},
	}
}

// network is SqueezeNet 1.1 (Iandola et al. 2016) on 224x224 pictures, in the form that Riptide gives networks. The binary
// network pools before it normalizes, as Riptide does (its Algorithm 1), behind fire modules the integers of both expand
// convolutions: so bits stay balanced.
func (v variant) network() *network {
	n := &network{Name: v.name, Outputs: []string{"prob"}}
	gain, bits := 0.25, v.bits
	if bits == 0 {
		gain = 1
	}
	n.Inputs = []attrs{{"name": "image", "dtype": "f32", "shape": []int{1, 224, 224, 3}, "layout": "NHWC"}}
	stem := "conv2d"
	if v.bytes {
		stem = "int_conv2d"
		n.Inputs[0]["dtype"], n.Inputs[0]["encoding"], n.Inputs[0]["bits"], n.Inputs[0]["scale"] = "u8", "unipolar", 8, 1.0/255
	}
	n.Weights = attrs{"init": "random", "seed": 1, "gain": gain, "file": v.weights + ".safetensors"}

	pool := attrs{"kernel": []int{3, 3}, "strides": []int{2, 2}}
	x := n.add("conv1", stem, attrs{"filters": 64, "kernel": []int{3, 3}, "strides": []int{2, 2}}, "image")
	if bits == 0 {
		x = n.add("bn1", "batch_norm", nil, x)
		x = n.add("relu1", "relu", nil, x)
		x = n.add("pool1", "max_pool", pool, x)
	} else {
		x = n.add("pool1", "max_pool", pool, x)
		x = n.add("bn1", "batch_norm", nil, x)
		x = n.add("act1", "quantize", attrs{"bits": bits}, x)
	}
	for i, width := range []int{16, 16, 32, 32, 48, 48, 64, 64} {
		f := fmt.Sprintf("fire%d", i+2)
		pooled := f == "fire3" || f == "fire5"
		s := n.layer(f+"_squeeze", bits, width, 1, false, x)
		e1 := n.layer(f+"_expand1", bits, 4*width, 1, pooled, s)
		e3 := n.layer(f+"_expand3", bits, 4*width, 3, pooled, s)
		x = n.add(f, "concat", nil, e1, e3)
		if bits == 0 && pooled {
			x = n.add(f+"_pool", "max_pool", pool, x)
		}
	}
	op := "conv2d"
	if bits > 0 {
		op = "bitserial_conv2d"
	}
	x = n.add("conv10", op, attrs{"filters": 1000, "kernel": []int{1, 1}}, x)
	x = n.add("pool10", "global_avg_pool", nil, x)
	n.add("prob", "softmax", nil, x)
	return n
}

// layer is a convolution with what follows it.
func (n *network) layer(name string, bits, filters, kernel int, pooled bool, x string) string {
	conv := attrs{"filters": filters, "kernel": []int{kernel, kernel}}
	if kernel > 1 {
		conv["padding"] = "same"
	}
	if bits == 0 {
		x = n.add(name, "conv2d", conv, x)
		x = n.add(name+"_bn", "batch_norm", nil, x)
		return n.add(name+"_relu", "relu", nil, x)
	}
	conv["weight_scale"] = "mean"
	x = n.add(name, "bitserial_conv2d", conv, x)
	if pooled {
		x = n.add(name+"_pool", "max_pool", attrs{"kernel": []int{3, 3}, "strides": []int{2, 2}}, x)
	}
	return n.add(name+"_norm", "shift_norm", attrs{"mode": "riptide", "bits": bits}, x)
}

// write writes one network, calibrates its normalizations layer by layer, and reports the result.
func (v variant) write(dir string) error {
	const calibrationImages, testImages = 6, 8
	n := v.network()
	text, err := n.text()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, v.name+".json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	none := func(string) (map[string]safetensors.Tensor, error) { return nil, nil }
	g, err := ripcjson.Parse(path, text, none)
	if err != nil {
		return err
	}
	cal := &calibrator{g: g}
	if _, err := forward(g, pictures(calibrationImages, 1000, v.bytes), cal.visit); err != nil {
		return err
	}
	if err := saveStatistics(filepath.Join(dir, n.Weights["file"].(string)), cal.done); err != nil {
		return err
	}
	fmt.Printf("%s: largest |mean|/S %.2f\n", path, cal.worst)
	if g, err = ripcjson.Read(path, importer.Options{}); err != nil {
		return err
	}
	return report(g, pictures(testImages, 1, v.bytes))
}

// saveStatistics stores mean and var of the nodes.
func saveStatistics(path string, nodes []*graph.Node) error {
	tensors := map[string]safetensors.Tensor{}
	for _, n := range nodes {
		for _, key := range []string{"mean", "var"} {
			tensors[n.Name+"."+key] = stored(n.Weights[key].Data)
		}
	}
	return safetensors.WriteFile(path, tensors, nil)
}
