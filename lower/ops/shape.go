package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
)

// SpatialPad copies x, f32 [B, H, W, C], into an image of value.
func SpatialPad(p graph.Padding, value float32, shape []int) *ir.Func {
	return padNumbers(p, ir.Float(value), shape)
}

// SpatialPadBytes is SpatialPad of levels that lie one a byte; level is that of the positions
// outside.
func SpatialPadBytes(p graph.Padding, level int, x layout.Tensor) *ir.Func {
	return padNumbers(p, byteOf(ir.Const(ir.I32, int64(level)), x.StoredType()), x.Shape)
}

func padNumbers(p graph.Padding, value ir.Expr, shape []int) *ir.Func {
	x := buf("x", value.Type(), shape...)
	y := buf("y", value.Type(), shape[0], shape[1]+p.Top+p.Bottom, shape[2]+p.Left+p.Right, shape[3])
	return spatialPad(p, x, y, func(ir.Expr, ir.Expr) ir.Expr { return value }, shape)
}

// SpatialPadBits is SpatialPad of packed levels; level is that of the positions outside.
func SpatialPadBits(p graph.Padding, bits, level int, shape []int, enc ir.EncodingKind) *ir.Func {
	x := BitBuffer("x", bits, shape, enc)
	y := BitBuffer("y", bits, []int{shape[0], shape[1] + p.Top + p.Bottom, shape[2] + p.Left + p.Right, shape[3]}, enc)
	return spatialPad(p, x, y, func(n, c ir.Expr) ir.Expr { return levelWord(shape[3], bits, level, n, c) }, shape)
}

// levelWord returns word c of plane n of a pixel with this level in all channels.
func levelWord(channels, bits, level int, n, c ir.Expr) ir.Expr {
	switch level {
	case 0:
		return ir.Const(ir.U32, 0)
	case 1<<bits - 1:
		return onesWord(channels, c)
	}
	bit := ir.Bin(ir.And, ir.Bin(ir.Shr, ir.Int(level), n), ir.Int(1))
	return &ir.Select{Cond: ir.Bin(ir.Ne, bit, ir.Int(0)), A: onesWord(channels, c), B: ir.Const(ir.U32, 0)}
}

func spatialPad(p graph.Padding, x, y ir.Buffer, outside func(n, c ir.Expr) ir.Expr, shape []int) *ir.Func {
	lead := len(x.Shape) - 4 // 1 with a plane axis
	ls := overAll(y.Shape)
	i := vars(ls)
	from := append([]ir.Expr(nil), i...)
	h, w, c := i[lead+1], i[lead+2], i[lead+3]
	from[lead+1], from[lead+2] = sub(h, ir.Int(p.Top)), sub(w, ir.Int(p.Left))
	var cond ir.Expr
	if cs := append(rangeChecks(h, p.Top, shape[1], y.Shape[lead+1]),
		rangeChecks(w, p.Left, shape[2], y.Shape[lead+2])...); len(cs) > 0 {
		cond = all(cs...)
	}
	v := orElse(cond, ir.At(x, from...), outside(i[0], c))
	return unary(fmt.Sprintf("pad_%d_%s", lead*x.Shape[0], imageSize(shape)), x, y, ir.Nest(ls, set(y, v, i...)))
}

// sliced returns x's and the result's shapes as [batch, h, w, c]. from maps a position of the
// result to one of x, in spread(shape, 1).
func sliced(a *graph.SliceAttrs, shape []int) (s, size []int, from func(i []ir.Expr) []ir.Expr) {
	begin, stride := spread(a.Begin, 0), spread(a.Stride, 1)
	return Spatial(shape), Spatial(a.Size), func(i []ir.Expr) []ir.Expr {
		y := coords(i, a.Size)
		x := make([]ir.Expr, len(y))
		for d := range x {
			x[d] = add(mul(y[d], ir.Int(stride[d])), ir.Int(begin[d]))
		}
		return x
	}
}

// SliceNumbers copies part of a tensor of type t.
func SliceNumbers(a *graph.SliceAttrs, t ir.Type, shape []int) *ir.Func {
	s, size, from := sliced(a, shape)
	x, y := buf("x", t, spread(shape, 1)...), buf("y", t, size...)
	return elementwise("slice_"+imageSize(s), x, y, func(i []ir.Expr) ir.Expr { return ir.At(x, from(i)...) })
}

// SliceBits copies part of packed levels: whole words where the channels start at a word, else bit
// by bit.
func SliceBits(a *graph.SliceAttrs, bits int, shape []int, enc ir.EncodingKind) *ir.Func {
	s, size, from := sliced(a, shape)
	last := len(shape) - 1
	begin, stride := a.Begin[last], a.Stride[last]
	x, y := BitBuffer("x", bits, spread(shape, 1), enc), BitBuffer("y", bits, size, enc)
	name := fmt.Sprintf("slice_%d_%s", bits, imageSize(s))
	if stride == 1 && begin%WordBits == 0 {
		ls, i := planes(y, loop(ir.Word, "c", y.Shape[4]))
		at := append([]ir.Expr{i[0]}, from(i[1:])...)
		at[len(at)-1] = add(i[4], ir.Int(begin/WordBits))
		return unary(name, x, y, ir.Nest(ls, set(y, ir.Bin(ir.And, ir.At(x, at...), onesWord(size[3], i[4])), i...)))
	}
	return unary(name, x, y, repackLoop(x, y, from))
}

// ReshapeBits repacks levels in another shape. It is needed only where words change.
func ReshapeBits(bits int, from, to []int, enc ir.EncodingKind) *ir.Func {
	s, t := Spatial(from), Spatial(to)
	x, y := BitBuffer("x", bits, s, enc), BitBuffer("y", bits, t, enc)
	body := repackLoop(x, y, func(i []ir.Expr) []ir.Expr {
		flat := i[0]
		for d, e := range i[1:] {
			flat = add(mul(flat, ir.Int(t[d+1])), e)
		}
		pos := make([]ir.Expr, 4)
		for d := 3; d > 0; d-- {
			pos[d] = ir.Bin(ir.Mod, flat, ir.Int(s[d]))
			flat = ir.Bin(ir.Div, flat, ir.Int(s[d]))
		}
		pos[0] = ir.Bin(ir.Min, flat, ir.Int(s[0]-1)) // never larger, which intervals alone may not see
		return pos
	})
	return unary(fmt.Sprintf("reshape_%d_%s_%s", bits, imageSize(s), imageSize(t)), x, y, body)
}
