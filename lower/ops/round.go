package ops

import "ripc/ir"

// round rounds the f32 expression v to an integral value of its sign in one of the modes of graph.QuantizeAttrs. Halves are found in
// 2*v, whose floor is exact: floor((floor(2*v) + 1)/2), below 2^23, from where on f32 has integers only.
func round(mode string, v ir.Expr) ir.Expr {
	half := func(v ir.Expr) ir.Expr { return ir.Un(ir.Floor, add(mul(floorTwice(v), ir.Float(0.5)), ir.Float(0.5))) }
	small := func(v, yes ir.Expr) ir.Expr {
		return &ir.Select{Cond: ir.Bin(ir.Lt, ir.Un(ir.Abs, v), ir.Float(1<<23)), A: yes, B: v}
	}
	abs := ir.Un(ir.Abs, v)
	switch mode {
	case "half_up":
		return small(v, signed(ir.Un(ir.Abs, half(v)), v))
	case "half_down":
		return small(v, signed(ir.Un(ir.Abs, half(ir.Un(ir.Neg, v))), v))
	case "half_away":
		return small(v, signed(half(abs), v))
	case "floor":
		return ir.Un(ir.Floor, v)
	case "ceil":
		return ceil(v)
	case "trunc":
		return signed(ir.Un(ir.Floor, abs), v)
	case "away":
		return signed(ceil(abs), v)
	}
	return ir.Un(ir.RoundEven, v)
}

// roundToInt is Round as i32, for values between +-2^22. (A cast to i32 truncates.)
func roundToInt(mode string, v ir.Expr) ir.Expr {
	i32 := func(v ir.Expr) ir.Expr { return ir.CastTo(ir.I32, v) }
	one := ir.Const(ir.I32, 1)
	switch mode {
	case "half_up":
		return ir.Bin(ir.Shr, add(i32(floorTwice(v)), one), one)
	case "half_down":
		return sub(ir.Const(ir.I32, 0), roundToInt("half_up", ir.Un(ir.Neg, v)))
	case "half_away": // floor((n + 1)/2) for n from 0, floor(n/2) below, n being 2*v without its fraction
		n := i32(mul(v, ir.Float(2)))
		return ir.Bin(ir.Shr, add(n, i32(ir.Bin(ir.Ge, n, ir.Const(ir.I32, 0)))), one)
	case "trunc":
		return i32(v)
	}
	return i32(round(mode, v))
}

func floorTwice(v ir.Expr) ir.Expr { return ir.Un(ir.Floor, mul(v, ir.Float(2))) }

func ceil(v ir.Expr) ir.Expr { return ir.Un(ir.Neg, ir.Un(ir.Floor, ir.Un(ir.Neg, v))) }

// signed gives a magnitude the sign of v.
func signed(magnitude, v ir.Expr) ir.Expr {
	sign := ir.Bin(ir.And, &ir.Bitcast{T: ir.U32, A: v}, ir.Const(ir.U32, 1<<31))
	return &ir.Bitcast{T: ir.F32, A: ir.Bin(ir.Or, &ir.Bitcast{T: ir.U32, A: magnitude}, sign)}
}
