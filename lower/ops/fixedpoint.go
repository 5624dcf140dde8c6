package ops

import (
	"slices"

	"ripc/graph"
	"ripc/ir"
)

// fixed is a graph.FixedPoint in expressions: the multiplier, by how much to shift left before the product and right behind it, and, where
// some factors shift nothing to the right, the bits that leave there, and the half of these. All are i32; nil stands for 0.
type fixed struct {
	multiplier, left, right, mask, half ir.Expr
	// cut says that nobody can tell results below 0 from 0, so that it does not matter how their halves are rounded.
	cut bool
}

// fixedFactor is one of factors all, whose parts are operands, such as those of a channel.
func fixedFactor(at func(name string, of func(f graph.FixedPoint) int32) ir.Expr, all ...graph.FixedPoint) fixed {
	f := fixed{multiplier: at("mult", func(f graph.FixedPoint) int32 { return f.Multiplier })}
	if slices.ContainsFunc(all, func(f graph.FixedPoint) bool { return f.Shift > 0 }) {
		f.left = at("left", func(f graph.FixedPoint) int32 { return int32(max(0, f.Shift)) })
	}
	shifts := func(f graph.FixedPoint) bool { return f.Shift < 0 }
	stays := func(f graph.FixedPoint) bool { return f.Shift >= 0 && f.Multiplier != 0 } // whose products shifts would change
	switch mask := func(f graph.FixedPoint) int32 { return int32(int64(1)<<max(0, -f.Shift) - 1) }; {
	case !slices.ContainsFunc(all, shifts):
	case !slices.ContainsFunc(all, stays):
		f.right = at("right", func(f graph.FixedPoint) int32 { return int32(max(0, -f.Shift-1)) })
	default:
		f.right = at("right", func(f graph.FixedPoint) int32 { return int32(max(0, -f.Shift)) })
		f.mask = at("mask", mask)
		f.half = at("half", func(f graph.FixedPoint) int32 { return mask(f) >> 1 })
	}
	return f
}

// constantFactor is a factor that is known.
func constantFactor(f graph.FixedPoint) fixed {
	return fixedFactor(func(_ string, of func(f graph.FixedPoint) int32) ir.Expr { return ir.Const(ir.I32, int64(of(f))) }, f)
}

// high is the high half of twice the product with the i32 v, rounded to the nearest, halves up.
func (f fixed) high(v ir.Expr) ir.Expr {
	if f.left != nil {
		v = ir.Bin(ir.Shl, v, f.left)
	}
	product := mul(ir.CastTo(ir.I64, v), ir.CastTo(ir.I64, f.multiplier))
	return ir.CastTo(ir.I32, ir.Bin(ir.Shr, add(product, ir.Const(ir.I64, 1<<30)), ir.Const(ir.I64, 31)))
}

// shifted is v, what high made, shifted to the right, rounded to the nearest, halves away from zero. It has v up to three times, and cannot
// wrap, since the magnitude of what high makes is less than 2^31.
//
// Where all factors shift, v is made one less if negative, which moves halves away from zero; it loses all bits but one that leave, and
// then that one, rounded up. Else the result is one more than the floor where what leaves is more than a half, or a half of a number from 0.
func (f fixed) shifted(v ir.Expr) ir.Expr {
	one := ir.Const(ir.I32, 1)
	switch {
	case f.right == nil:
		return v
	case f.mask == nil:
		if !f.cut {
			v = add(v, ir.Bin(ir.Shr, v, ir.Const(ir.I32, 31)))
		}
		return ir.Bin(ir.Shr, add(ir.Bin(ir.Shr, v, f.right), one), one)
	}
	half := f.half
	if !f.cut {
		half = add(half, ir.CastTo(ir.I32, ir.Bin(ir.Lt, v, ir.Const(ir.I32, 0))))
	}
	return add(ir.Bin(ir.Shr, v, f.right), ir.CastTo(ir.I32, ir.Bin(ir.Gt, ir.Bin(ir.And, v, f.mask), half)))
}

// once is the product with the i32 v, rounded once, nil where that is not what high and shifted make. Both round by adding a half and cutting off what is behind the point:
//
//	(((v*m + 2^30) >> 31) + 2^right) >> (right+1) = (v*m + 2^30 + 2^(31+right)) >> 32 >> right
//
// The sum is less than 2^63. Rounding halves away from zero is something else for numbers below it.
func (f fixed) once(v ir.Expr) ir.Expr {
	if !f.cut || f.left != nil || f.right == nil || f.mask != nil {
		return nil
	}
	wide := func(e ir.Expr) ir.Expr { return ir.CastTo(ir.I64, e) }
	half := ir.Bin(ir.Shl, wide(ir.Bin(ir.Shl, ir.Const(ir.I32, 1), f.right)), ir.Const(ir.I64, 31))
	sum := add(mul(wide(v), wide(f.multiplier)), add(half, ir.Const(ir.I64, 1<<30)))
	return ir.Bin(ir.Shr, ir.CastTo(ir.I32, ir.Bin(ir.Shr, sum, ir.Const(ir.I64, 32))), f.right)
}

// quotient is the i32 sum by count, rounded to the nearest, halves away from zero. It has v three times.
func quotient(v ir.Expr, count int) ir.Expr {
	zero, half := ir.Const(ir.I32, 0), ir.Const(ir.I32, int64(count/2))
	by := ir.Bin(ir.Div, add(&ir.Select{Cond: ir.Bin(ir.Lt, v, zero), A: sub(zero, v), B: v}, half), ir.Const(ir.I32, int64(count)))
	return &ir.Select{Cond: ir.Bin(ir.Lt, v, zero), A: sub(zero, by), B: by}
}
