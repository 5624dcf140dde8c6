package lower

import (
	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

func (l *lowering) depthToSpace(n *graph.Node, a *graph.BlockAttrs, x *layout.Tensor, src string) {
	l.addMove(n, x, src, ops.DepthToSpace(a, *x))
}

func (l *lowering) spaceToDepth(n *graph.Node, a *graph.BlockAttrs, x *layout.Tensor, src string) {
	l.addMove(n, x, src, ops.SpaceToDepth(a, *x))
}

func (l *lowering) resize(n *graph.Node, a *graph.ResizeAttrs, x *layout.Tensor, src string) {
	l.addMove(n, x, src, ops.Resize(a, *x))
}

// addMove adds the stage of f, which only moves the elements of x.
func (l *lowering) addMove(n *graph.Node, x *layout.Tensor, src string, f *ir.Func) {
	why := graph.WhyMovesFloats
	if x.Encoded() {
		why = graph.NoReason
	}
	l.stage(n, f, 0, why, src, l.result(n).buf)
}

func (l *lowering) matmul(n *graph.Node, x *layout.Tensor) {
	y, last := l.g.Value(n.Output), len(x.Shape)-1
	macs := int64(y.Elems()) * int64(x.Shape[last])
	l.stage(n, ops.MatMul(x.Shape, l.g.Value(n.Inputs[1]).Shape), macs, graph.WhyTwoTensors, l.at[n.Inputs[0]].buf,
		l.at[n.Inputs[1]].buf, l.result(n).buf)
}
