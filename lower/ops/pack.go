package ops

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
)

// packLoop returns the nest that fills the words of y. bits(idx, o) returns the planes' bits of
// channel o at position idx. Loops q and l run over the whole words, and r over the channels of a
// partial last word, so that bits past the channels stay 0.
func packLoop(y ir.Buffer, bits func(idx []ir.Expr, o ir.Expr) []ir.Expr) ir.Stmt {
	return packSlice(y, Slice{}, y.Enc.Channels, nil, nil, bits)
}

// packSlice is packLoop of the given number of channels, a slice of y. Each pixel allocates bufs,
// and statements before come first. A y of bytes stores the levels.
func packSlice(
	y ir.Buffer, slice Slice, channels int, bufs []ir.Buffer, before []ir.Stmt,
	bits func(idx []ir.Expr, o ir.Expr) []ir.Expr,
) ir.Stmt {
	pixel := func(words ir.Stmt) ir.Stmt { return allocs(bufs, ir.Seq(append(before, words)...)) }
	if y.Type == ir.U8 {
		outer, i := pixels("", y.Shape)
		o := ir.V("o")
		store := set(y, ir.CastTo(ir.U8, levelFrom(bits(i, o))), i[0], i[1], i[2], o)
		return ir.Nest(outer, pixel(ir.Nest(loops("", loop(ir.Channel, "o", y.Shape[3])), store)))
	}
	outer, i := pixels("", y.Shape[1:])
	return ir.Nest(outer, pixel(packWords(y, slice, channels, nil, i, func(o ir.Expr) []ir.Expr { return bits(i, o) })))
}

// packVector is packSlice of the lowest n bits of vector v, an element for each channel, which
// before computes.
func packVector(y ir.Buffer, slice Slice, n int, v ir.Buffer, bufs []ir.Buffer, before ...ir.Stmt) ir.Stmt {
	return packSlice(y, slice, v.Shape[0], bufs, before, func(_ []ir.Expr, o ir.Expr) []ir.Expr {
		return bitsOf(ir.At(v, o), n)
	})
}

// levelFrom returns the level (i32) with the given bits.
func levelFrom(bits []ir.Expr) (v ir.Expr) {
	for n, b := range bits {
		v = orExpr(v, ir.Bin(ir.Shl, ir.CastTo(ir.I32, b), ir.Const(ir.I32, int64(n))))
	}
	return v
}

// repackLoop is packLoop for packed levels that only move, plane after plane by the outer loop p.
// from returns the position in x, channel last, of a position of y.
func repackLoop(x, y ir.Buffer, from func(i []ir.Expr) []ir.Expr) ir.Stmt {
	outer, i := planes(y)
	return ir.Nest(outer, packWords(y, Slice{}, y.Enc.Channels, i[:1], i[1:], func(o ir.Expr) []ir.Expr {
		// indices past the end are not selected, but must be proved in range
		o = ir.Bin(ir.Min, o, ir.Int(y.Enc.Channels-1))
		at := from(append(slices.Clone(i[1:]), o))
		last := len(at) - 1
		return []ir.Expr{ir.Bin(ir.Ne, bitOf(x, i[0], at[:last], at[last]), ir.Const(ir.U32, 0))}
	}))
}

// packWords fills the words of the given number of channels in y's planes at position i; slice
// selects the words. Planes 0, 1 and so on have the bits if planes is nil.
func packWords(y ir.Buffer, slice Slice, channels int, planes, i []ir.Expr, bits func(o ir.Expr) []ir.Expr) ir.Stmt {
	word := func(q ir.Expr, bit string, n int) []ir.Stmt {
		l := ir.V(bit)
		zero, or := packBits(y, planes, bits(add(mul(q, ir.Int(WordBits)), l)), i, add(q, ir.Int(slice.Offset)), l)
		return append(zero, ir.Nest(loops("", loop(ir.Bit, bit, n)), ir.Seq(or...)))
	}
	full, rest := channels/WordBits, channels%WordBits
	var body []ir.Stmt
	if full > 0 {
		body = append(body, ir.Nest(loops("", loop(ir.Word, "q", full)), ir.Seq(word(ir.V("q"), "l", WordBits)...)))
	}
	if rest > 0 {
		body = append(body, word(ir.Int(full), "r", rest)...)
	}
	return ir.Seq(body...)
}

// widenBuffer widens y to slice.Total words, if it is set.
func widenBuffer(y ir.Buffer, slice Slice) ir.Buffer {
	if slice.Total > 0 && y.Enc.Kind != ir.NoEncoding {
		y.Shape[4], y.Enc.Channels = slice.Total, slice.Total*WordBits
	}
	return y
}

