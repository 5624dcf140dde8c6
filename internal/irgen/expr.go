package irgen

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"ripc/ir"
)

func binary(op ir.BinOp, a, b ir.Expr) ir.Expr { return &ir.Binary{Op: op, A: a, B: b} }

// indices draws an element of b.
func (g *gen) indices(b ir.Buffer) []ir.Expr {
	var out []ir.Expr
	for _, n := range b.Shape {
		out = append(out, g.index(n))
	}
	return out
}

// index draws an index in 0..n-1, affine where that fits.
func (g *gen) index(n int) ir.Expr {
	if len(g.vars) == 0 || g.chance(6) {
		return ir.Int(g.count(0, n-1))
	}
	v := pick(g, g.vars)
	e, top := ir.V(v.Var), v.Extent-1
	if w := pick(g, g.vars); w != v && g.chance(2) {
		k := g.count(1, 3)
		e, top = binary(ir.Add, scaleIndex(ir.V(v.Var), k), ir.V(w.Var)), top*k+w.Extent-1
	}
	switch {
	case top < n && g.chance(3):
		return binary(ir.Sub, ir.Int(n-1), e)
	case top < n:
		if c := g.count(0, n-1-top); c > 0 {
			e = binary(ir.Add, e, ir.Int(c))
		}
		return e
	case g.chance(2):
		return binary(ir.Mod, e, ir.Int(n))
	case g.chance(2):
		return binary(ir.Div, e, ir.Int(top/n+1))
	}
	return binary(ir.Min, binary(ir.Max, binary(ir.Sub, e, ir.Int(1)), ir.Int(0)), ir.Int(n-1))
}

func scaleIndex(e ir.Expr, k int) ir.Expr {
	if k == 1 {
		return e
	}
	return binary(ir.Mul, e, ir.Int(k))
}

// load draws an element of a buffer of type t, at times beyond the end and guarded by a select. It
// is nil if there is no such buffer.
func (g *gen) load(t ir.Type) ir.Expr {
	var of []ir.Buffer
	for _, b := range slices.Concat(g.read, g.write) {
		if b.Type == t {
			of = append(of, b)
		}
	}
	if len(of) == 0 {
		return nil
	}
	b := pick(g, of)
	idx := g.indices(b)
	if len(idx) == 0 || len(g.vars) == 0 || !g.chance(4) {
		return ir.At(b, idx...)
	}
	d := g.count(0, len(idx)-1)
	off := binary(ir.Sub, scaleIndex(ir.V(pick(g, g.vars).Var), g.count(1, 2)), ir.Int(g.count(1, 2)))
	idx[d] = off
	inside := binary(ir.And, binary(ir.Ge, off, ir.Int(0)), binary(ir.Lt, off, ir.Int(b.Shape[d])))
	return &ir.Select{Cond: inside, A: ir.At(b, idx...), B: g.constant(t)}
}

func (g *gen) constant(t ir.Type) ir.Expr {
	switch {
	case t == ir.Bool:
		return ir.Const(t, int64(g.count(0, 1)))
	case t.IsFloat():
		return ir.Float(pick(g, []float32{0, 1, -1, 0.5, 3, -2.5, 1e10, 1.5e-7, 16777217, float32(math.Inf(1))}))
	case t == ir.U64:
		return ir.Const(t, rapid.Int64().Draw(g.t, "u64"))
	}
	lo, hi := int64(math.MinInt64)>>(64-t.Bits()), int64(math.MaxInt64)>>(64-t.Bits())
	if !t.Signed() {
		lo, hi = 0, 1<<t.Bits()-1
	}
	if g.chance(2) {
		lo, hi = max(lo, -3), 9
	}
	return ir.Const(t, rapid.Int64Range(lo, hi).Draw(g.t, "const"))
}

