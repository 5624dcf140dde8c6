package onnx

import (
	"math"

	pb "ripc/importer/onnx/internal/onnxpb"
	"ripc/internal/human"
)

// foldConstant reads a Constant node's value from whichever attribute holds it.
func foldConstant(n *node, _ []*array) ([]*array, error) {
	if len(n.attrs) != 1 {
		return nil, n.fail("", "has %d attributes, want one that holds the value", len(n.attrs))
	}
	for name, a := range n.attrs {
		var out *array
		var err error
		switch want := map[string]pb.AttributeProto_AttributeType{"value": pb.AttributeProto_TENSOR, "value_float": pb.AttributeProto_FLOAT,
			"value_floats": pb.AttributeProto_FLOATS, "value_int": pb.AttributeProto_INT, "value_ints": pb.AttributeProto_INTS}[name]; {
		case want == 0:
			return nil, n.fail("", "a value in attribute %q is not supported", name)
		case a.GetType() != want || want == pb.AttributeProto_TENSOR && a.T == nil:
			return nil, n.fail("", "attribute %q is of type %s, want %s", name, a.GetType(), want)
		case want == pb.AttributeProto_TENSOR:
			out, err = n.b.constant(a.T)
		case want == pb.AttributeProto_FLOAT:
			out = &array{dt: dtFloat, f: []float32{a.GetF()}}
		case want == pb.AttributeProto_INT:
			out = &array{dt: dtInt64, i: []int64{a.GetI()}}
		case want == pb.AttributeProto_FLOATS:
			if out, err = n.b.mem.newArray(dtFloat, []int{len(a.Floats)}); err == nil {
				copy(out.f, a.Floats)
			}
		default:
			if out, err = n.b.mem.newArray(dtInt64, []int{len(a.Ints)}); err == nil {
				copy(out.i, a.Ints)
			}
		}
		return []*array{out}, err
	}
	return nil, nil
}

// foldFill is ConstantOfShape.
func foldFill(n *node, in []*array) ([]*array, error) {
	shape, err := n.listOf(0, "shape")
	if err != nil {
		return nil, err
	}
	value := &array{dt: dtFloat, f: []float32{0}}
	if a, err := n.attr("value", pb.AttributeProto_TENSOR); err != nil {
		return nil, err
	} else if a != nil {
		if value, err = n.b.constant(a.T); err != nil {
			return nil, err
		}
		if value.len() != 1 {
			return nil, n.fail("", "its value has shape %v, want one element", value.shape)
		}
	}
	return arrays(n.b.mem.gather(value, shape, 0, make([]int, len(shape))))
}

func arrays(a *array, err error) ([]*array, error) { return []*array{a}, err }

func foldExpand(n *node, in []*array) ([]*array, error) {
	want, err := n.listOf(1, "shape")
	if err != nil {
		return nil, err
	}
	shape, err := broadcastShape(in[0].shape, want)
	if err != nil {
		return nil, err
	}
	return arrays(n.b.mem.gather(in[0], shape, 0, broadcastSteps(in[0].shape, shape)))
}

// foldTile repeats along every axis.
func foldTile(n *node, in []*array) ([]*array, error) {
	reps, err := n.listOf(1, "repeats")
	if err != nil {
		return nil, err
	}
	x := in[0]
	if len(reps) != len(x.shape) {
		return nil, n.fail("", "%s for %s", human.Count(len(reps), "repeat"), human.Count(len(x.shape), "axis"))
	}
	var shape, step, final []int
	for d, s := range strides(x.shape) {
		shape, step = append(shape, reps[d], x.shape[d]), append(step, 0, s)
		if x.shape[d] != 0 && (reps[d] < 0 || reps[d] > maxElements/x.shape[d]) {
			return nil, n.fail("", "%d repeats", reps[d])
		}
		final = append(final, reps[d]*x.shape[d])
	}
	a, err := n.b.mem.gather(x, shape, 0, step)
	if err != nil {
		return nil, err
	}
	return []*array{a.view(final)}, nil
}

// foldRange counts from start to limit.
func foldRange(n *node, in []*array) ([]*array, error) {
	for _, a := range in {
		if a.len() != 1 || a.dt != in[0].dt {
			return nil, n.fail("", "start, limit and delta have shapes %v, %v and %v, want three numbers of one type", in[0].shape, in[1].shape, in[2].shape)
		}
	}
	start, limit, delta := in[0].at(0), in[1].at(0), in[2].at(0)
	count := math.Ceil((limit - start) / delta)
	if !(count < maxElements) {
		return nil, n.fail("", "from %g to %g in steps of %g", start, limit, delta)
	}
	out, err := n.b.mem.newArray(in[0].dt, []int{int(max(0, count))})
	if err != nil {
		return nil, err
	}
	for k := range out.len() {
		out.set(k, start+float64(k)*delta)
	}
	return []*array{out}, nil
}

// foldCast converts; floats lose their fraction, and what an integer type does not hold wraps around.
func foldCast(n *node, in []*array) ([]*array, error) {
	to, err := n.castType()
	if err != nil {
		return nil, err
	}
	out, err := n.b.mem.newArray(to, in[0].shape)
	if err != nil {
		return nil, err
	}
	for k := range out.len() {
		if !in[0].dt.float() && !to.float() {
			out.setWhole(k, in[0].whole(k))
		} else {
			out.set(k, in[0].at(k))
		}
	}
	return []*array{out}, nil
}

func foldTranspose(n *node, in []*array) ([]*array, error) {
	move, err := n.permutation(len(in[0].shape))
	if err != nil {
		return nil, err
	}
	return arrays(n.b.mem.permuted(in[0], move))
}

func foldIdentity(n *node, in []*array) ([]*array, error) { return in[:1], nil }
