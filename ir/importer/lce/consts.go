package lce

import (
	"encoding/binary"
	"fmt"
	"math"

	"ripc/ir/graph"
)

// input is the tensor of input k, nil if it is missing.
func (b *builder) input(k int) *tensor {
	if k >= len(b.op.inputs) || b.op.inputs[k] < 0 {
		return nil
	}
	return &b.file.tensors[b.op.inputs[k]]
}

// isConstant reports whether input k is there and known.
func (b *builder) isConstant(k int) bool {
	t := b.input(k)
	return t != nil && (t.data != nil || b.folded[b.op.inputs[k]] != nil)
}

// take counts the elements of a constant.
func (b *builder) take(n int) error {
	if b.left -= n; b.left < 0 {
		return faultf("", "the model's constants have too many elements, more than %d in all", maxWeights)
	}
	return nil
}

// sizes of element types in bytes.
func typeSize(typ int) int {
	switch typ {
	case typeF32, typeI32:
		return 4
	case typeI64:
		return 8
	case typeF16:
		return 2
	case typeI8, typeU8:
		return 1
	}
	return 0
}

// constant wants input k to be a constant of one of the types, with as many bytes as its shape asks for.
func (b *builder) constant(k int, what string, types ...int) (*tensor, error) {
	t := b.input(k)
	if t == nil {
		return nil, faultf("", "has no %s", what)
	}
	if t.data == nil {
		return nil, faultf("", "its %s %q is no constant", what, t.name)
	}
	for _, typ := range types {
		if t.typ != typ {
			continue
		}
		if len(t.data) != t.elems*typeSize(typ) {
			return nil, faultf("the file is damaged", "its %s %q of shape %v has %d bytes", what, t.name, t.shape, len(t.data))
		}
		return t, nil
	}
	return nil, faultf("", "its %s %q has element type %s", what, t.name, typeName(t.typ))
}

// numbers are the elements of constant input k as f32: of floats, or of integers with scales.
func (b *builder) numbers(k int, what string) ([]float32, error) {
	if t := b.input(k); t != nil {
		if f := b.folded[b.op.inputs[k]]; f != nil {
			return f, nil
		}
	}
	t, err := b.constant(k, what, typeF32, typeF16, typeI8, typeU8, typeI32)
	if err != nil {
		return nil, err
	}
	if err := b.take(t.elems); err != nil {
		return nil, err
	}
	out := make([]float32, t.elems)
	switch t.typ {
	case typeF32:
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:]))
		}
		return out, nil
	case typeF16:
		for i := range out {
			out[i] = half(binary.LittleEndian.Uint16(t.data[2*i:]))
		}
		return out, nil
	}
	return out, dequantize(t, what, out)
}

// dequantize sets out to scale * (q - zero point), the scale being one for all or one for each index of an axis.
func dequantize(t *tensor, what string, out []float32) error {
	axis, inner := 1, len(out)
	if len(t.scales) != 1 {
		if t.axis < 0 || t.axis >= len(t.shape) || t.shape[t.axis] != len(t.scales) {
			return faultf("", "its %s %q of shape %v has %d scales along axis %d", what, t.name, t.shape, len(t.scales), t.axis)
		}
		axis, inner = t.shape[t.axis], 1
		for _, n := range t.shape[t.axis+1:] {
			inner *= n
		}
	}
	if n := len(t.zeros); n != 0 && n != 1 && n != axis {
		return faultf("", "its %s %q has %d zero points for %d scales", what, t.name, n, len(t.scales))
	}
	for i := range out {
		var q, z int64
		switch t.typ {
		case typeI8:
			q = int64(int8(t.data[i]))
		case typeU8:
			q = int64(t.data[i])
		default:
			q = int64(int32(binary.LittleEndian.Uint32(t.data[4*i:])))
		}
		c := i / inner % axis
		if n := len(t.zeros); n > 0 {
			z = t.zeros[min(c, n-1)]
		}
		out[i] = float32(float64(t.scales[c]) * float64(q-z))
	}
	return nil
}