// expr draws an expression of type t, up to depth operators deep.
func (g *gen) expr(t ir.Type, depth int) ir.Expr {
	if depth > 0 && !g.chance(5) {
		switch {
		case t == ir.Bool:
			return g.boolean(depth - 1)
		case t.IsFloat():
			return g.float(depth - 1)
		}
		return g.integer(t, depth-1)
	}
	if t == ir.I64 && len(g.vars) > 0 && g.chance(2) {
		return ir.V(pick(g, g.vars).Var)
	}
	if !g.chance(4) {
		if e := g.load(t); e != nil {
			return e
		}
	}
	return g.constant(t)
}

func (g *gen) boolean(depth int) ir.Expr {
	switch g.count(0, 4) {
	case 0:
		return ir.Un(ir.Not, g.expr(ir.Bool, depth))
	case 1:
		op := pick(g, []ir.BinOp{ir.And, ir.Or, ir.Xor, ir.Eq, ir.Ne})
		return binary(op, g.expr(ir.Bool, depth), g.expr(ir.Bool, depth))
	}
	t := pick(g, types())
	return binary(ir.BinOp(g.count(int(ir.Eq), int(ir.Ge))), g.expr(t, depth), g.expr(t, depth))
}

func (g *gen) integer(t ir.Type, depth int) ir.Expr {
	sub := func() ir.Expr { return g.expr(t, depth) }
	switch g.count(0, 9) {
	case 0:
		op := pick(g, []ir.UnOp{ir.Neg, ir.Not, ir.Popcount, ir.Abs})
		return ir.Un(op, sub())
	case 1:
		return binary(pick(g, []ir.BinOp{ir.Div, ir.Mod}), sub(), ir.Const(t, int64(g.count(1, 100))))
	case 2:
		op := pick(g, []ir.BinOp{ir.Shl, ir.Shr})
		if g.chance(2) {
			return binary(op, sub(), ir.Const(t, int64(g.count(0, t.Bits()-1))))
		}
		return binary(op, sub(), binary(ir.And, sub(), ir.Const(t, int64(t.Bits()-1))))
	case 3:
		return &ir.Select{Cond: g.expr(ir.Bool, depth), A: sub(), B: sub()}
	case 4:
		return &ir.Cast{T: t, A: g.expr(pick(g, append(types(), ir.Bool)), depth)}
	case 5:
		if t.Bits() == 32 && g.chance(2) { // the bits of a number, never of a NaN
			return &ir.Bitcast{T: t, A: &ir.Cast{T: ir.F32, A: g.expr(ir.I32, depth)}}
		}
		for _, from := range types() {
			if from.Bits() == t.Bits() && from != t && from.IsInt() {
				return &ir.Bitcast{T: t, A: g.expr(from, depth)}
			}
		}
	}
	op := pick(g, []ir.BinOp{ir.Add, ir.Sub, ir.Mul, ir.Min, ir.Max, ir.And, ir.Or, ir.Xor})
	return binary(op, sub(), sub())
}

func (g *gen) float(depth int) ir.Expr {
	sub := func() ir.Expr { return g.expr(ir.F32, depth) }
	switch g.count(0, 7) {
	case 0:
		return ir.Un(pick(g, []ir.UnOp{ir.Neg, ir.Sqrt, ir.Floor, ir.RoundEven, ir.Abs}), sub())
	case 1:
		return &ir.Fma{A: sub(), B: sub(), C: sub()}
	case 2:
		return &ir.Select{Cond: g.expr(ir.Bool, depth), A: sub(), B: sub()}
	case 3, 4:
		ints := slices.DeleteFunc(types(), ir.Type.IsFloat)
		return &ir.Cast{T: ir.F32, A: g.expr(pick(g, ints), depth)}
	case 5: // any significand, the exponent of 1..2
		low := binary(ir.And, g.expr(ir.U32, depth), ir.Const(ir.U32, 0x7fffff))
		return &ir.Bitcast{T: ir.F32, A: binary(ir.Or, low, ir.Const(ir.U32, 0x3f800000))}
	}
	op := pick(g, []ir.BinOp{ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Min, ir.Max})
	return binary(op, sub(), sub())
}
