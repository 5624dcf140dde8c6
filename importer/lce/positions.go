package lce

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// mirrorPad is MIRROR_PAD: the mirror image around a tensor, along any axes.
func mirrorPad(b *builder) *graph.Value {
	t, x := b.unary(optMirrorPad)
	p := b.paddings(x)
	border := kit.Reflect
	if t.Int8(0, 0) == 1 {
		border = kit.Symmetric
	}
	shape := x.Shape
	var axes []*kit.Along
	for d, n := range shape {
		if most := n - 1 + int(t.Int8(0, 0)); p[2*d] > most || p[2*d+1] > most {
			panic(faultf("", "pads axis %d of %v by %d and %d, more than its mirror image has", d, shape, p[2*d],
				p[2*d+1]))
		}
		b.take(p[2*d] + n + p[2*d+1])
		axes = append(axes, kit.AlongPixels(d, n, kit.BorderPositions(n, p[2*d], p[2*d+1], border)))
	}
	return b.At(x, axes...)
}

// resizeSize is the number of rows and columns that RESIZE_ operators make of an image of this
// shape.
func (b *builder) resizeSize(shape []int) []int {
	size := b.ints(1, "size")
	failIf(len(shape) != 4 || len(size) != 2 || min(size[0], size[1]) < 1 || max(size[0], size[1]) > graph.MaxElems,
		"", "resizes a tensor of shape %v to %v, want rows and columns of an image", shape, size)
	b.take(size[0] + size[1])
	return size
}

// resizeBilinear is RESIZE_BILINEAR. Of integers TFLite interpolates with 10 bits of each position.
func resizeBilinear(b *builder) *graph.Value {
	t := b.builtin(optResizeBilinear)
	corners, centers := t.Bool(2), t.Bool(3)
	if in, out := b.input(0), &b.file.tensors[b.op.outputs[0]]; b.ofIntegers(1) &&
		slices.Equal(in.scales, out.scales) && slices.Equal(in.zeros, out.zeros) {
		x := b.integers(0)
		axes := b.linear(x.Shape,
			func(in, out int) func(i int) float32 { return fixedPosition(in, out, corners, centers) })
		if y := b.onIntegers(x, 0, func(y *graph.Value) *graph.Value { return b.At(y, axes...) }); y != nil {
			return y
		}
	}
	x := b.floatInput(0)
	axes := b.linear(x.Shape,
		func(in, out int) func(i int) float32 { return linearPosition(in, out, corners, centers) })
	return b.At(x, axes...)
}

// linear lists the positions that the operator takes of an image's rows and columns, inside the
// image.
func (b *builder) linear(shape []int, position func(in, out int) func(i int) float32) []*kit.Along {
	var axes []*kit.Along
	for d, out := range b.resizeSize(shape) {
		in := shape[1+d]
		axes = append(axes, kit.AlongAxis(1+d, in, kit.Positions(in, out, position(in, out))))
	}
	return axes
}

// linearPosition gives the position among in that each of out takes, in f32 as TFLite computes it.
func linearPosition(in, out int, corners, centers bool) func(i int) float32 {
	return kit.LinearRule(kit.Scale(in, out, corners), centers)
}

// fixedPosition is linearPosition with 10 bits behind the point, the scale included.
func fixedPosition(in, out int, corners, centers bool) func(i int) float32 {
	scale := (1024*in + out/2) / out
	if corners && out > 1 {
		scale = (1024*(in-1) + (out-1)/2) / (out - 1)
	}
	return func(i int) float32 {
		p := i * scale
		if centers {
			p += scale/2 - 512
		}
		return float32(float64(p) / 1024)
	}
}

// nearest says which of in positions each of out takes, in f32 as TFLite computes it.
func nearest(in, out int, corners, centers bool) func(i int) int {
	scale, offset := kit.Scale(in, out, corners), float32(0)
	if centers {
		offset = 0.5
	}
	return func(i int) int {
		v := float64(float32(float32(i)+offset) * scale)
		if corners {
			v = math.Round(v)
		}
		return max(0, min(int(math.Floor(v)), in-1))
	}
}
