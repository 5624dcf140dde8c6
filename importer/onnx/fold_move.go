package onnx

import (
	"slices"

	"ripc/graph"
)

// foldGather takes positions of an axis; scalar indices drop it.
func foldGather(n *node, in []*array) ([]*array, error) {
	x, idx := in[0], in[1]
	axis, err := n.intAttr("axis", 0)
	if err != nil {
		return nil, err
	}
	if axis, err = n.axis(axis, len(x.shape)); err != nil {
		return nil, err
	}
	at, err := n.positions(idx, x.shape[axis])
	if err != nil {
		return nil, err
	}
	out, err := n.b.mem.newArray(x.dt, slices.Concat(x.shape[:axis], idx.shape, x.shape[axis+1:]))
	if err != nil || out.len() == 0 {
		return []*array{out}, err
	}
	inner := graph.Elems(x.shape[axis+1:])
	for k := range out.len() {
		outer, rest := k/(inner*len(at)), k%(inner*len(at))
		out.copyFrom(k, x, (outer*x.shape[axis]+at[rest/inner])*inner+rest%inner)
	}
	return []*array{out}, nil
}

func foldSlice(n *node, in []*array) ([]*array, error) {
	list, err := n.spans(in[0].shape)
	if err != nil {
		return nil, err
	}
	return arrays(n.b.mem.cut(in[0], list))
}

// cut is the part of a that spans leave.
func (b *budget) cut(a *array, list []span) (*array, error) {
	shape, step, base := slices.Clone(a.shape), strides(a.shape), 0
	for _, s := range list {
		shape[s.axis] = s.count
		if s.count > 0 {
			base += s.begin * step[s.axis]
		}
		step[s.axis] *= s.step
	}
	return b.gather(a, shape, base, step)
}

func foldSplit(n *node, in []*array) ([]*array, error) {
	axis, sizes, err := n.parts(in[0].shape)
	if err != nil {
		return nil, err
	}
	var outs []*array
	at := 0
	for _, s := range sizes {
		a, err := n.b.mem.cut(in[0], []span{{axis: axis, begin: at, count: s, step: 1}})
		if err != nil {
			return nil, err
		}
		outs = append(outs, a)
		at += s
	}
	return outs, nil
}

func foldConcat(n *node, in []*array) ([]*array, error) {
	axis, err := n.intAttr("axis", 0)
	if err != nil {
		return nil, err
	}
	if axis, err = n.axis(axis, len(in[0].shape)); err != nil {
		return nil, err
	}
	shape := slices.Clone(in[0].shape)
	total := 0
	for _, a := range in {
		if a == nil || a.dt != in[0].dt || len(a.shape) != len(shape) {
			return nil, n.fail("", "its inputs differ in type or rank")
		}
		shape[axis] = a.shape[axis]
		if !slices.Equal(a.shape, shape) {
			return nil, n.fail("", "shapes %v and %v differ elsewhere than along axis %d", in[0].shape, a.shape, axis)
		}
		total += a.shape[axis]
	}
	shape[axis] = total
	out, err := n.b.mem.newArray(in[0].dt, shape)
	if err != nil {
		return nil, err
	}
	at, inner := 0, graph.Elems(shape[axis+1:])
	for _, a := range in {
		w := a.shape[axis] * inner
		for k := range a.len() {
			out.copyFrom(k/w*total*inner+at+k%w, a, k)
		}
		at += w
	}
	return []*array{out}, nil
}
