package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
)

// packLoop is the nest that fills the words of y from the bits of each channel: bits(idx, o) gives the planes' bits of
// channel o at position idx. Loops q and l run over the whole words, r over the channels of a last word that they do not
// fill, so that channels beyond the last are never looked at and give 0.
func packLoop(y ir.Buffer, bits func(idx []ir.Expr, o ir.Expr) []ir.Expr) ir.Stmt {
	return packPixels(y, func(words ir.Stmt) ir.Stmt { return words }, bits)
}

// packPixels is packLoop where around puts more into the loops over pixels.
func packPixels(y ir.Buffer, around func(words ir.Stmt) ir.Stmt, bits func(idx []ir.Expr, o ir.Expr) []ir.Expr) ir.Stmt {
	return packSlice(y, Slice{}, y.Enc.Channels, around, bits)
}

// packSlice is packPixels of so many channels, which are a slice of y's. A y of bytes gets the levels that the bits are of.
func packSlice(y ir.Buffer, slice Slice, channels int, around func(words ir.Stmt) ir.Stmt, bits func(idx []ir.Expr, o ir.Expr) []ir.Expr) ir.Stmt {
	if y.Type == ir.U8 {
		return bytePixels(y, around, bits)
	}
	outer := loops("", over(ir.Batch, "b", y.Shape[1]), over(ir.Row, "h", y.Shape[2]), over(ir.Col, "w", y.Shape[3]))
	i := vars(outer)
	var planes []ir.Expr
	for n := range y.Shape[0] {
		planes = append(planes, ir.Int(n))
	}
	return ir.Nest(outer, around(packWords(y, slice, channels, planes, i, func(o ir.Expr) []ir.Expr { return bits(i, o) })))
}

// bytePixels is packSlice for a y of bytes.
func bytePixels(y ir.Buffer, around func(words ir.Stmt) ir.Stmt, bits func(idx []ir.Expr, o ir.Expr) []ir.Expr) ir.Stmt {
	outer := loops("", over(ir.Batch, "b", y.Shape[0]), over(ir.Row, "h", y.Shape[1]), over(ir.Col, "w", y.Shape[2]))
	i, o := vars(outer), ir.V("o")
	var v ir.Expr
	for n, b := range bits(i, o) {
		if b = ir.Bin(ir.Shl, ir.CastTo(ir.I32, b), ir.Const(ir.I32, int64(n))); v == nil {
			v = b
		} else {
			v = ir.Bin(ir.Or, v, b)
		}
	}
	store := set(y, ir.CastTo(ir.U8, v), i[0], i[1], i[2], o)
	return ir.Nest(outer, around(ir.Nest(loops("", over(ir.Channel, "o", y.Shape[3])), store)))
}

// repackLoop is packLoop for levels that are packed already and only move: plane after plane, the outer loop p. at gives
// where in x the level of channel o at position idx of y lies: a position and a channel.
func repackLoop(x, y ir.Buffer, at func(idx []ir.Expr, o ir.Expr) (pos []ir.Expr, c ir.Expr)) ir.Stmt {
	outer := loops("", over(ir.Plane, "p", y.Shape[0]), over(ir.Batch, "b", y.Shape[1]), over(ir.Row, "h", y.Shape[2]), over(ir.Col, "w", y.Shape[3]))
	i := vars(outer)
	return ir.Nest(outer, packWords(y, Slice{}, y.Enc.Channels, i[:1], i[1:], func(o ir.Expr) []ir.Expr {
		pos, c := at(i[1:], o)
		return []ir.Expr{ir.Bin(ir.Ne, bitOf(x, i[0], pos, c), ir.Const(ir.U32, 0))}
	}))
}

