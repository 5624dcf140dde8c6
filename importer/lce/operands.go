package lce

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	"ripc/internal/f32"
)

// input is the tensor of input k, nil if it is missing.
func (b *builder) input(k int) *tensor {
	if k >= len(b.op.inputs) || b.op.inputs[k] < 0 {
		return nil
	}
	return &b.file.tensors[b.op.inputs[k]]
}

// requireInputs fails if one of the first n inputs is missing.
func (b *builder) requireInputs(n int) {
	for k := range n {
		failIf(b.input(k) == nil, "", "input %d is missing", k)
	}
}

// isConstant reports whether input k is there and known.
func (b *builder) isConstant(k int) bool {
	t := b.input(k)
	return t != nil && (t.data != nil || b.folded[b.op.inputs[k]] != nil)
}

// vector is input k as one f32 for each of n channels; nil if the input is missing. One element
// stands for all.
func (b *builder) vector(k int, what string, n int) *graph.Tensor {
	t := b.input(k)
	if t == nil {
		return nil
	}
	data := b.numbers(k, what)
	if len(data) == 1 && n > 1 {
		b.take(n)
		data = slices.Repeat(data, n)
	}
	failIf(len(data) != n || len(t.shape) > 0 && t.shape[len(t.shape)-1] != n && t.elems != 1,
		"", "its %s %q has shape %v, want [%d]", what, t.name, t.shape, n)
	return kit.Vector(data)
}

// withBias are w and a bias of one number for each of its outputs, input k, if there is one.
func (b *builder) withBias(w *graph.Tensor, k int) map[string]*graph.Tensor {
	weights := map[string]*graph.Tensor{"w": w}
	if bias := b.vector(k, "bias", w.Shape[len(w.Shape)-1]); bias != nil {
		weights["b"] = bias
	}
	return weights
}

// weights are those that make gives for input k, made once for each kind of use.
func (b *builder) weights(k int, kind string, make func() *graph.Tensor) *graph.Tensor {
	key := fmt.Sprint(b.op.inputs[k], " ", kind)
	if w := b.shared[key]; w != nil {
		return w
	}
	w := make()
	b.shared[key] = w
	return w
}

// floatInput returns the f32 value of input k: levels are dequantized, once for all their readers,
// and a constant becomes a node.
func (b *builder) floatInput(k int) *graph.Value {
	t := b.input(k)
	failIf(t == nil, "", "input %d is missing", k)
	i := b.op.inputs[k]
	if b.isConstant(k) {
		data := b.numbers(k, "input")
		failIf(len(t.shape) == 0, "", "input %q is a scalar", t.name)
		return b.Constant(t.shape, data)
	}
	v := b.values[i]
	whole := v != nil && v.Whole
	failIf(t.typ == typeI32 && !whole,
		"put an LceDequantize before it", "input %q holds bits, which only operators of Larq read", t.name)
	failIf(v == nil, "", "input %q is made by no operator", t.name)
	failIf(t.typ == typeBool, "put CAST to float32 before it", "input %q holds truth values", t.name)
	if !v.Encoded() && !whole {
		return v
	}
	if f := b.floats[v]; b.out.Holds(f) {
		return f
	}
	b.floats[v] = b.Plain(v, "dequantize")
	return b.floats[v]
}

// levels is the bit tensor of input k.
func (b *builder) levels(k int) *graph.Value {
	t := b.input(k)
	failIf(t == nil || b.values[b.op.inputs[k]] == nil, "", "input %d is missing or a constant", k)
	v := b.values[b.op.inputs[k]]
	failIf(t.typ != typeI32 || v.Enc.String() != "bipolar_inv",
		"put an LceQuantize before it", "input %q holds no bits", t.name)
	return v
}