// Quantize turns f32 numbers after steps into levels in the form to; see scalar.Quantizer. slice is
// the part of wider planes that it writes, in words. Parameters: x, the steps' operands, y.
func Quantize(a *graph.QuantizeAttrs, steps []scalar.Step, from ir.Type, shape []int, to layout.Form,
	slice Slice) *ir.Func {
	s, t := Spatial(shape), layout.Tensor{Value: graph.Value{LevelType: a.LevelType}, Form: to}
	if len(steps) == 0 && from == ir.F32 && to.Bytewise() {
		b := *a
		b.LevelType = t.StoredType()
		return ToBytes(&b, nil, shape)
	}
	x, y := buf("x", from, s...), widenBuffer(tensorBuffer("y", t, s), slice)
	f := &ir.Func{Name: fmt.Sprintf("%squantize_%s%d_%dx%dx%d", stepsName(steps), a.Enc, a.Bits, s[1], s[2], s[3]),
		Params: []ir.Param{inParam(x)}}
	outer, i := pixels("", s)
	v, bufs, pixel := pixelSteps(f, x, i, steps)
	f.Params = append(f.Params, outParam(y))
	if c := ir.V("c"); to.Bytewise() {
		store := set(y, byteOf(levelOf(a, v(c)), t.StoredType()), i[0], i[1], i[2], c)
		f.Body = ir.Nest(outer, allocs(bufs, ir.Seq(append(pixel,
			ir.Nest(loops("", loop(ir.Channel, "c", s[3])), store))...)))
		return f
	}
	bits := func(_ []ir.Expr, o ir.Expr) []ir.Expr { return bitsOf(levelOf(a, v(o)), a.Bits) }
	f.Body = packSlice(y, slice, s[3], bufs, pixel, bits)
	return f
}

// PackLevels packs the caller's levels of type t; bits above the type's are ignored. slice is the
// part of a wider output, in words, that they become.
func PackLevels(t scalar.LevelType, shape []int, slice Slice) *ir.Func {
	s := Spatial(shape)
	x, y := buf("x", byteType(t), s...), widenBuffer(BitBuffer("y", t.Bits, s, t.Enc), slice)
	body := packSlice(y, slice, s[3], nil, nil, func(i []ir.Expr, o ir.Expr) []ir.Expr {
		v := ir.CastTo(ir.I32, ir.At(x, append(append([]ir.Expr{}, i...), o)...))
		if t.Signed {
			v = add(v, ir.Const(ir.I32, signedOffset))
		}
		return bitsOf(v, t.Bits)
	})
	return unary(fmt.Sprintf("bitpack_%s_%s", storedName(t), imageSize(s)), x, y, body)
}

// storedName is the caller's levels of type t in names of Funcs: their bits, or i8.
func storedName(t scalar.LevelType) string {
	if t.Signed {
		return byteType(t).String()
	}
	return fmt.Sprint(t.Bits)
}

// MaskBits copies a packed input of the caller's and clears the bits beyond its channels.
func MaskBits(bits int, shape []int, enc ir.EncodingKind) *ir.Func {
	s := Spatial(shape)
	x, y := BitBuffer("x", bits, s, enc), BitBuffer("y", bits, s, enc)
	ls, i := planes(y, loop(ir.Word, "q", y.Shape[4]))
	v := ir.Bin(ir.And, ir.At(x, i...), onesWord(s[3], i[4]))
	return unary(fmt.Sprintf("maskbits_%d_%s", bits, imageSize(s)), x, y, ir.Nest(ls, set(y, v, i...)))
}

// bitOf returns the bit (u32, 0 or 1) of channel c in plane n of a packed tensor.
func bitOf(x ir.Buffer, n ir.Expr, i []ir.Expr, c ir.Expr) ir.Expr {
	return bitIn(x, n, i, ir.Bin(ir.Div, c, ir.Int(WordBits)), ir.Bin(ir.Mod, c, ir.Int(WordBits)))
}

// bitIn returns bit l (u32, 0 or 1) of word q in plane n of a packed tensor.
func bitIn(x ir.Buffer, n ir.Expr, i []ir.Expr, q, l ir.Expr) ir.Expr {
	w := ir.At(x, append(append([]ir.Expr{n}, i...), q)...)
	return ir.Bin(ir.And, ir.Bin(ir.Shr, w, ir.CastTo(ir.U32, l)), ir.Const(ir.U32, 1))
}

// level returns the integer level (i32) of channel c of a packed tensor.
func level(x ir.Buffer, i []ir.Expr, c ir.Expr) ir.Expr {
	return levelIn(x, i, ir.Bin(ir.Div, c, ir.Int(WordBits)), ir.Bin(ir.Mod, c, ir.Int(WordBits)))
}

// levelIn returns the integer level (i32) in bit l of word q.
func levelIn(x ir.Buffer, i []ir.Expr, q, l ir.Expr) ir.Expr {
	var bits []ir.Expr
	for n := range x.Shape[0] {
		bits = append(bits, bitIn(x, ir.Int(n), i, q, l))
	}
	return levelFrom(bits)
}

