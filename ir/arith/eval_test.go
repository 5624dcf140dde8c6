package arith_test

import (
	"fmt"
	"math"
	"math/big"

	"pgregory.net/rapid"

	"ripc/ir"
	"ripc/ir/arith"
)

// A second, slow reading of what package ir says expressions mean: integers are big.Ints reduced to their type.

type value struct {
	i *big.Int
	f float32
}

type assignment struct {
	vars  map[string]int64
	loads map[string]*big.Int // by printed text, so that equal loads are equal
	draw  func(t ir.Type) *big.Int
}

// outOfDomain is what evaluation panics with where package ir calls something an error.
type outOfDomain string

func (a *assignment) eval(e ir.Expr) value {
	reduce := func(i *big.Int) value { return value{i: reduceTo(e.Type(), i)} }
	switch e := e.(type) {
	case *ir.IntImm:
		return reduce(big.NewInt(e.V))
	case *ir.FloatImm:
		return value{f: e.V}
	case *ir.Var:
		return value{i: big.NewInt(a.vars[e.Name])}
	case *ir.Load:
		key := ir.ExprString(e)
		if a.loads[key] == nil {
			a.loads[key] = a.draw(e.T)
		}
		return value{i: a.loads[key]}
	case *ir.Select:
		if a.eval(e.Cond).i.Sign() != 0 {
			return a.eval(e.A)
		}
		return a.eval(e.B)
	case *ir.Cast:
		v := a.eval(e.A)
		switch {
		case e.T == e.A.Type():
			return v
		case e.T.IsFloat():
			f, _ := new(big.Float).SetInt(v.i).Float32()
			return value{f: f}
		case e.A.Type().IsFloat():
			return reduce(clampFloat(e.T, v.f))
		}
		return reduce(v.i)
	case *ir.Bitcast:
		return reduce(a.eval(e.A).i)
	case *ir.Unary:
		v := a.eval(e.A)
		switch e.Op {
		case ir.Neg:
			return reduce(new(big.Int).Neg(v.i))
		case ir.Not:
			return reduce(new(big.Int).Not(v.i))
		case ir.Abs:
			return reduce(new(big.Int).Abs(v.i))
		case ir.Popcount:
			n := 0
			for b := range e.Type().Bits() {
				n += int(v.i.Bit(b)) // of the infinite two's complement form
			}
			return reduce(big.NewInt(int64(n)))
		}
	case *ir.Binary:
		return a.binary(e)
	}
	panic(fmt.Sprintf("eval: %s", ir.ExprString(e)))
}

func (a *assignment) binary(e *ir.Binary) value {
	x, y := a.eval(e.A), a.eval(e.B)
	truth := func(b bool) value {
		if b {
			return value{i: big.NewInt(1)}
		}
		return value{i: new(big.Int)}
	}
	var c int
	if e.A.Type().IsFloat() {
		c = big.NewFloat(float64(x.f)).Cmp(big.NewFloat(float64(y.f)))
	} else {
		c = x.i.Cmp(y.i)
	}
	switch e.Op {
	case ir.Eq:
		return truth(c == 0)
	case ir.Ne:
		return truth(c != 0)
	case ir.Lt:
		return truth(c < 0)
	case ir.Le:
		return truth(c <= 0)
	case ir.Gt:
		return truth(c > 0)
	case ir.Ge:
		return truth(c >= 0)
	case ir.Min:
		if c < 0 {
			return x
		}
		return y
	case ir.Max:
		if c > 0 {
			return x
		}
		return y
	}
	z := new(big.Int)
	switch e.Op {
	case ir.Add:
		z.Add(x.i, y.i)
	case ir.Sub:
		z.Sub(x.i, y.i)
	case ir.Mul:
		z.Mul(x.i, y.i)
	case ir.And:
		z.And(x.i, y.i)
	case ir.Or:
		z.Or(x.i, y.i)
	case ir.Xor:
		z.Xor(x.i, y.i)
	case ir.Div, ir.Mod:
		if y.i.Sign() <= 0 {
			panic(outOfDomain("divisor"))
		}
		m := new(big.Int)
		z.DivMod(x.i, y.i, m) // Euclidean: for a positive divisor, the floor
		if e.Op == ir.Mod {
			z = m
		}
	case ir.Shl, ir.Shr:
		if y.i.Sign() < 0 || y.i.Cmp(big.NewInt(int64(e.Type().Bits()))) >= 0 {
			panic(outOfDomain("shift"))
		}
		if n := uint(y.i.Int64()); e.Op == ir.Shl {
			z.Lsh(x.i, n)
		} else {
			z.Rsh(x.i, n)
		}
	}
	return value{i: reduceTo(e.Type(), z)}
}

func reduceTo(t ir.Type, v *big.Int) *big.Int {
	m := new(big.Int).Lsh(big.NewInt(1), uint(t.Bits()))
	out := new(big.Int).Mod(v, m)
	if t.Signed() && out.Bit(t.Bits()-1) == 1 {
		out.Sub(out, m)
	}
	return out
}

func clampFloat(t ir.Type, f float32) *big.Int {
	if f != f {
		return new(big.Int)
	}
	lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(t.Bits()))
	if t.Signed() {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	hi.Sub(hi, big.NewInt(1))
	switch {
	case math.IsInf(float64(f), 1):
		return hi
	case math.IsInf(float64(f), -1):
		return lo
	}
	i, _ := big.NewFloat(float64(f)).Int(nil)
	switch {
	case i.Cmp(lo) < 0:
		return lo
	case i.Cmp(hi) > 0:
		return hi
	}
	return i
}

// Random expressions.

