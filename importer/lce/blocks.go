package lce

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// block is DEPTH_TO_SPACE or SPACE_TO_DEPTH.
func block(op string, kind int) func(*builder) *graph.Value {
	return func(b *builder) *graph.Value {
		t, x := b.unary(kind)
		n := t.Int32(0, 0)
		return b.add(op, &graph.BlockAttrs{Block: [2]int{n, n}}, nil, x)
	}
}

// resizeNearest is RESIZE_NEAREST_NEIGHBOR. Where each pixel is repeated equally often, or every
// n-th is taken, it is a resize or a slice.
func resizeNearest(b *builder) *graph.Value {
	t := b.builtin(optResizeNearest)
	x := b.floatInput(0)
	shape := x.Shape
	size := b.resizeSize(shape)
	factor, spans := [2]int{1, 1}, kit.WholeSpans(shape)
	var rest []*kit.Along
	for d, out := range size {
		from := make([]int, out)
		position := nearest(shape[1+d], out, t.Bool(0), t.Bool(1))
		for i := range from {
			from[i] = position(i)
		}
		var listed bool
		if factor[d], spans[1+d], listed = kit.Sample(shape[1+d], from); listed {
			rest = append(rest, kit.AlongPixels(1+d, shape[1+d], from))
		}
	}
	x = b.Cut(x, spans)
	if factor != [2]int{1, 1} {
		x = b.Emit("resize", &graph.ResizeAttrs{Factor: factor}, nil, x)
	}
	return b.At(x, rest...)
}

// repeat returns TILE or BROADCAST_TO, axis by axis. The axes behind a repeated one become a pixel,
// which resize repeats.
func repeat(b *builder) *graph.Value {
	x := b.floatInput(0)
	times := b.ints(1, "numbers")
	shape := slices.Clone(x.Shape)
	if b.op.op == "BROADCAST_TO" {
		failIf(len(times) < len(shape), "", "a tensor of shape %v as one of shape %v", shape, times)
		shape, times = append(slices.Repeat([]int{1}, len(times)-len(shape)), shape...), slices.Clone(times)
		for d, n := range shape {
			failIf(n != 1 && n != times[d], "", "a tensor of shape %v as one of shape %v", shape, times)
			times[d] /= n
		}
	}
	failIf(len(times) != len(shape), "", "%d numbers for %d axes", len(times), len(shape))
	failIf(!kit.InRange(times, 1, graph.MaxElems), "", "repeats %v times", times)
	return b.Repeat(x, times)
}

// gather is GATHER with positions that are known.
func gather(b *builder) *graph.Value {
	t := b.builtin(optGather)
	positions := b.ints(1, "indices")
	x := b.floatInput(0)
	shape := x.Shape
	axis := axisOf(t.Int32(0, 0), len(shape))
	if n := t.Int32(1, 0); n != 0 {
		panic(faultf("", "has %d axes of batches", n))
	}
	for _, p := range positions {
		failIf(p < 0 || p >= shape[axis], "", "position %d of an axis of %d", p, shape[axis])
	}
	failIf(len(positions) == 0, "", "takes nothing of axis %d", axis)
	y := b.pick(x, axis, positions)
	out := slices.Concat(shape[:axis], b.input(1).shape, shape[axis+1:])
	failIf(len(out) == 0, "keep one axis", "its result is a single number without axes")
	return b.reshape(y, out)
}

// axisOf counts from the end where a is negative.
func axisOf(a, rank int) int {
	failIf(a < -rank || a >= rank, "", "axis %d of a tensor of %d axes", a, rank)
	return (a + rank) % rank
}

