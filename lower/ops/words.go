package ops

import "ripc/ir"

// PackWords takes over the caller's int32 words of 1-bit levels, [..., words], and clears the bits
// beyond the channels.
func PackWords(shape []int, enc ir.EncodingKind) *ir.Func {
	s := Spatial(shape)
	y := BitBuffer("y", 1, s, enc)
	x := buf("x", ir.I32, y.Shape[1:]...)
	ls, i := pixels("", s, loop(ir.Word, "c", y.Shape[4]))
	v := ir.Bin(ir.And, &ir.Bitcast{T: ir.U32, A: ir.At(x, i...)}, onesWord(s[3], i[3]))
	return unary("bitpack_i32_"+imageSize(s), x, y, ir.Nest(ls, set(y, v, append([]ir.Expr{ir.Int(0)}, i...)...)))
}

// UnpackWords gives 1-bit levels as the caller's int32 words.
func UnpackWords(shape []int, enc ir.EncodingKind) *ir.Func {
	s := Spatial(shape)
	x := BitBuffer("x", 1, s, enc)
	y := buf("y", ir.I32, x.Shape[1:]...)
	ls, i := pixels("", s, loop(ir.Word, "c", x.Shape[4]))
	v := &ir.Bitcast{T: ir.I32, A: ir.At(x, append([]ir.Expr{ir.Int(0)}, i...)...)}
	return unary("unpack_i32_"+imageSize(s), x, y, ir.Nest(ls, set(y, v, i...)))
}