// packWords fills the words of so many channels of y's planes at position i; slice says which words.
func packWords(y ir.Buffer, slice Slice, channels int, planes, i []ir.Expr, bits func(o ir.Expr) []ir.Expr) ir.Stmt {
	word := func(q ir.Expr, bit string, n int) []ir.Stmt {
		l := ir.V(bit)
		var zero, or []ir.Stmt
		for n, b := range bits(add(mul(q, ir.Int(WordBits)), l)) {
			idx := append(append([]ir.Expr{planes[n]}, i...), add(q, ir.Int(slice.Offset)))
			zero = append(zero, set(y, ir.Const(ir.U32, 0), idx...))
			or = append(or, update(ir.OrTo, y, packBit(b, l), idx...))
		}
		return append(zero, ir.Nest(loops("", over(ir.Bit, bit, n)), ir.Seq(or...)))
	}
	full, rest := channels/WordBits, channels%WordBits
	var body []ir.Stmt
	if full > 0 {
		body = append(body, ir.Nest(loops("", over(ir.Word, "q", full)), ir.Seq(word(ir.V("q"), "l", WordBits)...)))
	}
	if rest > 0 {
		body = append(body, word(ir.Int(full), "r", rest)...)
	}
	return ir.Seq(body...)
}

// wide is y with as many words as slice says, if it has words.
func wide(y ir.Buffer, slice Slice) ir.Buffer {
	if slice.Total > 0 && y.Enc.Kind != ir.NoEncoding {
		y.Shape[4], y.Enc.Channels = slice.Total, slice.Total*WordBits
	}
	return y
}

// Quantize turns what steps make of f32 into levels in the form to; see scalar.Quantizer. slice is the part of wider planes that these
// are, in words. Parameters: x, the steps' operands, y.
func Quantize(a *graph.QuantizeAttrs, steps []scalar.Step, from ir.Type, shape []int, to layout.Form, slice Slice) *ir.Func {
	s, t := Spatial(shape), layout.Tensor{Value: graph.Value{LevelType: a.LevelType}, Form: to}
	if len(steps) == 0 && from == ir.F32 && to.Bytewise() {
		b := *a
		b.LevelType = t.Stored()
		return ToBytes(&b, nil, shape)
	}
	x, y := buf("x", from, s...), wide(tensorBuffer("y", t, s), slice)
	f := &ir.Func{Name: fmt.Sprintf("%squantize_%s%d_%dx%dx%d", stepsName(steps), a.Enc, a.Bits, s[1], s[2], s[3]), Params: []ir.Param{in(x)}}
	outer := loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2]))
	i := vars(outer)
	v, bufs, pixel := pixelSteps(f, x, i, steps)
	f.Params = append(f.Params, out(y))
	if c := ir.V("c"); to.Bytewise() {
		store := set(y, byteOf(levelOf(a, v(c)), t.Stored()), i[0], i[1], i[2], c)
		f.Body = ir.Nest(outer, allocs(bufs, ir.Seq(append(pixel, ir.Nest(loops("", over(ir.Channel, "c", s[3])), store))...)))
		return f
	}
	f.Body = packSlice(y, slice, s[3], func(words ir.Stmt) ir.Stmt { return allocs(bufs, ir.Seq(append(pixel, words)...)) },
		func(_ []ir.Expr, o ir.Expr) []ir.Expr { return bitsOf(levelOf(a, v(o)), a.Bits) })
	return f
}

// PackLevels packs u8 levels, such as the caller's; bits above the type's are ignored. slice is the part of a wider output, in words, that
// they become.
func PackLevels(bits int, shape []int, enc ir.EncodingKind, slice Slice) *ir.Func {
	s := Spatial(shape)
	x, y := buf("x", ir.U8, s...), wide(BitBuffer("y", bits, s, enc), slice)
	body := packSlice(y, slice, s[3], func(words ir.Stmt) ir.Stmt { return words }, func(i []ir.Expr, o ir.Expr) []ir.Expr {
		return bitsOf(ir.CastTo(ir.I32, ir.At(x, append(append([]ir.Expr{}, i...), o)...)), bits)
	})
	return &ir.Func{Name: fmt.Sprintf("bitpack_%d_%dx%dx%d", bits, s[1], s[2], s[3]), Params: []ir.Param{in(x), out(y)}, Body: body}
}

