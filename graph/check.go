package graph

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"ripc/graph/scalar"
	"ripc/internal/human"
	"ripc/internal/names"
	"ripc/internal/stop"
	"ripc/ir"
)

// Limits of a network's interface and names.
const (
	maxTensors = 64   // inputs, outputs
	maxName    = 1024 // characters
	maxLayout  = 32
	maxReads   = 1024 // of one node
	// MaxNodes is the most nodes of a network.
	MaxNodes = 100_000
	// MaxWeights is the most elements of all weights together.
	MaxWeights = 1 << 28
)

// Check reports everything that is wrong with a graph that an importer has made: names that no file
// can hold, tensors that nobody reads or makes, and values that Infer would not give. A graph
// that passes can be written as a model and read again.
func Check(g *Graph) error {
	c := &checker{g: g, seen: &Graph{Name: g.Name, File: g.File, Values: map[string]*Value{}},
		weights: map[*Tensor]bool{}, slices: map[string]*Node{}}
	if len(g.Inputs) < 1 || len(g.Inputs) > maxTensors || len(g.Outputs) < 1 || len(g.Outputs) > maxTensors {
		c.fail("", "", "the network has %s and %s, want 1 to %d", human.Count(len(g.Inputs), "input"),
			human.Count(len(g.Outputs), "output"), maxTensors)
	}
	if len(g.Nodes) < 1 || len(g.Nodes) > MaxNodes {
		c.fail("", "", "the network has %s, want 1 to %d", human.Count(len(g.Nodes), "node"), MaxNodes)
	}
	c.name("", "the network", g.Name)
	for _, in := range g.Inputs {
		c.input(in)
	}
	nodes := map[string]bool{}
	for _, n := range g.Nodes {
		c.name(n.Name, "the node", n.Name)
		if nodes[n.Name] {
			c.node(n, "", "another node has the same name")
		}
		nodes[n.Name] = true
		c.checkNode(n)
	}
	c.results()
	return errors.Join(c.errs...)
}

type checker struct {
	g       *Graph
	seen    *Graph // the part that was made so far
	weights map[*Tensor]bool
	slices  map[string]*Node // by their outputs
	elems   int
	errs    []error
}

func (c *checker) fail(where, help, format string, args ...any) {
	c.errs = append(c.errs, &ir.Error{Pos: ir.Pos{File: c.g.File}, Node: where, Msg: fmt.Sprintf(format, args...),
		Help: help})
}

func (c *checker) node(n *Node, help, format string, args ...any) {
	c.errs = append(c.errs, c.g.Errorf(n, help, format, args...))
}

// name checks a name: text of 1 to maxName characters, no control characters.
func (c *checker) name(where, what, s string) {
	if utf8.RuneCountInString(s) > maxName || !names.Printable(s) {
		if where != "" {
			where = fmt.Sprintf("node %q", where)
		}
		c.fail(where, fmt.Sprintf("names are 1 to %d characters of UTF-8, without control characters", maxName),
			"%s is called %.80q", what, s)
	}
}

