package onnx

import (
	"slices"

	"google.golang.org/protobuf/proto"

	pb "ripc/importer/onnx/internal/onnxpb"
)

// Opset 7 replaced what opset 6 said by attributes: that operands are repeated, and from which axis on, and that a network is
// not in training. upToDate rewrites a node of opset 6 as opset 7 has it; ripc's table has that one.
func (n *node) upToDate() {
	if n.opset >= 7 || n.op.family != standard {
		return
	}
	old := map[string]*pb.AttributeProto{}
	p := proto.CloneOf(n.NodeProto)
	p.Attribute = slices.DeleteFunc(p.Attribute, func(a *pb.AttributeProto) bool {
		name := a.GetName()
		if slices.Contains(n.op.attrs, name) || !slices.Contains([]string{"axis", "broadcast", "consumed_inputs", "is_test"}, name) {
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
			n.trailing(1, len(n.in[0].shape)-2)
			return
		}
	default:
		if axis := old["axis"]; axis != nil && n.input(0) != nil && n.input(1) != nil {
			a := n.axis(int(max(-1<<20, min(axis.GetI(), 1<<20))), len(n.in[0].shape))
			n.trailing(1, len(n.in[0].shape)-a-len(n.in[1].shape))
			return
		}
	}
}

// trailing gives input i so many axes of extent 1 at its end.
func (n *node) trailing(i, count int) {
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
	r := b.reshape(t, shape)
	n.in[i] = r
}
