// Package graph is the typed layer graph between the importers and lowering. Tensors are logical:
// NHWC shapes with the true channel count, whatever the representation in memory will be. An
// encoded tensor (levels of N bits) is a tensor type of its own; whether it is stored as one byte a
// level or as packed bit planes is decided by package lower/layout.
package graph

import (
	"fmt"
	"maps"
	"slices"

	"ripc/graph/scalar"
	"ripc/internal/enum"
	"ripc/ir"
)

// Graph is a network. Nodes are in topological order. A Builder makes it, and passes rewrite copies
// of their own with one.
type Graph struct {
	Name    string
	File    string // the model file, for messages
	Inputs  []string
	Outputs []string
	Nodes   []*Node
	Values  map[string]*Value // every tensor, by name
	// Roundings lists quantizers (WhyFolded, WhyFoldedSign), weights (WhyFewFolded) and sums
	// (WhyFoldedSum) that recognition took for few bits though the file's floats differ from them
	// by rounding. Where names the node. Reports list them.
	Roundings []Verdict
}

// Value is a tensor: of f32 numbers, of i32 integers, or of levels.
type Value struct {
	Name   string
	Shape  []int  // logical, true channels last
	Layout string // "NHWC", "NC"
	// LevelType is the type of levels; the zero value is that of f32 numbers.
	scalar.LevelType
	// Whole says that the numbers are i32 integers, as argmax makes them, and no f32.
	Whole bool
	// Declared is the type that the file gives for the values of an f32 input, in the file's words.
	// Reasons name it; no other code depends on it. Tensors that nodes make have none.
	Declared string
	// View says how the caller sees levels at the interface.
	View View
	// Note is a remark of the user or the importer on an input. Reports show it, and no code reads
	// it.
	Note string
}

// View is a form of levels at the interface.
type View uint8

// The views.
const (
	Bytes    View = iota // one a byte
	Planes               // bit planes, uint32 words [Bits, ..., ceil(C/32)]
	IntWords             // planes of 1 bit without their axis, as int32 words [..., ceil(C/32)], as Larq has them
)

var views = enum.Of[View]("view", "bytes", "planes", "int_words")

// String names the view.
func (v View) String() string { return views.Name(v) }

// DType is the type of the elements that the caller sees.
func (v *Value) DType() ir.Type {
	switch {
	case v.Whole:
		return ir.I32
	case !v.Encoded():
		return ir.F32
	case v.View == Planes:
		return ir.U32
	case v.View == IntWords:
		return ir.I32
	case v.Signed:
		return ir.I8
	}
	return ir.U8
}

// kind names the type of the elements: "f32", "i32", or that of levels.
func (v *Value) kind() string {
	if v.Whole {
		return ir.I32.String()
	}
	return v.LevelType.String()
}

// Elems is the number of elements.
func (v *Value) Elems() int { return Elems(v.Shape) }

// Channels is the length of the last axis.
func (v *Value) Channels() int { return v.Shape[len(v.Shape)-1] }

// Node is one layer. Attrs is one of the *...Attrs types of this package, by Op.
type Node struct {
	Name    string
	Op      string
	Inputs  []string
	Output  string // the tensor that it makes
	Attrs   any
	Weights map[string]*Tensor
	Pos     ir.Pos
	// Verdict is the kind of layer that passes decided on so far, and the reason.
	Verdict Verdict
	// Part says which layer of the model this node is a part of, where recognition split one.
	// Counts and float twins depend on it, and no result does.
	Part Part
	// Note is a remark of the user or the importer on the layer, which goes with it to its stage.
	// Reports show it, and no code reads it.
	Note string
}

// DistinctInputs reports whether n reads no tensor twice.
func (n *Node) DistinctInputs() bool {
	for i, in := range n.Inputs {
		if slices.Contains(n.Inputs[:i], in) {
			return false
		}
	}
	return true
}

// Tensor is a constant: numbers that f32 has exactly, in row-major order.
type Tensor struct {
	Shape []int
	Data  Numbers
}

// Elems is the number of elements that Shape asks for.
func (t *Tensor) Elems() int { return Elems(t.Shape) }

// Elems is the number of elements of a shape, which a limit bounds elsewhere.
func Elems(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// LayoutOf is the layout that a shape has unless a model says otherwise: that of images and of rows
// of features, else none.
func LayoutOf(shape []int) string {
	switch len(shape) {
	case 2:
		return "NC"
	case 4:
		return "NHWC"
	}
	return ""
}

// Clone copies g so that nodes and values of the copy can be changed. Attributes and the weights
// themselves are shared: they are replaced, never written to.
func (g *Graph) Clone() *Graph {
	c := *g
	c.Nodes, c.Values, c.Roundings = nil, map[string]*Value{}, slices.Clone(g.Roundings)
	for _, n := range g.Nodes {
		m := *n
		m.Inputs, m.Weights = slices.Clone(n.Inputs), maps.Clone(n.Weights)
		c.Nodes = append(c.Nodes, &m)
	}
	for name, v := range g.Values {
		c.Values[name] = new(*v)
	}
	return &c
}

// Value finds a tensor; it panics on a name that the graph does not have.
func (g *Graph) Value(name string) *Value {
	v, ok := g.Values[name]
	if !ok {
		panic("BUG: graph " + g.Name + " has no tensor " + name)
	}
	return v
}

// IsOutput reports whether a tensor is an output of the network.
func (g *Graph) IsOutput(name string) bool {
	return slices.Contains(g.Outputs, name)
}

// Errorf is an *ir.Error at node n.
func (g *Graph) Errorf(n *Node, help, format string, args ...any) error {
	pos := n.Pos
	if pos.File == "" {
		pos.File = g.File
	}
	return &ir.Error{Pos: pos, Node: fmt.Sprintf("node %q (%s)", n.Name, n.Op), Msg: fmt.Sprintf(format, args...),
		Help: help}
}
