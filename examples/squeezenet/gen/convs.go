package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/ripcjson"
	"ripc/internal/safetensors"
)

// convLayer is a single layer to measure: 3x3, stride 1, same padding, as many channels out as in.
type convLayer struct {
	name           string
	size, channels int
}

// writeConvs writes the single-layer models. Their statistics are computed, not measured: with levels that are uniform
// and independent, an accumulator has mean (2^N-1)/2 * sum(w) and variance K*(4^N-1)/12.
func writeConvs(dir string) error {
	for _, l := range []convLayer{{"convA", 56, 64}, {"convB", 28, 128}, {"convC", 14, 256}, {"convD", 7, 512}} {
		for bits := 1; bits <= 3; bits++ {
			if err := writeConv(dir, l, bits); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeConv(dir string, l convLayer, bits int) error {
	name := fmt.Sprintf("%s_n%d_unipolar", l.name, bits)
	n := &network{Name: name, Outputs: []string{"y"}}
	n.Inputs = []attrs{{"name": "x", "dtype": "u32", "packed": true, "encoding": "unipolar", "bits": bits,
		"shape": []int{1, l.size, l.size, l.channels}, "layout": "NHWC"}}
	n.Weights = attrs{"init": "random", "seed": 1, "gain": 0.25, "file": name + ".safetensors"}
	n.add("conv", "bitserial_conv2d", attrs{"filters": l.channels, "kernel": []int{3, 3}, "padding": "same", "weight_scale": "mean"}, "x")
	n.add("norm", "shift_norm", attrs{"mode": "riptide", "bits": bits}, "conv")
	n.add("y", "bitpack", nil, "norm")
	text, err := n.text()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, name+".json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	g, err := ripcjson.Parse(path, text, func(string) (map[string]safetensors.Tensor, error) { return nil, nil })
	if err != nil {
		return err
	}
	worst, err := analyticStatistics(g, bits)
	if err != nil {
		return err
	}
	if err := saveStatistics(filepath.Join(dir, name+".safetensors"), g.Nodes[1:2]); err != nil {
		return err
	}
	if g, err = ripcjson.Read(path, importer.Options{}); err != nil {
		return err
	}
	fmt.Printf("%s: largest |mean|/S %.2f\n", path, worst)
	return report(g, levels(2, l.size, l.size, l.channels, bits))
}

// analyticStatistics sets the shift_norm's mean and var, and returns the largest |mean|/S.
func analyticStatistics(g *graph.Graph, bits int) (worst float64, err error) {
	conv, norm := g.Nodes[0], g.Nodes[1]
	a := norm.Attrs.(*graph.ShiftNormAttrs)
	w := conv.Weights["w"]
	co := w.Shape[3]
	sum := make([]float64, co)
	for i, s := range signs(w.Data) {
		sum[i%co] += float64(s)
	}
	levels := float64(int(1) << bits)
	std := math.Sqrt(float64(len(w.Data)/co) * (levels*levels - 1) / 12)
	step := std
	if bits > 1 {
		step = 2 * std * math.Sqrt2 * math.Erfinv(1-2/levels) / (levels - 2)
	}
	wb := weightBits(conv)
	for k := range sum {
		mean, variance := riptideStatistics(math.Ceil((levels-1)/2*sum[k]), step, wb[k], a)
		norm.Weights["mean"].Data[k], norm.Weights["var"].Data[k] = mean, variance
		f, err := newFixedPoint(mean, variance, wb[k], a)
		if err != nil {
			return 0, fmt.Errorf("%s, channel %d: %w", g.Name, k, err)
		}
		worst = max(worst, f.clip)
	}
	return worst, nil
}
