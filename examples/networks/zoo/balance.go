package zoo

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"ripc/graph"
	"ripc/internal/refnet"
)

// pictures are random pixels, in [0, 1) or bytes, which are integers in f32.
func (n Network) pictures(count int, seed uint64) [][]float32 {
	var out [][]float32
	for i := range count {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		f := make([]float32, graph.Elems(n.Input))
		for j := range f {
			if f[j] = rng.Float32(); n.bytes {
				f[j] = float32(int(256 * f[j]))
			}
		}
		out = append(out, f)
	}
	return out
}

// balance runs a network on pictures and says, for each tensor of levels, the share of bits set in
// each plane and of channels that take more than one value; then the classes. It fails if a layer
// is out of balance.
func balance(g *graph.Graph, in [][]float32, log io.Writer) error {
	var bad []string
	err := newEvaluator(g).forward(in, nil, func(n *graph.Node, x []*refnet.Tensor) error {
		v := g.Value(n.Output)
		live := liveChannels(x, v.Channels())
		line := fmt.Sprintf("  %-22s %4d channels, %5.1f%% vary", n.Output, v.Channels(), 100*live)
		switch {
		case v.Encoded() && v.Bits <= 4 && n.Op != "add":
			bits, planes := density(x, v)
			fmt.Fprintf(log, "%s, bits set %.3f, by plane %.3f\n", line, bits, planes)
			if quantizes(n.Op) && (bits < 0.2 || bits > 0.8 || live < 0.9 && len(x[0].F) > 16*v.Channels()) {
				bad = append(bad, n.Output)
			}
		case n.Op == "relu" || n.Op == "softmax":
			fmt.Fprintln(log, line)
		}
		if n.Output == g.Outputs[0] && !v.Encoded() {
			fmt.Fprintln(log, "  classes:"+classes(x))
		}
		return nil
	})
	if err == nil && len(bad) > 0 {
		err = fmt.Errorf("%s: out of balance: %s", g.File, strings.Join(bad, ", "))
	}
	return err
}

// quantizes reports whether an op makes levels, and does not only move or choose among them.
func quantizes(op string) bool { return op == "quantize" || op == "threshold" || op == "shift_norm" }

// classes lists the most likely class of each picture with its probability.
func classes(x []*refnet.Tensor) string {
	var s string
	for _, v := range x {
		best := 0
		for i, p := range v.F {
			if p > v.F[best] {
				best = i
			}
		}
		s += fmt.Sprintf(" %d (%.4f)", best, v.F[best])
	}
	return s
}

// density is the share of bits that are set: of all, and plane by plane.
func density(x []*refnet.Tensor, t *graph.Value) (all float64, planes []float64) {
	planes = make([]float64, t.Bits)
	set := graph.IntegersOf(t.LevelType)
	n := 0
	for _, v := range x {
		n += len(v.F)
		for _, integer := range v.F {
			level := (int(integer) - set.Min) / set.Step
			for b := range planes {
				planes[b] += float64(level >> b & 1)
			}
		}
	}
	for b := range planes {
		planes[b] /= float64(n)
		all += planes[b] / float64(t.Bits)
	}
	return all, planes
}

// liveChannels is the share of channels that take more than one value.
func liveChannels(x []*refnet.Tensor, channels int) float64 {
	varies := make([]bool, channels)
	for _, v := range x {
		for i, e := range v.F {
			varies[i%channels] = varies[i%channels] || e != x[0].F[i%channels]
		}
	}
	live := 0
	for _, v := range varies {
		if v {
			live++
		}
	}
	return float64(live) / float64(channels)
}
