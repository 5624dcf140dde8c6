package graph

func inferGather(g *Graph, n *Node, x *Value, a *GatherAttrs) *Value {
	return inferPositions(g, n, x, a.Rows, a.Columns)
}

func inferInterpolate(g *Graph, n *Node, x *Value, a *InterpolateAttrs) *Value {
	v := inferPositions(g, n, x, a.Rows, a.Columns)
	g.needFloat(n, x)
	return v
}

// inferPositions is image x at the given rows and columns; an empty list stands for all of an axis.
func inferPositions[P int | float32](g *Graph, n *Node, x *Value, rows, columns []P) *Value {
	g.failIf(len(x.Shape) != 4, n, "", "input has shape %v, want NHWC", x.Shape)
	g.failIf(len(rows)+len(columns) == 0, n, "", "gives neither rows nor columns")
	shape := append([]int(nil), x.Shape...)
	for d, axis := range []struct {
		name string
		at   []P
	}{{"rows", rows}, {"columns", columns}} {
		for _, p := range axis.at {
			if last := float64(x.Shape[1+d] - 1); !(float64(p) >= 0 && float64(p) <= last) {
				panic(g.Errorf(n, "", "%s %v: want positions from 0 to %g", axis.name, p, last))
			}
		}
		if len(axis.at) > 0 {
			shape[1+d] = len(axis.at)
		}
	}
	return x.reshaped(shape)
}

// AdjacentPositions returns the two neighbours of position p of an axis of n positions, and the
// second one's share.
func AdjacentPositions(p float32, n int) (low, high int, share float32) {
	low = int(p)
	return low, min(low+1, n-1), p - float32(low)
}
