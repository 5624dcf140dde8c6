package lower

import (
	"ripc/graph"
	"ripc/ir"
	"ripc/lower/ops"
)

// shapeNode lowers the ops that combine, move or rename elements; false for any other.
func (l *lowering) shapeNode(n *graph.Node, x *graph.Value, src string) bool {
	switch a := n.Attrs.(type) {
	case *graph.BinaryOpAttrs:
		l.binary(n, a, x)
	case *graph.SpatialPadAttrs:
		f, why := ops.SpatialPad(a.Pad, float32(a.Value), x.Shape), graph.WhyMovesFloats
		if x.Encoded() {
			why = graph.NoReason
			level, _ := x.Level(a.Value)
			f = ops.SpatialPadBits(a.Pad, x.Bits, level, x.Shape, x.Enc)
		}
		l.stage(n, f, 0, why, src, l.result(n).buf)
	case *graph.SliceAttrs:
		f, why := ops.SliceFloat(a, x.Shape), graph.WhyMovesFloats
		if x.Encoded() {
			f, why = ops.SliceBits(a, x.Bits, x.Shape, x.Enc), graph.NoReason
		}
		l.stage(n, f, 0, why, src, l.result(n).buf)
	case *graph.ReshapeAttrs:
		l.reshape(n, x, a.Shape, src)
	case *graph.TransposeAttrs:
		if ops.TransposeIsView(a, x.Bits, x.Shape) {
			l.at[n.Output] = place{buf: src}
			return true
		}
		f, why := ops.TransposeFloat(a, x.Shape), graph.WhyMovesFloats
		if x.Encoded() {
			f, why = ops.TransposeBits(a, x.Bits, x.Shape, x.Enc), graph.NoReason
		}
		l.stage(n, f, 0, why, src, l.result(n).buf)
	default:
		return false
	}
	return true
}

// binary lowers an op of two tensors, or of a tensor and a constant.
func (l *lowering) binary(n *graph.Node, a *graph.BinaryOpAttrs, x *graph.Value) {
	var right []int
	left, args := x.Shape, []string{l.at[n.Inputs[0]].buf}
	why := graph.WhyTwoSums
	if b := n.Weights["b"]; len(n.Inputs) == 1 {
		why = graph.WhyNotTakenIn
		right, args = b.Shape, append(args, l.constant(n.Name+".b", ir.F32, b.Shape, b.Data))
	} else {
		right, args = l.g.Value(n.Inputs[1]).Shape, append(args, l.at[n.Inputs[1]].buf)
	}
	if a.Reverse {
		left, right, args[0], args[1] = right, left, args[1], args[0]
	}
	l.stage(n, ops.BinaryOp(n.Op, left, right), 0, why, append(args, l.result(n).buf)...)
}