// pack is PACK: each tensor gets an axis of extent 1, along which they are put together.
func pack(b *builder) *graph.Value {
	t := b.builtin(optPack)
	var parts []*graph.Value
	var first []int
	axis := 0
	for k := range b.op.inputs {
		x := b.floatInput(k)
		shape := x.Shape
		if first == nil {
			first = shape
		}
		failIf(!slices.Equal(first, shape), "", "packs tensors of shapes %v and %v", first, shape)
		axis = axisOf(t.Int32(1, 0), len(shape)+1)
		x = b.add("reshape", &graph.ReshapeAttrs{Shape: slices.Insert(slices.Clone(shape), axis, 1)}, nil, x)
		parts = append(parts, x)
	}
	return b.concatParts(parts, axis)
}

// unpack is UNPACK: a tensor for each position of an axis, without it.
func unpack(b *builder) func(k int) *graph.Value {
	t, x := b.unary(optUnpack)
	shape := x.Shape
	axis := axisOf(t.Int32(1, 0), len(shape))
	failIf(len(b.op.outputs) != shape[axis] || len(shape) == 1,
		"", "makes %d tensors of axis %d of %v", len(b.op.outputs), axis, shape)
	return func(k int) *graph.Value {
		y := b.CutAxis(x, axis, kit.Span{Begin: k, Count: 1, Step: 1})
		return b.reshape(y, slices.Delete(slices.Clone(shape), axis, axis+1))
	}
}

// split is SPLIT, into equal parts, or SPLIT_V.
func split(b *builder) func(k int) *graph.Value {
	from, at := 0, 2
	if b.op.op == "SPLIT" {
		from, at = 1, 0
	}
	x := b.floatInput(from)
	shape := x.Shape
	list := b.ints(at, "axis")
	failIf(len(list) != 1, "", "has %d axes, want 1", len(list))
	axis := axisOf(list[0], len(shape))
	count, sizes := len(b.op.outputs), []int(nil)
	if b.op.op == "SPLIT_V" {
		sizes = slices.Clone(b.ints(1, "sizes"))
	} else if count > 0 && shape[axis]%count == 0 {
		sizes = slices.Repeat([]int{shape[axis] / count}, count)
	}
	rest, open := shape[axis], -1
	for i, n := range sizes {
		if n == -1 && open < 0 {
			open = i
			continue
		}
		if n < 0 || n > rest || n == 0 && (i >= count || !b.file.tensors[b.op.outputs[i]].empty) {
			rest = -1
			break
		}
		rest -= n
	}
	if open >= 0 && rest > 0 {
		sizes[open], rest = rest, 0
	}
	failIf(rest != 0 || len(sizes) != count, "", "cuts axis %d of %v into %d parts %v", axis, shape, count, sizes)
	return func(k int) *graph.Value {
		begin := 0
		for _, n := range sizes[:k] {
			begin += n
		}
		return b.CutAxis(x, axis, kit.Span{Begin: begin, Count: sizes[k], Step: 1})
	}
}

// transposeConv is TRANSPOSE_CONV: the output's shape, filters [O, KH, KW, I], the input, and
// perhaps a bias.
func transposeConv(b *builder) *graph.Value {
	t := b.builtin(optTransposeConv)
	w := b.floatFilters()
	x := b.floatInput(2)
	a := &graph.ConvTranspose2DAttrs{}
	a.Pad, a.Strides = window(t)
	a.Pad.Mode = graph.PadExplicit
	shape, want := x.Shape, slices.Clone(b.file.tensors[b.op.outputs[0]].shape)
	if given := b.numbersOf(0); len(given) == 4 {
		want = given
	}
	if len(shape) != 4 || len(want) != 4 || min(a.Strides[0], a.Strides[1]) < 1 ||
		max(a.Strides[0], a.Strides[1]) > graph.MaxElems {
		panic(faultf("", "makes a tensor of shape %v of one of shape %v, strides %v", want, shape, a.Strides))
	}
	// The whole result is cut to the size wanted, an odd row or column at the end; rows that are
	// missing there are added.
	var cut [2]int
	for d := range 2 {
		if cut[d] = (shape[1+d]-1)*a.Strides[d] + w.Shape[d] - want[1+d]; cut[d] < 0 {
			a.OutputPad[d], cut[d] = -cut[d], 0
		}
	}
	a.Pad.Top, a.Pad.Bottom, a.Pad.Left, a.Pad.Right = cut[0]/2, cut[0]-cut[0]/2, cut[1]/2, cut[1]-cut[1]/2
	return b.activation(b.add("conv_transpose2d", a, b.withBias(w, 3), x), t.Int8(3, 0))
}

