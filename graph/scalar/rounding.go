package scalar

import (
	"math"

	"ripc/internal/enum"
	"ripc/internal/f32"
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
func (r Rounding) Eval(x float32) float32 {
	v := float64(f32.Flush(x)) // in 53 bits, adding a half rounds no value across an integer
	switch r {
	case HalfEven:
		return f32.RoundEven(x)
	case HalfUp:
		return float32(math.Copysign(math.Floor(v+0.5), v))
	case HalfDown:
		return float32(math.Copysign(math.Ceil(v-0.5), v))
	case HalfAway:
		return float32(math.Round(v))
	case Floor:
		return float32(math.Floor(v))
	case Ceil:
		return float32(math.Ceil(v))
	case Trunc:
		return float32(math.Trunc(v))
	case Away:
		return float32(math.Copysign(math.Ceil(math.Abs(v)), v))
	}
	panic("BUG: unknown rounding " + r.String())
}

// Expr rounds the f32 expression v. Halves are found in 2*v, because its floor is exact:
// floor((floor(2*v) + 1)/2), below 2^23. From there on f32 has integers only.
func (r Rounding) Expr(v ir.Expr) ir.Expr {
	half := func(v ir.Expr) ir.Expr {
		return ir.Un(ir.Floor, ir.Bin(ir.Add, ir.Bin(ir.Mul, floorTwice(v), ir.Float(0.5)), ir.Float(0.5)))
	}
	small := func(v, yes ir.Expr) ir.Expr {
		return &ir.Select{Cond: ir.Bin(ir.Lt, ir.Un(ir.Abs, v), ir.Float(1<<23)), A: yes, B: v}
	}
	abs := ir.Un(ir.Abs, v)
	switch r {
	case HalfEven:
		return ir.Un(ir.RoundEven, v)
	case HalfUp:
		return small(v, withSign(ir.Un(ir.Abs, half(v)), v))
	case HalfDown:
		return small(v, withSign(ir.Un(ir.Abs, half(ir.Un(ir.Neg, v))), v))
	case HalfAway:
		return small(v, withSign(half(abs), v))
	case Floor:
		return ir.Un(ir.Floor, v)
	case Ceil:
		return ceil(v)
	case Trunc:
		return withSign(ir.Un(ir.Floor, abs), v)
	case Away:
		return withSign(ceil(abs), v)
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

func ceil(v ir.Expr) ir.Expr { return ir.Un(ir.Neg, ir.Un(ir.Floor, ir.Un(ir.Neg, v))) }

// withSign gives a magnitude the sign of v.
func withSign(magnitude, v ir.Expr) ir.Expr {
	sign := ir.Bin(ir.And, &ir.Bitcast{T: ir.U32, A: v}, ir.Const(ir.U32, 1<<31))
	return &ir.Bitcast{T: ir.F32, A: ir.Bin(ir.Or, &ir.Bitcast{T: ir.U32, A: magnitude}, sign)}
}
