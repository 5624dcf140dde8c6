package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
)

// fewThresholds is the number up to which the bits of a level are made from the comparisons themselves.
const fewThresholds = 7

// Threshold counts, for each element, a number of type from, the thresholds t, [count, C] or [count, 1], that what steps make of it reaches, and stores the
// counts as levels in the form to, a slice of wider planes; see graph.ThresholdAttrs. Parameters: x, the steps' operands, t, y.
func Threshold(a *graph.ThresholdAttrs, count, row int, steps []scalar.Step, from ir.Type, shape []int, to layout.Form, slice Slice) *ir.Func {
	s := Spatial(shape)
	x, t, y := buf("x", from, s...), buf("t", ir.F32, count, row), wide(levelBuffer("y", a.LevelType, s, to), slice)
	f := &ir.Func{Name: fmt.Sprintf("%sthreshold_%s%d_%d_%dx%dx%d", stepsName(steps), a.Enc, a.Bits, count, s[1], s[2], s[3]), Params: []ir.Param{in(x)}}
	i := vars(loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2])))
	v, bufs, pixel := pixelSteps(f, x, i, steps)
	f.Params = append(f.Params, in(t), out(y))
	around := func(words ir.Stmt) ir.Stmt { return allocs(bufs, ir.Seq(append(pixel, words)...)) }
	if count == 1<<a.Bits-1 && count <= fewThresholds {
		f.Body = packSlice(y, slice, s[3], around, func(_ []ir.Expr, o ir.Expr) []ir.Expr {
			bits := levelBits(a.Bits, func(j int) ir.Expr { return thresholdAt(t, ir.Int(j), o) }, func(t ir.Expr) ir.Expr { return reaches(a, v(o), t) })
			return inverted(bits, a.Enc)
		})
		return f
	}
	// Counts of one pixel, then their bits.
	n := buf("n", ir.I32, s[3])
	c := ir.V("c")
	bufs, pixel = append(bufs, n), append(pixel,
		ir.Nest(loops("", over(ir.Channel, "c0", s[3])), set(n, ir.Const(ir.I32, 0), ir.V("c0"))),
		ir.Nest(loops("", over(ir.Reduce, "j", count), over(ir.Channel, "c", s[3])), update(ir.AddTo, n, ir.CastTo(ir.I32, reaches(a, v(c), thresholdAt(t, ir.V("j"), c))), c)))
	f.Body = packSlice(y, slice, s[3], around,
		func(_ []ir.Expr, o ir.Expr) []ir.Expr { return inverted(bitsOf(ir.At(n, o), a.Bits), a.Enc) })
	return f
}

// thresholdAt is threshold j of channel o in t, [count, C] or [count, 1].
func thresholdAt(t ir.Buffer, j, o ir.Expr) ir.Expr {
	if t.Shape[1] == 1 {
		o = ir.Int(0)
	}
	return ir.At(t, j, o)
}

// reaches says whether v reaches threshold t of a.
func reaches(a *graph.ThresholdAttrs, v, t ir.Expr) ir.Expr {
	if a.NotLess {
		return ir.Bin(ir.Xor, ir.Bin(ir.Lt, v, t), ir.Const(ir.Bool, 1))
	}
	return ir.Bin(ir.Ge, v, t)
}

// inverted are the bits of the level that bipolar has, as enc stores them.
func inverted(bits []ir.Expr, enc ir.EncodingKind) []ir.Expr {
	if enc != ir.BipolarInv {
		return bits
	}
	out := make([]ir.Expr, len(bits))
	for n, b := range bits {
		out[n] = ir.Bin(ir.Xor, b, ir.Const(ir.Bool, 1))
	}
	return out
}
