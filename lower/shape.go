package lower

import (
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

func (l *lowering) transpose(n *graph.Node, a *graph.TransposeAttrs, x *layout.Tensor, src string) {
	planes := 0
	if x.Form == layout.Planes {
		planes = x.Bits
	}
	if ops.TransposeIsView(a, planes, x.Shape) {
		l.at[n.Output] = place{buf: src}
		return
	}
	l.addMove(n, x, src, ops.Transpose(a, *x))
}

// function lowers an op on single elements of several tensors, or of tensors and constants.
func (l *lowering) function(n *graph.Node, x *layout.Tensor, src string) {
	if graph.OfLevels(l.g, n) {
		l.levelsOp(n, x, src)
		return
	}
	f, operands, _ := graph.FunctionOf(n)
	why := graph.WhySeveralReads
	computed := slices.DeleteFunc(slices.Clone(n.Inputs), func(in string) bool {
		p := l.Producer(in)
		return p != nil && p.Op == "constant"
	})
	slices.Sort(computed)
	if len(slices.Compact(computed)) < 2 {
		why = l.notTakenIn(n)
	}
	if _, truths := f.Arguments(); f.Truth() && truths > 0 {
		why = graph.NoReason
	}
	var shapes [][]int
	var args []string
	for _, o := range operands {
		if w := o.Weight; w != nil {
			shapes, args = append(shapes, w.Shape), append(args,
				l.constant(n.Name+"."+o.Key, ir.F32, w.Shape, w.Data.Floats()))
			continue
		}
		v, buf := l.read(n, n.Inputs[o.Input])
		shapes, args = append(shapes, v.Shape), append(args, buf)
	}
	l.stage(n, ops.Function(f, shapes...), 0, why, append(args, l.result(n).buf)...)
}

// levelsOp lowers add and sub of two tensors of levels, and ops with a number, which change their
// scale, offset or zero point alone.
func (l *lowering) levelsOp(n *graph.Node, x *layout.Tensor, src string) {
	if len(n.Inputs) == 1 {
		l.sameBuffer(n, x, src)
		return
	}
	y, buf := l.read(n, n.Inputs[1])
	l.stage(n, ops.AddLevels(&x.Value, &y.Value, n.Op == "sub"), 0, graph.NoReason, src, buf, l.result(n).buf)
}
