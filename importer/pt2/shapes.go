package pt2

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// reshaping is an operator that gives a tensor another shape, by a rule.
func reshaping(rule func(n *node, old []int) []int) row {
	shape := func(n *node) (*tensor, []int) {
		t := n.operand("self")
		want := rule(n, t.extents())
		if count(want) != count(t.extents()) || len(want) > maxRank {
			panic(n.fail("", "shape %v does not fit the elements of %v", want, t.extents()))
		}
		return t, want
	}
	return row{
		lower: one(func(n *node) *tensor {
			t, want := shape(n)
			return &tensor{View: n.b.Reshaped(t.View, want), truth: t.truth}
		}),
		constant: one(func(n *node) *tensor {
			t, want := shape(n)
			return &tensor{konst: t.konst.viewed(want), truth: t.truth}
		}),
		view: true, logic: true,
	}
}

// sized is the argument "size" or "shape". An extent of -1 follows from the number of elements.
func sized(n *node, old []int) []int {
	want := n.integers("size", n.integers("shape", nil))
	want = slices.Clone(n.b.sizes.Batch().Reshape(old, want))
	open, rest := slices.Index(want, -1), 1
	for d, v := range want {
		if d != open && (v < 0 || v > 0 && rest > maxElements/v) {
			panic(n.fail("", "shape %v", want))
		} else if d != open {
			rest *= v
		}
	}
	if open >= 0 && rest > 0 {
		want[open] = count(old) / rest
	}
	return want
}

// flattened joins axes.
func flattened(n *node, old []int) []int {
	first, last := n.axis(n.integer("start_dim", 0), len(old)), n.axis(n.integer("end_dim", -1), len(old))
	if len(old) == 0 || first > last {
		return []int{graph.Elems(old)}
	}
	return slices.Concat(old[:first], []int{graph.Elems(old[first : last+1])}, old[last+1:])
}

// unflattened cuts an axis into several.
func unflattened(n *node, old []int) []int {
	d, sizes := n.axis(n.integer("dim", 0), len(old)), slices.Clone(n.integers("sizes", nil))
	if open := slices.Index(sizes, -1); open >= 0 && len(old) > 0 {
		sizes[open] = 1
		sizes[open] = old[d] / max(1, count(sizes))
	}
	return slices.Concat(old[:d], sizes, old[min(d+1, len(old)):])
}

// squeezed drops axes of extent 1.
func squeezed(n *node, old []int) []int {
	axes := n.axes("dim", len(old))
	shape := []int{}
	for d, extent := range old {
		if extent != 1 || !slices.Contains(axes, d) {
			shape = append(shape, extent)
		}
	}
	return shape
}

// unsqueezed adds an axis of extent 1.
func unsqueezed(n *node, old []int) []int {
	return slices.Insert(slices.Clone(old), n.axis(n.integer("dim", 0), len(old)+1), 1)
}

// permuting is an operator that changes the order of axes, by a rule.
func permuting(rule func(n *node, rank int) []int) row {
	perm := func(n *node) (*tensor, []int) {
		t := n.operand("self")
		p := rule(n, len(t.extents()))
		if !slices.Equal(slices.Sorted(slices.Values(p)), kit.Identity(len(t.extents()))) {
			panic(n.fail("", "%v is no order of the axes of %v", p, t.extents()))
		}
		return t, p
	}
	return row{
		lower: one(func(n *node) *tensor {
			t, p := perm(n)
			return &tensor{View: t.Permuted(p), truth: t.truth}
		}),
		constant: one(func(n *node) *tensor {
			t, p := perm(n)
			return &tensor{konst: n.b.permuted(t.konst, p), truth: t.truth}
		}),
		view: true, logic: true,
	}
}

// listed is the order of axes in the argument "dims".
func listed(n *node, rank int) (perm []int) {
	for _, a := range n.integers("dims", nil) {
		perm = append(perm, n.axis(a, rank))
	}
	return perm
}

