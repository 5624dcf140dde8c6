package ops

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
)

// Pad copies x, [B, H, W, C], into an image of a's value.
func Pad(a *graph.SpatialPadAttrs, x layout.Tensor) *ir.Func {
	s, p := x.Shape, a.Pad
	src := tensorBuffer("x", x, s)
	y := tensorBuffer("y", x, []int{s[0], s[1] + p.Top + p.Bottom, s[2] + p.Left + p.Right, s[3]})
	lead := len(src.Shape) - 4 // 1 with a plane axis
	ls := overAll(y.Shape)
	i := vars(ls)
	from := append([]ir.Expr(nil), i...)
	h, w, c := i[lead+1], i[lead+2], i[lead+3]
	from[lead+1], from[lead+2] = sub(h, ir.Int(p.Top)), sub(w, ir.Int(p.Left))
	var cond ir.Expr
	if cs := append(rangeChecks(h, p.Top, s[1], y.Shape[lead+1]),
		rangeChecks(w, p.Left, s[2], y.Shape[lead+2])...); len(cs) > 0 {
		cond = all(cs...)
	}
	var outside ir.Expr = ir.Float(float32(a.Value))
	if level, _ := x.Level(a.Value); x.Form == layout.Planes {
		outside = levelWord(s[3], x.Bits, level, i[0], c)
	} else if x.Encoded() {
		outside = byteOf(ir.Const(ir.I32, int64(level)), x.StoredType())
	}
	v := orElse(cond, ir.At(src, from...), outside)
	return unary(fmt.Sprintf("pad_%d_%s", lead*src.Shape[0], imageSize(s)), src, y, ir.Nest(ls, set(y, v, i...)))
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

// CopySlice copies part of a tensor. Of packed levels these are whole words where the channels
// start at a word, else single bits.
func CopySlice(a *graph.SliceAttrs, x layout.Tensor) *ir.Func {
	s, size, last := Spatial(x.Shape), Spatial(a.Size), len(x.Shape)-1
	begin, stride := spread(a.Begin, 0), spread(a.Stride, 1)
	from := func(i []ir.Expr) []ir.Expr { // in spread(x.Shape, 1)
		at := slices.Clone(coords(i, a.Size))
		for d := range at {
			at[d] = add(mul(at[d], ir.Int(stride[d])), ir.Int(begin[d]))
		}
		return at
	}
	src, y := tensorBuffer("x", x, spread(x.Shape, 1)), tensorBuffer("y", x, size)
	if x.Form != layout.Planes {
		return elementwise("slice_"+imageSize(s), src, y, func(i []ir.Expr) ir.Expr { return ir.At(src, from(i)...) })
	}
	name := fmt.Sprintf("slice_%d_%s", x.Bits, imageSize(s))
	if a.Stride[last] == 1 && a.Begin[last]%WordBits == 0 {
		ls, i := planes(y, loop(ir.Word, "c", y.Shape[4]))
		at := append([]ir.Expr{i[0]}, from(i[1:])...)
		at[len(at)-1] = add(i[4], ir.Int(a.Begin[last]/WordBits))
		word := ir.Bin(ir.And, ir.At(src, at...), onesWord(size[3], i[4]))
		return unary(name, src, y, ir.Nest(ls, set(y, word, i...)))
	}
	return unary(name, src, y, repackLoop(src, y, from))
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
