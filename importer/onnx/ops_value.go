package onnx

import (
	"ripc/graph"
	pb "ripc/importer/onnx/internal/onnxpb"
)

// shapeOf is Shape: known, since every shape is.
func shapeOf(n *node) ([]*tensor, error) {
	shape := n.in[0].shape
	var bounds [2]int
	for i, name := range []string{"start", "end"} {
		def := []int{0, len(shape)}[i]
		v, err := n.intAttr(name, def)
		if err != nil {
			return nil, err
		}
		if v < 0 {
			v += len(shape)
		}
		bounds[i] = min(max(v, 0), len(shape))
	}
	return one(n.b.integers(shape[bounds[0]:max(bounds[0], bounds[1])]))
}

// sizeOf is Size.
func sizeOf(n *node) ([]*tensor, error) {
	t, err := n.b.integers([]int{graph.Elems(n.in[0].shape)})
	if err == nil {
		t.konst.shape, t.shape = nil, nil
	}
	return one(t, err)
}

// integers is a constant list of int64.
func (b *builder) integers(v []int) (*tensor, error) {
	a, err := b.mem.newArray(dtInt64, []int{len(v)})
	if err != nil {
		return nil, err
	}
	for k, x := range v {
		a.i[k] = int64(x)
	}
	return &tensor{shape: a.shape, konst: a}, nil
}

// lowerCast keeps a tensor that has the type already, and turns truth values into 0 and 1 and an input's integers into numbers.
func lowerCast(n *node) ([]*tensor, error) {
	to, err := n.castType()
	if err != nil {
		return nil, err
	}
	t := n.in[0]
	switch {
	case t.integers != nil && to == t.integers.dt:
		c := *t
		return []*tensor{&c}, nil
	case t.value != nil && t.value.Whole && (to == dtInt32 || to == dtInt64):
		c := *t
		return []*tensor{&c}, nil
	case t.value != nil && t.value.Whole && to == dtFloat:
		return one(n.b.elementwise(t, "dequantize", &graph.NoAttrs{}, nil))
	case to == dtBool && (t.truth || t.cond != nil):
		c := *t
		return []*tensor{&c}, nil
	case to == dtBool && t.integers == nil:
		return one(n.b.nonzero(t))
	case to != dtFloat:
		return nil, n.fail("quantize with QuantizeLinear, or keep floats", "a conversion to %s of what is computed from an input is not supported", to)
	case t.cond != nil && n.b.oneLimit(t.cond):
		yes, no := &array{dt: dtFloat, f: []float32{1}}, &array{dt: dtFloat, f: []float32{0}}
		return one(n.b.choose(t.cond, yes, no))
	case t.truth || t.cond != nil:
		if t, err = n.b.truths(t); err != nil {
			return nil, err
		}
		return one(n.b.elementwise(t, "dequantize", &graph.NoAttrs{}, nil))
	case t.integers != nil:
		if !t.integers.plain() {
			return nil, n.fail("use DequantizeLinear", "its input holds quantized integers")
		}
		d := t.derived(t.value)
		return []*tensor{d}, nil
	}
	c := *t
	return []*tensor{&c}, nil
}

func (n *node) castType() (dtype, error) {
	a, err := n.attr("to", pb.AttributeProto_INT)
	switch {
	case err != nil:
		return 0, err
	case a == nil:
		return 0, n.fail("", "attribute \"to\" is missing")
	case dtype(a.GetI()).size() == 0 || a.GetI() != int64(int32(a.GetI())):
		return 0, n.fail("", "a conversion to %s is not supported", dtype(a.GetI()))
	}
	return dtype(a.GetI()), nil
}