func (c *checker) input(name string) {
	where := fmt.Sprintf("input %q", name)
	c.name("", "an input", name)
	v := c.g.Values[name]
	if v == nil || c.seen.Values[name] != nil {
		c.fail(where, "", "the input is listed twice, or is no tensor")
		return
	}
	c.seen.Values[name] = v
	bad := ""
	switch m := v.Top(); {
	case v.Name != name:
		bad = fmt.Sprintf("the tensor is called %q", v.Name)
	case len(v.Shape) < 1 || len(v.Shape) > MaxRank:
		bad = fmt.Sprintf("shape %v: want 1 to %d axes", v.Shape, MaxRank)
	case v.Layout != "" && (len(v.Layout) != len(v.Shape) || len(v.Layout) > maxLayout ||
		strings.ContainsFunc(v.Layout, notLabel)):
		bad = fmt.Sprintf("layout %q for shape %v", v.Layout, v.Shape)
	case !v.Encoded() && (v.LevelType != scalar.LevelType{} || v.View != Bytes):
		bad = fmt.Sprintf("%+v, %s, without an encoding: want f32, or levels", v.LevelType, v.View)
	case !v.Encoded():
	case v.Enc > ir.BipolarInv || v.Bits < 1 || v.Bits > 8 || v.Zero < 0 || v.Zero > m || v.Zero > 0 &&
		v.Enc != ir.Unipolar:
		bad = fmt.Sprintf("levels of %d bits, %s, with zero point %d", v.Bits, v.Enc, v.Zero)
	case !(v.Scale >= MinScale && v.Scale <= MaxScale):
		bad = fmt.Sprintf("scale %g: want %g to %g", v.Scale, MinScale, MaxScale)
	case !(math.Abs(v.Offset) <= MaxScale):
		bad = fmt.Sprintf("offset %g: want -%g to %g", v.Offset, MaxScale, MaxScale)
	case v.Signed && (v.Bits != 8 || v.Enc != ir.Unipolar || v.View != Bytes), v.View == IntWords && v.Bits != 1,
		v.View > IntWords:
		bad = fmt.Sprintf("levels of %d bits, %s, as %s, %s", v.Bits, v.Enc, v.DType(), v.View)
	}
	if bad != "" {
		c.fail(where, "", "%s", bad)
		return
	}
	err := stop.Try(func() { c.g.checkSize(&Node{Name: name, Op: "input"}, "", v.Shape) })
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

func notLabel(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// checkNode infers n again.
func (c *checker) checkNode(n *Node) {
	if len(n.Inputs) > maxReads {
		c.node(n, "", "reads %d tensors, want at most %d", len(n.Inputs), maxReads)
	}
	out := n.Output
	c.name(n.Name, "the result", out)
	if !utf8.ValidString(n.Note) {
		c.node(n, "", "the note %q is no UTF-8", n.Note)
	}
	if c.seen.Values[out] != nil {
		c.node(n, "", "tensor %q exists already", out)
		return
	}
	want := c.g.Values[out]
	if want == nil {
		c.node(n, "", "tensor %q has no type", out)
		return
	}
	c.seen.Values[out] = want
	for _, key := range slices.Sorted(maps.Keys(n.Weights)) {
		c.weight(n, key, n.Weights[key])
	}
	if !c.op(n) {
		return
	}
	if a, ok := n.Attrs.(*QuantizeAttrs); ok && a.Unit &&
		(a.Scale != 1/(math.Exp2(float64(a.Bits))-1) || a.Zero != 0 || a.Signed) {
		c.node(n, "", "scale %g and zero point %d of levels that span the unit range: want 1/%d and 0", a.Scale, a.Zero,
			1<<a.Bits-1)
		return
	}
	got, attrs, err := Infer(c.seen, n)
	if err != nil {
		c.errs = append(c.errs, err)
		return
	}
	if !reflect.DeepEqual(attrs, n.Attrs) {
		c.node(n, "infer the node with a Builder", "its padding is%s, but the graph says%s",
			attrString(&Node{Op: n.Op, Attrs: attrs}), attrString(n))
	}
	if got.Name = out; !reflect.DeepEqual(got, want) {
		c.node(n, "", "its result is %+v (scale %g), but the graph says %+v (scale %g)", *got, got.Scale, *want,
			want.Scale)
	}
	var slice *Node // that n reads first
	if len(n.Inputs) > 0 {
		slice = c.slices[n.Inputs[0]]
	}
	if err := c.seen.CheckPart(n, slice); err != nil {
		c.errs = append(c.errs, err)
	}
	if n.Op == "slice" {
		c.slices[out] = n
	}
}

// op checks that n's attributes and weights are those of its op.
func (c *checker) op(n *Node) bool {
	o, err := c.g.rowFor(n)
	if err == nil && o.Fused {
		err = c.g.Errorf(n, "", "no layer of a model has this op with attributes %T", n.Attrs)
	}
	if err != nil {
		c.errs = append(c.errs, err)
		return false
	}
	ok := true
	if b := bitserial(n); b != nil && b.WeightScale != ScaleTensor && n.Weights["scale"] != nil {
		c.node(n, "use weight_scale tensor, or remove it", "weight \"scale\" is given but not used")
		ok = false
	}
	if b := bitserial(n); b != nil && !b.Offset && n.Weights["offset"] != nil {
		c.node(n, "say that weights have an offset, or remove it", "weight \"offset\" is given but not used")
		ok = false
	}
	for _, key := range slices.Sorted(maps.Keys(n.Weights)) {
		if !slices.Contains(o.Weights, key) {
			c.node(n, "", "has a weight %q; the op has %v", key, o.Weights)
			ok = false
		}
	}
	return ok
}

// bitserial is how the weights of n become bits, nil if they do not.
func bitserial(n *Node) *BinaryAttrs {
	switch a := n.Attrs.(type) {
	case *Conv2DAttrs:
		return a.Binary
	case *ConvTranspose2DAttrs:
		return a.Binary
	case *DenseAttrs:
		return a.Binary
	}
	return nil
}

func (c *checker) weight(n *Node, key string, t *Tensor) {
	if t == nil {
		c.node(n, "", "weight %q is missing", key)
		return
	}
	if t.Elems() != t.Data.Len() {
		c.node(n, "", "weight %q of shape %v has %s", key, t.Shape, human.Count(t.Data.Len(), "element"))
		return
	}
	if i := NotFinite(n.Op, t); i >= 0 {
		c.node(n, "", "weight %q: element %d is %v, want finite numbers", key, i, t.Data.At(i))
	}
	if c.weights[t] {
		return
	}
	c.weights[t] = true
	if c.elems += t.Data.Len(); c.elems > MaxWeights && c.elems-t.Data.Len() <= MaxWeights {
		c.node(n, "", "all weights together have more than %d elements", MaxWeights)
	}
}

// results checks that the outputs are made by nodes, and that all that nodes make is read.
func (c *checker) results() {
	read, made, listed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, n := range c.g.Nodes {
		made[n.Output] = true
		for _, in := range n.Inputs {
			read[in] = true
		}
	}
	for _, out := range c.g.Outputs {
		switch {
		case listed[out]:
			c.fail(fmt.Sprintf("output %q", out), "", "listed twice")
		case !made[out]:
			c.fail(fmt.Sprintf("output %q", out), "an output is made by a node, be it a reshape",
				"no node makes this tensor")
		}
		listed[out] = true
	}
	for _, n := range c.g.Nodes {
		if !read[n.Output] && !listed[n.Output] {
			c.node(n, "", "no node reads the result %q", n.Output)
		}
	}
}
