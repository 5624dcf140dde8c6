package lower

import (
	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// moving is the rule of ops with a Func that only moves elements.
func moving[A any](of func(a *A, x layout.Tensor) *ir.Func) rule {
	return with(func(l *lowering, n *graph.Node, a *A, x *layout.Tensor, src string) {
		l.addMove(n, x, src, of(a, *x))
	})
}

// addMove adds the stage of f, which only moves the elements of x.
func (l *lowering) addMove(n *graph.Node, x *layout.Tensor, src string, f *ir.Func) {
	l.stage(n, f, 0, whyMoved(x), src, l.result(n).buf)
}

func whyMoved(x *layout.Tensor) graph.Reason {
	if x.Encoded() {
		return graph.NoReason
	}
	return graph.WhyMovesFloats
}

func (l *lowering) matmul(n *graph.Node, x *layout.Tensor) {
	y, last := l.g.Value(n.Output), len(x.Shape)-1
	macs := int64(y.Elems()) * int64(x.Shape[last])
	l.stage(n, ops.MatMul(x.Shape, l.g.Value(n.Inputs[1]).Shape), macs, graph.WhyTwoTensors, l.at[n.Inputs[0]].buf,
		l.at[n.Inputs[1]].buf, l.result(n).buf)
}
