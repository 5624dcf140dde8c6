package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// foldGather takes positions of an axis; scalar indices drop it.
func foldGather(n *node, in []*array) []*array {
	x, idx := in[0], in[1]
	axis := n.axis(n.intAttr("axis", 0), len(x.shape))
	positions := make([][]int, len(x.shape))
	for d, e := range x.shape {
		n.b.mem.take(e, 8)
		positions[d] = kit.Identity(e)
	}
	positions[axis] = n.positions(idx, x.shape[axis])
	out := n.b.mem.pick(x, positions, 0)
	return arrays(out.view(slices.Concat(x.shape[:axis], idx.shape, x.shape[axis+1:])))
}

func foldSlice(n *node, in []*array) []*array {
	return arrays(n.b.mem.cut(in[0], n.spans(in[0].shape)))
}

// cut is the part of a that spans leave.
func (b *budget) cut(a *array, list []span) *array {
	shape, step, base := slices.Clone(a.shape), strides(a.shape), 0
	for _, s := range list {
		shape[s.axis] = s.Count
		if s.Count > 0 {
			base += s.Begin * step[s.axis]
		}
		step[s.axis] *= s.Step
	}
	return b.gather(a, shape, base, step)
}

func foldSplit(n *node, in []*array) []*array {
	axis, sizes := n.parts(in[0].shape)
	var outs []*array
	at := 0
	for _, s := range sizes {
		outs = append(outs, n.b.mem.cut(in[0], []span{{axis, kit.Span{Begin: at, Count: s, Step: 1}}}))
		at += s
	}
	return outs
}

func foldConcat(n *node, in []*array) []*array {
	axis := n.axis(n.intAttr("axis", 0), len(in[0].shape))
	shape := slices.Clone(in[0].shape)
	total := 0
	for _, a := range in {
		n.failIf(a == nil || a.dt != in[0].dt || len(a.shape) != len(shape), "", "its inputs differ in type or rank")
		shape[axis] = a.shape[axis]
		n.failIf(!slices.Equal(a.shape, shape),
			"", "shapes %v and %v differ elsewhere than along axis %d", in[0].shape, a.shape, axis)
		total += a.shape[axis]
	}
	shape[axis] = total
	out := n.b.mem.newArray(in[0].dt, shape)
	at, inner := 0, graph.Elems(shape[axis+1:])
	for _, a := range in {
		w := a.shape[axis] * inner
		for k := range a.len() {
			out.copyFrom(k/w*total*inner+at+k%w, a, k)
		}
		at += w
	}
	return []*array{out}
}
