package onnx

import (
	"ripc/graph"
	pb "ripc/importer/onnx/internal/onnxpb"
)

// shapeOf is Shape: known, since every shape is.
func shapeOf(n *node) *tensor {
	shape := n.in[0].shape
	var bounds [2]int
	for i, name := range []string{"start", "end"} {
		def := []int{0, len(shape)}[i]
		v := n.intAttr(name, def)
		if v < 0 {
			v += len(shape)
		}
		bounds[i] = min(max(v, 0), len(shape))
	}
	return n.b.integers(shape[bounds[0]:max(bounds[0], bounds[1])])
}

// sizeOf is Size.
func sizeOf(n *node) *tensor {
	t := n.b.integers([]int{graph.Elems(n.in[0].shape)})
	t.konst.shape, t.shape = nil, nil
	return t
}

// integers is a constant list of int64.
func (b *builder) integers(v []int) *tensor {
	a := b.mem.newArray(dtInt64, []int{len(v)})
	for k, x := range v {
		a.i[k] = int64(x)
	}
	return &tensor{shape: a.shape, konst: a}
}

// lowerCast keeps a tensor that has the type already, and turns truth values into 0 and 1 and an input's integers into numbers.
func lowerCast(n *node) *tensor {
	to := n.castType()
	t := n.in[0]
	switch {
	case t.integers != nil && to == t.integers.dt,
		t.value != nil && t.value.Whole && (to == dtInt32 || to == dtInt64),
		to == dtBool && (t.truth || t.cond != nil):
		return t.copied()
	case t.value != nil && t.value.Whole && to == dtFloat:
		return n.b.pipe(t, "dequantize")
	case to == dtBool && t.integers == nil:
		return n.b.nonzero(t)
	case to != dtFloat:
		panic(n.fail("quantize with QuantizeLinear, or keep floats", "a conversion to %s of what is computed from an input is not supported", to))
	case t.cond != nil && n.b.oneLimit(t.cond):
		yes, no := &array{dt: dtFloat, f: []float32{1}}, &array{dt: dtFloat, f: []float32{0}}
		return n.b.choose(t.cond, yes, no)
	case t.truth || t.cond != nil:
		t = n.b.truths(t)
		return n.b.pipe(t, "dequantize")
	case t.integers != nil:
		n.failIf(!t.integers.plain(), "use DequantizeLinear", "its input holds quantized integers")
		return t.derived(t.value)
	}
	return t.copied()
}

func (n *node) castType() dtype {
	a := n.attr("to", pb.AttributeProto_INT)
	n.failIf(a == nil, "", "attribute \"to\" is missing")
	n.failIf(dtype(a.GetI()).size() == 0 || a.GetI() != int64(int32(a.GetI())),
		"", "a conversion to %s is not supported", dtype(a.GetI()))
	return dtype(a.GetI())
}