// MaskBits copies a packed input of the caller's and clears the bits beyond its channels.
func MaskBits(bits int, shape []int, enc ir.EncodingKind) *ir.Func {
	s := Spatial(shape)
	x, y := BitBuffer("x", bits, s, enc), BitBuffer("y", bits, s, enc)
	ls := loops("", over(ir.Plane, "p", bits), over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2]), over(ir.Word, "q", y.Shape[4]))
	i := vars(ls)
	v := ir.Bin(ir.And, ir.At(x, i...), onesWord(s[3], i[4]))
	return &ir.Func{Name: fmt.Sprintf("maskbits_%d_%dx%dx%d", bits, s[1], s[2], s[3]), Params: []ir.Param{in(x), out(y)}, Body: ir.Nest(ls, set(y, v, i...))}
}

// bitOf is the bit (u32, 0 or 1) of channel c in plane n of a packed tensor.
func bitOf(x ir.Buffer, n ir.Expr, i []ir.Expr, c ir.Expr) ir.Expr {
	return bitIn(x, n, i, ir.Bin(ir.Div, c, ir.Int(WordBits)), ir.Bin(ir.Mod, c, ir.Int(WordBits)))
}

// bitIn is bit l (u32, 0 or 1) of word q in plane n of a packed tensor.
func bitIn(x ir.Buffer, n ir.Expr, i []ir.Expr, q, l ir.Expr) ir.Expr {
	w := ir.At(x, append(append([]ir.Expr{n}, i...), q)...)
	return ir.Bin(ir.And, ir.Bin(ir.Shr, w, ir.CastTo(ir.U32, l)), ir.Const(ir.U32, 1))
}

// level is the integer level (i32) of channel c of a packed tensor.
func level(x ir.Buffer, i []ir.Expr, c ir.Expr) ir.Expr {
	return levelIn(x, i, ir.Bin(ir.Div, c, ir.Int(WordBits)), ir.Bin(ir.Mod, c, ir.Int(WordBits)))
}

// levelIn is the integer level (i32) of the channel that has bit l of word q.
func levelIn(x ir.Buffer, i []ir.Expr, q, l ir.Expr) ir.Expr {
	var v ir.Expr
	for n := range x.Shape[0] {
		t := ir.Bin(ir.Shl, ir.CastTo(ir.I32, bitIn(x, ir.Int(n), i, q, l)), ir.Const(ir.I32, int64(n)))
		if v == nil {
			v = t
		} else {
			v = ir.Bin(ir.Or, v, t)
		}
	}
	return v
}

// Unpack gives the levels of a packed tensor as u8.
func Unpack(bits int, shape []int, enc ir.EncodingKind) *ir.Func {
	s := Spatial(shape)
	x, y := BitBuffer("x", bits, s, enc), buf("y", ir.U8, s...)
	ls := loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2]), over(ir.Channel, "o", s[3]))
	i := vars(ls)
	body := ir.Nest(ls, set(y, ir.CastTo(ir.U8, level(x, i[:3], i[3])), i...))
	return &ir.Func{Name: fmt.Sprintf("unpack_%d_%dx%dx%d", bits, s[1], s[2], s[3]), Params: []ir.Param{in(x), out(y)}, Body: body}
}

// integer is the integer (i32) that a level of type t stands for (LevelType.Integer).
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
	ls := loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2]), over(ir.Channel, "o", s[3]))
	i := vars(ls)
	v := t.FloatExpr(ir.CastTo(ir.F32, integer(level(x, i[:3], i[3]), t)))
	body := ir.Nest(ls, set(y, v, i...))
	return &ir.Func{Name: fmt.Sprintf("dequantize_%d_%dx%dx%d", t.Bits, s[1], s[2], s[3]), Params: []ir.Param{in(x), out(y)}, Body: body}
}

