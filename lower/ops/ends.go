package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// matrix gives a shape as [B, C], C being its last axis.
func matrix(shape []int) []int {
	s := []int{1, shape[len(shape)-1]}
	for _, d := range shape[:len(shape)-1] {
		s[0] *= d
	}
	return s
}

// byRow returns the Func of body for each row b of x; it allocates bufs for a row.
func byRow(name string, x, y ir.Buffer, body ir.Stmt, bufs ...ir.Buffer) *ir.Func {
	return unary(name, x, y, ir.Nest(loops("", loop(ir.Batch, "b", x.Shape[0])), allocs(bufs, body)))
}

// Softmax over the last axis: exp(x - max) / sum, summed in the order of the channels.
func Softmax(shape []int) *ir.Func {
	return softmax("softmax", shape, func(e, _, sum ir.Expr) ir.Expr { return ir.Bin(ir.Div, e, sum) })
}

// LogSoftmax over the last axis: x - max - log(sum), the sum being Softmax's, from 1 up or NaN.
func LogSoftmax(shape []int) *ir.Func {
	return softmax("log_softmax", shape, func(_, d, sum ir.Expr) ir.Expr {
		log := scalar.LogExpr(ir.Bin(ir.Max, sum, ir.Float(1)))
		// the bits of a NaN are not the logarithm's to see, but it stays one
		return sub(d, &ir.Fma{A: sum, B: ir.Float(0), C: log})
	})
}

// maxima is the number of maxima of a row that are found side by side before the row's own. They
// fill a vector, and enough of them hide the latency of a comparison.
const maxima = 32

// greatest sets top to the greatest of n elements; tops holds the maxima side by side.
func greatest(top, tops ir.Buffer, n int, element func(c ir.Expr) ir.Expr) ir.Stmt {
	side, m := tops.Shape[0], ir.V("m")
	first := ir.Bin(ir.Min, mul(ir.V("k"), ir.Int(side)), ir.Int(n-side)) // the last ones overlap those before
	return ir.Seq(
		ir.Nest(loops("", loop(ir.Channel, "m0", side)), set(tops, element(ir.V("m0")), ir.V("m0"))),
		ir.Nest(loops("", loop(ir.Reduce, "k", (n+side-1)/side), loop(ir.Channel, "m", side)),
			update(ir.MaxTo, tops, element(add(first, m)), m)),
		set(top, ir.At(tops, ir.Int(0))),
		ir.Nest(loops("", loop(ir.Reduce, "m1", side)), update(ir.MaxTo, top, ir.At(tops, ir.V("m1")))),
	)
}

// softmax is result of e = exp(d), d = x - max, and the sum of all e of the row.
func softmax(name string, shape []int, result func(e, d, sum ir.Expr) ir.Expr) *ir.Func {
	s := matrix(shape)
	x, y := buf("x", ir.F32, s...), buf("y", ir.F32, s...)
	top, sum, e := buf("top", ir.F32), buf("sum", ir.F32), buf("e", ir.F32, s[1])
	b := ir.V("b")
	d := buf("d", ir.F32, s[1])
	c2 := ir.V("c2")
	tops := buf("tops", ir.F32, min(maxima, s[1]))
	body := ir.Seq(
		greatest(top, tops, s[1], func(c ir.Expr) ir.Expr { return ir.At(x, b, c) }),
		ir.Nest(loops("", loop(ir.Channel, "c0", s[1])), set(d, sub(ir.At(x, b, ir.V("c0")), ir.At(top)), ir.V("c0"))),
		ir.Nest(loops("", loop(ir.Channel, "c1", s[1])), set(e, scalar.ExpExpr(ir.At(d, ir.V("c1"))), ir.V("c1"))),
		set(sum, ir.Float(0)),
		ir.Nest(loops("", loop(ir.Reduce, "s", s[1])), update(ir.AddTo, sum, ir.At(e, ir.V("s")))),
		ir.Nest(loops("", loop(ir.Channel, "c2", s[1])), set(y, result(ir.At(e, c2), ir.At(d, c2), ir.At(sum)), b, c2)),
	)
	return byRow(fmt.Sprintf("%s_%d", name, s[1]), x, y, body, top, sum, d, e, tops)
}

