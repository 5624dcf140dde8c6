package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
)

// LevelThresholds counts, for each element of x, levels, the thresholds t, [count, C] or [count, 1], that its integer reaches, and stores
// the counts as levels of type y in the form to. Parameters: x, t, y.
func LevelThresholds(count, row int, x *graph.Value, y scalar.LevelType, to layout.Form) *ir.Func {
	s := Spatial(x.Shape)
	src, t, dst := BitBuffer("x", x.Bits, s, x.Enc), buf("t", ir.I32, count, row), levelBuffer("y", y, s, to)
	v, n := buf("v", ir.I32, s[3]), buf("n", ir.I32, s[3])
	f := &ir.Func{Name: fmt.Sprintf("levels_%s%d_%d_%dx%dx%d", y.Enc, y.Bits, count, s[1], s[2], s[3]), Params: []ir.Param{in(src), in(t), out(dst)}}
	i := vars(loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2])))
	c := ir.V("c")
	pixel, bufs := []ir.Stmt{ir.Nest(loops("", over(ir.Channel, "c", s[3])), set(v, integer(level(src, i, c), x.LevelType), c))}, []ir.Buffer{v}
	bits := func(o ir.Expr) []ir.Expr {
		return levelBits(y.Bits, func(j int) ir.Expr { return thresholdAt(t, ir.Int(j), o) }, atLeast(ir.At(v, o)))
	}
	if count != 1<<y.Bits-1 || count > fewThresholds {
		c0, c1 := ir.V("c0"), ir.V("c1")
		pixel = append(pixel,
			ir.Nest(loops("", over(ir.Channel, "c0", s[3])), set(n, ir.Const(ir.I32, 0), c0)),
			ir.Nest(loops("", over(ir.Reduce, "j", count), over(ir.Channel, "c1", s[3])), update(ir.AddTo, n, ir.CastTo(ir.I32, atLeast(ir.At(v, c1))(thresholdAt(t, ir.V("j"), c1))), c1)))
		bufs, bits = append(bufs, n), func(o ir.Expr) []ir.Expr { return bitsOf(ir.At(n, o), y.Bits) }
	}
	f.Body = packPixels(dst, func(words ir.Stmt) ir.Stmt { return allocs(bufs, ir.Seq(append(pixel, words)...)) },
		func(_ []ir.Expr, o ir.Expr) []ir.Expr { return inverted(bits(o), y.Enc) })
	return f
}