// Converters write a dilated convolution of an open batch as one without dilations.
// SPACE_TO_BATCH_ND takes the image apart before it, and BATCH_TO_SPACE_ND joins it again.

// spaceToBatch is SPACE_TO_BATCH_ND: pads the spatial axes, and makes images of the batch of the
// pixels of each block.
func spaceToBatch(b *builder) *graph.Value {
	x := b.floatInput(0)
	block, p := b.blockOf(x)
	shape := x.Shape
	around := make([]int, 2*len(shape))
	copy(around[2:], p)
	x = b.padAround(x, around, 0)
	shape = x.Shape
	n := len(block)
	split, perm := []int{shape[0]}, []int{}
	for d, k := range block {
		failIf(shape[1+d]%k != 0, "", "blocks of %v do not divide %v", block, shape)
		split, perm = append(split, shape[1+d]/k, k), append(perm, 2+2*d)
	}
	split, perm = append(split, shape[1+n:]...), append(perm, 0)
	out := []int{shape[0] * elems(block)}
	for d, k := range block {
		perm, out = append(perm, 1+2*d), append(out, shape[1+d]/k)
	}
	return b.rearrange(x, split, perm, 1+2*n, append(out, shape[1+n:]...))
}

// batchToSpace is BATCH_TO_SPACE_ND, which undoes spaceToBatch, and crops.
func batchToSpace(b *builder) *graph.Value {
	x := b.floatInput(0)
	block, crops := b.blockOf(x)
	shape := x.Shape
	n := len(block)
	failIf(shape[0]%elems(block) != 0, "", "blocks of %v do not divide the %d images of %v", block, shape[0], shape)
	batch := shape[0] / elems(block)
	split, perm, out := append(slices.Clone(block), batch), []int{n}, []int{batch}
	split = append(split, shape[1:]...)
	for d, k := range block {
		perm, out = append(perm, n+1+d, d), append(out, shape[1+d]*k)
	}
	x = b.rearrange(x, split, perm, 1+2*n, append(out, shape[1+n:]...))
	spans := kit.WholeSpans(x.Shape)
	for d := range block {
		spans[1+d].Begin, spans[1+d].Count = crops[2*d], spans[1+d].Count-crops[2*d]-crops[2*d+1]
	}
	return b.Cut(x, spans)
}

// blockOf reads the blocks of an operator on x, and two numbers for each of their axes.
func (b *builder) blockOf(x *graph.Value) (block, pairs []int) {
	block = b.ints(1, "block")
	pairs = b.ints(2, "paddings")
	shape := x.Shape
	if n := len(block); n < 1 || n > 2 || len(shape) < n+1 || len(shape) > 4 || len(pairs) != 2*n {
		panic(faultf("one or two spatial axes are supported",
			"blocks %v with %d numbers of padding for a tensor of shape %v", block, len(pairs), shape))
	}
	failIf(!kit.InRange(block, 1, graph.MaxElems), "", "blocks %v: want numbers from 1", block)
	failIf(!kit.InRange(pairs, 0, graph.MaxElems), "", "paddings %v: want numbers from 0", pairs)
	return block, pairs
}

// rearrange reshapes x to split, permutes the axes by perm, and reshapes the result to out. Axes
// from kept on stay in their places.
func (b *builder) rearrange(x *graph.Value, split, perm []int, kept int, out []int) *graph.Value {
	for d := kept; d < len(split); d++ {
		perm = append(perm, d)
	}
	return b.Reshape(b.Transpose(b.Reshape(x, split), perm), out)
}
