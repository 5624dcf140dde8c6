package ops

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
)

// IntAdd adds the levels of two tensors of 8 bits as a says, and stores them in the form to; axes
// of extent 1 are repeated. Parameters: x0, x1, y.
func IntAdd(a *graph.IntAddAttrs, x, y layout.Tensor, to layout.Form) *ir.Func {
	p := pair{name: "int_add", callers: true, IntPair: a.IntPair}
	p.floatLevel = func(x [2]ir.Expr) ir.Expr {
		f32 := func(v ir.Expr) ir.Expr { return ir.CastTo(ir.F32, v) }
		inner := &ir.Fma{A: f32(x[1]), B: ir.Float(float32(a.B)), C: ir.Float(float32(a.C))}
		return p.rounded(&ir.Fma{A: f32(x[0]), B: ir.Float(float32(a.A)), C: inner})
	}
	p.fixedLevel = func(x [2]ir.Expr, v ir.Buffer, c ir.Expr) ([]ir.Stmt, []ir.Buffer) {
		const leftShift = 20
		u := buf("u", ir.I32, v.Shape...)
		up := func(x ir.Expr) ir.Expr { return ir.Bin(ir.Shl, x, ir.Const(ir.I32, leftShift)) }
		both := add(ir.At(v, c), ir.At(u, c))
		if a.Sub {
			both = sub(ir.At(v, c), ir.At(u, c))
		}
		return slices.Concat(timesFactor(v, up(x[0]), a.A, c), timesFactor(u, up(x[1]), a.B, c),
			timesFactor(v, both, a.C, c)), []ir.Buffer{u}
	}
	return p.funcOf(x, y, to)
}

// IntMul multiplies the levels of two tensors of 8 bits as a says, else as IntAdd.
func IntMul(a *graph.IntMulAttrs, x, y layout.Tensor, to layout.Form) *ir.Func {
	p := pair{name: "int_mul", IntPair: a.IntPair}
	p.floatLevel = func(x [2]ir.Expr) ir.Expr {
		zero := ir.Float(float32(a.Zero - graph.CallerZero(a.LevelType)))
		return p.rounded(add(mul(ir.CastTo(ir.F32, mul(x[0], x[1])), ir.Float(float32(a.By))), zero))
	}
	p.fixedLevel = func(x [2]ir.Expr, v ir.Buffer, c ir.Expr) ([]ir.Stmt, []ir.Buffer) {
		return timesFactor(v, mul(x[0], x[1]), a.By, c), nil
	}
	return p.funcOf(x, y, to)
}

// pair computes a level from two integers.
type pair struct {
	graph.IntPair
	name string
	// callers says that the operands are the caller's integers (FloatRequantization). Otherwise
	// they are levels less the zero point.
	callers    bool
	floatLevel func(x [2]ir.Expr) ir.Expr
	// fixedLevel stores the level, less its zero point, in element c of v. on holds the buffers of
	// intermediate numbers.
	fixedLevel func(x [2]ir.Expr, v ir.Buffer, c ir.Expr) (set []ir.Stmt, on []ir.Buffer)
}

// funcOf computes p of all elements of x and y, and stores levels in the form to; axes of extent 1
// are repeated. Parameters: x0, x1, y.
func (p *pair) funcOf(x, y layout.Tensor, to layout.Form) *ir.Func {
	s, operands, repeated := broadcast(x.Shape, y.Shape)
	dst := layout.Tensor{Value: graph.Value{LevelType: p.LevelType}, Form: to}
	f := &ir.Func{Name: fmt.Sprintf("%s_%s_%dx%dx%d%s", p.name, p.Form, s[1], s[2], s[3], repeated)}
	if repeated == "" && x.Form.Bytewise() && y.Form.Bytewise() && to.Bytewise() {
		n := rows(s)
		s = []int{s[0], s[1], s[2] / n, n * s[3]}
		operands[0].size, operands[1].size = s, s
	}
	outer, i := pixels("", s)
	c := ir.V("c")
	var numbers [2]ir.Expr
	for k, v := range [2]layout.Tensor{x, y} {
		o, channel := operands[k], ir.Expr(c)
		if o.single(s) {
			channel = ir.Int(0)
		}
		src := tensorBuffer(fmt.Sprintf("x%d", k), v, o.size)
		f.Params = append(f.Params, inParam(src))
		t := v.LevelType
		if p.callers && p.Form == graph.FloatRequantization {
			t.Zero = graph.CallerZero(t)
		}
		numbers[k] = integer(levelAt(v, src, o.pixel(i), channel), t)
	}
	res := tensorBuffer("y", dst, s)
	f.Params = append(f.Params, outParam(res))
	channels := loop(ir.Channel, "c", s[3])
	if to.Bytewise() && p.Form == graph.FloatRequantization {
		f.Body = ir.Nest(append(outer, channels), set(res, byteOf(p.floatLevel(numbers), dst.StoredType()), i[0], i[1],
			i[2], c))
		return f
	}
	v := buf("v", ir.I32, s[3])
	level, bufs := set(v, p.floatLevel(numbers), c), []ir.Buffer{v}
	if p.Form == graph.FixedRequantization {
		fixed, on := p.fixedLevel(numbers, v, c)
		level, bufs = ir.Seq(append(fixed, set(v, p.inLevels(ir.At(v, c), p.Zero), c))...), append(bufs, on...)
	}
	if to.Bytewise() {
		store := set(res, byteOf(ir.At(v, c), dst.StoredType()), i[0], i[1], i[2], c)
		f.Body = ir.Nest(outer, allocs(bufs, ir.Nest([]ir.Loop{channels}, ir.Seq(level, store))))
		return f
	}
	pixel := ir.Nest([]ir.Loop{channels}, level)
	f.Body = packVector(res, Slice{}, p.Bits, v, bufs, pixel)
	return f
}

// inLevels returns an i32 integer as a level of p; zero is the level of 0.
func (p *pair) inLevels(v ir.Expr, zero int) ir.Expr {
	return clipped(&graph.ScaleSums{Zero: zero, Low: p.Low, High: p.High}, v)
}

// rounded returns the level of a caller's f32.
func (p *pair) rounded(v ir.Expr) ir.Expr {
	return p.inLevels(ir.CastTo(ir.I32, scalar.HalfEven.Expr(v)), graph.CallerZero(p.LevelType))
}

// timesFactor sets element c of to to x times a number, as a graph.FixedPoint multiplies.
func timesFactor(to ir.Buffer, x ir.Expr, by float64, c ir.Expr) []ir.Stmt {
	f := constantFactor(graph.FixedPointOf(by))
	return []ir.Stmt{set(to, f.high(x), c), set(to, f.shifted(ir.At(to, c)), c)}
}
