package onnx

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/human"
	"ripc/internal/stop"
)

// foldGather takes positions of an axis; scalar indices drop it.
func foldGather(n *node, in []*array) []*array {
	x, idx := in[0], in[1]
	axis := n.axis(n.intAttr("axis", 0), len(x.shape))
	positions := make([][]int, len(x.shape))
	for d, e := range x.shape {
		n.b.mem.take(e, 8)
		positions[d] = kit.Identity(e)
	}
	positions[axis] = n.positions(idx, x.shape[axis])
	out := n.b.mem.pick(x, positions, 0)
	return arrays(out.view(slices.Concat(x.shape[:axis], idx.shape, x.shape[axis+1:])))
}

func foldSlice(n *node, in []*array) []*array {
	return arrays(n.b.mem.cut(in[0], n.spans(in[0].shape)))
}

// cut is the part of a that spans leave.
func (b *budget) cut(a *array, list []span) *array {
	shape, step, base := slices.Clone(a.shape), strides(a.shape), 0
	for _, s := range list {
		shape[s.axis] = s.Count
		if s.Count > 0 {
			base += s.Begin * step[s.axis]
		}
		step[s.axis] *= s.Step
	}
	return b.gather(a, shape, base, step)
}

func foldSplit(n *node, in []*array) []*array {
	axis, sizes := n.parts(in[0].shape)
	var outs []*array
	at := 0
	for _, s := range sizes {
		outs = append(outs, n.b.mem.cut(in[0], []span{{axis, kit.Span{Begin: at, Count: s, Step: 1}}}))
		at += s
	}
	return outs
}

func foldConcat(n *node, in []*array) []*array {
	axis := n.axis(n.intAttr("axis", 0), len(in[0].shape))
	shape := slices.Clone(in[0].shape)
	total := 0
	for _, a := range in {
		n.failIf(a == nil || a.dt != in[0].dt || len(a.shape) != len(shape), "", "its inputs differ in type or rank")
		shape[axis] = a.shape[axis]
		n.failIf(!slices.Equal(a.shape, shape),
			"", "shapes %v and %v differ elsewhere than along axis %d", in[0].shape, a.shape, axis)
		total += a.shape[axis]
	}
	shape[axis] = total
	out := n.b.mem.newArray(in[0].dt, shape)
	at, inner := 0, graph.Elems(shape[axis+1:])
	for _, a := range in {
		w := a.shape[axis] * inner
		for k := range a.len() {
			out.copyFrom(k/w*total*inner+at+k%w, a, k)
		}
		at += w
	}
	return []*array{out}
}

// foldConstant reads a Constant node's value from whichever attribute holds it.
func foldConstant(n *node, _ []*array) []*array {
	n.failIf(len(n.attrs) != 1, "", "has %d attributes, want one that holds the value", len(n.attrs))
	for name, a := range n.attrs {
		var out *array
		switch want := map[string]pb.AttributeProto_AttributeType{
			"value": pb.AttributeProto_TENSOR, "value_float": pb.AttributeProto_FLOAT,
			"value_floats": pb.AttributeProto_FLOATS, "value_int": pb.AttributeProto_INT,
			"value_ints": pb.AttributeProto_INTS}[name]; {
		case want == 0:
			panic(n.fail("", "a value in attribute %q is not supported", name))
		case a.GetType() != want || want == pb.AttributeProto_TENSOR && a.T == nil:
			panic(n.fail("", "attribute %q is of type %s, want %s", name, a.GetType(), want))
		case want == pb.AttributeProto_TENSOR:
			out = n.b.constant(a.T)
		case want == pb.AttributeProto_FLOAT:
			out = &array{dt: dtFloat, f: []float32{a.GetF()}}
		case want == pb.AttributeProto_INT:
			out = &array{dt: dtInt64, i: []int64{a.GetI()}}
		case want == pb.AttributeProto_FLOATS:
			out = n.b.mem.newArray(dtFloat, []int{len(a.Floats)})
			copy(out.f, a.Floats)
		default:
			out = n.b.mem.newArray(dtInt64, []int{len(a.Ints)})
			copy(out.i, a.Ints)
		}
		return []*array{out}
	}
	return nil
}

// foldFill is ConstantOfShape.
func foldFill(n *node, in []*array) []*array {
	shape := n.listOf(0, "shape")
	value := &array{dt: dtFloat, f: []float32{0}}
	a := n.attr("value", pb.AttributeProto_TENSOR)
	if a != nil {
		value = n.b.constant(a.T)
		n.failIf(value.len() != 1, "", "its value has shape %v, want one element", value.shape)
	}
	return arrays(n.b.mem.gather(value, shape, 0, make([]int, len(shape))))
}

func arrays(a *array) []*array { return []*array{a} }

func foldExpand(n *node, in []*array) []*array {
	shape := stop.Must(broadcastShape(in[0].shape, n.listOf(1, "shape")))
	return arrays(n.b.mem.gather(in[0], shape, 0, broadcastSteps(in[0].shape, shape)))
}

// foldTile repeats along every axis.
func foldTile(n *node, in []*array) []*array {
	reps := n.listOf(1, "repeats")
	x := in[0]
	n.failIf(len(reps) != len(x.shape),
		"", "%s for %s", human.Count(len(reps), "repeat"), human.Count(len(x.shape), "axis"))
	var shape, step, final []int
	for d, s := range strides(x.shape) {
		shape, step = append(shape, reps[d], x.shape[d]), append(step, 0, s)
		n.failIf(x.shape[d] != 0 && (reps[d] < 0 || reps[d] > maxElements/x.shape[d]), "", "%d repeats", reps[d])
		final = append(final, reps[d]*x.shape[d])
	}
	a := n.b.mem.gather(x, shape, 0, step)
	return []*array{a.view(final)}
}

// foldRange counts from start to limit.
func foldRange(n *node, in []*array) []*array {
	for _, a := range in {
		n.failIf(a.len() != 1 || a.dt != in[0].dt,
			"", "start, limit and delta have shapes %v, %v and %v, want three numbers of one type",
			in[0].shape, in[1].shape, in[2].shape)
	}
	start, limit, delta := in[0].number(0), in[1].number(0), in[2].number(0)
	count := math.Ceil((limit - start) / delta)
	n.failIf(!(count < maxElements), "", "from %g to %g in steps of %g", start, limit, delta)
	out := n.b.mem.newArray(in[0].dt, []int{int(max(0, count))})
	for k := range out.len() {
		out.set(k, start+float64(k)*delta)
	}
	return []*array{out}
}

// foldCast converts. Floats lose their fraction, and integers wrap around.
func foldCast(n *node, in []*array) []*array { return arrays(n.convert(in[0], n.castType())) }

// convert returns a as another type.
func (n *node) convert(a *array, to dtype) *array {
	out := n.b.mem.newArray(to, a.shape)
	for k := range out.len() {
		if !a.dt.float() && !to.float() {
			out.setInteger(k, a.integer(k))
		} else {
			out.set(k, a.number(k))
		}
	}
	return out
}

// foldPow takes exponents of any type.
func foldPow(n *node, in []*array) []*array {
	return n.zip(in[0], n.convert(in[1], in[0].dt), in[0].dt, math.Pow, nil)
}

func foldTranspose(n *node, in []*array) []*array {
	return arrays(n.b.mem.permute(in[0], n.permutation(len(in[0].shape))))
}

func foldIdentity(n *node, in []*array) []*array { return in[:1] }
