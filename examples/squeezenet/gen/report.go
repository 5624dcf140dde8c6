package main

import (
	"fmt"
	"strings"

	"ripc/graph"
	"ripc/ir"
)

// report runs the network on pictures and prints, for each tensor of levels, the share of bits set in each plane and
// of channels that take more than one value; then the classes. It fails if a layer is out of balance.
func report(g *graph.Graph, in []*value) error {
	all, err := forward(g, in, nil)
	if err != nil {
		return err
	}
	var bad []string
	for _, n := range g.Nodes {
		out := n.Output
		x := all[out]
		live := liveChannels(x)
		line := fmt.Sprintf("  %-22s %4d channels, %5.1f%% vary", out, x[0].c, 100*live)
		if v := g.Value(out); v.Enc == ir.Unipolar {
			bits, planes := density(x, v.Bits)
			line += fmt.Sprintf(", bits set %.3f, by plane %.3f", bits, planes)
			if bits < 0.2 || bits > 0.8 || live < 0.9 {
				bad = append(bad, out)
			}
			fmt.Println(line)
		} else if n.Op == "relu" || n.Op == "softmax" {
			fmt.Println(line)
		}
	}
	if last := all[g.Outputs[0]]; last[0].f != nil {
		fmt.Println("  classes:" + classes(last))
	}
	if len(bad) > 0 {
		return fmt.Errorf("%s: out of balance: %s", g.File, strings.Join(bad, ", "))
	}
	return nil
}

// classes lists the most likely class of each picture with its probability.
func classes(x []*value) string {
	var s string
	for _, v := range x {
		best := 0
		for i, p := range v.f {
			if p > v.f[best] {
				best = i
			}
		}
		s += fmt.Sprintf(" %d (%.4f)", best, v.f[best])
	}
	return s
}

// density is the share of bits that are set: of all, and plane by plane.
func density(x []*value, bits int) (all float64, planes []float64) {
	planes = make([]float64, bits)
	n := 0
	for _, v := range x {
		n += len(v.q)
		for _, level := range v.q {
			for b := range planes {
				planes[b] += float64(level >> b & 1)
			}
		}
	}
	for b := range planes {
		planes[b] /= float64(n)
		all += planes[b] / float64(bits)
	}
	return all, planes
}

// liveChannels is the share of channels that take more than one value.
func liveChannels(x []*value) float64 {
	live := 0
	for k := range x[0].c {
		if v := channel(x, k); v[0] != v[len(v)-1] {
			live++
		}
	}
	return float64(live) / float64(x[0].c)
}
