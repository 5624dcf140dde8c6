package source

import (
	"slices"

	"ripc/graph"
	"ripc/importer"
	"ripc/internal/lists"
)

// CutGraph is the part of g that o asks for; g is changed. A tensor where it begins is an input of
// its type and shape, levels one a byte.
func CutGraph(g *graph.Graph, o importer.Options) (*graph.Graph, error) {
	if len(o.Begin)+len(o.End) == 0 {
		return g, nil
	}
	wire := func(n *graph.Node) Wire { return Wire{Name: n.Name, Reads: n.Inputs, Makes: []string{n.Output}} }
	w := &Wiring{File: g.File, Inputs: g.Inputs, Outputs: g.Outputs, Nodes: lists.Map(g.Nodes, wire)}
	part, err := w.Cut(o.Begin, o.End)
	if err != nil {
		return nil, err
	}
	var nodes []*graph.Node
	for i, n := range g.Nodes {
		if part.Keep[i] && !slices.Contains(part.Inputs, n.Output) {
			nodes = append(nodes, n)
		}
	}
	g.Nodes, g.Inputs, g.Outputs = nodes, part.Inputs, part.Outputs
	graph.NewBuilder(g).Prune()
	return g, nil
}
