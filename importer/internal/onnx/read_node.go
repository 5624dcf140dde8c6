package onnx

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"ripc/graph"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/lists"
	"ripc/ir"
)

// node is a node of the file while it is read.
type node struct {
	*pb.NodeProto
	b     *builder
	op    *op
	label string // how messages call it
	base  string // the first part of the names of its graph values
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

// failIf ends the reading of n with an error if a condition holds.
func (n *node) failIf(condition bool, help, format string, args ...any) {
	if condition {
		panic(n.fail(help, format, args...))
	}
}

// readAttrs checks that the op's row knows every attribute, and that no attribute is given twice.
func (n *node) readAttrs() {
	n.attrs = map[string]*pb.AttributeProto{}
	for _, a := range n.Attribute {
		name := a.GetName()
		n.failIf(n.attrs[name] != nil, "", "attribute %q is given twice", name)
		n.failIf(a.GetRefAttrName() != "", "inline the model's functions (onnx.inliner) before importing",
			"attribute %q refers to a function's parameter", name)
		n.failIf(!slices.Contains(n.op.attrs, name), "", "attribute %q is not known for this op", name)
		n.attrs[name] = a
	}
}

func (n *node) has(name string) bool { return n.attrs[name] != nil }

// attr finds an attribute of the given type, nil if the file does not have it.
func (n *node) attr(name string, t pb.AttributeProto_AttributeType) *pb.AttributeProto {
	a := n.attrs[name]
	n.failIf(a != nil && a.GetType() != t, "", "attribute %q is of type %s, want %s", name, a.GetType(), t)
	return a
}

// intAttr, floatAttr, textAttr and intsAttr read an attribute; def stands for one that the file
// does not have.
func (n *node) intAttr(name string, def int) int {
	a := n.attr(name, pb.AttributeProto_INT)
	if a == nil {
		return def
	}
	if v := a.GetI(); v < -1<<40 || v > 1<<40 {
		panic(n.fail("", "attribute %q is %d", name, v))
	}
	return int(a.GetI())
}

func (n *node) floatAttr(name string, def float32) float32 {
	a := n.attr(name, pb.AttributeProto_FLOAT)
	if a == nil {
		return def
	}
	return a.GetF()
}

func (n *node) textAttr(name, def string) string {
	a := n.attr(name, pb.AttributeProto_STRING)
	if a == nil {
		return def
	}
	return string(a.GetS())
}

func (n *node) intsAttr(name string) []int {
	a := n.attr(name, pb.AttributeProto_INTS)
	if a == nil {
		return nil
	}
	return lists.Map(a.Ints, func(v int64) int { return int(v) })
}

// pairAttr reads an attribute of a positive number for each of one or two spatial axes, as windows
// have them.
func (n *node) pairAttr(name string, axes int) [2]int {
	v := n.intsAttr(name)
	switch {
	case v == nil:
		return [2]int{1, 1}
	case len(v) != axes || slices.Min(v) < 1 || slices.Max(v) > 1<<20:
		panic(n.fail("", "attribute %q is %v, want a positive number for each of %d spatial axes", name, v, axes))
	}
	return spatial(v, 1)
}

// axis resolves an axis that may count from the end.
func (n *node) axis(a, rank int) int {
	n.failIf(a < -rank || a >= rank, "", "axis %d of a tensor with %d axes", a, rank)
	return (a + rank) % rank
}

// axes resolves a list of axes, sorted; one given twice is an error.
func (n *node) axes(list []int, rank int) []int {
	var out []int
	for _, a := range list {
		k := n.axis(a, rank)
		n.failIf(slices.Contains(out, k), "", "axis %d is given twice", a)
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// input is input i, nil if it is left out.
func (n *node) input(i int) *tensor {
	if i >= len(n.in) {
		return nil
	}
	return n.in[i]
}

// konst is input i, which must be a constant; nil if it is left out.
func (n *node) konst(i int, what string) *array {
	t := n.input(i)
	if t == nil {
		return nil
	}
	n.failIf(t.konst == nil, "make it a constant of the file, or compute this part outside the network",
		"%s %q is computed from an input; only constants are supported there", what, n.Input[i])
	return t.konst
}

// listOf reads the numbers of input i, which must be constant; nil if it is left out.
func (n *node) listOf(i int, what string) []int {
	a := n.konst(i, what)
	if a == nil {
		return nil
	}
	return n.intsOf(a, fmt.Sprintf("%s %q", what, n.Input[i]))
}

// intsOf are the elements of a, which must be integers. Messages call the array by its name.
func (n *node) intsOf(a *array, what string) []int {
	n.failIf(a.dt.float(), "", "%s is %s, want int64", what, a.dt)
	out := make([]int, a.len())
	for k := range out {
		out[k] = int(a.integer(k))
	}
	return out
}

// listArg reads numbers that an attribute holds before opset since, and input i from there on.
func (n *node) listArg(name string, since int64, i int) (v []int, given bool) {
	if n.opset < since {
		v = n.intsAttr(name)
		return v, n.has(name)
	}
	v = n.listOf(i, name)
	return v, v != nil || n.input(i) != nil
}

// scalarOf reads input i, a constant of one element.
func (n *node) scalarOf(i int, what string, def float64) float64 {
	a := n.konst(i, what)
	switch {
	case a == nil:
		return def
	case a.len() != 1:
		panic(n.fail("", "%s %q has shape %v, want one number", what, n.Input[i], a.shape))
	}
	return a.number(0)
}

// Opset 7 removed attributes of opset 6: those that repeat an operand, or name the axis to begin
// at, and those for training. upToDate rewrites a node of opset 6 as a node of opset 7. The table
// has only the latter.
func (n *node) upToDate() {
	if n.opset >= 7 || n.op.family != standard {
		return
	}
	old := map[string]*pb.AttributeProto{}
	p := proto.CloneOf(n.NodeProto)
	p.Attribute = slices.DeleteFunc(p.Attribute, func(a *pb.AttributeProto) bool {
		name := a.GetName()
		if slices.Contains(n.op.attrs, name) ||
			!slices.Contains([]string{"axis", "broadcast", "consumed_inputs", "is_test"}, name) {
			return false
		}
		old[name] = a
		return true
	})
	n.NodeProto = p
	switch n.GetOpType() {
	case "BatchNormalization":
		n.failIf(old["is_test"].GetI() == 0,
			"export the model in evaluation mode", "training mode is on (is_test is 0)")
	case "PRelu":
		if slope := n.input(1); slope != nil && len(slope.shape) == 1 && n.input(0) != nil {
			n.appendAxes(1, len(n.in[0].shape)-2)
			return
		}
	default:
		if axis := old["axis"]; axis != nil && n.input(0) != nil && n.input(1) != nil {
			a := n.axis(int(max(-1<<20, min(axis.GetI(), 1<<20))), len(n.in[0].shape))
			n.appendAxes(1, len(n.in[0].shape)-a-len(n.in[1].shape))
			return
		}
	}
}

// appendAxes appends count axes of extent 1 to input i.
func (n *node) appendAxes(i, count int) {
	t := n.in[i]
	if count <= 0 || t.bad {
		return
	}
	shape := append(slices.Clone(t.shape), slices.Repeat([]int{1}, count)...)
	if t.konst != nil {
		n.in[i] = &tensor{shape: shape, konst: t.konst.view(shape)}
		return
	}
	b := n.b
	b.n = n
	n.in[i] = b.reshape(t, shape)
}