// half is the value of an IEEE half float.
func half(h uint16) float32 {
	sign, e, m := float64(1), int(h>>10&31), float64(h&1023)
	if h>>15 != 0 {
		sign = -1
	}
	switch {
	case e == 31 && m != 0:
		return float32(math.NaN())
	case e == 31:
		return float32(math.Inf(int(sign)))
	case e == 0:
		return float32(sign * m * 0x1p-24)
	}
	return float32(sign * math.Ldexp(1+m/1024, e-15))
}

// ints are the elements of constant input k, a short list of whole numbers of type int32 or int64.
func (b *builder) ints(k int, what string) ([]int, error) {
	t, err := b.constant(k, what, typeI32, typeI64)
	if err != nil {
		return nil, err
	}
	if t.elems > 4*graph.MaxRank {
		return nil, faultf("", "its %s %q has %d elements", what, t.name, t.elems)
	}
	out := make([]int, t.elems)
	for i := range out {
		v := int64(0)
		if t.typ == typeI32 {
			v = int64(int32(binary.LittleEndian.Uint32(t.data[4*i:])))
		} else {
			v = int64(binary.LittleEndian.Uint64(t.data[8*i:]))
		}
		if v < math.MinInt32 || v > math.MaxInt32 {
			return nil, faultf("", "its %s %q holds %d", what, t.name, v)
		}
		out[i] = int(v)
	}
	return out, nil
}

// vector is input k as one f32 for each of n channels; nil if the input is missing. One element stands for all.
func (b *builder) vector(k int, what string, n int) (*graph.Tensor, error) {
	t := b.input(k)
	if t == nil {
		return nil, nil
	}
	data, err := b.numbers(k, what)
	if err != nil {
		return nil, err
	}
	if len(data) == 1 && n > 1 {
		if err := b.take(n); err != nil {
			return nil, err
		}
		one := data[0]
		data = make([]float32, n)
		for i := range data {
			data[i] = one
		}
	}
	if len(data) != n || len(t.shape) > 0 && t.shape[len(t.shape)-1] != n && t.elems != 1 {
		return nil, faultf("", "its %s %q has shape %v, want [%d]", what, t.name, t.shape, n)
	}
	return &graph.Tensor{Shape: []int{n}, Data: data}, nil
}

// weights are those that make gives for input k, made once for each kind of use.
func (b *builder) weights(k int, kind string, make func() (*graph.Tensor, error)) (*graph.Tensor, error) {
	key := fmt.Sprint(b.op.inputs[k], " ", kind)
	if w := b.shared[key]; w != nil {
		return w, nil
	}
	w, err := make()
	if err != nil {
		return nil, err
	}
	b.shared[key] = w
	return w, nil
}

// float is the f32 value of input k: levels are dequantized, once for all their readers, and a constant becomes a node.
func (b *builder) float(k int) (string, error) {
	t := b.input(k)
	if t == nil {
		return "", faultf("", "input %d is missing", k)
	}
	i := b.op.inputs[k]
	if b.isConstant(k) {
		data, err := b.numbers(k, "input")
		if err != nil {
			return "", err
		}
		if len(t.shape) == 0 {
			return "", faultf("", "input %q is a scalar", t.name)
		}
		return b.add("constant", &graph.ConstantAttrs{}, map[string]*graph.Tensor{"value": {Shape: t.shape, Data: data}})
	}
	if t.typ == typeI32 {
		return "", faultf("put an LceDequantize before it", "input %q holds bits, which only operators of Larq read", t.name)
	}
	if b.values[i] == "" {
		return "", faultf("", "input %q is made by no operator", t.name)
	}
	v := b.g.Value(b.values[i])
	if !v.Encoded() {
		return v.Name, nil
	}
	if f := b.floats[i]; f != "" {
		return f, nil
	}
	f, err := b.add("dequantize", &graph.NoAttrs{}, nil, v.Name)
	if err == nil {
		b.floats[i] = f
	}
	return f, err
}

// levels is the bit tensor of input k.
func (b *builder) levels(k int) (*graph.Value, error) {
	t := b.input(k)
	if t == nil || b.values[b.op.inputs[k]] == "" {
		return nil, faultf("", "input %d is missing or a constant", k)
	}
	v := b.g.Value(b.values[b.op.inputs[k]])
	if t.typ != typeI32 || v.Enc.String() != "bipolar_inv" {
		return nil, faultf("put an LceQuantize before it", "input %q holds no bits", t.name)
	}
	return v, nil
}