// Unpack gives the levels of a packed tensor as the caller's of type t.
func Unpack(t scalar.LevelType, shape []int) *ir.Func {
	s := Spatial(shape)
	x, y := BitBuffer("x", t.Bits, s, t.Enc), buf("y", byteType(t), s...)
	return elementwise(fmt.Sprintf("unpack_%s_%s", storedName(t), imageSize(s)), x, y, func(i []ir.Expr) ir.Expr {
		return byteOf(level(x, i[:3], i[3]), t)
	})
}

// integer returns the integer (i32) of a level of type t (LevelType.Integer).
func integer(level ir.Expr, t scalar.LevelType) ir.Expr {
	switch twice, m := mul(level, ir.Const(ir.I32, 2)), ir.Const(ir.I32, int64(t.Top())); t.Enc {
	case ir.Bipolar:
		return sub(twice, m)
	case ir.BipolarInv:
		return sub(m, twice)
	}
	if t.Zero > 0 {
		return sub(level, ir.Const(ir.I32, int64(t.Zero)))
	}
	return level
}

// Dequantize gives the real values of levels of type t as f32 (LevelType.Float).
func Dequantize(t scalar.LevelType, shape []int) *ir.Func {
	s := Spatial(shape)
	x, y := BitBuffer("x", t.Bits, s, t.Enc), buf("y", ir.F32, s...)
	return elementwise(fmt.Sprintf("dequantize_%d_%s", t.Bits, imageSize(s)), x, y, func(i []ir.Expr) ir.Expr {
		return t.FloatExpr(ir.CastTo(ir.F32, integer(level(x, i[:3], i[3]), t)))
	})
}

// Concat copies one input of a concatenation into its channels of y, Offset.. of Total channels. Of
// packed levels, where Offset is no multiple of the word, bits are merged: the first input (Offset
// 0) clears the words, the others OR into them.
func Concat(t layout.Tensor, slice Slice) *ir.Func {
	s := Spatial(t.Shape)
	x, y := tensorBuffer("x", t, s), tensorBuffer("y", t, append(slices.Clone(s[:3]), slice.Total))
	if t.Form != layout.Planes {
		ls, i := image("", s, "o")
		return unary(fmt.Sprintf("concat_%s_%s_at%d_%d", x.Type, imageSize(s), slice.Offset, slice.Total), x, y,
			ir.Nest(ls, set(y, ir.At(x, i...), i[0], i[1], i[2], add(i[3], ir.Int(slice.Offset)))))
	}
	name := fmt.Sprintf("concat_%d_%s_at%d_%d", t.Bits, imageSize(s), slice.Offset, slice.Total)
	ls, i := planes(y)
	// Word q of x covers bits Offset+32q.. of y: its low part goes to word Offset/32+q, the rest to
	// the next one.
	shift, first := slice.Offset%WordBits, slice.Offset/WordBits
	at := func(q ir.Expr) []ir.Expr { return append(append([]ir.Expr{}, i...), q) }
	var body []ir.Stmt
	if slice.Offset == 0 {
		body = append(body, ir.Nest(loops("", loop(ir.Word, "z", y.Shape[4])),
			set(y, ir.Const(ir.U32, 0), at(ir.V("z"))...)))
	}
	q := ir.V("q")
	low := ir.Bin(ir.Shl, ir.At(x, at(q)...), ir.Const(ir.U32, int64(shift)))
	body = append(body, ir.Nest(loops("", loop(ir.Word, "q", x.Shape[4])),
		update(ir.OrTo, y, low, at(add(q, ir.Int(first)))...)))
	if n := min(x.Shape[4], y.Shape[4]-first-1); shift > 0 && n > 0 {
		r := ir.V("r")
		high := ir.Bin(ir.Shr, ir.At(x, at(r)...), ir.Const(ir.U32, int64(WordBits-shift)))
		body = append(body, ir.Nest(loops("", loop(ir.Word, "r", n)),
			update(ir.OrTo, y, high, at(add(r, ir.Int(first+1)))...)))
	}
	return unary(name, x, y, ir.Nest(ls, ir.Seq(body...)))
}

// FlattenBits repacks [B, H, W, C] levels as [B, 1, 1, H*W*C]; needed only where C is no multiple
// of the word.
func FlattenBits(bits int, shape []int, enc ir.EncodingKind) *ir.Func {
	n := shape[1] * shape[2] * shape[3]
	x, y := BitBuffer("x", bits, shape, enc), BitBuffer("y", bits, []int{shape[0], 1, 1, n}, enc)
	body := repackLoop(x, y, func(i []ir.Expr) []ir.Expr {
		pix, c := ir.Bin(ir.Div, i[3], ir.Int(shape[3])), ir.Bin(ir.Mod, i[3], ir.Int(shape[3]))
		return []ir.Expr{i[0], ir.Bin(ir.Div, pix, ir.Int(shape[2])), ir.Bin(ir.Mod, pix, ir.Int(shape[2])), c}
	})
	return unary(fmt.Sprintf("flatten_%d_%s", bits, imageSize(shape)), x, y, body)
}
