package dataflow

import (
	"slices"

	"ripc/graph"
)

// Host is the part of a network that the processor computes.
type Host struct {
	// Head makes the segment's input, and all that Tail reads besides, from the network's inputs.
	// Tail goes on with the segment's output. Either is nil if there is nothing to compute.
	Head, Tail *graph.Graph
	// Sums is the name by which Tail reads the segment's output, sums as f32; "" for levels. It is
	// the output's own where the sums have no float steps.
	Sums string
}

// Host splits the nodes outside of s.
func (s *Segment) Host() *Host {
	g, h := s.Graph, &Host{}
	behind := map[string]bool{s.Out: true}
	var head, tail []*graph.Node
	for _, n := range g.Nodes {
		switch {
		case s.nodes[n]:
		case slices.ContainsFunc(n.Inputs, func(t string) bool { return behind[t] }):
			behind[n.Output] = true
			tail = append(tail, n)
		default:
			head = append(head, n)
		}
	}
	t := part(g, "_tail", tail)
	m := s.SumsLeave()
	switch {
	case m != nil && len(m.Conv.Epilogue.Steps) == 0:
		h.Sums = s.Out
	case m != nil:
		b := graph.NewBuilder(t)
		v := *g.Value(s.Out)
		h.Sums = b.TensorName(s.Out + " sums")
		v.Name = h.Sums
		y := *g.Value(s.Out)
		t.Values[h.Sums], t.Values[s.Out] = &v, &y
		t.Nodes = slices.Insert(t.Nodes, 0, &graph.Node{Name: b.NodeName(s.Last().Name), Op: "eltwise",
			Inputs: []string{h.Sums}, Output: s.Out, Attrs: &graph.Elementwise{Steps: m.Conv.Epilogue.Steps}})
	}
	t.Inputs, t.Outputs = readTensors(t), slices.DeleteFunc(slices.Clone(g.Outputs), func(o string) bool {
		return !slices.ContainsFunc(t.Nodes, func(n *graph.Node) bool { return n.Output == o })
	})
	p := part(g, "_head", head)
	wanted := append(slices.Clone(t.Inputs), s.In)
	for _, n := range p.Nodes {
		if slices.Contains(wanted, n.Output) || g.IsOutput(n.Output) {
			p.Outputs = append(p.Outputs, n.Output)
		}
	}
	if len(p.Outputs) > 0 {
		graph.NewBuilder(p).Prune()
		p.Inputs = readTensors(p)
		h.Head = p
	}
	if len(t.Nodes) > 0 {
		h.Tail = t
	}
	return h
}

// part is a graph of some of g's nodes.
func part(g *graph.Graph, suffix string, nodes []*graph.Node) *graph.Graph {
	p := &graph.Graph{Name: g.Name + suffix, File: g.File, Values: map[string]*graph.Value{}}
	keep := func(t string) {
		v := *g.Value(t)
		p.Values[t] = &v
	}
	for _, n := range nodes {
		m := *n
		p.Nodes = append(p.Nodes, &m)
		for _, t := range append(slices.Clone(n.Inputs), n.Output) {
			keep(t)
		}
	}
	return p
}

// readTensors lists the tensors that nodes of g read and none makes, in the order of their readers.
func readTensors(g *graph.Graph) []string {
	var all []string
	made := map[string]bool{}
	for _, n := range g.Nodes {
		for _, t := range n.Inputs {
			if !made[t] && !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
		made[n.Output] = true
	}
	return all
}

// Observed is g with the tensors of s as outputs that the caller sees as bytes: the definition that
// streams are compared with. names lists them in the outputs' order.
func (s *Segment) Observed() (g *graph.Graph, names []string) {
	g = s.Graph.Clone()
	g.Outputs = nil
	for _, t := range append([]string{s.In}, tensors(s.Stages)...) {
		if v, ok := g.Values[t]; ok && v.Encoded() {
			v.View = graph.Bytes
			if !slices.Contains(g.Inputs, t) {
				g.Outputs, names = append(g.Outputs, t), append(names, t)
			}
		}
	}
	graph.NewBuilder(g).Prune()
	return g, names
}

func tensors(stages []*Stage) []string {
	var all []string
	for _, s := range stages {
		all = append(all, s.Output)
	}
	return all
}