// swapped exchanges two axes, by default the first two.
func swapped(n *node, rank int) []int {
	perm := kit.Identity(rank)
	if rank < 2 {
		return perm
	}
	x, y := n.axis(n.integer("dim0", 0), rank), n.axis(n.integer("dim1", 1), rank)
	perm[x], perm[y] = y, x
	return perm
}

// same hands a tensor on.
func same(n *node) []*tensor {
	if n.flag("train", n.flag("training", false)) {
		panic(n.fail("export the network in evaluation mode: net.eval()", "is in training mode"))
	}
	t := *n.operand(n.row.args()[0])
	return []*tensor{&t}
}

// passing is an operator that changes nothing.
func passing(view bool) row { return row{lower: same, constant: same, view: view, logic: true} }

// expanded repeats a tensor along axes of extent 1.
func expanded(n *node) *tensor {
	t, want := n.operand("self"), slices.Clone(n.integers("size", nil))
	if n.has("other") {
		want = slices.Clone(n.operand("other").extents())
	}
	t = n.b.ranked(t, len(want))
	times := make([]int, len(want))
	for d, extent := range t.extents() {
		if want[d] == -1 {
			want[d] = extent
		}
		if times[d] = want[d]; extent != 1 {
			times[d] = 1
		}
		if extent != 1 && want[d] != extent || times[d] < 1 {
			panic(n.fail("", "shape %v does not fit %v", want, t.extents()))
		}
	}
	return n.repeated(t, times)
}

// tiled repeats a tensor along each axis.
func tiled(n *node) *tensor {
	times := n.integers("repeats", nil)
	if !kit.InRange(times, 1, graph.MaxElems) || len(times) < len(n.operand("self").extents()) {
		panic(n.fail("", "repeats %v: want a positive number for each axis", times))
	}
	return n.repeated(n.b.ranked(n.operand("self"), len(times)), times)
}

// repeated is t one after another times[d] times along each axis d.
func (n *node) repeated(t *tensor, times []int) *tensor {
	if !slices.ContainsFunc(times, func(r int) bool { return r != 1 }) {
		return t
	}
	axes, whole := t.Axes()
	if !whole {
		axes = kit.Identity(len(t.Shape))
	}
	v := n.b.Repeat(n.b.StoreView(t.View, axes), kit.Permuted(times, axes))
	return &tensor{View: kit.ViewIn(v, axes), truth: t.truth}
}

// concatenated puts tensors one after the other along an axis.
func concatenated(n *node) *tensor {
	in := n.tensors["tensors"]
	if len(in) == 0 {
		panic(n.fail("", "has no operands"))
	}
	return n.join(in, n.axis(n.integer("dim", 0), len(in[0].extents())))
}

// stacked is concatenated along a new axis.
func stacked(n *node) *tensor {
	var in []*tensor
	axis := 0
	for _, t := range n.tensors["tensors"] {
		axis = n.axis(n.integer("dim", 0), len(t.extents())+1)
		shape := slices.Insert(slices.Clone(t.extents()), axis, 1)
		if t.konst != nil {
			in = append(in, &tensor{konst: t.konst.viewed(shape)})
		} else {
			in = append(in, &tensor{View: n.b.Reshaped(t.View, shape)})
		}
	}
	return n.join(in, axis)
}

func (n *node) join(in []*tensor, axis int) *tensor {
	var lead *kit.View // decides the order in memory: one that holds the axis last, if there is one
	for _, t := range in {
		if t.konst != nil {
			continue
		}
		if axes, whole := t.Axes(); lead == nil || whole && axes[len(axes)-1] == axis {
			lead = t.View
		}
		if len(t.Shape) != len(lead.Shape) {
			panic(n.fail("", "shapes %v and %v differ in their number of axes", lead.Shape, t.Shape))
		}
		for d := range t.Shape {
			if d != axis && t.Shape[d] != lead.Shape[d] {
				panic(n.fail("", "shapes %v and %v differ elsewhere than along axis %d", lead.Shape, t.Shape, axis))
			}
		}
	}
	axes, whole := lead.Axes()
	if !whole {
		axes = kit.Identity(len(lead.Shape))
	}
	var parts []*graph.Value
	for _, t := range in {
		switch {
		case t.konst == nil:
			parts = append(parts, n.b.StoreView(t.View, axes))
		case len(t.konst.shape) != len(axes):
			panic(n.fail("", "a constant of shape %v does not fit %v", t.konst.shape, lead.Shape))
		case len(t.konst.data) > 0:
			parts = append(parts, n.b.constant(n.b.permuted(t.konst, axes)))
		}
	}
	return &tensor{View: kit.ViewIn(n.b.Concat(parts, slices.Index(axes, axis)), axes)}
}

