package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/human"
	"ripc/internal/stop"
)

// lowerTranspose moves nothing: it changes in which order the stored axes count.
func lowerTranspose(n *node) *tensor {
	return n.b.permuteAxes(n.in[0], n.permutation(len(n.in[0].shape)))
}

// permutation is the attribute perm, by default the axes backwards.
func (n *node) permutation(rank int) []int {
	move := n.intsAttr("perm")
	if !n.has("perm") {
		move = kit.Identity(rank)
		slices.Reverse(move)
	}
	sorted := slices.Sorted(slices.Values(move))
	n.failIf(!slices.Equal(sorted, kit.Identity(rank)), "", "perm %v is no permutation of the %d axes", move, rank)
	return move
}

// shapeFor is the shape that Reshape gives a tensor of shape old.
func (n *node) shapeFor(old []int) []int {
	want := n.listOf(1, "shape")
	zero := n.intAttr("allowzero", 0)
	if n.b.sizes != nil { // the file computed the shape for its own batch
		want = n.b.sizes.Batch().Reshape(old, want)
	}
	shape, open, rest := slices.Clone(want), -1, 1
	for d, v := range want {
		switch {
		case v == 0 && zero == 0:
			n.failIf(d >= len(old),
				"", "shape %v: axis %d is copied from the input %v, which has no such axis", want, d, old)
			shape[d] = old[d]
		case v == -1 && open < 0:
			open = d
			continue
		case v < 0:
			panic(n.fail("", "shape %v: want positive numbers and at most one -1", want))
		}
		n.failIf(shape[d] != 0 && rest > maxElements/shape[d], "", "shape %v has more than 2^31 elements", want)
		rest *= shape[d]
	}
	total := graph.Elems(old)
	if open >= 0 {
		n.failIf(rest == 0 || total%rest != 0,
			"", "shape %v does not fit the %s of %v", want, human.Count(total, "element"), old)
		shape[open] = total / rest
		rest = total
	}
	n.failIf(rest != total,
		"", "shape %v has %s, the input's %v has %d", want, human.Count(rest, "element"), old, total)
	return shape
}

// flatShape is the matrix that Flatten makes.
func (n *node) flatShape(old []int) []int {
	axis := n.intAttr("axis", 1)
	if axis != len(old) {
		axis = n.axis(axis, len(old))
	}
	return []int{graph.Elems(old[:axis]), graph.Elems(old[axis:])}
}

// squeezedShape returns old without the axes given, or without all those of extent 1.
func (n *node) squeezedShape(old []int) []int {
	list, given := n.listArg("axes", 13, 1)
	drop := n.axes(list, len(old))
	shape := []int{}
	for d, e := range old {
		switch {
		case given && !slices.Contains(drop, d) || !given && e != 1:
			shape = append(shape, e)
		case e != 1:
			panic(n.fail("", "axis %d of shape %v is not 1", d, old))
		}
	}
	return shape
}

// unsqueezedShape returns old with axes of extent 1.
func (n *node) unsqueezedShape(old []int) []int {
	list, _ := n.listArg("axes", 13, 1)
	n.failIf(len(list) > 16, "", "has %s", human.Count(len(list), "axis"))
	add := n.axes(list, len(old)+len(list))
	shape := []int{}
	for d, k := 0, 0; d < len(old)+len(list); d++ {
		if slices.Contains(add, d) {
			shape = append(shape, 1)
		} else {
			shape = append(shape, old[k])
			k++
		}
	}
	return shape
}

// lowerIdentity hands the tensor on. Dropout is that too, unless it is told to train.
func lowerIdentity(n *node) *tensor {
	if n.GetOpType() == "Dropout" {
		train := n.scalarOf(2, "training_mode", 0)
		n.failIf(train != 0, "export the model in evaluation mode", "training_mode is on")
	}
	return n.in[0].clone()
}

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

// lowerCast keeps a tensor that has the type already, and turns truth values into 0 and 1 and an
// input's integers into numbers.
func lowerCast(n *node) *tensor {
	to := n.castType()
	t := n.in[0]
	switch {
	case t.integers != nil && to == t.integers.dt,
		t.value != nil && t.value.Whole && (to == dtInt32 || to == dtInt64),
		to == dtBool && (t.truth || t.cond != nil):
		return t.clone()
	case t.value != nil && t.value.Whole && to == dtFloat:
		return n.b.pipe(t, "dequantize")
	case to == dtBool && t.integers == nil:
		return n.b.nonzero(t)
	case to != dtFloat:
		panic(n.fail("quantize with QuantizeLinear, or keep floats",
			"a conversion to %s of a tensor that is computed from an input is not supported", to))
	case t.cond != nil && n.b.oneLimit(t.cond):
		yes, no := &array{dt: dtFloat, f: []float32{1}}, &array{dt: dtFloat, f: []float32{0}}
		return n.b.choose(t.cond, yes, no)
	case t.truth || t.cond != nil:
		t = n.b.truths(t)
		return n.b.pipe(t, "dequantize")
	case t.integers != nil:
		n.failIf(!t.integers.plain(), "use DequantizeLinear", "its input holds quantized integers")
		return t.derive(t.value)
	}
	return t.clone()
}

func (n *node) castType() dtype {
	a := n.attr("to", pb.AttributeProto_INT)
	n.failIf(a == nil, "", "attribute \"to\" is missing")
	n.failIf(dtype(a.GetI()).size() == 0 || a.GetI() != int64(int32(a.GetI())),
		"", "a conversion to %s is not supported", dtype(a.GetI()))
	return dtype(a.GetI())
}

// lowerExpand repeats a tensor along axes of extent 1.
func lowerExpand(n *node) *tensor {
	t := n.in[0]
	want := n.listOf(1, "shape")
	shape := stop.Must(broadcastShape(t.shape, want))
	t = n.b.padRank(t, len(shape))
	times := make([]int, len(shape))
	for d := range shape {
		n.failIf(shape[d] < 1, "", "shape %v", want)
		times[d] = shape[d] / t.shape[d]
	}
	return n.b.repeat(t, times)
}

// lowerTile repeats a tensor along each axis as often as its second input says.
func lowerTile(n *node) *tensor {
	t := n.in[0]
	times := n.listOf(1, "repeats")
	n.failIf(len(times) != len(t.shape), "", "%d repeats for %d axes", len(times), len(t.shape))
	n.failIf(!kit.InRange(times, 1, graph.MaxElems), "", "repeats %v: want positive numbers", times)
	return n.b.repeat(t, times)
}

// repeat returns t, one after another times[d] times along each axis d.
func (b *builder) repeat(t *tensor, times []int) *tensor {
	if !slices.ContainsFunc(times, func(r int) bool { return r != 1 }) {
		return t.clone()
	}
	t = b.orderColumns(t)
	stored := make([]int, len(times))
	for k, d := range t.order() {
		stored[k] = times[d]
	}
	v := b.Repeat(t.value, stored)
	shape := slices.Clone(t.shape)
	for d, r := range times {
		shape[d] *= r
	}
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers}
}