// take counts the elements of a constant.
func (b *builder) take(n int) {
	b.left -= n
	failIf(b.left < 0, "", "the model's constants have too many elements, more than %d in all", maxWeights)
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

// constant wants input k to be a constant of one of the types, with the number of bytes that its
// shape asks for.
func (b *builder) constant(k int, what string, types ...int) *tensor {
	t := b.input(k)
	failIf(t == nil, "", "has no %s", what)
	failIf(t.data == nil, "", "its %s %q is no constant", what, t.name)
	for _, typ := range types {
		if t.typ != typ {
			continue
		}
		failIf(len(t.data) != t.elems*typeSize(typ),
			"the file is damaged", "its %s %q of shape %v has %d bytes", what, t.name, t.shape, len(t.data))
		return t
	}
	panic(faultf("", "its %s %q has element type %s", what, t.name, typeName(t.typ)))
}

// numbers are the elements of constant input k as f32: of floats, or of integers with scales.
func (b *builder) numbers(k int, what string) []float32 {
	if t := b.input(k); t != nil {
		if f := b.folded[b.op.inputs[k]]; f != nil {
			return f
		}
	}
	t := b.constant(k, what, typeF32, typeF16, typeI8, typeU8, typeI32)
	b.take(t.elems)
	out := make([]float32, t.elems)
	switch t.typ {
	case typeF32:
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:]))
		}
		return out
	case typeF16:
		for i := range out {
			out[i] = f32.Half(binary.LittleEndian.Uint16(t.data[2*i:]))
		}
		return out
	}
	dequantize(t, what, out)
	return out
}

// constants are numbers of input k, which lie in the file's own memory where they are f32 there.
func (b *builder) constants(k int, what string) graph.Numbers {
	t := b.input(k)
	if t == nil || b.folded[b.op.inputs[k]] != nil || t.typ != typeF32 {
		return graph.NumbersOf(b.numbers(k, what))
	}
	b.constant(k, what, typeF32)
	b.take(t.elems)
	return graph.NumbersOf(f32.FromBytes(t.data))
}

// dequantize sets out to scale * (q - zero point), the scale being one for all or one for each
// index of an axis.
func dequantize(t *tensor, what string, out []float32) {
	axis, inner := 1, len(out)
	if len(t.scales) != 1 {
		failIf(t.axis < 0 || t.axis >= len(t.shape) || t.shape[t.axis] != len(t.scales),
			"", "its %s %q of shape %v has %d scales along axis %d", what, t.name, t.shape, len(t.scales), t.axis)
		axis, inner = t.shape[t.axis], 1
		for _, n := range t.shape[t.axis+1:] {
			inner *= n
		}
	}
	if n := len(t.zeros); n != 0 && n != 1 && n != axis {
		panic(faultf("", "its %s %q has %d zero points for %d scales", what, t.name, n, len(t.scales)))
	}
	for i := range out {
		z, c := int64(0), i/inner%axis
		if n := len(t.zeros); n > 0 {
			z = t.zeros[min(c, n-1)]
		}
		out[i] = float32(float64(t.scales[c]) * float64(t.integer(i)-z))
	}
}

// integer returns element i of a constant of 8-bit, 32-bit or 64-bit integers.
func (t *tensor) integer(i int) int64 {
	switch t.typ {
	case typeI8:
		return int64(int8(t.data[i]))
	case typeU8:
		return int64(t.data[i])
	case typeI64:
		return int64(binary.LittleEndian.Uint64(t.data[8*i:]))
	}
	return int64(int32(binary.LittleEndian.Uint32(t.data[4*i:])))
}

// maxInts is the most numbers of a constant list: positions along an axis are the longest.
const maxInts = 1 << 12

// ints are the elements of input k, constant or computed of shapes, a short list of whole numbers
// of type int32 or int64.
func (b *builder) ints(k int, what string) []int {
	if b.input(k) != nil {
		if v := b.lists[b.op.inputs[k]]; v != nil {
			return slices.Clone(v)
		}
	}
	t := b.constant(k, what, typeI32, typeI64)
	failIf(t.elems > maxInts, "", "its %s %q has %d elements", what, t.name, t.elems)
	out := make([]int, t.elems)
	for i := range out {
		v := t.integer(i)
		failIf(v < math.MinInt32 || v > math.MaxInt32, "", "its %s %q holds %d", what, t.name, v)
		out[i] = int(v)
	}
	return out
}
