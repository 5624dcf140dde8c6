package graph

// Prune gives g without the nodes whose results nothing that leads to an output reads.
func Prune(g *Graph) *Graph {
	needed := map[string]bool{}
	for _, out := range g.Outputs {
		needed[out] = true
	}
	h := *g
	h.Nodes, h.Values = nil, map[string]*Value{}
	keep := map[*Node]bool{}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		keep[n] = needed[n.Output]
		if keep[n] {
			for _, in := range n.Inputs {
				needed[in] = true
			}
		}
	}
	for _, in := range g.Inputs {
		h.Values[in] = g.Values[in]
	}
	for _, n := range g.Nodes {
		if keep[n] {
			h.Nodes = append(h.Nodes, n)
			h.Values[n.Output] = g.Values[n.Output]
		}
	}
	return &h
}
