package lower

import (
	"ripc/ir/graph"
	"ripc/ir/ops"
)

// moved is the note of an op that moves floats.
const moved = "float: moves a tensor that is not quantized"

// shapeNode lowers the ops that combine, move or rename elements; false for any other.
func (l *lowering) shapeNode(n *graph.Node, x *graph.Value, src string) bool {
	switch a := n.Attrs.(type) {
	case *graph.BinaryOpAttrs:
		l.stage(n, ops.BinaryOp(n.Op, x.Shape), 0, "float: the two sides are sums of different layers", src, l.at[n.Inputs[1]].buf, l.result(n).buf)
	case *graph.SpatialPadAttrs:
		f, note := ops.SpatialPad(a.Pad, float32(a.Value), x.Shape), moved
		if x.Encoded() {
			note = ""
			level, _ := x.LevelOf(a.Value)
			f = ops.SpatialPadBits(a.Pad, x.Bits, level, x.Shape, x.Enc)
		}
		l.stage(n, f, 0, note, src, l.result(n).buf)
	case *graph.SliceAttrs:
		f, note := ops.SliceFloat(a, x.Shape), moved
		if x.Encoded() {
			f, note = ops.SliceBits(a, x.Bits, x.Shape, x.Enc), ""
		}
		l.stage(n, f, 0, note, src, l.result(n).buf)
	case *graph.ReshapeAttrs:
		to := a.Shape[len(a.Shape)-1]
		if c := x.Channels(); !x.Encoded() || c == to || c%ops.WordBits == 0 && to%ops.WordBits == 0 {
			l.at[n.Outputs[0]] = place{buf: src}
			return true
		}
		l.stage(n, ops.ReshapeBits(x.Bits, x.Shape, a.Shape, x.Enc), 0, "repacks bits: its channels do not fill whole words", src, l.result(n).buf)
	default:
		return false
	}
	return true
}
