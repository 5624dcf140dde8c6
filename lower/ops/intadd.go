package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// IntAdd adds the levels of two packed tensors of 8 bits as a says; axes of extent 1 are repeated. Parameters: x0, x1, y.
func IntAdd(a *graph.IntAddAttrs, x, y *graph.Value) *ir.Func {
	s, operands, repeated := broadcast(x.Shape, y.Shape)
	dst := BitBuffer("y", a.Bits, s, a.Enc)
	f := &ir.Func{Name: fmt.Sprintf("int_add_%s_%dx%dx%d%s", a.Form, s[1], s[2], s[3], repeated)}
	i := vars(loops("", over(ir.Batch, "b", s[0]), over(ir.Row, "h", s[1]), over(ir.Col, "w", s[2])))
	c := ir.V("c")
	var numbers [2]ir.Expr
	for k, v := range [2]*graph.Value{x, y} {
		o, channel := operands[k], ir.Expr(c)
		if o.single(s) {
			channel = ir.Int(0)
		}
		src := BitBuffer(fmt.Sprintf("x%d", k), v.Bits, o.size, v.Enc)
		f.Params = append(f.Params, in(src))
		t := v.LevelType
		if a.Form == graph.FloatRequantization {
			t.Zero = graph.CallerZero(t)
		}
		numbers[k] = integer(level(src, o.pixel(i), channel), t)
	}
	f.Params = append(f.Params, out(dst))
	v := buf("v", ir.I32, s[3])
	sum, bufs := floatSum(a, numbers, v, c), []ir.Buffer{v}
	if a.Form == graph.FixedRequantization {
		u := buf("u", ir.I32, s[3])
		sum, bufs = fixedSum(a, numbers, v, u, c), append(bufs, u)
	}
	pixel := ir.Nest(loops("", over(ir.Channel, "c", s[3])), sum)
	f.Body = packPixels(dst, func(words ir.Stmt) ir.Stmt { return allocs(bufs, ir.Seq(pixel, words)) },
		func(_ []ir.Expr, o ir.Expr) []ir.Expr { return bitsOf(ir.At(v, o), a.Bits) })
	return f
}

// inLevels is an i32 integer as a level of a's, zero being the level of 0.
func inLevels(a *graph.IntAddAttrs, v ir.Expr, zero int) ir.Expr {
	return clipped(&graph.ScaleSums{Zero: zero, Low: a.Low, High: a.High}, v)
}

// floatSum sets element c of v to the level of a sum in f32.
func floatSum(a *graph.IntAddAttrs, x [2]ir.Expr, v ir.Buffer, c ir.Expr) ir.Stmt {
	f32 := func(v ir.Expr) ir.Expr { return ir.CastTo(ir.F32, v) }
	inner := &ir.Fma{A: f32(x[1]), B: ir.Float(float32(a.B)), C: ir.Float(float32(a.C))}
	sum := &ir.Fma{A: f32(x[0]), B: ir.Float(float32(a.A)), C: inner}
	return set(v, inLevels(a, ir.CastTo(ir.I32, scalar.HalfEven.Expr(sum)), graph.CallerZero(a.LevelType)), c)
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
