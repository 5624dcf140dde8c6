package lce

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// input is the tensor of input k, nil if it is missing.
func (b *builder) input(k int) *tensor {
	if k >= len(b.op.inputs) || b.op.inputs[k] < 0 {
		return nil
	}
	return &b.file.tensors[b.op.inputs[k]]
}

// need fails if one of the first n inputs is missing.
func (b *builder) need(n int) {
	for k := range n {
		failIf(b.input(k) == nil, "", "input %d is missing", k)
	}
}

// isConstant reports whether input k is there and known.
func (b *builder) isConstant(k int) bool {
	t := b.input(k)
	return t != nil && (t.data != nil || b.folded[b.op.inputs[k]] != nil)
}

// vector is input k as one f32 for each of n channels; nil if the input is missing. One element stands for all.
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

// float is the f32 value of input k: levels are dequantized, once for all their readers, and a constant becomes a node.
func (b *builder) float(k int) *graph.Value {
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
