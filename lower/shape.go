package lower

import (
	"ripc/graph"
	"ripc/ir"
	"ripc/lower/ops"
)

func (l *lowering) pad(n *graph.Node, a *graph.SpatialPadAttrs, x *graph.Value, src string) {
	f, why := ops.SpatialPad(a.Pad, float32(a.Value), x.Shape), graph.WhyMovesFloats
	if x.Encoded() {
		why = graph.NoReason
		level, _ := x.Level(a.Value)
		f = ops.SpatialPadBits(a.Pad, x.Bits, level, x.Shape, x.Enc)
	}
	l.stage(n, f, 0, why, src, l.result(n).buf)
}

func (l *lowering) slice(n *graph.Node, a *graph.SliceAttrs, x *graph.Value, src string) {
	f, why := ops.SliceFloat(a, x.Shape), graph.WhyMovesFloats
	if x.Encoded() {
		f, why = ops.SliceBits(a, x.Bits, x.Shape, x.Enc), graph.NoReason
	}
	l.stage(n, f, 0, why, src, l.result(n).buf)
}

// reshapeNode is for ops that give the elements the shape of their result.
func (l *lowering) reshapeNode(n *graph.Node, x *graph.Value, src string) {
	l.reshape(n, x, l.g.Value(n.Output).Shape, src)
}

func (l *lowering) transpose(n *graph.Node, a *graph.TransposeAttrs, x *graph.Value, src string) {
	if ops.TransposeIsView(a, x.Bits, x.Shape) {
		l.at[n.Output] = place{buf: src}
		return
	}
	f, why := ops.TransposeFloat(a, x.Shape), graph.WhyMovesFloats
	if x.Encoded() {
		f, why = ops.TransposeBits(a, x.Bits, x.Shape, x.Enc), graph.NoReason
	}
	l.stage(n, f, 0, why, src, l.result(n).buf)
}

// binary lowers an op of two tensors, or of a tensor and a constant.
func (l *lowering) binary(n *graph.Node, a *graph.BinaryOpAttrs, x *graph.Value, src string) {
	if x.Encoded() {
		l.levelsOp(n, x, src)
		return
	}
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

// levelsOp lowers add and sub of two tensors of levels, and mul and div by a number, which changes their scale alone.
func (l *lowering) levelsOp(n *graph.Node, x *graph.Value, src string) {
	if len(n.Inputs) == 1 {
		l.sameBuffer(n, x, src)
		return
	}
	y := l.g.Value(n.Inputs[1])
	l.stage(n, ops.AddLevels(x, y, n.Op == "sub"), 0, graph.NoReason, src, l.at[n.Inputs[1]].buf, l.result(n).buf)
}
