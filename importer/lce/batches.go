package lce

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// Converters write a dilated convolution of an open batch as one without dilations, around which SPACE_TO_BATCH_ND and
// BATCH_TO_SPACE_ND take the image apart and put it together.

// spaceToBatch is SPACE_TO_BATCH_ND: pads the spatial axes, and makes images of the batch of the pixels of each block.
func spaceToBatch(b *builder) *graph.Value {
	x := b.float(0)
	block, p := b.blockOf(x)
	shape := x.Shape
	around := make([]int, 2*len(shape))
	copy(around[2:], p)
	x = b.padded(x, around, 0)
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
	return b.rearranged(x, split, perm, 1+2*n, append(out, shape[1+n:]...))
}

// batchToSpace is BATCH_TO_SPACE_ND, which undoes spaceToBatch, and crops.
func batchToSpace(b *builder) *graph.Value {
	x := b.float(0)
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
	x = b.rearranged(x, split, perm, 1+2*n, append(out, shape[1+n:]...))
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
		panic(faultf("one or two spatial axes are supported", "blocks %v with %d numbers of padding for a tensor of shape %v", block, len(pairs), shape))
	}
	failIf(!kit.Within(block, 1, graph.MaxElems), "", "blocks %v: want numbers from 1", block)
	failIf(!kit.Within(pairs, 0, graph.MaxElems), "", "paddings %v: want numbers from 0", pairs)
	return block, pairs
}

// rearranged gives x the shape split, whose axes change their order as perm says (axes from kept on stay), and then the shape out.
func (b *builder) rearranged(x *graph.Value, split, perm []int, kept int, out []int) *graph.Value {
	for d := kept; d < len(split); d++ {
		perm = append(perm, d)
	}
	return b.Reshape(b.Transpose(b.Reshape(x, split), perm), out)
}
