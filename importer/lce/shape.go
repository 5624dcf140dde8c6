package lce

import (
	"slices"

	"ripc/graph"
)

// concat is CONCATENATION along any axis.
func concat(b *builder) string {
	t := b.builtin(optConcat)
	var in []string
	rank := len(b.file.tensors[b.op.outputs[0]].shape)
	axis := t.Int32(0, 0)
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank {
		panic(faultf("", "axis %d of a tensor of %d axes", t.Int32(0, 0), rank))
	}
	levels := b.integerParts()
	if act := t.Int8(1, 0); levels != nil && act == 0 {
		return b.joined(levels, axis)
	}
	for k := range b.op.inputs {
		x := b.float(k)
		if n := len(b.g.Value(x).Shape); n != rank {
			panic(faultf("", "input %q has %d axes, the output %d", x, n, rank))
		}
		in = append(in, x)
	}
	y := b.joined(in, axis)
	return b.activation(y, t.Int8(1, 0))
}

// pad is PAD or PADV2, along any axes.
func pad(b *builder) string {
	value := float32(0)
	if b.op.op == "PADV2" {
		v := b.numbers(2, "value")
		if len(v) != 1 {
			panic(faultf("", "its value has %d elements, want 1", len(v)))
		}
		value = v[0]
	}
	x := b.float(0)
	p := b.paddings(x)
	return b.padded(x, p, value)
}

// paddings are input 1: how many positions are added before and after each axis of x.
func (b *builder) paddings(x string) []int {
	p := b.ints(1, "paddings")
	shape := b.g.Value(x).Shape
	if len(p) != 2*len(shape) {
		panic(faultf("", "has %d numbers of padding for %d axes", len(p), len(shape)))
	}
	for _, n := range p {
		if n < 0 || n > graph.MaxElems {
			panic(faultf("", "padding %v: want numbers from 0", p))
		}
	}
	return p
}

// padded puts value around x: rows and columns around an image at once, channels as constants, other axes one after the other.
func (b *builder) padded(x string, p []int, value float32) string {
	spatial := func(x string, top, bottom, left, right int) string {
		if top+bottom+left+right == 0 {
			return x
		}
		around := graph.Padding{Mode: graph.PadExplicit, Top: top, Bottom: bottom, Left: left, Right: right}
		return b.add("pad", &graph.SpatialPadAttrs{Pad: around, Value: float64(value)}, nil, x)
	}
	rank := len(b.g.Value(x).Shape)
	p = slices.Clone(p)
	if rank == 4 {
		x = spatial(x, p[2], p[3], p[4], p[5])
		p[2], p[3], p[4], p[5] = 0, 0, 0, 0
	}
	for d := range rank - 1 {
		if p[2*d]+p[2*d+1] == 0 {
			continue
		}
		x = b.asRows(x, d, func(x string) string { return spatial(x, p[2*d], p[2*d+1], 0, 0) })
	}
	if last := p[2*rank-2:]; last[0]+last[1] > 0 {
		return b.paddedChannels(x, last, value)
	}
	return x
}

// paddedChannels puts so many channels of value before and after those of x.
func (b *builder) paddedChannels(x string, p []int, value float32) string {
	shape := b.g.Value(x).Shape
	var in []string
	for k, n := range p {
		if k == 1 {
			in = append(in, x)
		}
		if n == 0 {
			continue
		}
		s := append(slices.Clone(shape[:len(shape)-1]), n)
		size := elems(s)
		b.take(size)
		c := &graph.Tensor{Shape: s, Data: graph.NumbersOf(slices.Repeat([]float32{value}, size))}
		name := b.add("constant", &graph.ConstantAttrs{}, map[string]*graph.Tensor{"value": c})
		in = append(in, name)
	}
	return b.add("concat", &graph.ConcatAttrs{}, nil, in...)
}

// reshape is RESHAPE, SQUEEZE or EXPAND_DIMS. The file has every tensor's shape, the result of -1 among them, so the
// operator's own numbers say nothing more.
func reshape(b *builder) string {
	if t := b.input(0); t != nil && t.typ == typeI32 {
		return b.reshapeBits()
	}
	x := b.float(0)
	return b.likeOutput(x)
}

// reshapeBits keeps the words of channels together.
func (b *builder) reshapeBits() string {
	x := b.levels(0)
	shape := b.sizes.Batch().Reshape(append(slices.Clone(x.Shape[:len(x.Shape)-1]), words(x.Channels())), slices.Clone(b.file.tensors[b.op.outputs[0]].shape))
	if len(shape) == 0 || shape[len(shape)-1] != words(x.Channels()) {
		panic(faultf("dequantize before it", "gives bits of %d channels the shape %v, which takes their words apart", x.Channels(), shape))
	}
	shape[len(shape)-1] = x.Channels()
	return b.reshape(x.Name, shape)
}

func transpose(b *builder) string {
	perm := b.ints(1, "permutation")
	x := b.float(0)
	for i, p := range perm {
		if p < 0 {
			perm[i] += len(perm)
		}
	}
	return b.add("transpose", &graph.TransposeAttrs{Perm: perm}, nil, x)
}
