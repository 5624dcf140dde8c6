package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
)

// IntAdd adds the levels of two tensors of 8 bits as a says, and stores them in the form to; axes of extent 1 are repeated. Parameters: x0,
// x1, y.
func IntAdd(a *graph.IntAddAttrs, x, y layout.Tensor, to layout.Form) *ir.Func {
	s, operands, repeated := broadcast(x.Shape, y.Shape)
	dst := layout.Tensor{Value: graph.Value{LevelType: a.LevelType}, Form: to}
	f := &ir.Func{Name: fmt.Sprintf("int_add_%s_%dx%dx%d%s", a.Form, s[1], s[2], s[3], repeated)}
	if repeated == "" && x.Form.Bytewise() && y.Form.Bytewise() && to.Bytewise() {
		n := rows(s)
		s = []int{s[0], s[1], s[2] / n, n * s[3]}
		operands[0].size, operands[1].size = s, s
	}
	outer := loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2]))
	i, c := vars(outer), ir.V("c")
	var numbers [2]ir.Expr
	for k, v := range [2]layout.Tensor{x, y} {
		o, channel := operands[k], ir.Expr(c)
		if o.single(s) {
			channel = ir.Int(0)
		}
		src := tensorBuffer(fmt.Sprintf("x%d", k), v, o.size)
		f.Params = append(f.Params, in(src))
		t := v.LevelType
		if a.Form == graph.FloatRequantization {
			t.Zero = graph.CallerZero(t)
		}
		numbers[k] = integer(levelAt(v, src, o.pixel(i), channel), t)
	}
	res := tensorBuffer("y", dst, s)
	f.Params = append(f.Params, out(res))
	v := buf("v", ir.I32, s[3])
	sum, bufs := set(v, floatLevel(a, numbers), c), []ir.Buffer{v}
	if a.Form == graph.FixedRequantization {
		u := buf("u", ir.I32, s[3])
		sum, bufs = fixedSum(a, numbers, v, u, c), append(bufs, u)
	}
	channels := over(ir.Channel, "c", s[3])
	if to.Bytewise() {
		if a.Form == graph.FloatRequantization {
			f.Body = ir.Nest(append(outer, channels), set(res, byteOf(floatLevel(a, numbers), dst.Stored()), i[0], i[1], i[2], c))
			return f
		}
		store := set(res, byteOf(ir.At(v, c), dst.Stored()), i[0], i[1], i[2], c)
		f.Body = ir.Nest(outer, allocs(bufs, ir.Nest([]ir.Loop{channels}, ir.Seq(sum, store))))
		return f
	}
	pixel := ir.Nest([]ir.Loop{channels}, sum)
	f.Body = packPixels(res, func(words ir.Stmt) ir.Stmt { return allocs(bufs, ir.Seq(pixel, words)) },
		func(_ []ir.Expr, o ir.Expr) []ir.Expr { return bitsOf(ir.At(v, o), a.Bits) })
	return f
}

// inLevels is an i32 integer as a level of a's, zero being the level of 0.
func inLevels(a *graph.IntAddAttrs, v ir.Expr, zero int) ir.Expr {
	return clipped(&graph.ScaleSums{Zero: zero, Low: a.Low, High: a.High}, v)
}

// floatLevel is the level of a sum in f32.
func floatLevel(a *graph.IntAddAttrs, x [2]ir.Expr) ir.Expr {
	f32 := func(v ir.Expr) ir.Expr { return ir.CastTo(ir.F32, v) }
	inner := &ir.Fma{A: f32(x[1]), B: ir.Float(float32(a.B)), C: ir.Float(float32(a.C))}
	sum := &ir.Fma{A: f32(x[0]), B: ir.Float(float32(a.A)), C: inner}
	return inLevels(a, ir.CastTo(ir.I32, scalar.HalfEven.Expr(sum)), graph.CallerZero(a.LevelType))
}

// fixedSum sets element c of v to the level of a sum in integers; u is for what is on the way.
func fixedSum(a *graph.IntAddAttrs, x [2]ir.Expr, v, u ir.Buffer, c ir.Expr) ir.Stmt {
	const leftShift = 20
	var body []ir.Stmt
	product := func(to ir.Buffer, x ir.Expr, by float64) {
		f := constantFactor(graph.FixedPointOf(by))
		body = append(body, set(to, f.high(x), c), set(to, f.shifted(ir.At(to, c)), c))
	}
	up := func(x ir.Expr) ir.Expr { return ir.Bin(ir.Shl, x, ir.Const(ir.I32, leftShift)) }
	product(v, up(x[0]), a.A)
	product(u, up(x[1]), a.B)
	both := add(ir.At(v, c), ir.At(u, c))
	if a.Sub {
		both = sub(ir.At(v, c), ir.At(u, c))
	}
	product(v, both, a.C)
	return ir.Seq(append(body, set(v, inLevels(a, ir.At(v, c), a.Zero), c))...)
}
