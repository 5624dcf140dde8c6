package zoo

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"ripc/graph"
	"ripc/importer/ripcjson"
	"ripc/internal/refnet"
	"ripc/internal/safetensors"
	"ripc/internal/stop"
)

// convLayer is a single layer to measure: 3x3, stride 1, same padding, as many channels out as in.
type convLayer struct {
	name           string
	size, channels int
}

// writeConvs writes the single-layer models of examples/convs. Their statistics are computed, not
// measured: with levels that are uniform and independent, an accumulator has mean (2^N-1)/2 *
// sum(w) and variance K*(4^N-1)/12.
func writeConvs(dir string) error {
	for _, l := range []convLayer{{"convA", 56, 64}, {"convB", 28, 128}, {"convC", 14, 256}, {"convD", 7, 512}} {
		for bits := 1; bits <= 4; bits++ {
			if err := writeConv(dir, l, bits); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeConv(dir string, l convLayer, bits int) (err error) {
	defer stop.Catch(&err)
	name := fmt.Sprintf("%s_n%d_unipolar", l.name, bits)
	m := &model{Name: name, Outputs: []string{"y"}}
	m.Inputs = []attrs{{"name": "x", "dtype": "u32", "packed": true, "encoding": "unipolar", "bits": bits,
		"shape": []int{1, l.size, l.size, l.channels}, "layout": "NHWC"}}
	m.Source = attrs{"init": "random", "seed": 1, "gain": 0.25, "file": name + ".safetensors"}
	m.add("conv", "bitserial_conv2d", attrs{"filters": l.channels, "kernel": []int{3, 3}, "padding": "same",
		"weight_scale": "mean"}, "x")
	m.add("norm", "shift_norm", attrs{"mode": "riptide", "bits": bits}, "conv")
	m.add("y", "bitpack", nil, "norm")
	text := stop.Must(m.text())
	path := filepath.Join(dir, name+".json")
	stop.Check(os.WriteFile(path, text, 0o644))
	g := stop.Must(ripcjson.Parse(path, text, func(string) (map[string]safetensors.Tensor, error) { return nil, nil }))
	analyticStatistics(g, bits)
	norm := g.Nodes[1]
	return safetensors.WriteFile(filepath.Join(dir, name+".safetensors"), map[string]safetensors.Tensor{
		"norm.mean": tensorOf(norm.Weights["mean"].Shape, norm.Weights["mean"].Data.Floats()),
		"norm.var":  tensorOf(norm.Weights["var"].Shape, norm.Weights["var"].Data.Floats())})
}

// analyticStatistics sets the shift_norm's mean and var.
func analyticStatistics(g *graph.Graph, bits int) {
	conv, norm := g.Nodes[0], g.Nodes[1]
	a := norm.Attrs.(*graph.ShiftNormAttrs)
	ints, alpha := refnet.Weights(conv, conv.Attrs.(*graph.Conv2DAttrs).Binary, conv.Weights["w"].Shape)
	u := &unit{step: g.Value("x").Scale, largest: float64(int(1)<<bits - 1), alpha: alpha}
	sum := make([]float64, len(alpha))
	for i, s := range ints {
		sum[i%len(sum)] += float64(s)
	}
	levels := float64(int(1) << bits)
	std := math.Sqrt(float64(len(ints)/len(sum)) * (levels*levels - 1) / 12)
	step := std
	if bits > 1 {
		step = 2 * std * math.Sqrt2 * math.Erfinv(1-2/levels) / (levels - 2)
	}
	means, variances := writable(norm.Weights["mean"]), writable(norm.Weights["var"])
	for k := range sum {
		means[k], variances[k] = u.statistics(math.Ceil((levels-1)/2*sum[k]), step, k, a)
	}
}
