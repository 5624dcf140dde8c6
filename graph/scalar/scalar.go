// Package scalar has the functions of one number that layers are made of: roundings, float steps
// and quantizers. Each has a value (Eval, in the arithmetic of ir, see internal/f32) and an
// expression (Expr) that computes the same, to the bit. A formula stands once, over an arithmetic
// that is either of numbers or of expressions.
package scalar

import (
	"math"

	"ripc/internal/f32"
	"ripc/ir"
)

// arithmetic has the operations of all formulas. T is float32 (numbers) or ir.Expr (exprs). Every
// operation rounds once.
type arithmetic[T any] interface {
	constant(v float32) T
	add(a, b T) T
	mul(a, b T) T
	div(a, b T) T
	fma(a, b, c T) T
	min(a, b T) T
	max(a, b T) T
	clip(v T, lo, hi float32) T // min(max(v, lo), hi)
	abs(v T) T
	neg(v T) T
	sqrt(v T) T
	floor(v T) T
	nearest(v T) T                // the integer, halves to even
	power(n T) T                  // 2^n for integers of -126..127
	exponent(v T) T               // the integer e for which 2^-e * v is from sqrt(1/2) to sqrt(2), for normal v > 0
	mantissa(v T) T               // 2^-e * v
	withSign(a, b T) T            // a, which is no negative number, with the sign of b
	binary(op ir.BinOp, a, b T) T // comparisons make truth values, And, Or and Xor take them
	not(a T) T
	choose(c, a, b T) T
}

// numbers is the arithmetic of values. Truth values are 1 and 0.
type numbers struct{}

func (numbers) constant(v float32) float32     { return v }
func (numbers) add(a, b float32) float32       { return f32.Add(a, b) }
func (numbers) mul(a, b float32) float32       { return f32.Mul(a, b) }
func (numbers) div(a, b float32) float32       { return f32.Div(a, b) }
func (numbers) fma(a, b, c float32) float32    { return f32.Fma(a, b, c) }
func (numbers) min(a, b float32) float32       { return f32.Min(a, b) }
func (numbers) max(a, b float32) float32       { return f32.Max(a, b) }
func (numbers) clip(v, lo, hi float32) float32 { return f32.Min(f32.Max(v, lo), hi) }
func (numbers) abs(v float32) float32          { return f32.Abs(v) }
func (numbers) neg(v float32) float32          { return f32.Neg(v) }
func (numbers) sqrt(v float32) float32         { return f32.Sqrt(v) }
func (numbers) floor(v float32) float32        { return f32.Floor(v) }
func (numbers) nearest(v float32) float32      { return f32.RoundEven(v) }
func (numbers) not(a float32) float32          { return binaries[ir.Xor](a, 1) }

func (numbers) power(n float32) float32 {
	return math.Float32frombits(uint32(f32.Truncate(n, 32, true)+127) << 23)
}

func (numbers) exponent(v float32) float32 {
	return float32((int32(math.Float32bits(v)) - rootHalf) >> 23)
}

func (m numbers) mantissa(v float32) float32 {
	return math.Float32frombits(math.Float32bits(v) - uint32(f32.Truncate(m.exponent(v), 32, true))<<23)
}

func (numbers) withSign(a, b float32) float32 {
	return float32(math.Copysign(float64(a), float64(b)))
}

func (numbers) binary(op ir.BinOp, a, b float32) float32 { return binaries[op](a, b) }

func (numbers) choose(c, a, b float32) float32 {
	if c != 0 {
		return a
	}
	return b
}

// binaries are the operations of numbers.binary.
var binaries = [...]func(a, b float32) float32{
	ir.Add: f32.Add, ir.Sub: f32.Sub, ir.Mul: f32.Mul, ir.Div: f32.Div, ir.Min: f32.Min, ir.Max: f32.Max,
	ir.Gt:  truth(func(a, b float32) bool { return a > b }),
	ir.Ge:  truth(func(a, b float32) bool { return a >= b }),
	ir.Lt:  truth(func(a, b float32) bool { return a < b }),
	ir.Le:  truth(func(a, b float32) bool { return a <= b }),
	ir.Eq:  truth(func(a, b float32) bool { return a == b }),
	ir.Ne:  truth(func(a, b float32) bool { return a != b }),
	ir.And: truth(func(a, b float32) bool { return a != 0 && b != 0 }),
	ir.Or:  truth(func(a, b float32) bool { return a != 0 || b != 0 }),
	ir.Xor: truth(func(a, b float32) bool { return (a != 0) != (b != 0) }),
}

