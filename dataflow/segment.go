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
	aliases     map[string]string // tensors that only have another shape
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

// candidate is a node with its engine; no engine stands for a change of shape.
type candidate struct {
	node   *graph.Node
	stages []*Stage
}

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
	for _, n := range g.Nodes {
		total += products(g, n)
		c, why := candidateOf(g, n)
		if why == "" && !place(&runs, c) {
			why = "no layer before it is in hardware"
		}
		refusals[n] = why
	}
	index := graph.NewIndex(g)
	var best *Segment
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

// place adds c to the first of runs that makes all that it reads, or begins a run with products.
func place(runs *[]*run, c candidate) bool {
	for _, r := range *runs {
		if !slices.ContainsFunc(c.node.Inputs, func(t string) bool { return t != r.in && !r.made[t] }) {
			r.list, r.made[c.node.Output] = append(r.list, c), true
			return true
		}
	}
	if len(c.stages) == 0 || c.stages[0].Engine.Work() == 0 || len(c.node.Inputs) != 1 {
		return false
	}
	*runs = append(*runs, &run{c.node.Inputs[0], []candidate{c}, map[string]bool{c.node.Output: true}})
	return true
}

// prefix is the Segment of the first n nodes of r; nil unless one tensor leaves them, in a form
// that the processor reads.
func (r *run) prefix(g *graph.Graph, index *graph.Index, n int) *Segment {
	s := &Segment{Graph: g, In: r.in, aliases: map[string]string{}, nodes: map[*graph.Node]bool{}}
	for _, c := range r.list[:n] {
		s.nodes[c.node] = true
		if len(c.stages) == 0 {
			s.aliases[c.node.Output] = c.node.Inputs[0]
		}
		for _, st := range c.stages {
			s.Stages = append(s.Stages, st)
			s.Work += st.Engine.Work()
		}
	}
	var leaving []string
	for _, c := range r.list[:n] {
		t := c.node.Output
		if g.IsOutput(t) || slices.ContainsFunc(index.Consumers(t), func(m *graph.Node) bool { return !s.nodes[m] }) {
			leaving = append(leaving, t)
		}
	}
	seen := func(t string) bool { return g.Value(t).View != graph.Bytes }
	if len(leaving) != 1 || seen(leaving[0]) && g.IsOutput(leaving[0]) ||
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

// engines makes the engine of a node, or says why it has none, by op.
func engines() map[string]func(g *graph.Graph, n *graph.Node) (Engine, string) {
	return map[string]func(g *graph.Graph, n *graph.Node) (Engine, string){
		"bconv2d": func(g *graph.Graph, n *graph.Node) (Engine, string) {
			m, why := newMVU(g, n)
			return m, why
		},
		"max_pool": func(g *graph.Graph, n *graph.Node) (Engine, string) {
			in, _ := shapeOf(g.Value(n.Inputs[0]))
			return newPool(in, n.Attrs.(*graph.PoolAttrs)), ""
		},
		"add": newAdd, "concat": newConcat,
		"reshape": reshape, "flatten": reshape,
	}
}

func reshape(*graph.Graph, *graph.Node) (Engine, string) { return nil, "" }

func newAdd(g *graph.Graph, n *graph.Node) (Engine, string) {
	y := g.Value(n.Output)
	shape, _ := shapeOf(y)
	if len(n.Inputs) != 2 || !y.Encoded() {
		return nil, "is no sum of two tensors of levels"
	}
	for _, t := range n.Inputs {
		x := g.Value(t)
		if x.Enc != ir.Unipolar || x.Zero != 0 || x.Offset != 0 || x.Scale != y.Scale ||
			!slices.Equal(x.Shape, y.Shape) {
			return nil, "its levels have different scales or zero points"
		}
	}
	return &Add{shape, y.Bits}, ""
}

func newConcat(g *graph.Graph, n *graph.Node) (Engine, string) {
	shape, _ := shapeOf(g.Value(n.Output))
	c := &Concat{Shape: shape}
	for _, t := range n.Inputs {
		if g.Value(t).LevelType != g.Value(n.Inputs[0]).LevelType {
			return nil, "its levels have different types"
		}
		c.Parts = append(c.Parts, g.Value(t).Channels())
	}
	return c, ""
}

// candidateOf finds the engine of n, and a second one for the pool in it.
func candidateOf(g *graph.Graph, n *graph.Node) (candidate, string) {
	c := candidate{node: n}
	make, known := engines()[n.Op]
	switch {
	case n.Op == "fconv2d":
		return c, "its weights or its input are floats"
	case !known || len(n.Inputs) == 0:
		return c, "op " + n.Op + " has no engine"
	}
	for _, t := range append(slices.Clone(n.Inputs), n.Output) {
		v := g.Value(t)
		if _, ok := shapeOf(v); !ok {
			return c, "it works on more than one picture, or on other than pictures and vectors"
		}
		if !v.Encoded() && t != n.Output {
			return c, "its input is floats"
		}
	}
	e, why := make(g, n)
	if e == nil || why != "" {
		return c, why
	}
	y := g.Value(n.Output)
	s := &Stage{Name: n.Name, Inputs: n.Inputs, Output: n.Output, Type: y.LevelType, Engine: e}
	c.stages = []*Stage{s}
	if conv, ok := n.Attrs.(*graph.FusedConv); ok && conv.Pool != nil {
		s.Output += unpooled
		c.stages = append(c.stages, &Stage{Name: n.Name, Inputs: []string{s.Output}, Output: n.Output, Type: s.Type,
			Engine: newPool(e.Output(), conv.Pool)})
	}
	return c, ""
}

// unpooled is behind the name of a tensor before the pool that its layer has.
const unpooled = " before the pool"
