// Package scalar has the functions of one number that layers are made of: roundings, float steps
// and quantizers. Each has a value (Eval, in the arithmetic of ir, see internal/f32) and an
// expression (Expr) that computes the same, to the bit. A formula stands once, over an arithmetic
// that is either of numbers or of expressions.
package scalar

import (
	"ripc/internal/f32"
	"ripc/ir"
)

// arithmetic has the operations of quantizers' formulas. T is float32 (numbers), ir.Expr (exprs) or
// a chain of float steps (chains); every operation rounds once.
type arithmetic[T any] interface {
	constant(v float32) T
	add(a, b T) T
	mul(a, b T) T
	div(a, b T) T
	clip(v T, lo, hi float32) T // min(max(v, lo), hi)
}

// stepArithmetic has the operations of float steps' formulas.
type stepArithmetic[T any] interface {
	arithmetic[T]
	expArithmetic[T]
	logArithmetic[T]
	sqrt(v T) T
	sign(v T) T
	round(mode Rounding, v T) T
}

// numbers is the arithmetic of values.
type numbers struct{}

func (numbers) constant(v float32) float32             { return v }
func (numbers) add(a, b float32) float32               { return f32.Add(a, b) }
func (numbers) mul(a, b float32) float32               { return f32.Mul(a, b) }
func (numbers) div(a, b float32) float32               { return f32.Div(a, b) }
func (numbers) fma(a, b, c float32) float32            { return f32.Fma(a, b, c) }
func (numbers) min(a, b float32) float32               { return f32.Min(a, b) }
func (numbers) max(a, b float32) float32               { return f32.Max(a, b) }
func (numbers) abs(v float32) float32                  { return f32.Abs(v) }
func (numbers) sqrt(v float32) float32                 { return f32.Sqrt(v) }
func (numbers) round(mode Rounding, v float32) float32 { return mode.Eval(v) }

func (numbers) clip(v, lo, hi float32) float32 { return f32.Min(f32.Max(v, lo), hi) }

// sign is f32(v > 0) - f32(v < 0).
func (numbers) sign(v float32) float32 {
	switch v = f32.Flush(v); {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// exprs is the arithmetic of expressions.
type exprs struct{}

func (exprs) constant(v float32) ir.Expr             { return ir.Float(v) }
func (exprs) add(a, b ir.Expr) ir.Expr               { return ir.Bin(ir.Add, a, b) }
func (exprs) mul(a, b ir.Expr) ir.Expr               { return ir.Bin(ir.Mul, a, b) }
func (exprs) div(a, b ir.Expr) ir.Expr               { return ir.Bin(ir.Div, a, b) }
func (exprs) fma(a, b, c ir.Expr) ir.Expr            { return &ir.Fma{A: a, B: b, C: c} }
func (exprs) min(a, b ir.Expr) ir.Expr               { return ir.Bin(ir.Min, a, b) }
func (exprs) max(a, b ir.Expr) ir.Expr               { return ir.Bin(ir.Max, a, b) }
func (exprs) abs(v ir.Expr) ir.Expr                  { return ir.Un(ir.Abs, v) }
func (exprs) sqrt(v ir.Expr) ir.Expr                 { return ir.Un(ir.Sqrt, v) }
func (exprs) round(mode Rounding, v ir.Expr) ir.Expr { return mode.Expr(v) }

func (exprs) clip(v ir.Expr, lo, hi float32) ir.Expr {
	return ir.Bin(ir.Min, ir.Bin(ir.Max, v, ir.Float(lo)), ir.Float(hi))
}

func (exprs) sign(v ir.Expr) ir.Expr {
	negative := &ir.Select{Cond: ir.Bin(ir.Lt, v, ir.Float(0)), A: ir.Float(-1), B: ir.Float(0)}
	return &ir.Select{Cond: ir.Bin(ir.Gt, v, ir.Float(0)), A: ir.Float(1), B: negative}
}
