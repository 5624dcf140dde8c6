package lower

import (
	"maps"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/internal/names"
	"ripc/ir"
)

// rename returns a copy of g with names of the network and its tensors that the IR can hold. labels
// maps changed names to the model's. Models use any names ("input:0", "block1/conv-1").
func rename(g *graph.Graph) (out *graph.Graph, labels map[string]string) {
	labels = map[string]string{}
	to := map[string]string{}
	var taken names.Set
	tensors := slices.Sorted(maps.Keys(g.Values))
	for _, n := range tensors {
		if ir.IsName(n) {
			to[n] = n
			taken.Take(n)
		}
	}
	for _, n := range tensors {
		if _, ok := to[n]; ok {
			continue
		}
		c := taken.Unique(clean(n))
		to[n], labels[c] = c, n
	}
	all := func(ns []string) []string {
		var out []string
		for _, n := range ns {
			out = append(out, to[n])
		}
		return out
	}
	h := *g
	h.Name, h.Inputs, h.Outputs = clean(g.Name), all(g.Inputs), all(g.Outputs)
	h.Nodes, h.Values = nil, map[string]*graph.Value{}
	for _, n := range g.Nodes {
		m := *n
		m.Inputs, m.Output = all(n.Inputs), to[n.Output]
		h.Nodes = append(h.Nodes, &m)
	}
	for n, v := range g.Values {
		w := *v
		w.Name = to[n]
		h.Values[w.Name] = &w
	}
	return &h, labels
}

// clean replaces the characters of s that no name can hold by "_"; names of the IR stay as they
// are.
func clean(s string) string {
	c := strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
	if !ir.IsName(c) {
		c = "_" + c
	}
	return c
}
