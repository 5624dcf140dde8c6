package interp

import (
	"math"

	"ripc/internal/f32"
	"ripc/ir"
)

// f32 compiles a float expression. After an error the result may be nil.
func (c *compiler) f32(e ir.Expr) f32Fn {
	c.check(e)
	if t := e.Type(); !t.IsFloat() {
		c.fail("%s is %s, where f32 is needed", ir.ExprString(e), t)
	}
	switch e := e.(type) {
	case *ir.FloatImm:
		return func(*frame) float32 { return e.V }
	case *ir.Load:
		a := c.load(e)
		return func(fr *frame) float32 { return *elem[float32](fr.mem[a.mem], a.reading(fr)) }
	case *ir.Binary:
		return c.binaryF32(e)
	case *ir.Unary:
		return c.unaryF32(e)
	case *ir.Fma:
		return c.fma(e)
	case *ir.Select:
		cond, a, b := c.int(e.Cond), c.f32(e.A), c.f32(e.B)
		return func(fr *frame) float32 {
			if cond(fr) != 0 {
				return a(fr)
			}
			return b(fr)
		}
	case *ir.Cast:
		return c.castF32(e)
	case *ir.Bitcast:
		if e.A.Type().IsFloat() {
			return c.f32(e.A)
		}
		a := c.int(e.A)
		return func(fr *frame) float32 { return math.Float32frombits(uint32(a(fr))) }
	}
	c.fail("%s is not a float expression", ir.ExprString(e))
	return nil
}

func (c *compiler) binaryF32(e *ir.Binary) f32Fn {
	a, b := c.f32(e.A), c.f32(e.B)
	switch e.Op {
	case ir.Add:
		return func(fr *frame) float32 { x := a(fr); return f32.Add(x, b(fr)) }
	case ir.Sub:
		return func(fr *frame) float32 { x := a(fr); return f32.Sub(x, b(fr)) }
	case ir.Mul:
		return func(fr *frame) float32 { x := a(fr); return f32.Mul(x, b(fr)) }
	case ir.Div:
		return func(fr *frame) float32 { x := a(fr); return f32.Div(x, b(fr)) }
	case ir.Min:
		return func(fr *frame) float32 { x := a(fr); return f32.Min(x, b(fr)) }
	case ir.Max:
		return func(fr *frame) float32 { x := a(fr); return f32.Max(x, b(fr)) }
	}
	return nil
}

func (c *compiler) unaryF32(e *ir.Unary) f32Fn {
	a := c.f32(e.A)
	var op func(float32) float32
	switch e.Op {
	case ir.Neg:
		op = f32.Neg
	case ir.Abs:
		op = f32.Abs
	case ir.Sqrt:
		op = f32.Sqrt
	case ir.Floor:
		op = f32.Floor
	case ir.RoundEven:
		op = f32.RoundEven
	}
	return func(fr *frame) float32 { return op(a(fr)) }
}

func (c *compiler) fma(e *ir.Fma) f32Fn {
	if x, y, z := c.plainLoad(e.A), c.plainLoad(e.B), c.plainLoad(e.C); x != nil && y != nil && z != nil {
		return func(fr *frame) float32 {
			a := *elem[float32](fr.mem[x.mem], x.reading(fr))
			b := *elem[float32](fr.mem[y.mem], y.reading(fr))
			return f32.Fma(a, b, *elem[float32](fr.mem[z.mem], z.reading(fr)))
		}
	}
	a, b, d := c.f32(e.A), c.f32(e.B), c.f32(e.C)
	return func(fr *frame) float32 {
		x, y := a(fr), b(fr)
		return f32.Fma(x, y, d(fr))
	}
}

func (c *compiler) castF32(e *ir.Cast) f32Fn {
	from := e.A.Type()
	if from.IsFloat() {
		return c.f32(e.A)
	}
	a := c.int(e.A)
	if from == ir.U64 {
		return func(fr *frame) float32 { return float32(uint64(a(fr))) }
	}
	return func(fr *frame) float32 { return float32(a(fr)) }
}

// compareF32 returns nil for operators that do not compare.
func compareF32(op ir.BinOp, a, b f32Fn) intFn {
	var cmp func(x, y float32) bool
	switch op {
	case ir.Eq:
		cmp = func(x, y float32) bool { return x == y }
	case ir.Ne:
		cmp = func(x, y float32) bool { return x != y }
	case ir.Lt:
		cmp = func(x, y float32) bool { return x < y }
	case ir.Le:
		cmp = func(x, y float32) bool { return x <= y }
	case ir.Gt:
		cmp = func(x, y float32) bool { return x > y }
	case ir.Ge:
		cmp = func(x, y float32) bool { return x >= y }
	default:
		return nil
	}
	return func(fr *frame) int64 {
		x := f32.Flush(a(fr))
		return truth(cmp(x, f32.Flush(b(fr))))
	}
}
