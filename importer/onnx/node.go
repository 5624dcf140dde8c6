package onnx

import (
	"fmt"
	"slices"

	"ripc/graph"
	pb "ripc/importer/onnx/internal/onnxpb"
	"ripc/ir"
)

// node is a node of the file while it is read.
type node struct {
	*pb.NodeProto
	b     *builder
	op    *op
	label string // how messages call it
	base  string // what its graph values are named after
	opset int64  // version of its operator set
	in    []*tensor
	attrs map[string]*pb.AttributeProto
	// unnamed are the values that were made for it and have provisional names.
	unnamed []*graph.Value
	made    []*graph.Node // the nodes of the graph that it became
}

// fail is an error at n.
func (n *node) fail(help, format string, args ...any) error {
	return &ir.Error{Pos: ir.Pos{File: n.b.file}, Node: n.label, Msg: fmt.Sprintf(format, args...), Help: help}
}

// readAttrs checks that every attribute is one that the op's row knows, and of a type that says what it holds.
func (n *node) readAttrs() error {
	n.attrs = map[string]*pb.AttributeProto{}
	for _, a := range n.Attribute {
		name := a.GetName()
		switch {
		case n.attrs[name] != nil:
			return n.fail("", "attribute %q is given twice", name)
		case a.GetRefAttrName() != "":
			return n.fail("inline the model's functions (onnx.inliner) before importing", "attribute %q refers to a function's parameter", name)
		case !slices.Contains(n.op.attrs, name):
			return n.fail("", "attribute %q is not known for this op", name)
		}
		n.attrs[name] = a
	}
	return nil
}

func (n *node) has(name string) bool { return n.attrs[name] != nil }

// attr finds an attribute of the given type, nil if the file does not have it.
func (n *node) attr(name string, t pb.AttributeProto_AttributeType) (*pb.AttributeProto, error) {
	a := n.attrs[name]
	if a != nil && a.GetType() != t {
		return nil, n.fail("", "attribute %q is of type %s, want %s", name, a.GetType(), t)
	}
	return a, nil
}

// intAttr, floatAttr, textAttr and intsAttr read an attribute; def stands for one that the file does not have.
func (n *node) intAttr(name string, def int) (int, error) {
	a, err := n.attr(name, pb.AttributeProto_INT)
	if a == nil {
		return def, err
	}
	if v := a.GetI(); v < -1<<40 || v > 1<<40 {
		return 0, n.fail("", "attribute %q is %d", name, v)
	}
	return int(a.GetI()), nil
}

func (n *node) floatAttr(name string, def float32) (float32, error) {
	a, err := n.attr(name, pb.AttributeProto_FLOAT)
	if a == nil {
		return def, err
	}
	return a.GetF(), nil
}

func (n *node) textAttr(name, def string) (string, error) {
	a, err := n.attr(name, pb.AttributeProto_STRING)
	if a == nil {
		return def, err
	}
	return string(a.GetS()), nil
}

func (n *node) intsAttr(name string) ([]int, error) {
	a, err := n.attr(name, pb.AttributeProto_INTS)
	if a == nil {
		return nil, err
	}
	out := make([]int, len(a.Ints))
	for i, v := range a.Ints {
		out[i] = int(v)
	}
	return out, nil
}

// pairAttr reads an attribute of a positive number for each of one or two spatial axes, as windows have them.
func (n *node) pairAttr(name string, axes int) ([2]int, error) {
	v, err := n.intsAttr(name)
	switch {
	case err != nil:
		return [2]int{}, err
	case v == nil:
		return [2]int{1, 1}, nil
	case len(v) != axes || slices.Min(v) < 1 || slices.Max(v) > 1<<20:
		return [2]int{}, n.fail("", "attribute %q is %v, want a positive number for each of %d spatial axes", name, v, axes)
	}
	return spatial(v, 1), nil
}

// axis resolves an axis that may count from the end.
func (n *node) axis(a, rank int) (int, error) {
	if a < -rank || a >= rank {
		return 0, n.fail("", "axis %d of a tensor with %d axes", a, rank)
	}
	return (a + rank) % rank, nil
}

// axes resolves a list of axes, sorted; one given twice is an error.
func (n *node) axes(list []int, rank int) ([]int, error) {
	var out []int
	for _, a := range list {
		k, err := n.axis(a, rank)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, k) {
			return nil, n.fail("", "axis %d is given twice", a)
		}
		out = append(out, k)
	}
	slices.Sort(out)
	return out, nil
}

// input is input i, nil if it is left out.
func (n *node) input(i int) *tensor {
	if i >= len(n.in) {
		return nil
	}
	return n.in[i]
}

// konst is input i, which must be a constant; nil if it is left out.
func (n *node) konst(i int, what string) (*array, error) {
	t := n.input(i)
	if t == nil {
		return nil, nil
	}
	if t.konst == nil {
		return nil, n.fail("make it a constant of the file, or compute this part outside the network", "%s %q is computed from an input; only constants are supported there", what, n.Input[i])
	}
	return t.konst, nil
}

// listOf reads the numbers of input i, which must be constant; nil if it is left out.
func (n *node) listOf(i int, what string) ([]int, error) {
	a, err := n.konst(i, what)
	if a == nil {
		return nil, err
	}
	v, err := a.ints()
	if err != nil {
		return nil, n.fail("", "%s %q %v", what, n.Input[i], err)
	}
	return v, nil
}

// listArg reads numbers that an attribute holds before opset since, and input i from there on.
func (n *node) listArg(name string, since int64, i int) (v []int, given bool, err error) {
	if n.opset < since {
		v, err = n.intsAttr(name)
		return v, n.has(name), err
	}
	v, err = n.listOf(i, name)
	return v, v != nil || n.input(i) != nil, err
}

// scalarOf reads input i, a constant of one element.
func (n *node) scalarOf(i int, what string, def float64) (float64, error) {
	a, err := n.konst(i, what)
	switch {
	case a == nil:
		return def, err
	case a.len() != 1:
		return 0, n.fail("", "%s %q has shape %v, want one number", what, n.Input[i], a.shape)
	}
	return a.at(0), nil
}
