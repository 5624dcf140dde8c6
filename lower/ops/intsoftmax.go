package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
)

// IntSoftmax is softmax over the last axis of levels x, as levels in the form to; see
// graph.IntSoftmaxAttrs. Parameters: x, the exponentials, y.
func IntSoftmax(a *graph.IntSoftmaxAttrs, x layout.Tensor, to layout.Form) (*ir.Func, []Const) {
	s := Spatial(x.Shape)
	table := a.Exponentials(x.LevelType, s[3])
	src, exps, y := tensorBuffer("x", x, s), buf("table", ir.F32, len(table)), levelBuffer("y", a.LevelType, s, to)
	top, tops, sum, e := buf("top", ir.I32), buf("tops", ir.I32, min(maxima, s[3])), buf("sum", ir.F32),
		buf("e", ir.F32, s[3])
	outer, i := pixels("", s)
	at := func(c ir.Expr) ir.Expr { return levelAt(x, src, i, c) }
	below := ir.CastTo(ir.U8, sub(ir.At(top), at(ir.V("c1"))))
	q := &scalar.Quantizer{LevelType: scalar.LevelType{Enc: a.Enc, Bits: a.Bits, Scale: 1, Zero: a.Zero},
		Rounding: scalar.HalfEven}
	level := func(c ir.Expr) ir.Expr {
		return q.Expr(ir.Bin(ir.Div, mul(ir.At(e, c), ir.Float(a.Steps())), ir.At(sum)))
	}
	rest := []ir.Stmt{
		greatest(top, tops, s[3], at),
		ir.Nest(loops("", loop(ir.Channel, "c1", s[3])), set(e, ir.At(exps, ir.CastTo(ir.I64, below)), ir.V("c1"))),
		set(sum, ir.Float(0)),
		ir.Nest(loops("", loop(ir.Reduce, "s", s[3])), update(ir.AddTo, sum, ir.At(e, ir.V("s")))),
	}
	own := []ir.Buffer{top, tops, sum, e}
	levels := func(set func(c ir.Expr) ir.Stmt) ir.Stmt {
		return ir.Seq(append(rest, ir.Nest(loops("", loop(ir.Channel, "c2", s[3])), set(ir.V("c2"))))...)
	}
	consts := []Const{{"table", constantData(table)}}
	f := &ir.Func{Name: fmt.Sprintf("int_softmax_%dx%dx%d", s[1], s[2], s[3]),
		Params: []ir.Param{inParam(src), inParam(exps), outParam(y)}}
	if to.Bytewise() {
		dst := layout.Tensor{Value: graph.Value{LevelType: a.LevelType}, Form: to}
		row := levels(func(c ir.Expr) ir.Stmt {
			return set(y, byteOf(level(c), dst.StoredType()), i[0], i[1], i[2], c)
		})
		f.Body = ir.Nest(outer, allocs(own, row))
		return f, consts
	}
	v := buf("v", ir.I32, s[3])
	row := levels(func(c ir.Expr) ir.Stmt { return set(v, level(c), c) })
	f.Body = packVector(y, Slice{}, a.Bits, v, append(own, v), row)
	return f, consts
}
