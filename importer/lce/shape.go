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
		return b.joined(levels, axis)
	}
	for k := range b.op.inputs {
		x := b.float(k)
		if n := len(x.Shape); n != rank {
			panic(faultf("", "input %q has %d axes, the output %d", x.Name, n, rank))
		}
		in = append(in, x)
	}
	return b.activation(b.joined(in, axis), t.Int8(1, 0))
}

// pad is PAD or PADV2, along any axes.
func pad(b *builder) *graph.Value {
	value := float32(0)
	if b.op.op == "PADV2" {
		v := b.numbers(2, "value")
		failIf(len(v) != 1, "", "its value has %d elements, want 1", len(v))
		value = v[0]
	}
	x := b.float(0)
	return b.padded(x, b.paddings(x), value)
}

// paddings are input 1: how many positions are added before and after each axis of x.
func (b *builder) paddings(x *graph.Value) []int {
	p := b.ints(1, "paddings")
	shape := x.Shape
	failIf(len(p) != 2*len(shape), "", "has %d numbers of padding for %d axes", len(p), len(shape))
	failIf(!kit.Within(p, 0, graph.MaxElems), "", "padding %v: want numbers from 0", p)
	return p
}

// padded puts value around x: rows and columns around an image at once, channels as constants, other axes one after the other.
func (b *builder) padded(x *graph.Value, p []int, value float32) *graph.Value {
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

// reshape is RESHAPE, SQUEEZE or EXPAND_DIMS. The file has every tensor's shape, the result of -1 among them, so the
// operator's own numbers say nothing more.
func reshape(b *builder) *graph.Value {
	if t := b.input(0); t != nil && t.typ == typeI32 {
		return b.reshapeBits()
	}
	return b.likeOutput(b.float(0))
}

// reshapeBits keeps the words of channels together.
func (b *builder) reshapeBits() *graph.Value {
	x := b.levels(0)
	shape := b.sizes.Batch().Reshape(append(slices.Clone(x.Shape[:len(x.Shape)-1]), words(x.Channels())), slices.Clone(b.file.tensors[b.op.outputs[0]].shape))
	failIf(len(shape) == 0 || shape[len(shape)-1] != words(x.Channels()), "dequantize before it",
		"gives bits of %d channels the shape %v, which takes their words apart", x.Channels(), shape)
	shape[len(shape)-1] = x.Channels()
	return b.reshape(x, shape)
}

func transpose(b *builder) *graph.Value {
	perm := b.ints(1, "permutation")
	x := b.float(0)
	for i, p := range perm {
		if p < 0 {
			perm[i] += len(perm)
		}
	}
	return b.add("transpose", &graph.TransposeAttrs{Perm: perm}, nil, x)
}
