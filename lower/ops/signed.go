package ops

import "ripc/ir"

// signedOffset is the difference between a level and the caller's i8 value.
const signedOffset = 128

// PackSigned packs the caller's i8 values: level = value + 128.
func PackSigned(shape []int, enc ir.EncodingKind) *ir.Func {
	s := Spatial(shape)
	x, y := buf("x", ir.I8, s...), BitBuffer("y", 8, s, enc)
	body := packLoop(y, func(i []ir.Expr, o ir.Expr) []ir.Expr {
		v := ir.CastTo(ir.I32, ir.At(x, append(append([]ir.Expr{}, i...), o)...))
		return bitsOf(add(v, ir.Const(ir.I32, signedOffset)), 8)
	})
	return unary("bitpack_i8_"+imageSize(s), x, y, body)
}

// UnpackSigned gives the levels of a packed tensor less 128 as i8.
func UnpackSigned(shape []int, enc ir.EncodingKind) *ir.Func {
	s := Spatial(shape)
	x, y := BitBuffer("x", 8, s, enc), buf("y", ir.I8, s...)
	return elementwise("unpack_i8_"+imageSize(s), x, y, func(i []ir.Expr) ir.Expr {
		return ir.CastTo(ir.I8, sub(level(x, i[:3], i[3]), ir.Const(ir.I32, signedOffset)))
	})
}
