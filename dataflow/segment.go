package dataflow

import (
	"fmt"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// Segment is the part of a graph that is in hardware: one tensor comes in, one goes out.
type Segment struct {
	Graph    *graph.Graph
	Stages   []*Stage
	In, Out  string    // tensors
	Refusals []Refusal // of the nodes that stay with the processor, in their order
	// Work is the number of products in hardware, Total that of the network.
	Work, Total int
	aliases     map[string]string // tensors that only have another shape or scale
	nodes       map[*graph.Node]bool
}

// NoSegmentError says that no layer can be in hardware.
type NoSegmentError struct {
	Network  string
	Refusals []Refusal
}

func (e *NoSegmentError) Error() string {
	const most = 5
	var why []string
	for _, r := range e.Refusals[:min(most, len(e.Refusals))] {
		why = append(why, fmt.Sprintf("%q: %s", r.Node, r.Why))
	}
	if n := len(e.Refusals) - most; n > 0 {
		why = append(why, fmt.Sprintf("and %d more", n))
	}
	return fmt.Sprintf("no layer of %s can be in hardware (%s)", e.Network, strings.Join(why, "; "))
}

// BadInput reports that the input is at fault.
func (*NoSegmentError) BadInput() bool { return true }

// candidate is a node with its engines, or several nodes that become engines together. No stage
// stands for a change of shape or scale.
type candidate struct {
	nodes  []*graph.Node
	inputs []string
	stages []*Stage
}

func (c candidate) output() string { return c.nodes[len(c.nodes)-1].Output }

// run is a list of nodes in hardware that hang together.
type run struct {
	in   string
	list []candidate
	made map[string]bool
}

// NewSegment finds the part of g with the most products. It fails with *NoSegmentError.
func NewSegment(g *graph.Graph) (*Segment, error) {
	refusals, runs := map[*graph.Node]string{}, []*run{}
	total := 0
	index := graph.NewIndex(g)
	f, taken := &finder{g, index}, map[*graph.Node]bool{}
	for _, n := range g.Nodes {
		total += products(g, n)
		if taken[n] {
			continue
		}
		c, why := f.candidateOf(n)
		if why == "" && !place(&runs, c) {
			why = "no layer before it is in hardware"
		}
		refusals[n] = why
		for _, m := range c.nodes {
			refusals[m], taken[m] = why, true
		}
	}
	var best *Segment
	slices.SortStableFunc(runs, func(a, b *run) int { return boolInt(b.weighs()) - boolInt(a.weighs()) })
	for _, r := range runs {
		for k := range r.list {
			if s := r.prefix(g, index, k+1); s != nil && (best == nil || s.Work > best.Work ||
				s.Work == best.Work && len(s.nodes) > len(best.nodes) && s.In == best.In) {
				best = s
			}
		}
	}
	var listed []Refusal
	for _, n := range g.Nodes {
		if best == nil || !best.nodes[n] {
			why := refusals[n]
			if why == "" {
				why = "the part in hardware has one tensor in and one out, and this layer is before or behind it"
			}
			listed = append(listed, Refusal{n.Name, why})
		}
	}
	if best == nil {
		return nil, &NoSegmentError{g.Name, listed}
	}
	best.Refusals, best.Total = listed, total
	return best, nil
}

// weighs reports whether r begins with weights.
func (r *run) weighs() bool { return r.list[0].stages[0].Engine.Work() > 0 }

// place adds c to all of runs that make all that it reads. It begins a run where none of these
// begins with weights.
func place(runs *[]*run, c candidate) bool {
	placed, weighed := false, false
	for _, r := range *runs {
		if !slices.ContainsFunc(c.inputs, func(t string) bool { return t != r.in && !r.made[t] }) {
			r.list, r.made[c.output()] = append(r.list, c), true
			placed, weighed = true, weighed || r.weighs()
		}
	}
	if len(c.stages) == 0 || placed && (weighed || c.stages[0].Engine.Work() == 0) ||
		len(slices.Compact(slices.Clone(c.inputs))) != 1 {
		return placed
	}
	*runs = append(*runs, &run{c.inputs[0], []candidate{c}, map[string]bool{c.output(): true}})
	return true
}

// prefix is the Segment of the first n nodes of r; nil unless they have weights, and one tensor
// leaves them, in a form that the processor reads.
func (r *run) prefix(g *graph.Graph, index *graph.Index, n int) *Segment {
	s := &Segment{Graph: g, In: r.in, aliases: map[string]string{}, nodes: map[*graph.Node]bool{}}
	for _, c := range r.list[:n] {
		for _, m := range c.nodes {
			s.nodes[m] = true
			s.Work += products(g, m)
		}
		if len(c.stages) == 0 {
			s.aliases[c.output()] = c.inputs[0]
		}
		s.Stages = append(s.Stages, c.stages...)
	}
	var leaving []string
	for _, c := range r.list[:n] {
		t := c.output()
		if g.IsOutput(t) || slices.ContainsFunc(index.Consumers(t), func(m *graph.Node) bool { return !s.nodes[m] }) {
			leaving = append(leaving, t)
		}
	}
	seen := func(t string) bool { return g.Value(t).View != graph.Bytes }
	if len(leaving) != 1 || len(s.MVUs()) == 0 || seen(leaving[0]) && g.IsOutput(leaving[0]) ||
		seen(r.in) && slices.Contains(g.Inputs, r.in) {
		return nil
	}
	s.Out = leaving[0]
	return s
}

// root is the tensor that t is another shape of.
func (s *Segment) root(t string) string {
	for s.aliases[t] != "" {
		t = s.aliases[t]
	}
	return t
}

// InShape is the shape of the input.
func (s *Segment) InShape() Shape {
	shape, _ := shapeOf(s.Graph.Value(s.In))
	return shape
}

// InType is the type of the input's levels.
func (s *Segment) InType() scalar.LevelType { return s.Graph.Value(s.In).LevelType }

// Last is the stage that makes the output.
func (s *Segment) Last() *Stage {
	return s.Stages[slices.IndexFunc(s.Stages, func(t *Stage) bool { return t.Output == s.root(s.Out) })]
}

// SumsLeave returns the MVU that makes the output, if that is sums, else nil.
func (s *Segment) SumsLeave() *MVU {
	if m, ok := s.Last().Engine.(*MVU); ok && m.YBits == 0 {
		return m
	}
	return nil
}

// MVUs lists the stages with weights, in their order.
func (s *Segment) MVUs() []*Stage {
	return slices.DeleteFunc(slices.Clone(s.Stages), func(t *Stage) bool { _, ok := t.Engine.(*MVU); return !ok })
}

// Eval is the definition: the elements of every tensor of s from those of the input.
func (s *Segment) Eval(in []int64) map[string][]int64 {
	all := map[string][]int64{s.In: in}
	for _, st := range s.Stages {
		var args [][]int64
		for _, t := range st.Inputs {
			args = append(args, all[s.root(t)])
		}
		all[st.Output] = st.Engine.Eval(args)
	}
	return all
}

// Ascending is level counted so that real values rise, and the inverse of that.
func Ascending(t scalar.LevelType, level int64) int64 {
	if t.Enc == ir.BipolarInv {
		return int64(t.Top()) - level
	}
	return level
}

// rising is the type of the levels of t as streams count them.
func rising(t scalar.LevelType) scalar.LevelType {
	if t.Enc == ir.BipolarInv {
		t.Enc = ir.Bipolar
	}
	return t
}

// products is the number of products of n for one picture.
func products(g *graph.Graph, n *graph.Node) int {
	c, ok := n.Attrs.(*graph.FusedConv)
	if !ok || !c.Multiplies(n.Op) {
		return 0
	}
	x := g.Value(n.Inputs[0])
	h, w := 1, 1
	if len(x.Shape) == 4 {
		h, w = x.Shape[1], x.Shape[2]
	}
	oh, ow := c.OutSize(h, w)
	return c.Products() * c.Out * oh * ow * x.Shape[0]
}
