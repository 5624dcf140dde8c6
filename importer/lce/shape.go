package lce

import (
	"slices"

	"ripc/graph"
)

// concat is CONCATENATION along any axis.
func concat(b *builder) (string, error) {
	t, err := b.builtin(optConcat)
	if err != nil {
		return "", err
	}
	var in []string
	rank := len(b.file.tensors[b.op.outputs[0]].shape)
	axis := t.Int32(0, 0)
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank {
		return "", faultf("", "axis %d of a tensor of %d axes", t.Int32(0, 0), rank)
	}
	levels, err := b.integerParts()
	if err != nil {
		return "", err
	}
	if act := t.Int8(1, 0); levels != nil && act == 0 {
		return b.joined(levels, axis)
	}
	for k := range b.op.inputs {
		x, err := b.float(k)
		if err != nil {
			return "", err
		}
		if n := len(b.g.Value(x).Shape); n != rank {
			return "", faultf("", "input %q has %d axes, the output %d", x, n, rank)
		}
		in = append(in, x)
	}
	y, err := b.joined(in, axis)
	if err != nil {
		return "", err
	}
	return b.activation(y, t.Int8(1, 0))
}

// pad is PAD or PADV2, along any axes.
func pad(b *builder) (string, error) {
	value := float32(0)
	if b.op.op == "PADV2" {
		v, err := b.numbers(2, "value")
		if err != nil {
			return "", err
		}
		if len(v) != 1 {
			return "", faultf("", "its value has %d elements, want 1", len(v))
		}
		value = v[0]
	}
	x, err := b.float(0)
	if err != nil {
		return "", err
	}
	p, err := b.paddings(x)
	if err != nil {
		return "", err
	}
	return b.padded(x, p, value)
}

// paddings are input 1: how many positions are added before and after each axis of x.
func (b *builder) paddings(x string) ([]int, error) {
	p, err := b.ints(1, "paddings")
	if err != nil {
		return nil, err
	}
	shape := b.g.Value(x).Shape
	if len(p) != 2*len(shape) {
		return nil, faultf("", "has %d numbers of padding for %d axes", len(p), len(shape))
	}
	for _, n := range p {
		if n < 0 || n > graph.MaxElems {
			return nil, faultf("", "padding %v: want numbers from 0", p)
		}
	}
	return p, nil
}

// padded puts value around x: rows and columns around an image at once, channels as constants, other axes one after the other.
func (b *builder) padded(x string, p []int, value float32) (string, error) {
	spatial := func(x string, top, bottom, left, right int) (string, error) {
		if top+bottom+left+right == 0 {
			return x, nil
		}
		around := graph.Padding{Mode: graph.PadExplicit, Top: top, Bottom: bottom, Left: left, Right: right}
		return b.add("pad", &graph.SpatialPadAttrs{Pad: around, Value: float64(value)}, nil, x)
	}
	rank := len(b.g.Value(x).Shape)
	p = slices.Clone(p)
	var err error
	if rank == 4 {
		if x, err = spatial(x, p[2], p[3], p[4], p[5]); err != nil {
			return "", err
		}
		p[2], p[3], p[4], p[5] = 0, 0, 0, 0
	}
	for d := range rank - 1 {
		if p[2*d]+p[2*d+1] == 0 {
			continue
		}
		if x, err = b.asRows(x, d, func(x string) (string, error) { return spatial(x, p[2*d], p[2*d+1], 0, 0) }); err != nil {
			return "", err
		}
	}
	if last := p[2*rank-2:]; last[0]+last[1] > 0 {
		return b.paddedChannels(x, last, value)
	}
	return x, nil
}

// paddedChannels puts so many channels of value before and after those of x.
func (b *builder) paddedChannels(x string, p []int, value float32) (string, error) {
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
		if err := b.take(size); err != nil {
			return "", err
		}
		c := &graph.Tensor{Shape: s, Data: graph.NumbersOf(slices.Repeat([]float32{value}, size))}
		name, err := b.add("constant", &graph.ConstantAttrs{}, map[string]*graph.Tensor{"value": c})
		if err != nil {
			return "", err
		}
		in = append(in, name)
	}
	return b.add("concat", &graph.ConcatAttrs{}, nil, in...)
}

// reshape is RESHAPE, SQUEEZE or EXPAND_DIMS. The file has every tensor's shape, the result of -1 among them, so the
// operator's own numbers say nothing more.
func reshape(b *builder) (string, error) {
	if t := b.input(0); t != nil && t.typ == typeI32 {
		return b.reshapeBits()
	}
	x, err := b.float(0)
	if err != nil {
		return "", err
	}
	return b.likeOutput(x)
}

// reshapeBits keeps the words of channels together.
func (b *builder) reshapeBits() (string, error) {
	x, err := b.levels(0)
	if err != nil {
		return "", err
	}
	shape := b.sizes.Batch().Reshape(append(slices.Clone(x.Shape[:len(x.Shape)-1]), words(x.Channels())), slices.Clone(b.file.tensors[b.op.outputs[0]].shape))
	if len(shape) == 0 || shape[len(shape)-1] != words(x.Channels()) {
		return "", faultf("dequantize before it", "gives bits of %d channels the shape %v, which takes their words apart", x.Channels(), shape)
	}
	shape[len(shape)-1] = x.Channels()
	return b.reshape(x.Name, shape)
}

func transpose(b *builder) (string, error) {
	perm, err := b.ints(1, "permutation")
	if err != nil {
		return "", err
	}
	x, err := b.float(0)
	if err != nil {
		return "", err
	}
	for i, p := range perm {
		if p < 0 {
			perm[i] += len(perm)
		}
	}
	return b.add("transpose", &graph.TransposeAttrs{Perm: perm}, nil, x)
}
