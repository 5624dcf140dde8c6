package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
)

// ShiftLevels maps each element of x, levels or integers in f32, to a level of type y by s. It
// returns the constants of the Func's parameters between x and y, in order. y is in the form to;
// Mapped levels go from planes to planes.
func ShiftLevels(s *graph.ShiftAdd, x *graph.Value, y scalar.LevelType, to layout.Form) (*ir.Func, []Const) {
	if Mapped(x) {
		return mapLevels("shift", x, y, func(o, integer int) int { return s.Level(o, int64(integer), y.Bits) })
	}
	shape := Spatial(x.Shape)
	src, dst := buf("x", ir.F32, shape...), levelBuffer("y", y, shape, to)
	if x.Encoded() {
		src = BitBuffer("x", x.Bits, shape, x.Enc)
	}
	f := &ir.Func{Name: fmt.Sprintf("shift_%s%d_%dx%dx%d", y.Enc, y.Bits, shape[1], shape[2], shape[3]),
		Params: []ir.Param{inParam(src)}}
	var consts []Const
	known := map[string]ir.Buffer{}
	f.Body = packLoop(dst, func(i []ir.Expr, o ir.Expr) []ir.Expr {
		var v ir.Expr
		if x.Encoded() {
			v = integer(level(src, i, o), x.LevelType)
		} else {
			v = ir.CastTo(ir.I32, ir.At(src, append(append([]ir.Expr{}, i...), o)...))
		}
		at := func(name string, data []int32, _ int32) ir.Expr {
			b, ok := known[name]
			if !ok {
				b = buf(name, ir.I32, len(data))
				known[name] = b
				f.Params, consts = append(f.Params, inParam(b)), append(consts, Const{name, constantData(data)})
			}
			return ir.At(b, o)
		}
		return inverted(bitsOf(shifted(s, v, y.Bits, at), y.Bits), y.Enc)
	})
	f.Params = append(f.Params, outParam(dst))
	return f, consts
}
