package ops

import (
	"fmt"

	"ripc/ir"
)

// signedOffset is what the caller's i8 values lie below their levels.
const signedOffset = 128

// PackSigned packs the caller's i8 values: level = value + 128.
func PackSigned(shape []int, enc ir.EncodingKind) *ir.Func {
	s := Spatial(shape)
	x, y := buf("x", ir.I8, s...), BitBuffer("y", 8, s, enc)
	body := packLoop(y, func(i []ir.Expr, o ir.Expr) []ir.Expr {
		v := ir.CastTo(ir.I32, ir.At(x, append(append([]ir.Expr{}, i...), o)...))
		return bitsOf(add(v, ir.Const(ir.I32, signedOffset)), 8)
	})
	return &ir.Func{Name: fmt.Sprintf("bitpack_i8_%dx%dx%d", s[1], s[2], s[3]), Params: []ir.Param{in(x), out(y)}, Body: body}
}

// UnpackSigned gives the levels of a packed tensor less 128 as i8.
func UnpackSigned(shape []int, enc ir.EncodingKind) *ir.Func {
	s := Spatial(shape)
	x, y := BitBuffer("x", 8, s, enc), buf("y", ir.I8, s...)
	ls := loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2]), over(ir.Channel, "o", s[3]))
	i := vars(ls)
	v := sub(level(x, i[:3], i[3]), ir.Const(ir.I32, signedOffset))
	return &ir.Func{Name: fmt.Sprintf("unpack_i8_%dx%dx%d", s[1], s[2], s[3]), Params: []ir.Param{in(x), out(y)}, Body: ir.Nest(ls, set(y, ir.CastTo(ir.I8, v), i...))}
}
