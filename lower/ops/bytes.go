package ops

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
)

// Levels that lie one a byte, the caller's among them, and that layers have as floats, never become
// bits: one stage goes from one to the other, with the steps and the change of axes that stand
// between.

// signedOffset is the difference between a level and the caller's i8 value.
const signedOffset = 128

// byteLevel is the level (i32) that byte v stands for; bits above the type's, which the caller's
// may have, are ignored.
func byteLevel(v ir.Expr, t scalar.LevelType) ir.Expr {
	level := ir.CastTo(ir.I32, v)
	switch {
	case t.Signed:
		return add(level, ir.Const(ir.I32, signedOffset))
	case t.Bits < ir.U8.Bits():
		return ir.Bin(ir.And, level, ir.Const(ir.I32, int64(t.Top())))
	}
	return level
}

// byteType is the type of bytes that hold levels of type t.
func byteType(t scalar.LevelType) ir.Type {
	if t.Signed {
		return ir.I8
	}
	return ir.U8
}

// byteOf is the byte of type t for an i32 level.
func byteOf(level ir.Expr, t scalar.LevelType) ir.Expr {
	if t.Signed {
		level = sub(level, ir.Const(ir.I32, signedOffset))
	}
	return ir.CastTo(byteType(t), level)
}

// Buffer is t as stages see it, an image.
func Buffer(t layout.Tensor) ir.Buffer { return tensorBuffer(t.Name, t, Spatial(t.Shape)) }

// tensorBuffer is a buffer of the given shape in t's form.
func tensorBuffer(name string, t layout.Tensor, shape []int) ir.Buffer {
	if t.Form == layout.Planes {
		return BitBuffer(name, t.Bits, shape, t.Enc)
	}
	return buf(name, t.Element(), shape...)
}

// levelBuffer is a tensor of levels of type t that a stage writes in the form to.
func levelBuffer(name string, t scalar.LevelType, shape []int, to layout.Form) ir.Buffer {
	return tensorBuffer(name, layout.Tensor{Value: graph.Value{LevelType: t}, Form: to}, shape)
}

// levelAt is the level (i32) of channel c at position i of x, a tensor of levels in t's form.
func levelAt(t layout.Tensor, x ir.Buffer, i []ir.Expr, c ir.Expr) ir.Expr {
	if t.Form == layout.Planes {
		return level(x, i, c)
	}
	return byteLevel(ir.At(x, append(slices.Clone(i), c)...), t.StoredType())
}

// FromBytes gives the real values of the caller's levels of type t (LevelType.Float), and takes
// steps on them. The levels have the given shape; with move the result has their axes in that
// order. Parameters: x, the steps' operands, y. The result of Operands says which.
func FromBytes(t scalar.LevelType, move *graph.TransposeAttrs, steps []scalar.Step, shape []int) *ir.Func {
	from, s, ls, at := pass(move, shape)
	x, y := buf("x", byteType(t), from...), buf("y", ir.F32, s...)
	f := &ir.Func{Name: "floats_" + bytesName(t, move), Params: []ir.Param{inParam(x)}}
	v := t.FloatExpr(ir.CastTo(ir.F32, integer(byteLevel(ir.At(x, at...), t), t)))
	withSteps(f, steps, v, y, ls, Slice{})
	return f
}

// BytesOperand is v, an operand of a step with a number for each channel, or one for all, as
// FromBytes wants it.
func BytesOperand(v []float32, move *graph.TransposeAttrs, shape []int) []float32 {
	if move != nil || len(v) == 1 {
		return v
	}
	var all []float32
	for range rows(Spatial(shape)) {
		all = append(all, v...)
	}
	return all
}

// ToBytes quantizes f32 numbers to levels that the caller takes one a byte; see scalar.Quantizer.
// With move the result has the axes of x, of the given shape, in that order.
func ToBytes(a *graph.QuantizeAttrs, move *graph.TransposeAttrs, shape []int) *ir.Func {
	from, s, ls, at := pass(move, shape)
	x, y := buf("x", ir.F32, from...), buf("y", byteType(a.LevelType), s...)
	level := byteOf(levelOf(a, ir.At(x, at...)), a.LevelType)
	return &ir.Func{Name: "bytes_" + bytesName(a.LevelType, move) + fmt.Sprintf("%dx%dx%d", s[1], s[2], s[3]),
		Params: []ir.Param{inParam(x), outParam(y)},
		Body:   ir.Nest(ls, set(y, level, vars(ls)...))}
}

// levelOf is the level that a makes of x, as its encoding stores it.
func levelOf(a *graph.QuantizeAttrs, x ir.Expr) ir.Expr {
	level := a.Expr(x)
	if a.Enc == ir.BipolarInv {
		level = sub(ir.Const(ir.I32, int64(a.Top())), level)
	}
	return level
}

// Requantize gives the real values of the levels that a makes of f32 numbers, and takes steps on
// them: quantize and then dequantize, where nobody needs the levels themselves.
func Requantize(a *graph.QuantizeAttrs, steps []scalar.Step, shape []int) *ir.Func {
	s := Spatial(shape)
	x, y := buf("x", ir.F32, s...), buf("y", ir.F32, s...)
	ls, i := image("", s, "o")
	level := levelOf(a, ir.At(x, i...))
	f := &ir.Func{Name: fmt.Sprintf("requantize_%s%d_", a.Enc, a.Bits), Params: []ir.Param{inParam(x)}}
	withSteps(f, steps, a.FloatExpr(ir.CastTo(ir.F32, integer(level, a.LevelType))), y, ls, Slice{})
	return f
}

// pass is a pass over a tensor of the given shape and the one that move makes of it (nil: the
// same): the shapes of both as buffers, the loops over the second, and where these read the first.
func pass(move *graph.TransposeAttrs, shape []int) (from, to []int, ls []ir.Loop, at []ir.Expr) {
	read := func(i []ir.Expr) []ir.Expr { return i }
	if move == nil {
		s := Spatial(shape)
		n := rows(s)
		to = []int{s[0], s[1], s[2] / n, n * s[3]}
		from = to
	} else {
		to, read = transposed(move, shape)
		from, to = spread(shape, 1), Spatial(to)
	}
	ls, i := image("", to, "o")
	return from, to, ls, read(i)
}

// rows returns the number of pixels that count as one with more channels, so that few channels fill
// vectors. Elements and their order are unchanged.
func rows(s []int) int {
	const vector, longest = 16, 4096
	w, c := s[2], s[3]
	if c >= vector {
		return 1
	}
	for n := 1; n <= w && n*c <= longest; n++ {
		if w%n == 0 && n*c%vector == 0 {
			return n
		}
	}
	if w*c <= longest {
		return w
	}
	return 1
}

func bytesName(t scalar.LevelType, move *graph.TransposeAttrs) string {
	name := byteType(t).String()
	if t.Bits < ir.U8.Bits() {
		name += fmt.Sprintf("_%d", t.Bits)
	}
	name += "_"
	if move != nil {
		for _, p := range move.Perm {
			name += fmt.Sprint(p)
		}
		name += "_"
	}
	return name
}
