package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/lists"
	"ripc/ir"
	"ripc/lower/layout"
)

// fewThresholds is the largest number of thresholds with a comparison for each bit of a level.
const fewThresholds = 7

// Threshold counts the thresholds t that each element of x reaches, after steps. t is [count, C] or
// [count, 1], and x has type from. It stores the counts as levels in the form to, a slice of wider
// planes; see graph.ThresholdAttrs. Parameters: x, the steps' operands, t, y.
func Threshold(a *graph.ThresholdAttrs, count, row int, steps []scalar.Step, from ir.Type, shape []int, to layout.Form,
	slice Slice) *ir.Func {
	s := Spatial(shape)
	x, t, y := buf("x", from, s...), buf("t", ir.F32, count, row),
		widenBuffer(levelBuffer("y", a.LevelType, s, to), slice)
	f := &ir.Func{Name: fmt.Sprintf("%sthreshold_%s%d_%d_%dx%dx%d", stepsName(steps), a.Enc, a.Bits, count, s[1], s[2],
		s[3]), Params: []ir.Param{inParam(x)}}
	_, i := pixels("", s)
	v, bufs, pixel := pixelSteps(f, x, i, steps)
	f.Params = append(f.Params, inParam(t), outParam(y))
	reached := func(o, t ir.Expr) ir.Expr { return reaches(a, v(o), t) }
	f.Body = packCounts(y, slice, s[3], a.LevelType, t, "c", reached, bufs, pixel)
	return f
}

// packCounts is packSlice of the levels that count the reached ones of thresholds t; variable is
// that of the loop over channels that counts.
func packCounts(
	y ir.Buffer, slice Slice, channels int, level scalar.LevelType, t ir.Buffer, variable string,
	reached func(o, t ir.Expr) ir.Expr,
	bufs []ir.Buffer, before []ir.Stmt,
) ir.Stmt {
	count := t.Shape[0]
	bits := func(o ir.Expr) []ir.Expr {
		return levelBits(level.Bits, func(j int) ir.Expr { return thresholdAt(t, ir.Int(j), o) },
			func(t ir.Expr) ir.Expr { return reached(o, t) })
	}
	if count != 1<<level.Bits-1 || count > fewThresholds { // counts of one pixel, then their bits
		n, c := buf("n", ir.I32, channels), ir.V(variable)
		step := update(ir.AddTo, n, ir.CastTo(ir.I32, reached(c, thresholdAt(t, ir.V("j"), c))), c)
		before = append(before,
			ir.Nest(loops("", loop(ir.Channel, "c0", channels)), set(n, ir.Const(ir.I32, 0), ir.V("c0"))),
			ir.Nest(loops("", loop(ir.Reduce, "j", count), loop(ir.Channel, variable, channels)), step))
		bufs, bits = append(bufs, n), func(o ir.Expr) []ir.Expr { return bitsOf(ir.At(n, o), level.Bits) }
	}
	return packSlice(y, slice, channels, bufs, before, func(_ []ir.Expr, o ir.Expr) []ir.Expr {
		return inverted(bits(o), level.Enc)
	})
}

// thresholdAt returns threshold j of channel o in t, [count, C] or [count, 1].
func thresholdAt(t ir.Buffer, j, o ir.Expr) ir.Expr {
	if t.Shape[1] == 1 {
		o = ir.Int(0)
	}
	return ir.At(t, j, o)
}

// reaches returns the condition that v reaches threshold t of a.
func reaches(a *graph.ThresholdAttrs, v, t ir.Expr) ir.Expr {
	if a.NotLess {
		return ir.Bin(ir.Xor, ir.Bin(ir.Lt, v, t), ir.Const(ir.Bool, 1))
	}
	return ir.Bin(ir.Ge, v, t)
}

// inverted returns bits of a bipolar level as enc stores them.
func inverted(bits []ir.Expr, enc ir.EncodingKind) []ir.Expr {
	if enc != ir.BipolarInv {
		return bits
	}
	return lists.Map(bits, func(b ir.Expr) ir.Expr { return ir.Bin(ir.Xor, b, ir.Const(ir.Bool, 1)) })
}
