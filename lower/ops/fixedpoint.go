package ops

import (
	"slices"

	"ripc/graph"
	"ripc/ir"
)

// fixed is a graph.FixedPoint in expressions: the multiplier, the left shift before the product,
// and the right shift after it. If some factors shift nothing to the right, mask holds the bits
// shifted out, and half their half. All are i32; nil stands for 0.
type fixed struct {
	multiplier, left, right, mask, half ir.Expr
	// cut says that results below 0 count as 0, so that the rounding of their halves is free.
	cut bool
}

// fixedFactor returns one of the factors `all`. at returns an operand, such as a channel's.
func fixedFactor(at func(name string, of func(f graph.FixedPoint) int32) ir.Expr, all ...graph.FixedPoint) fixed {
	f := fixed{multiplier: at("mult", func(f graph.FixedPoint) int32 { return f.Multiplier })}
	if slices.ContainsFunc(all, func(f graph.FixedPoint) bool { return f.Shift > 0 }) {
		f.left = at("left", func(f graph.FixedPoint) int32 { return int32(max(0, f.Shift)) })
	}
	shifts := func(f graph.FixedPoint) bool { return f.Shift < 0 }
	// a right shift would change its product
	stays := func(f graph.FixedPoint) bool { return f.Shift >= 0 && f.Multiplier != 0 }
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

// constantFactor returns a constant factor.
func constantFactor(f graph.FixedPoint) fixed {
	return fixedFactor(func(_ string, of func(f graph.FixedPoint) int32) ir.Expr {
		return ir.Const(ir.I32, int64(of(f)))
	}, f)
}

// high returns the high half of twice the product with the i32 v, rounded to the nearest, halves
// up.
func (f fixed) high(v ir.Expr) ir.Expr {
	if f.left != nil {
		v = ir.Bin(ir.Shl, v, f.left)
	}
	product := mul(ir.CastTo(ir.I64, v), ir.CastTo(ir.I64, f.multiplier))
	return ir.CastTo(ir.I32, ir.Bin(ir.Shr, add(product, ir.Const(ir.I64, 1<<30)), ir.Const(ir.I64, 31)))
}

// shifted shifts v, the result of high, to the right, rounded to the nearest, halves away from
// zero. It repeats v up to three times, and cannot wrap, since the magnitude of high's result is
// less than 2^31.
//
// If all factors shift, a negative v is decremented, which moves halves away from zero. It loses
// all shifted bits but one, and then that one, rounded up. Otherwise the result is the floor, plus
// one if the shifted bits are more than a half, or a half of a positive number.
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

// once returns the product with the i32 v, rounded once, or nil if that differs from high and
// shifted. Both round by adding a half and dropping the fraction:
//
//	(((v*m + 2^30) >> 31) + 2^right) >> (right+1) = (v*m + 2^30 + 2^(31+right)) >> 32 >> right
//
// The sum is less than 2^63. Rounding halves away from zero differs for negative numbers.
func (f fixed) once(v ir.Expr) ir.Expr {
	if !f.cut || f.left != nil || f.right == nil || f.mask != nil {
		return nil
	}
	wide := func(e ir.Expr) ir.Expr { return ir.CastTo(ir.I64, e) }
	half := ir.Bin(ir.Shl, wide(ir.Bin(ir.Shl, ir.Const(ir.I32, 1), f.right)), ir.Const(ir.I64, 31))
	sum := add(mul(wide(v), wide(f.multiplier)), add(half, ir.Const(ir.I64, 1<<30)))
	return ir.Bin(ir.Shr, ir.CastTo(ir.I32, ir.Bin(ir.Shr, sum, ir.Const(ir.I64, 32))), f.right)
}

// quotient returns the i32 v / count, rounded to the nearest, halves away from zero. It repeats v
// three times.
func quotient(v ir.Expr, count int) ir.Expr {
	zero, half := ir.Const(ir.I32, 0), ir.Const(ir.I32, int64(count/2))
	by := ir.Bin(ir.Div, add(&ir.Select{Cond: ir.Bin(ir.Lt, v, zero), A: sub(zero, v), B: v}, half),
		ir.Const(ir.I32, int64(count)))
	return &ir.Select{Cond: ir.Bin(ir.Lt, v, zero), A: sub(zero, by), B: by}
}