// cut takes a span of an axis.
func (n *node) cut(t *tensor, axis int, s kit.Span) *tensor {
	if s.Count < 1 {
		panic(n.fail("", "nothing is left of axis %d of %v", axis, t.Shape))
	}
	axes, whole := t.Axes()
	if !whole {
		axes = kit.Identity(len(t.Shape))
	}
	v := n.b.CutAxis(n.b.StoreView(t.View, axes), slices.Index(axes, axis), s)
	return &tensor{View: kit.ViewIn(v, axes), truth: t.truth}
}

// sliced is a slice along one axis.
func sliced(n *node) *tensor {
	t := n.operand("self")
	axis, step := n.axis(n.integer("dim", 0), len(t.Shape)), n.integer("step", 1)
	if len(t.Shape) == 0 || step < 1 {
		panic(n.fail("", "step %d along axis %d of %v", step, axis, t.Shape))
	}
	start, end := n.integer("start", 0), n.integer("end", math.MaxInt)
	s := kit.Cut(t.Shape[axis], start, end, step)
	s.Count = n.b.sizes.Batch().Slice(t.Shape[axis:], s.Begin, step, min(s.Count, end))
	return n.cut(t, axis, s)
}

// selected is one position of an axis, which goes.
func selected(n *node) *tensor {
	t := n.operand("self")
	axis := n.axis(n.integer("dim", 0), len(t.Shape))
	at := n.axis(n.integer("index", 0), t.Shape[axis])
	out := n.cut(t, axis, kit.Span{Begin: at, Count: 1, Step: 1})
	return &tensor{View: n.b.Reshaped(out.View, slices.Delete(slices.Clone(t.Shape), axis, axis+1)), truth: t.truth}
}

// parts cuts an axis into parts of sizes that a rule gives.
func parts(rule func(n *node, extent int) []int) func(n *node) []*tensor {
	return func(n *node) (outs []*tensor) {
		t := n.operand("self")
		axis := n.axis(n.integer("dim", 0), len(t.Shape))
		begin := 0
		for _, size := range rule(n, t.Shape[axis]) {
			if size < 1 || begin+size > t.Shape[axis] || len(outs) > len(n.makes()) {
				panic(n.fail("", "parts do not fit the %d positions of axis %d", t.Shape[axis], axis))
			}
			outs = append(outs, n.cut(t, axis, kit.Span{Begin: begin, Count: size, Step: 1}))
			begin += size
		}
		return outs
	}
}

// equalParts are parts of one size. The last one may be smaller.
func equalParts(n *node, extent int) (sizes []int) {
	size := 0
	if n.has("chunks") {
		size = (extent + max(1, n.integer("chunks", 1)) - 1) / max(1, n.integer("chunks", 1))
	} else {
		if list := n.integers("split_size", nil); len(list) > 1 {
			return list
		}
		size = n.integer("split_size", 1)
	}
	if size < 1 || extent/size > len(n.makes()) {
		panic(n.fail("", "parts of %d positions of %d", size, extent))
	}
	for left := extent; left > 0; left -= size {
		sizes = append(sizes, min(size, left))
	}
	return sizes
}

