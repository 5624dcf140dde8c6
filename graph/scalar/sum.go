package scalar

import (
	"math"
	"math/bits"

	"ripc/ir"
)

// MaxLevelBits is the number of bits that a level may have.
const MaxLevelBits = 8

// Sum says how two levels add up in integers: the level of the sum is the sum of X's and Y's, each
// as its Term says, and has the type Type. It is exact: the real value of the sum is that of the
// two real values.
type Sum struct {
	Type LevelType
	X, Y Term
}

// Term is the addend of an operand's level l, of a type with top m, to the level of a sum: l <<
// Shift, or (m - l) << Shift where it is Flipped.
type Term struct {
	Shift   int
	Flipped bool
}

// SumFault is why two types of levels have no sum that is one.
type SumFault uint8

// The faults.
const (
	SumExact      SumFault = iota // none
	SumScales                     // the quotient of the scales is no power of two
	SumTooWide                    // Bits of the sum's type are more than MaxLevelBits
	SumNotEncoded                 // one is no level type
)

// SumOf is the sum of levels of types x and y, or their difference. The scales' quotient must be a
// power of two in f32, as real values are. A sum has the fewest bits that hold all of its values.
// Two bipolar levels of one scale add up to even multiples of it, which count in steps of twice the
// scale. If the values of the scales fill all odd numbers, the sum is bipolar itself. Else it is
// unipolar, and its Zero is the level that stands for 0. Offsets add up.
func SumOf(x, y LevelType, minus bool) (Sum, SumFault) {
	if !x.Encoded() || !y.Encoded() || !(x.Scale > 0) || !(y.Scale > 0) {
		return Sum{}, SumNotEncoded
	}
	k, ok := powerOfTwo(x.Scale, y.Scale)
	if !ok {
		return Sum{}, SumScales
	}
	if max(k, -k) > MaxLevelBits {
		return Sum{Type: LevelType{Bits: max(x.Bits+k, y.Bits-k)}}, SumTooWide
	}
	// In units of the smaller scale the operands are a + b*l.
	unit := math.Min(x.Scale, y.Scale)
	ax, bx := line(x, 1<<max(0, k))
	ay, by := line(y, 1<<max(0, -k))
	if minus {
		ay, by = -ay, -by
	}
	var s Sum
	flip := func(a, b, top int, t *Term) (int, int) {
		if t.Flipped = a < 0; t.Flipped {
			return -a, b + a*top
		}
		return a, b
	}
	ax, bx = flip(ax, bx, x.Top(), &s.X)
	ay, by = flip(ay, by, y.Top(), &s.Y)
	step, low := min(ax, ay), bx+by
	s.X.Shift, s.Y.Shift = bits.TrailingZeros(uint(ax/step)), bits.TrailingZeros(uint(ay/step))
	top := x.Top()<<s.X.Shift + y.Top()<<s.Y.Shift
	switch {
	case low%step == 0:
		s.Type = LevelType{Enc: ir.Unipolar, Scale: unit * float64(step), Zero: -low / step}
	case top == -2*low/step && top&(top+1) == 0: // low + step*l = step/2 * (2*l - top)
		s.Type = LevelType{Enc: ir.Bipolar, Scale: unit * float64(step/2)}
	default: // 0 lies between two values: count in half steps
		step, top = step/2, 2*top
		s.X.Shift, s.Y.Shift = s.X.Shift+1, s.Y.Shift+1
		s.Type = LevelType{Enc: ir.Unipolar, Scale: unit * float64(step), Zero: -low / step}
	}
	if s.Type.Offset = x.Offset + y.Offset; minus {
		s.Type.Offset = x.Offset - y.Offset
	}
	if s.Type.Bits = bits.Len(uint(top)); s.Type.Bits > MaxLevelBits {
		return s, SumTooWide
	}
	return s, SumExact
}

// line gives the integers of type t, times unit, as b + a*level.
func line(t LevelType, unit int) (a, b int) {
	return unit * (t.Integer(1) - t.Integer(0)), unit * t.Integer(0)
}

// powerOfTwo is k where x is y * 2^k in f32.
func powerOfTwo(x, y float64) (k int, ok bool) {
	k = int(math.RoundToEven(math.Log2(x / y)))
	return k, float32(x) == float32(math.Ldexp(y, k))
}

// Times is t with each real value multiplied by f, a number above 0.
func (t LevelType) Times(f float64) LevelType {
	t.Scale, t.Offset = t.Scale*f, t.Offset*f
	return t
}

// Plus is t with v added to each real value. Where a zero point says so, as it may of unipolar
// levels, there is no offset.
func (t LevelType) Plus(v float64) LevelType {
	t.Offset += v
	if t.Enc != ir.Unipolar {
		return t
	}
	if zero := float64(t.Zero) - t.Offset/t.Scale; math.Abs(zero-math.RoundToEven(zero)) <= 1e-7 && zero > -0.5 &&
		zero < float64(t.Top())+0.5 {
		t.Zero, t.Offset = int(math.RoundToEven(zero)), 0
	}
	return t
}