// truth is 1 where a condition on two numbers holds, and 0 elsewhere.
func truth(holds func(a, b float32) bool) func(a, b float32) float32 {
	return func(a, b float32) float32 {
		if holds(f32.Flush(a), f32.Flush(b)) {
			return 1
		}
		return 0
	}
}

// exprs is the arithmetic of expressions. Truth values are bool.
type exprs struct{}

func (exprs) constant(v float32) ir.Expr               { return ir.Float(v) }
func (exprs) add(a, b ir.Expr) ir.Expr                 { return ir.Bin(ir.Add, a, b) }
func (exprs) mul(a, b ir.Expr) ir.Expr                 { return ir.Bin(ir.Mul, a, b) }
func (exprs) div(a, b ir.Expr) ir.Expr                 { return ir.Bin(ir.Div, a, b) }
func (exprs) fma(a, b, c ir.Expr) ir.Expr              { return &ir.Fma{A: a, B: b, C: c} }
func (exprs) min(a, b ir.Expr) ir.Expr                 { return ir.Bin(ir.Min, a, b) }
func (exprs) max(a, b ir.Expr) ir.Expr                 { return ir.Bin(ir.Max, a, b) }
func (exprs) abs(v ir.Expr) ir.Expr                    { return ir.Un(ir.Abs, v) }
func (exprs) neg(v ir.Expr) ir.Expr                    { return ir.Un(ir.Neg, v) }
func (exprs) sqrt(v ir.Expr) ir.Expr                   { return ir.Un(ir.Sqrt, v) }
func (exprs) floor(v ir.Expr) ir.Expr                  { return ir.Un(ir.Floor, v) }
func (exprs) nearest(v ir.Expr) ir.Expr                { return ir.Un(ir.RoundEven, v) }
func (exprs) binary(op ir.BinOp, a, b ir.Expr) ir.Expr { return ir.Bin(op, a, b) }
func (exprs) not(a ir.Expr) ir.Expr                    { return ir.Bin(ir.Xor, a, ir.Const(ir.Bool, 1)) }
func (exprs) choose(c, a, b ir.Expr) ir.Expr           { return &ir.Select{Cond: c, A: a, B: b} }

func (exprs) clip(v ir.Expr, lo, hi float32) ir.Expr {
	return ir.Bin(ir.Min, ir.Bin(ir.Max, v, ir.Float(lo)), ir.Float(hi))
}

func (exprs) power(n ir.Expr) ir.Expr {
	bits := ir.Bin(ir.Shl, ir.Bin(ir.Add, ir.CastTo(ir.I32, n), ir.Const(ir.I32, 127)), ir.Const(ir.I32, 23))
	return &ir.Bitcast{T: ir.F32, A: bits}
}

func (exprs) exponent(v ir.Expr) ir.Expr {
	bits := ir.Bin(ir.Sub, &ir.Bitcast{T: ir.I32, A: v}, ir.Const(ir.I32, rootHalf))
	return ir.CastTo(ir.F32, ir.Bin(ir.Shr, bits, ir.Const(ir.I32, 23)))
}

func (m exprs) mantissa(v ir.Expr) ir.Expr {
	shift := ir.Bin(ir.Shl, ir.CastTo(ir.I32, m.exponent(v)), ir.Const(ir.I32, 23))
	return &ir.Bitcast{T: ir.F32, A: ir.Bin(ir.Sub, &ir.Bitcast{T: ir.I32, A: v}, shift)}
}

func (exprs) withSign(a, b ir.Expr) ir.Expr {
	sign := ir.Bin(ir.And, &ir.Bitcast{T: ir.U32, A: b}, ir.Const(ir.U32, 1<<31))
	return &ir.Bitcast{T: ir.F32, A: ir.Bin(ir.Or, &ir.Bitcast{T: ir.U32, A: a}, sign)}
}