// pad puts numbers, or elements of the tensor itself, around a tensor.
func pad(n *node) *tensor {
	b, t, pads := n.b, n.operand("self"), n.integers("pad", nil)
	value := n.number("value", 0)
	borders := map[string]kit.Border{"reflect": kit.Reflect, "replicate": kit.Edge, "circular": kit.Wrap}
	border, around := borders[n.text("mode")]
	if mode := n.text("mode"); !around && mode != "" && mode != "constant" {
		panic(n.fail("use constant, reflect, replicate or circular", "mode %q is unknown", mode))
	}
	if len(pads)%2 != 0 || len(pads) > 2*len(t.Shape) ||
		!kit.InRange(pads, -math.MaxInt16, math.MaxInt16) || value-value != 0 {
		panic(n.fail("", "pads %v of a tensor of shape %v with %g", pads, t.Shape, value))
	}
	var before, after [2]int
	image := len(t.Shape) == 4 || len(t.Shape) == 3
	for i := 0; i < len(pads); i += 2 {
		axis, lo, hi := len(t.Shape)-1-i/2, pads[i], pads[i+1]
		if min(lo, hi) < 0 {
			extent := t.Shape[axis]
			t = n.cut(t, axis, kit.Span{Begin: max(0, -lo), Count: extent - max(0, -lo) - max(0, -hi), Step: 1})
			lo, hi = max(0, lo), max(0, hi)
		}
		switch {
		case lo+hi == 0:
		case around:
			axes, _ := t.Axes()
			if axes == nil {
				axes = kit.Identity(len(t.Shape))
			}
			b.take(2 * (lo + t.Shape[axis] + hi))
			at := slices.Index(axes, axis)
			positions := kit.BorderPositions(t.Shape[axis], lo, hi, border)
			v := b.At(b.StoreView(t.View, axes), kit.AlongPixels(at, t.Shape[axis], positions))
			t = &tensor{View: kit.ViewIn(v, axes)}
		case image && axis >= 2:
			before[axis-len(t.Shape)+2], after[axis-len(t.Shape)+2] = lo, hi
		default:
			in := []*tensor{t}
			shape := slices.Clone(t.Shape)
			for i, count := range []int{lo, hi} {
				if shape[axis] = count; count > 0 {
					in = slices.Insert(in, i*len(in), b.filled(shape, value))
				}
			}
			t = n.join(in, axis)
		}
	}
	if before == [2]int{} && after == [2]int{} {
		return t
	}
	n.tensors["self"] = []*tensor{t}
	x, spatial := n.image("self")
	return n.result(b.Spatial(x, before, after, value), spatial)
}

// shuffled is depth_to_space or space_to_depth, with a block's channels as PyTorch orders them.
func shuffled(op, factor string) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		x, spatial := n.image("self")
		size := n.integer(factor, 1)
		if !kit.InRange([]int{size}, 1, math.MaxInt16) {
			panic(n.fail("", "factor %d", size))
		}
		attrs := &graph.BlockAttrs{Block: [2]int{size, size}, Order: graph.BlockCRD}
		return n.result(n.b.emit(op, attrs, nil, x), spatial)
	})
}

// fill makes a constant of one number, in the shape of a tensor or in a given one.
func fill(def float64) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		shape := n.integers("size", nil)
		if t := n.operand("self"); t != nil {
			shape = t.extents()
		}
		v := n.number("fill_value", n.number("value", n.number("s", def)))
		out := n.b.filled(shape, v)
		out.truth = n.args["dtype"] != nil && n.args["dtype"].ScalarType != nil && *n.args["dtype"].ScalarType == dtBool
		return out
	})
}

// arange makes numbers that rise by equal steps.
func arange(n *node) *tensor {
	start, end, step := n.number("start", 0), n.number("end", 0), n.number("step", 1)
	extent := math.Ceil((end - start) / step)
	if !(extent >= 1 && extent <= maxExact) {
		panic(n.fail("", "has %g positions", extent))
	}
	out := n.b.filled([]int{int(extent)}, 0)
	for i := range out.konst.data {
		out.konst.data[i] = float32(start + float64(i)*step)
	}
	return out
}
