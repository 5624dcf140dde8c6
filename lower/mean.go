package lower

import (
	"slices"

	"ripc/graph"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// planMeans finds the means over all positions of what a fused layer makes, where nothing else reads that: the layer's stage sums its
// floats as they come, and writes the mean alone.
func (l *lowering) planMeans() {
	l.means = map[string]*graph.Node{}
	for _, n := range l.g.Nodes {
		if p := l.meanLayer(n); p != nil {
			l.means[p.Name], l.done[n.Name] = n, true
		}
	}
}

// meanLayer is the fused layer whose stage can write n in the place of its floats; nil if n is no mean over all positions, or there is no
// such layer.
func (l *lowering) meanLayer(n *graph.Node) *graph.Node {
	if !l.overAll(n) || l.soleReader(n.Inputs[0]) != n {
		return nil
	}
	p := l.Producer(n.Inputs[0])
	if p == nil {
		return nil
	}
	f, ok := p.Attrs.(*graph.FusedConv)
	if !ok || p.Op == "window_sum" || !layout.Means(f, l.choices[p.Name].Algorithm) {
		return nil
	}
	return p
}

// overAll reports whether n is a mean over all rows and columns, of several positions.
func (l *lowering) overAll(n *graph.Node) bool {
	if n.Op != "global_avg_pool" && n.Op != "avg_pool" {
		return false
	}
	x := ops.Spatial(l.g.Value(n.Inputs[0]).Shape)
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
