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

// pad is PAD or PADV2: rows and columns around images, and channels, which are added as constants.
func pad(b *builder) (string, error) {
	p, err := b.ints(1, "paddings")
	if err != nil {
		return "", err
	}
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
	shape := b.g.Value(x).Shape
	if len(p) != 2*len(shape) {
		return "", faultf("", "has %d numbers of padding for %d axes", len(p), len(shape))
	}
	for _, n := range p {
		if n < 0 || n > graph.MaxElems {
			return "", faultf("", "padding %v: want numbers from 0", p)
		}
	}
	if slices.Max(p) == 0 {
		return x, nil
	}
	if len(shape) != 4 || p[0]+p[1] != 0 {
		return "", faultf("pad rows, columns or channels of images", "pads a tensor of shape %v by %v", shape, p)
	}
	if p[2]+p[3]+p[4]+p[5] > 0 {
		a := &graph.SpatialPadAttrs{Pad: graph.Padding{Mode: graph.PadExplicit, Top: p[2], Bottom: p[3], Left: p[4], Right: p[5]}, Value: float64(value)}
		if x, err = b.add("pad", a, nil, x); err != nil {
			return "", err
		}
		shape = b.g.Value(x).Shape
	}
	if p[6]+p[7] == 0 {
		return x, nil
	}
	var in []string
	for k, n := range p[6:8] {
		if k == 1 {
			in = append(in, x)
		}
		if n == 0 {
			continue
		}
		s := append(slices.Clone(shape[:3]), n)
		size := elems(s)
		if err := b.take(size); err != nil {
			return "", err
		}
		c := &graph.Tensor{Shape: s, Data: make([]float32, size)}
		for i := range c.Data {
			c.Data[i] = value
		}
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
