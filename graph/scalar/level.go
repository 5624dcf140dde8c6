package scalar

import (
	"fmt"
	"math"

	"ripc/ir"
)

// LevelType is the type of a level: an integer from 0 to 2^Bits-1 that stands for another integer,
// and so for a real number, Scale times that integer plus Offset. The zero value is no level type:
// that of a tensor of ordinary numbers. Level types are equal with ==.
type LevelType struct {
	// Enc says which integer a level is: itself less Zero (unipolar), the odd integer 2*level - m,
	// m = 2^Bits-1 (bipolar), or m - 2*level (bipolar_inv).
	Enc  ir.EncodingKind
	Bits int
	// Scale is the real value of one integer step.
	Scale float64
	// Zero is the level that stands for 0; other than 0 for unipolar levels only, which are called
	// affine then.
	Zero int
	// Signed says that the caller sees level - 128, in 8 bits (unipolar).
	Signed bool
	// Offset is the real value of the integer 0. It is other than 0 where no zero point says it, as
	// for the levels b-a and b+a of AdaBin (Tu et al., ECCV 2022).
	Offset float64
}

// Encoded reports whether t is a level type.
func (t LevelType) Encoded() bool { return t.Enc != ir.NoEncoding }

// Top is the highest level, 2^Bits-1.
func (t LevelType) Top() int { return 1<<t.Bits - 1 }

// String is the type without its scale and offset: "unipolar2", or "affine8(zero=128)"; "f32" where
// it is none.
func (t LevelType) String() string {
	switch {
	case !t.Encoded():
		return ir.F32.String()
	case t.Zero != 0:
		return fmt.Sprintf("affine%d(zero=%d)", t.Bits, t.Zero)
	}
	return fmt.Sprintf("%s%d", t.Enc, t.Bits)
}

// Integer is the integer that a level stands for.
func (t LevelType) Integer(level int) int {
	switch t.Enc {
	case ir.Unipolar:
		return level - t.Zero
	case ir.Bipolar:
		return 2*level - t.Top()
	case ir.BipolarInv:
		return t.Top() - 2*level
	}
	return level
}

// StoredLevel is the level of type t with the meaning of a bipolar level where t is bipolar_inv,
// and level itself for any other type.
func (t LevelType) StoredLevel(level int) int {
	if t.Enc == ir.BipolarInv {
		return t.Top() - level
	}
	return level
}

// Range gives the smallest and the largest integer that levels stand for.
func (t LevelType) Range() (lo, hi int) {
	a, b := t.Integer(0), t.Integer(t.Top())
	return min(a, b), max(a, b)
}

// Real is the real value of a level.
func (t LevelType) Real(level int) float64 { return t.Scale*float64(t.Integer(level)) + t.Offset }

// Float is the real value of a level as dequantize gives it: the integer times the scale, plus the
// offset if there is one, each rounded to f32.
func (t LevelType) Float(level int) float32 {
	return realOf(numbers{}, t, float32(t.Integer(level)))
}

// FloatExpr is Float of the level that stands for the f32 integer i.
func (t LevelType) FloatExpr(i ir.Expr) ir.Expr { return realOf(exprs{}, t, i) }

// realOf is the real value of an integer.
func realOf[T any](m arithmetic[T], t LevelType, i T) T {
	v := m.mul(i, m.constant(float32(t.Scale)))
	if t.Offset != 0 {
		v = m.add(v, m.constant(float32(t.Offset)))
	}
	return v
}

// Level is the level with the real value real; ok reports whether its value is within a millionth
// of the scale.
func (t LevelType) Level(real float64) (level int, ok bool) {
	i := math.RoundToEven((real - t.Offset) / t.Scale)
	m := float64(t.Top())
	switch t.Enc {
	case ir.Unipolar:
		i += float64(t.Zero)
	case ir.Bipolar:
		i = (i + m) / 2
	case ir.BipolarInv:
		i = (m - i) / 2
	}
	level = int(math.Max(0, math.Min(i, m)))
	return level, math.Abs(t.Real(level)-real) <= 1e-6*t.Scale
}