// Arg gives, i32, where the greatest element of each row over the last axis is, or the least one;
// see graph.ArgAttrs.
func Arg(least bool, a *graph.ArgAttrs, shape []int) *ir.Func {
	s := matrix(shape)
	name, better := "argmax", ir.Gt
	switch {
	case least && a.Last:
		name, better = "argmin_last", ir.Le
	case least:
		name, better = "argmin", ir.Lt
	case a.Last:
		name, better = "argmax_last", ir.Ge
	}
	x, y := buf("x", ir.F32, s...), buf("y", ir.I32, s[0])
	best, at := buf("best", ir.F32), buf("at", ir.I32)
	b, c := ir.V("b"), ir.V("c")
	e := ir.At(x, b, c)
	body := ir.Seq(
		set(best, ir.At(x, b, ir.Int(0))), set(at, ir.Const(ir.I32, 0)),
		ir.Nest(loops("", loop(ir.Reduce, "c", s[1])), ir.Seq(
			set(at, &ir.Select{Cond: ir.Bin(better, e, ir.At(best)), A: ir.CastTo(ir.I32, c), B: ir.At(at)}),
			set(best, &ir.Select{Cond: ir.Bin(better, e, ir.At(best)), A: e, B: ir.At(best)}))),
		set(y, ir.At(at), b),
	)
	return byRow(fmt.Sprintf("%s_%d", name, s[1]), x, y, body, best, at)
}

// TopK gives the K greatest elements of each row over the last axis, or the least ones, or, as i32,
// where they are; see graph.TopKAttrs.
func TopK(positions bool, a *graph.TopKAttrs, shape []int) *ir.Func {
	s := matrix(shape)
	name, better, t := "top", ir.Gt, ir.F32
	if a.Least {
		name, better = "bottom", ir.Lt
	}
	if positions {
		name, t = name+"_at", ir.I32
	}
	x, y := buf("x", ir.F32, s...), buf("y", t, s[0], a.K)
	best, at, taken := buf("best", ir.F32), buf("at", ir.I32), buf("taken", ir.I32, s[1])
	b, k, c := ir.V("b"), ir.V("k"), ir.V("c")
	e, none := ir.At(x, b, c), ir.Const(ir.I32, -1)
	// The first that is not taken, or one better than the best so far.
	choose := ir.Bin(ir.And, ir.Bin(ir.Eq, ir.At(taken, c), ir.Const(ir.I32, 0)),
		ir.Bin(ir.Or, ir.Bin(ir.Eq, ir.At(at), none), ir.Bin(better, e, ir.At(best))))
	chosen := buf("chosen", ir.I32)
	result := ir.At(best)
	if positions {
		result = ir.At(at)
	}
	one := ir.Seq(
		set(at, none), set(best, ir.Float(0)),
		ir.Nest(loops("", loop(ir.Reduce, "c", s[1])), ir.Seq(
			set(chosen, ir.CastTo(ir.I32, choose)),
			set(at, &ir.Select{Cond: ir.Bin(ir.Ne, ir.At(chosen), ir.Const(ir.I32, 0)), A: ir.CastTo(ir.I32, c),
				B: ir.At(at)}),
			set(best, &ir.Select{Cond: ir.Bin(ir.Ne, ir.At(chosen), ir.Const(ir.I32, 0)), A: e, B: ir.At(best)}))),
		ir.Nest(loops("", loop(ir.Channel, "c1", s[1])),
			update(ir.OrTo, taken, ir.CastTo(ir.I32, ir.Bin(ir.Eq, ir.CastTo(ir.I32, ir.V("c1")), ir.At(at))),
				ir.V("c1"))),
		set(y, result, b, k),
	)
	body := ir.Seq(
		ir.Nest(loops("", loop(ir.Channel, "c0", s[1])), set(taken, ir.Const(ir.I32, 0), ir.V("c0"))),
		ir.Nest(loops("", loop(ir.Channel, "k", a.K)), one),
	)
	return byRow(fmt.Sprintf("%s%d_%d", name, a.K, s[1]), x, y, body, best, at, chosen, taken)
}

// Reals gives i32 integers as f32.
func Reals(shape []int) *ir.Func { return converted("reals", ir.I32, ir.F32, shape) }

// Copy copies elements of type t.
func Copy(t ir.Type, shape []int) *ir.Func { return converted("copy_"+t.String(), t, t, shape) }

// converted gives elements of type from as type t.
func converted(name string, from, t ir.Type, shape []int) *ir.Func {
	s := Spatial(shape)
	x, y := buf("x", from, s...), buf("y", t, s...)
	return elementwise(name+"_"+imageSize(s), x, y, func(i []ir.Expr) ir.Expr { return ir.CastTo(t, ir.At(x, i...)) })
}
