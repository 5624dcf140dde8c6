package lce

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/source"
)

// slice is SLICE: a size of -1 is all that is left.
func slice(b *builder) string {
	x := b.float(0)
	begin := b.ints(1, "begin")
	size := b.ints(2, "size")
	shape := b.g.Value(x).Shape
	if len(begin) != len(shape) || len(size) != len(shape) {
		panic(faultf("", "begin %v and size %v for %d axes", begin, size, len(shape)))
	}
	if len(shape) > 0 {
		size[0] = b.sizes.Batch().Slice(shape, begin[0], 1, size[0])
	}
	stride := make([]int, len(shape))
	for d := range shape {
		if stride[d] = 1; size[d] == -1 {
			size[d] = shape[d] - begin[d]
		}
	}
	return b.add("slice", &graph.SliceAttrs{Begin: begin, Size: size, Stride: stride}, nil, x)
}

// stridedSlice is STRIDED_SLICE. Its numbers are for axes that it takes from, drops or makes new (of extent 1); an ellipsis
// stands for as many whole axes as are left.
func stridedSlice(b *builder) string {
	t, x := b.unary(optStridedSlice)
	shape := b.g.Value(x).Shape
	var list [3][]int
	for k, what := range []string{"begin", "end", "strides"} {
		list[k] = b.ints(1+k, what)
	}
	if len(list[0]) != len(list[1]) || len(list[0]) != len(list[2]) {
		panic(faultf("", "begin, end and strides have %d, %d and %d numbers", len(list[0]), len(list[1]), len(list[2])))
	}
	ellipsis, made := t.Int32(2, 0), t.Int32(3, 0)
	taken, rests := 0, 0 // axes that numbers are for, and ellipses
	for i := range list[0] {
		switch {
		case ellipsis>>i&1 != 0:
			rests++
		case made>>i&1 == 0:
			taken++
		}
	}
	if rests > 1 {
		panic(faultf("one ellipsis", "has %d ellipses", rests))
	}
	if taken > len(shape) {
		panic(faultf("", "begin %v for %d axes", list[0], len(shape)))
	}
	a, out, reversed := &graph.SliceAttrs{}, []int{}, []int(nil)
	whole := func(count int) {
		for range count {
			n := shape[len(a.Size)]
			a.Begin, a.Size, a.Stride, out = append(a.Begin, 0), append(a.Size, n), append(a.Stride, 1), append(out, n)
		}
	}
	for i := range list[0] {
		switch {
		case ellipsis>>i&1 != 0:
			whole(len(shape) - taken)
			continue
		case made>>i&1 != 0:
			out = append(out, 1)
			continue
		case len(a.Size) == len(shape):
			panic(faultf("", "begin %v for %d axes", list[0], len(shape)))
		}
		d := len(a.Size)
		s := spanOf(t, i, shape[d], list[0][i], list[1][i], list[2][i])
		if d == 0 && !s.dropped {
			s.Count = b.sizes.Batch().Slice(shape, s.Begin, s.Step, s.Count)
		}
		if s.Count < 1 || s.Step == 0 {
			panic(faultf("", "takes nothing of axis %d: positions %d to %d in steps of %d", d, list[0][i], list[1][i], list[2][i]))
		}
		if s.Step < 0 && s.Count > 1 {
			reversed = append(reversed, d)
		}
		if s.Step < 0 {
			s.Begin, s.Step = s.Begin+(s.Count-1)*s.Step, -s.Step
		}
		if s.Count == 1 {
			s.Step = 1
		}
		a.Begin, a.Size, a.Stride = append(a.Begin, s.Begin), append(a.Size, s.Count), append(a.Stride, s.Step)
		if !s.dropped {
			out = append(out, s.Count)
		}
	}
	whole(len(shape) - len(a.Size))
	y := x
	if !slices.Equal(a.Size, shape) {
		y = b.add("slice", a, nil, x)
	}
	for _, d := range reversed {
		b.take(a.Size[d])
		positions := make([]int, a.Size[d])
		for i := range positions {
			positions[i] = len(positions) - 1 - i
		}
		y = b.pick(y, d, positions)
	}
	if len(out) == 0 {
		panic(faultf("keep one axis", "its result is a single number without axes"))
	}
	return b.reshape(y, out)
}

// maxPieces is up to how many slices a GATHER or a reversal is made of; more positions become a gather.
const maxPieces = 64

// pick is x with the given positions of an axis in that order, in runs where they go up by equal steps.
func (b *builder) pick(x string, axis int, positions []int) string {
	runs := source.Runs(positions)
	if len(runs) > maxPieces {
		return b.at(x, source.AlongPixels(axis, b.g.Value(x).Shape[axis], positions))
	}
	var parts []string
	for _, run := range runs {
		part := b.part(x, axis, run)
		parts = append(parts, part)
	}
	return b.joined(parts, axis)
}

// part is what s takes of an axis of x.
func (b *builder) part(x string, axis int, s source.Span) string {
	shape := b.g.Value(x).Shape
	if s.Begin == 0 && s.Count == shape[axis] && s.Step == 1 {
		return x
	}
	a := &graph.SliceAttrs{Begin: make([]int, len(shape)), Size: slices.Clone(shape), Stride: slices.Repeat([]int{1}, len(shape))}
	a.Begin[axis], a.Size[axis], a.Stride[axis] = s.Begin, s.Count, s.Step
	return b.add("slice", a, nil, x)
}

// joined puts tensors together along an axis; where that is not the last, those behind it count as its own while it is done.
func (b *builder) joined(parts []string, axis int) string {
	if len(parts) == 1 {
		return parts[0]
	}
	shape := slices.Clone(b.g.Value(parts[0]).Shape)
	total := 0
	for i, p := range parts {
		s := b.g.Value(p).Shape
		if len(s) != len(shape) || axis >= len(s) || !slices.Equal(s[:axis], shape[:axis]) || !slices.Equal(s[axis+1:], shape[axis+1:]) {
			panic(faultf("", "shapes %v and %v differ elsewhere than along axis %d", shape, s, axis))
		}
		total += s[axis]
		if axis < len(s)-1 {
			parts[i] = b.add("reshape", &graph.ReshapeAttrs{Shape: []int{elems(s[:axis]), elems(s[axis:])}}, nil, p)
		}
	}
	y := b.add("concat", &graph.ConcatAttrs{}, nil, parts...)
	if axis == len(shape)-1 {
		return y
	}
	shape[axis] = total
	return b.add("reshape", &graph.ReshapeAttrs{Shape: shape}, nil, y)
}