var intTypes = []ir.Type{ir.I8, ir.I16, ir.I32, ir.I64, ir.U8, ir.U16, ir.U32, ir.U64}

func genConst(t *rapid.T, ty ir.Type) ir.Expr {
	edge := []int64{0, 1, 2, 3, 4, 5, 7, 8, 12, 16, -1, -2, 127, 128, 255, 32767, math.MaxInt64, math.MinInt64}
	v := rapid.SampledFrom(edge).Draw(t, "const")
	if ty == ir.U64 {
		return ir.Const(ty, v)
	}
	return ir.Const(ty, reduceTo(ty, big.NewInt(v)).Int64())
}

func genExpr(t *rapid.T, ty ir.Type, depth int) ir.Expr {
	if ty == ir.Bool {
		return genBool(t, depth)
	}
	if depth == 0 {
		switch k := rapid.IntRange(0, 5).Draw(t, "leaf"); {
		case k == 0:
			return genConst(t, ty)
		case k < 4 && ty == ir.I64:
			return ir.V(rapid.SampledFrom([]string{"i", "j", "k"}).Draw(t, "var"))
		}
		return &ir.Load{Buf: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "buf") + ty.String(), T: ty}
	}
	sub := func(ty ir.Type) ir.Expr { return genExpr(t, ty, rapid.IntRange(0, depth-1).Draw(t, "depth")) }
	op := ir.BinOp(rapid.IntRange(0, int(ir.Eq)+6).Draw(t, "op"))
	switch {
	case op == ir.Div || op == ir.Mod:
		c := rapid.SampledFrom([]int64{1, 2, 3, 4, 5, 8, 12, 100}).Draw(t, "divisor")
		return &ir.Binary{Op: op, A: sub(ty), B: ir.Const(ty, c)}
	case op == ir.Shl || op == ir.Shr:
		n := rapid.IntRange(0, ty.Bits()-1).Draw(t, "count")
		return &ir.Binary{Op: op, A: sub(ty), B: ir.Const(ty, int64(n))}
	case op == ir.Mul && rapid.Bool().Draw(t, "multiple"):
		return &ir.Binary{Op: op, A: sub(ty), B: genConst(t, ty)}
	case op < ir.Eq:
		return &ir.Binary{Op: op, A: sub(ty), B: sub(ty)}
	case op == ir.Eq:
		return ir.Un(rapid.SampledFrom([]ir.UnOp{ir.Neg, ir.Not, ir.Popcount, ir.Abs}).Draw(t, "un"), sub(ty))
	case op == ir.Ne:
		return &ir.Select{Cond: sub(ir.Bool), A: sub(ty), B: sub(ty)}
	case op == ir.Lt:
		return &ir.Cast{T: ty, A: sub(rapid.SampledFrom(intTypes).Draw(t, "from"))}
	case op == ir.Le:
		return &ir.Cast{T: ty, A: sub(ir.Bool)}
	case op == ir.Gt && ty == ir.U32:
		return &ir.Bitcast{T: ty, A: sub(ir.I32)}
	}
	return &ir.Binary{Op: ir.Add, A: sub(ty), B: sub(ty)}
}

func genBool(t *rapid.T, depth int) ir.Expr {
	if depth == 0 {
		return ir.Const(ir.Bool, int64(rapid.IntRange(0, 1).Draw(t, "bool")))
	}
	sub := func(ty ir.Type) ir.Expr { return genExpr(t, ty, rapid.IntRange(0, depth-1).Draw(t, "depth")) }
	switch rapid.IntRange(0, 4).Draw(t, "boolean") {
	case 0:
		return ir.Un(ir.Not, sub(ir.Bool))
	case 1:
		op := rapid.SampledFrom([]ir.BinOp{ir.And, ir.Or, ir.Xor, ir.Eq, ir.Ne}).Draw(t, "op")
		return &ir.Binary{Op: op, A: sub(ir.Bool), B: sub(ir.Bool)}
	}
	ty := rapid.SampledFrom(append(intTypes, ir.I64, ir.I64)).Draw(t, "compared")
	op := ir.BinOp(rapid.IntRange(int(ir.Eq), int(ir.Ge)).Draw(t, "op"))
	return &ir.Binary{Op: op, A: sub(ty), B: sub(ty)}
}

// genRanges draws ranges for i, j and k, at times at the ends of int64, at times leaving one out.
func genRanges(t *rapid.T) arith.Ranges {
	r := arith.Ranges{}
	for _, v := range []string{"i", "j", "k"} {
		switch rapid.IntRange(0, 9).Draw(t, "range") {
		case 0:
		case 1:
			r[v] = arith.Interval{Lo: math.MinInt64, Hi: math.MaxInt64}
		case 2:
			r[v] = arith.Interval{Lo: math.MaxInt64 - 3, Hi: math.MaxInt64}
		case 3:
			r[v] = arith.Interval{Lo: -5, Hi: 6}
		default:
			r[v] = arith.Interval{Lo: 0, Hi: int64(rapid.IntRange(0, 9).Draw(t, "hi"))}
		}
	}
	return r
}

func genAssignment(t *rapid.T, r arith.Ranges) *assignment {
	a := &assignment{vars: map[string]int64{}, loads: map[string]*big.Int{}}
	for _, v := range []string{"i", "j", "k"} {
		iv, ok := r[v]
		if !ok {
			iv = arith.Interval{Lo: math.MinInt64, Hi: math.MaxInt64}
		}
		a.vars[v] = rapid.Int64Range(iv.Lo, iv.Hi).Draw(t, v)
	}
	a.draw = func(ty ir.Type) *big.Int {
		return reduceTo(ty, new(big.Int).SetUint64(rapid.Uint64().Draw(t, "load")))
	}
	return a
}