// ConcatNumbers copies one input of a concatenation, of elements of type t, into its channels of y, Offset.. of Total channels.
func ConcatNumbers(t ir.Type, shape []int, slice Slice) *ir.Func {
	s := Spatial(shape)
	x, y := buf("x", t, s...), buf("y", t, s[0], s[1], s[2], slice.Total)
	ls := loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2]), over(ir.Channel, "o", s[3]))
	i := vars(ls)
	return &ir.Func{Name: fmt.Sprintf("concat_%s_%dx%dx%d_at%d_%d", t, s[1], s[2], s[3], slice.Offset, slice.Total), Params: []ir.Param{in(x), out(y)},
		Body: ir.Nest(ls, set(y, ir.At(x, i...), i[0], i[1], i[2], add(i[3], ir.Int(slice.Offset))))}
}

// Concat is ConcatNumbers of packed levels. Where Offset is no multiple of the word they are merged bit by bit: the first input (Offset 0)
// clears the words, the others OR into them.
func Concat(bits int, shape []int, enc ir.EncodingKind, slice Slice) *ir.Func {
	s := Spatial(shape)
	wide := append(append([]int{}, s[:3]...), slice.Total)
	name := fmt.Sprintf("concat_%d_%dx%dx%d_at%d_%d", bits, s[1], s[2], s[3], slice.Offset, slice.Total)
	x, y := BitBuffer("x", bits, s, enc), BitBuffer("y", bits, wide, enc)
	ls := loops("", over(ir.Plane, "p", bits), over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2]))
	i := vars(ls)
	// Word q of x covers bits Offset+32q.. of y: its low part goes to word Offset/32+q, the rest to the next one.
	shift, first := slice.Offset%WordBits, slice.Offset/WordBits
	at := func(q ir.Expr) []ir.Expr { return append(append([]ir.Expr{}, i...), q) }
	var body []ir.Stmt
	if slice.Offset == 0 {
		body = append(body, ir.Nest(loops("", over(ir.Word, "z", y.Shape[4])), set(y, ir.Const(ir.U32, 0), at(ir.V("z"))...)))
	}
	q := ir.V("q")
	low := ir.Bin(ir.Shl, ir.At(x, at(q)...), ir.Const(ir.U32, int64(shift)))
	body = append(body, ir.Nest(loops("", over(ir.Word, "q", x.Shape[4])), update(ir.OrTo, y, low, at(add(q, ir.Int(first)))...)))
	if n := min(x.Shape[4], y.Shape[4]-first-1); shift > 0 && n > 0 {
		r := ir.V("r")
		high := ir.Bin(ir.Shr, ir.At(x, at(r)...), ir.Const(ir.U32, int64(WordBits-shift)))
		body = append(body, ir.Nest(loops("", over(ir.Word, "r", n)), update(ir.OrTo, y, high, at(add(r, ir.Int(first+1)))...)))
	}
	return &ir.Func{Name: name, Params: []ir.Param{in(x), out(y)}, Body: ir.Nest(ls, ir.Seq(body...))}
}

// FlattenBits repacks [B, H, W, C] levels as [B, 1, 1, H*W*C]; needed only where C is no multiple of the word.
func FlattenBits(bits int, shape []int, enc ir.EncodingKind) *ir.Func {
	n := shape[1] * shape[2] * shape[3]
	x, y := BitBuffer("x", bits, shape, enc), BitBuffer("y", bits, []int{shape[0], 1, 1, n}, enc)
	body := repackLoop(x, y, func(i []ir.Expr, o ir.Expr) ([]ir.Expr, ir.Expr) {
		o = ir.Bin(ir.Min, o, ir.Int(n-1)) // what lies beyond is not chosen, but its address must be provable
		pix, c := ir.Bin(ir.Div, o, ir.Int(shape[3])), ir.Bin(ir.Mod, o, ir.Int(shape[3]))
		pos := []ir.Expr{i[0], ir.Bin(ir.Div, pix, ir.Int(shape[2])), ir.Bin(ir.Mod, pix, ir.Int(shape[2]))}
		return pos, c
	})
	return &ir.Func{Name: fmt.Sprintf("flatten_%d_%dx%dx%d", bits, shape[1], shape[2], shape[3]), Params: []ir.Param{in(x), out(y)}, Body: body}
}
