package lce

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// concat is CONCATENATION along any axis.
func concat(b *builder) *graph.Value {
	t := b.builtin(optConcat)
	var in []*graph.Value
	rank := len(b.file.tensors[b.op.outputs[0]].shape)
	axis := axisOf(t.Int32(0, 0), rank)
	levels := b.integerParts()
	if act := t.Int8(1, 0); levels != nil && act == 0 {
		return b.concatParts(levels, axis)
	}
	for k := range b.op.inputs {
		x := b.floatInput(k)
		if n := len(x.Shape); n != rank {
			panic(faultf("", "input %q has %d axes, the output %d", x.Name, n, rank))
		}
		in = append(in, x)
	}
	return b.activation(b.concatParts(in, axis), t.Int8(1, 0))
}

// pad is PAD or PADV2, along any axes.
func pad(b *builder) *graph.Value {
	value := float32(0)
	if b.op.op == "PADV2" {
		v := b.numbers(2, "value")
		failIf(len(v) != 1, "", "its value has %d elements, want 1", len(v))
		value = v[0]
	}
	x := b.floatInput(0)
	return b.padAround(x, b.paddings(x), value)
}

// paddings are input 1: how many positions are added before and after each axis of x.
func (b *builder) paddings(x *graph.Value) []int {
	p := b.ints(1, "paddings")
	shape := x.Shape
	failIf(len(p) != 2*len(shape), "", "has %d numbers of padding for %d axes", len(p), len(shape))
	failIf(!kit.InRange(p, 0, graph.MaxElems), "", "padding %v: want numbers from 0", p)
	return p
}

// padAround puts value around x: rows and columns around an image at once, channels as constants,
// other axes one after the other.
func (b *builder) padAround(x *graph.Value, p []int, value float32) *graph.Value {
	last := len(x.Shape) - 1
	p = slices.Clone(p)
	if last == 3 {
		x = b.Spatial(x, [2]int{p[2], p[4]}, [2]int{p[3], p[5]}, float64(value))
		p[2], p[3], p[4], p[5] = 0, 0, 0, 0
	}
	for d := range last {
		if p[2*d]+p[2*d+1] > 0 {
			x = b.AsRows(x, d, func(x *graph.Value) *graph.Value {
				return b.Spatial(x, [2]int{p[2*d]}, [2]int{p[2*d+1]}, float64(value))
			})
		}
	}
	channels := func(count int) (c []*graph.Value) {
		if count == 0 {
			return nil
		}
		shape := append(slices.Clone(x.Shape[:last]), count)
		b.take(elems(shape))
		return []*graph.Value{b.Constant(shape, slices.Repeat([]float32{value}, elems(shape)))}
	}
	return b.Concat(slices.Concat(channels(p[2*last]), []*graph.Value{x}, channels(p[2*last+1])), last)
}

// reshape is RESHAPE, SQUEEZE or EXPAND_DIMS. The file has every tensor's shape, the result of -1
// among them, so the operator's own numbers say nothing more.
func reshape(b *builder) *graph.Value {
	if t := b.input(0); t != nil && t.typ == typeI32 {
		return b.reshapeBits()
	}
	return b.likeOutput(b.floatInput(0))
}

// reshapeBits keeps the words of channels together.
func (b *builder) reshapeBits() *graph.Value {
	x := b.levels(0)
	shape := b.sizes.Batch().Reshape(append(slices.Clone(x.Shape[:len(x.Shape)-1]), words(x.Channels())),
		slices.Clone(b.file.tensors[b.op.outputs[0]].shape))
	failIf(len(shape) == 0 || shape[len(shape)-1] != words(x.Channels()), "dequantize before it",
		"gives bits of %d channels the shape %v, which takes their words apart", x.Channels(), shape)
	shape[len(shape)-1] = x.Channels()
	return b.reshape(x, shape)
}

func transpose(b *builder) *graph.Value {
	perm := b.ints(1, "permutation")
	x := b.floatInput(0)
	for i, p := range perm {
		if p < 0 {
			perm[i] += len(perm)
		}
	}
	return b.add("transpose", &graph.TransposeAttrs{Perm: perm}, nil, x)
}

