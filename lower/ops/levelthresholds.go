package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
)

// LevelThresholds counts, for the integer of each level of x, the thresholds t that it reaches. t
// is [count, C] or [count, 1]. It stores the counts as levels of type y in the form to. Parameters:
// x, t, y.
func LevelThresholds(count, row int, x *graph.Value, y scalar.LevelType, to layout.Form) *ir.Func {
	s := Spatial(x.Shape)
	src, t, dst := BitBuffer("x", x.Bits, s, x.Enc), buf("t", ir.I32, count, row), levelBuffer("y", y, s, to)
	v, c := buf("v", ir.I32, s[3]), ir.V("c")
	name := fmt.Sprintf("levels_%s%d_%d_%s", y.Enc, y.Bits, count, imageSize(s))
	f := &ir.Func{Name: name, Params: []ir.Param{inParam(src), inParam(t), outParam(dst)}}
	_, i := pixels("", s)
	integers := ir.Nest(loops("", loop(ir.Channel, "c", s[3])), set(v, integer(level(src, i, c), x.LevelType), c))
	reached := func(o, t ir.Expr) ir.Expr { return ir.Bin(ir.Ge, ir.At(v, o), t) }
	f.Body = packCounts(dst, Slice{}, s[3], y, t, "c1", reached, []ir.Buffer{v}, []ir.Stmt{integers})
	return f
}
