package lower

import (
	"slices"

	"ripc/graph"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// planMeans lets the stages of fused layers write means over all positions of what they make, as meansOf finds: such a stage sums its floats as
// they come, and writes the mean alone.
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

// meansOf are the means over all positions of what a fused layer makes, where nothing else reads that and the layer's stage can write the mean
// in the place of its floats, by the layers' names.
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

// positions is the number of positions whose mean n's stage makes, 0 where it makes none.
func (l *lowering) positions(n *graph.Node) int {
	m := l.means[n.Name]
	if m == nil {
		return 0
	}
	x := ops.Spatial(l.g.Value(m.Inputs[0]).Shape)
	return x[1] * x[2]
}