// slice is SLICE: a size of -1 is all that is left.
func slice(b *builder) *graph.Value {
	x := b.floatInput(0)
	begin := b.ints(1, "begin")
	size := b.ints(2, "size")
	shape := x.Shape
	failIf(len(begin) != len(shape) || len(size) != len(shape),
		"", "begin %v and size %v for %d axes", begin, size, len(shape))
	if len(shape) > 0 {
		size[0] = b.sizes.Batch().Slice(shape, begin[0], 1, size[0])
	}
	stride := make([]int, len(shape))
	for d := range shape {
		if stride[d] = 1; size[d] == -1 {
			size[d] = shape[d] - begin[d]
		}
	}
	return b.Emit("slice", &graph.SliceAttrs{Begin: begin, Size: size, Stride: stride}, nil, x)
}

// stridedSlice is STRIDED_SLICE. Each of its numbers takes a part of an axis, drops an axis, or
// makes a new one of extent 1. An ellipsis stands for all axes that the other numbers leave.
func stridedSlice(b *builder) *graph.Value {
	t, x := b.unary(optStridedSlice)
	shape := x.Shape
	var list [3][]int
	for k, what := range []string{"begin", "end", "strides"} {
		list[k] = b.ints(1+k, what)
	}
	failIf(len(list[0]) != len(list[1]) || len(list[0]) != len(list[2]),
		"", "begin, end and strides have %d, %d and %d numbers", len(list[0]), len(list[1]), len(list[2]))
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
	failIf(rests > 1, "one ellipsis", "has %d ellipses", rests)
	failIf(taken > len(shape), "", "begin %v for %d axes", list[0], len(shape))
	var spans []kit.Span
	var out, reversed []int
	whole := func(count int) {
		for range count {
			n := shape[len(spans)]
			spans, out = append(spans, kit.WholeSpan(n)), append(out, n)
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
		case len(spans) == len(shape):
			panic(faultf("", "begin %v for %d axes", list[0], len(shape)))
		}
		d := len(spans)
		s := spanOf(t, i, shape[d], list[0][i], list[1][i], list[2][i])
		if d == 0 && !s.dropped {
			s.Count = b.sizes.Batch().Slice(shape, s.Begin, s.Step, s.Count)
		}
		failIf(s.Count < 1 || s.Step == 0,
			"", "takes nothing of axis %d: positions %d to %d in steps of %d", d, list[0][i], list[1][i], list[2][i])
		forward, backwards := s.Forward()
		if spans = append(spans, forward); backwards {
			reversed = append(reversed, d)
		}
		if !s.dropped {
			out = append(out, s.Count)
		}
	}
	whole(len(shape) - len(spans))
	y := b.Cut(x, spans)
	for _, d := range reversed {
		b.take(spans[d].Count)
		positions := kit.Identity(spans[d].Count)
		slices.Reverse(positions)
		y = b.pick(y, d, positions)
	}
	failIf(len(out) == 0, "keep one axis", "its result is a single number without axes")
	return b.reshape(y, out)
}

// maxPieces is up to how many slices a GATHER or a reversal is made of; more positions become a
// gather.
const maxPieces = 64

// pick is x with the given positions of an axis in that order: slices of it, or a gather if these
// are too many.
func (b *builder) pick(x *graph.Value, axis int, positions []int) *graph.Value {
	if len(kit.Runs(positions)) > maxPieces {
		return b.At(x, kit.AlongPixels(axis, x.Shape[axis], positions))
	}
	return b.Pick(x, axis, positions)
}

// concatParts puts tensors together along an axis.
func (b *builder) concatParts(parts []*graph.Value, axis int) *graph.Value {
	shape := parts[0].Shape
	for _, p := range parts {
		s := p.Shape
		if len(s) != len(shape) || axis >= len(s) || !slices.Equal(s[:axis], shape[:axis]) ||
			!slices.Equal(s[axis+1:], shape[axis+1:]) {
			panic(faultf("", "shapes %v and %v differ elsewhere than along axis %d", shape, s, axis))
		}
	}
	return b.Concat(parts, axis)
}
