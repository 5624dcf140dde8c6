package lower

import (
	"slices"

	"ripc/graph"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// planMeans lets the stages of fused layers write means over all positions of their output, as
// meansOf finds them. Such a stage sums its floats as they come, and writes the mean alone.
func (l *lowering) planMeans() {
	l.means = meansOf(l.g, l.Index)
	for layer, n := range l.means {
		if !l.choices[layer].Algorithm.Averages() { // the mean has a stage of its own
			delete(l.means, layer)
			continue
		}
		l.done[n.Name] = true
	}
}

// meansOf returns the means over all positions of the output of fused layers, by the layers' names.
// The mean is the only reader, and the layer's stage can write it in place of its floats.
func meansOf(g *graph.Graph, index *graph.Index) map[string]*graph.Node {
	means := map[string]*graph.Node{}
	for _, n := range g.Nodes {
		if !overAll(g, n) || soleReader(g, index, n.Inputs[0]) != n {
			continue
		}
		p := index.Producer(n.Inputs[0])
		if p == nil || p.Op == "window_sum" {
			continue
		}
		if f, ok := p.Attrs.(*graph.FusedConv); ok && layout.Means(f) {
			means[p.Name] = n
		}
	}
	return means
}

// overAll reports whether n is a mean over all rows and columns, of several positions.
func overAll(g *graph.Graph, n *graph.Node) bool {
	if n.Op != "global_avg_pool" && n.Op != "avg_pool" {
		return false
	}
	x := ops.Spatial(g.Value(n.Inputs[0]).Shape)
	if a, ok := n.Attrs.(*graph.PoolAttrs); ok && (a.Pad.Any() || !slices.Equal(a.Kernel[:], x[1:3])) {
		return false
	}
	return x[1]*x[2] > 1
}

// positions returns the number of positions in the mean that n's stage makes, or 0.
func (l *lowering) positions(n *graph.Node) int {
	m := l.means[n.Name]
	if m == nil {
		return 0
	}
	x := ops.Spatial(l.g.Value(m.Inputs[0]).Shape)
	return x[1] * x[2]
}
