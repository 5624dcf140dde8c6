package scalar

import (
	"ripc/internal/enum"
	"ripc/ir"
)

// Rounding is a way to round an f32 number to an integral one of its sign, in exact arithmetic.
type Rounding uint8

// The roundings; the zero value is to the nearest, halves to even.
const (
	HalfEven Rounding = iota
	HalfUp            // floor(x + 0.5)
	HalfDown          // ceil(x - 0.5)
	HalfAway          // halves away from zero
	Floor
	Ceil
	Trunc // to zero
	Away  // from zero
)

func roundingNames() []string {
	return []string{"half_even", "half_up", "half_down", "half_away", "floor", "ceil", "trunc", "away"}
}

// Roundings lists all of them.
func Roundings() []Rounding { return enum.All[Rounding](roundingNames()) }

// String is the rounding's name in models.
func (r Rounding) String() string { return enum.Name(roundingNames(), r) }

// ParseRounding is the inverse of Rounding.String; its error is an *enum.Unknown.
func ParseRounding(text string) (Rounding, error) {
	return enum.Parse[Rounding]("rounding", roundingNames(), text)
}

// Known reports whether r is one of the roundings above.
func (r Rounding) Known() bool { return r <= Away }

// Eval rounds x.
func (r Rounding) Eval(x float32) float32 { return round(numbers{}, r, x) }

// Expr rounds the f32 expression v.
func (r Rounding) Expr(v ir.Expr) ir.Expr { return round(exprs{}, r, v) }

// round is v rounded by r. Halves are found in 2*v, because its floor is exact: floor((floor(2*v) +
// 1)/2), below 2^23. From there on f32 has integers only.
func round[T any](m arithmetic[T], r Rounding, v T) T {
	half := func(v T) T {
		return m.floor(m.add(m.mul(m.floor(m.mul(v, m.constant(2))), m.constant(0.5)), m.constant(0.5)))
	}
	small := func(yes T) T { return m.choose(m.binary(ir.Lt, m.abs(v), m.constant(1<<23)), yes, v) }
	ceil := func(v T) T { return m.neg(m.floor(m.neg(v))) }
	switch r {
	case HalfEven:
		return m.nearest(v)
	case HalfUp:
		return small(m.withSign(m.abs(half(v)), v))
	case HalfDown:
		return small(m.withSign(m.abs(half(m.neg(v))), v))
	case HalfAway:
		return small(m.withSign(half(m.abs(v)), v))
	case Floor:
		return m.floor(v)
	case Ceil:
		return ceil(v)
	case Trunc:
		return m.withSign(m.floor(m.abs(v)), v)
	case Away:
		return m.withSign(ceil(m.abs(v)), v)
	}
	panic("BUG: unknown rounding " + r.String())
}

// copies is how often Expr has its operand.
func (r Rounding) copies() int {
	switch r {
	case Trunc, Away:
		return 2
	case HalfUp, HalfDown, HalfAway:
		return 4
	}
	return 1
}

// integer is Expr as i32, for values between +-2^22. (A cast to i32 truncates.)
func (r Rounding) integer(v ir.Expr) ir.Expr {
	i32 := func(v ir.Expr) ir.Expr { return ir.CastTo(ir.I32, v) }
	one := ir.Const(ir.I32, 1)
	switch r {
	case HalfUp:
		return ir.Bin(ir.Shr, ir.Bin(ir.Add, i32(floorTwice(v)), one), one)
	case HalfDown:
		return ir.Bin(ir.Sub, ir.Const(ir.I32, 0), HalfUp.integer(ir.Un(ir.Neg, v)))
	case HalfAway: // floor((n + 1)/2) for n from 0, floor(n/2) below, n being 2*v without its fraction
		n := i32(ir.Bin(ir.Mul, v, ir.Float(2)))
		return ir.Bin(ir.Shr, ir.Bin(ir.Add, n, i32(ir.Bin(ir.Ge, n, ir.Const(ir.I32, 0)))), one)
	case Trunc:
		return i32(v)
	}
	return i32(r.Expr(v))
}

func floorTwice(v ir.Expr) ir.Expr { return ir.Un(ir.Floor, ir.Bin(ir.Mul, v, ir.Float(2))) }
